# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Large finite automata that are written once, into the finished program, and not as positions of the network.

The keys an object does not name, a long list of words, an automaton beside a counter: each is entered at one place,
left at one other, calls nothing, and everything the passes of lowering would find out about its positions is known
beforehand. In the network an *annex* is one position, its *door*, whose byte edges nobody sees (``head`` names
the span instead); ``kernel.program`` writes the door's edges and, behind all other positions, those of the annex. The
first position is entered from the door only, so the door never accepts: where the empty text is one of the annex, an
epsilon leads past the door.

``WordAnnex``    a list of words, as a trie
``LazyAnnex``    an automaton of which nothing is written but the door: see ``kernel.lazy_positions``

Strings but some keys are a ``kernel.key_annex``. A block beside a counter of characters is a ``kernel.counted_annex``,
of which only the door is written, too.

Cost: 3 ns an edge; nothing is written that cannot be completed.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int

NO_END = cython.declare(cython.int, 1 << 29)


@cython.cclass
class Annex:
    """``size`` positions behind a door, with at most ``edges`` edges, those of the door included. ``counted``: it is a
    ``kernel.counted_annex``, whose positions are made when they are met. ``inside``: the door is in the region of
    ``block``, too.
    """

    if not cython.compiled:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.size = self.edges = self.n_rows = self.n_entries = 0
            self.counted = self.inside = False
            self.source = None
            self.block = self.can = self.row_of = self.fewest = self.fewest_of = self.need = self.final = None
            self.offsets = None
            self.entry_lo = self.entry_hi = self.entry_depth = self.entry_length = self.entry_at = None
            self.entry_child = self.entry_best = None
            self.alone = [0] * 8
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def measure(self) -> cython.int:
        """Find out from where the end can be reached: ``NO_END`` if it cannot from the door, else anything below.

        May be asked again.
        """
        return NO_END

    @cython.cfunc
    @cython.exceptval(check=False)
    def write_door(self, a: cython.p_int, b: cython.p_int, to: cython.p_int, at: cython.int, base: cython.int,
                   end: cython.int) -> cython.int:
        """The door's edges, from edge ``at`` on; ``base`` is the number of the first position. The next free edge."""
        return at

    @cython.cfunc
    @cython.exceptval(check=False)
    def write(self, off: cython.p_int, a: cython.p_int, b: cython.p_int, to: cython.p_int, region: cython.p_ushort,
              at: cython.int, base: cython.int, end: cython.int, number: cython.int) -> cython.int:
        """All positions, from edge ``at`` on; returns the next free edge.

        ``number``: of the region of those positions that are in it.
        """
        return at


@cython.final
@cython.cclass
class WordAnnex(Annex):
    """Any of several words. The trie's nodes come as *entries*, parents first: a chain of ``entry_length`` positions
    that spell what the words ``entry_lo .. entry_hi`` share from byte ``entry_depth`` on, and where they differ one
    position more. Entry 0 is the door.

    Words begin at ``offsets`` in ``text``. ``entry_at`` is an entry's first position, ``entry_child`` its first child,
    ``entry_best`` bytes to the end from where the chain ends.
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.offsets)
            free(self.entry_lo)
            free(self.entry_hi)
            free(self.entry_depth)
            free(self.entry_length)
            free(self.entry_at)
            free(self.entry_child)
            free(self.entry_best)

    def __init__(self, words: list):
        """``words``: sorted, at least two, all different, none empty; fewer than 2**30 bytes."""
        n: cython.int = cython.cast(cython.int, len(words))
        i: cython.int
        at: cython.int = 0
        word: bytes
        self.text = b"".join(words)
        self.offsets = grow_int(self.offsets, n + 1)
        most: cython.int = 2 * n + 2
        self.entry_lo = grow_int(self.entry_lo, most)
        self.entry_hi = grow_int(self.entry_hi, most)
        self.entry_depth = grow_int(self.entry_depth, most)
        self.entry_length = grow_int(self.entry_length, most)
        self.entry_at = grow_int(self.entry_at, most)
        self.entry_child = grow_int(self.entry_child, most + 1)
        self.entry_best = grow_int(self.entry_best, most)
        if not (self.offsets and self.entry_lo and self.entry_hi and self.entry_depth and self.entry_length
                and self.entry_at and self.entry_child and self.entry_best):
            raise MemoryError
        for i in range(n):
            word = words[i]
            self.offsets[i] = at
            at += cython.cast(cython.int, len(word))
        self.offsets[n] = at
        self._plan(n)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _plan(self, n: cython.int) -> cython.void:
        """Make the entries."""
        text: cython.p_const_uchar = self.text
        done: cython.int = 0
        i: cython.int
        j: cython.int
        last: cython.int
        depth: cython.int
        length: cython.int
        byte: cython.int
        for i in range(self.offsets[n]):
            byte = text[i]
            self.alone[byte >> 5] |= cython.cast(cython.uint, 1) << (byte & 31)
        self.size = 0
        self.n_entries = 1
        self.entry_lo[0] = 0
        self.entry_hi[0] = n
        self.entry_depth[0] = 0
        self.entry_length[0] = 0
        self.entry_at[0] = -1
        while done < self.n_entries:
            self.entry_child[done] = self.n_entries
            depth = self.entry_depth[done] + self.entry_length[done]
            last = self.entry_hi[done]
            i = self.entry_lo[done]
            done += 1
            if last - i == 1:
                continue  # a chain to the end
            while i < last:
                byte = text[self.offsets[i] + depth]
                j = i + 1
                while j < last and text[self.offsets[j] + depth] == byte:
                    j += 1
                if self.offsets[i] + depth + 1 == self.offsets[i + 1]:
                    i += 1  # this word ends with this byte
                if i == j:
                    continue
                length = self.offsets[i + 1] - self.offsets[i] - depth - 1
                if j - i > 1:
                    length = self._shared(i, j - 1, depth + 1, length - 1)
                self.entry_lo[self.n_entries] = i
                self.entry_hi[self.n_entries] = j
                self.entry_depth[self.n_entries] = depth + 1
                self.entry_length[self.n_entries] = length
                self.entry_at[self.n_entries] = self.size
                self.n_entries += 1
                self.size += length + (1 if j - i > 1 else 0)
                i = j
        self.entry_child[self.n_entries] = self.n_entries
        self.edges = self.size + n

    @cython.cfunc
    @cython.exceptval(check=False)
    def _shared(self, i: cython.int, j: cython.int, depth: cython.int, most: cython.int) -> cython.int:
        """How many bytes from ``depth`` on, at most ``most``, the words ``i`` and ``j`` and all between share."""
        text: cython.p_const_uchar = self.text
        found: cython.int = 0
        while found < most and text[self.offsets[i] + depth + found] == text[self.offsets[j] + depth + found]:
            found += 1
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def measure(self) -> cython.int:
        k: cython.int
        i: cython.int
        best: cython.int
        words: cython.int
        for k in range(self.n_entries - 1, -1, -1):
            best = 0
            words = 0
            if self.entry_hi[k] - self.entry_lo[k] > 1:
                best = NO_END
                for i in range(self.entry_child[k], self.entry_child[k + 1]):
                    if self.entry_best[i] + self.entry_length[i] + 1 < best:
                        best = self.entry_best[i] + self.entry_length[i] + 1
                    words += self.entry_hi[i] - self.entry_lo[i]
                if words < self.entry_hi[k] - self.entry_lo[k]:
                    best = 1  # a word ends here
            self.entry_best[k] = best
        return self.entry_best[0]

    @cython.cfunc
    @cython.exceptval(check=False)
    def write_door(self, a: cython.p_int, b: cython.p_int, to: cython.p_int, at: cython.int, base: cython.int,
                   end: cython.int) -> cython.int:
        return self._fork(0, a, b, to, at, base, end)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fork(self, entry: cython.int, a: cython.p_int, b: cython.p_int, to: cython.p_int, at: cython.int,
              base: cython.int, end: cython.int) -> cython.int:
        """The edges where the words of an entry differ."""
        text: cython.p_const_uchar = self.text
        depth: cython.int = self.entry_depth[entry] + self.entry_length[entry]
        i: cython.int = self.entry_lo[entry]
        child: cython.int = self.entry_child[entry]
        while i < self.entry_hi[entry]:
            a[at] = text[self.offsets[i] + depth]
            b[at] = a[at]
            if child < self.entry_child[entry + 1] and self.entry_lo[child] == i:
                to[at] = base + self.entry_at[child]
                i = self.entry_hi[child]
                child += 1
            else:
                to[at] = end
                i += 1
            at += 1
        return at

    @cython.cfunc
    @cython.exceptval(check=False)
    def write(self, off: cython.p_int, a: cython.p_int, b: cython.p_int, to: cython.p_int, region: cython.p_ushort,
              at: cython.int, base: cython.int, end: cython.int, number: cython.int) -> cython.int:
        text: cython.p_const_uchar = self.text
        p: cython.int = base
        k: cython.int
        i: cython.int
        for k in range(1, self.n_entries):
            i = self.offsets[self.entry_lo[k]] + self.entry_depth[k]
            for i in range(i, i + self.entry_length[k]):
                off[4 * p] = at
                a[at] = text[i]
                b[at] = text[i]
                to[at] = p + 1
                at += 1
                off[4 * p + 1] = at
                off[4 * p + 2] = at
                off[4 * p + 3] = at
                region[p] = 0
                p += 1
            if self.entry_hi[k] - self.entry_lo[k] == 1:
                to[at - 1] = end
                continue
            off[4 * p] = at
            at = self._fork(k, a, b, to, at, base, end)
            off[4 * p + 1] = at
            off[4 * p + 2] = at
            off[4 * p + 3] = at
            region[p] = 0
            p += 1
        return at


@cython.final
@cython.cclass
class LazyAnnex(Annex):
    """The automaton of ``source`` (``grammar.lazy.LazySource``). Of where its edges lead only the source knows: -1."""

    def __init__(self, source):
        byte: cython.int
        self.source = source
        self.ranges = source.reads(source.start())
        self.size = 0
        self.edges = cython.cast(cython.int, len(self.ranges))
        for byte in source.alphabet:
            self.alone[byte >> 5] |= cython.cast(cython.uint, 1) << (byte & 31)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def measure(self) -> cython.int:
        rest = self.source.left(self.source.start())
        return rest if rest < NO_END else NO_END - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def write_door(self, a: cython.p_int, b: cython.p_int, to: cython.p_int, at: cython.int, base: cython.int,
                   end: cython.int) -> cython.int:
        k: cython.int = at
        for first, last in self.ranges:
            a[k] = first
            b[k] = last
            to[k] = -1
            k += 1
        return k
