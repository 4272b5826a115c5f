# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A partition of the code points spelled in bytes: classes of characters become paths.

All classes are spelled at once, in UTF-8 or between the quotation marks of JSON, as a trie whose leaves are class
numbers; equal sub-tries are one node, so an automaton over classes becomes one over bytes by putting its targets in
place of the leaves (``kernel.spelling``). Overlong forms, surrogates and code points past U+10FFFF have no path (RFC
3629, section 3).

    start, last, home   the pieces: code points ``start[i]`` to ``last[i]`` are of class ``home[i]``, in order
    lo, hi, child       entries; those of node ``v`` are ``at[v] .. at[v + 1]``, sorted. ``child`` >= 0 is a node,
                        ``~class`` a leaf. The root comes last
    set_of              of each node the set of classes below: ``pool[set_at[s] .. set_at[s + 1]]``, sorted
    part_*              a stack of entries: those of the nodes that are being made, the innermost on top

Cost: 0.1 us a node; one node for each block of 64 code points that is cut in a new way (316 for Unicode's word
characters and digits), and for each sixteen where they are spelled in hexadecimal digits.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import hash_run, mix, put_slot, sort_ints, sort_triples
    from cython.cimports.constrained.kernel.memory import empty_table, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.hashing import hash_run, mix, put_slot, sort_ints, sort_triples
    from constrained.kernel.memory import empty_table, grow_int

NONE = cython.declare(cython.int, 1 << 30)
"""No node: none of the classes has a character there."""

BACKSLASH = cython.declare(cython.int, 0x5C)
LETTER_U = cython.declare(cython.int, 0x75)
ASTRAL = cython.declare(cython.int, 0x10000)
BITS = cython.declare(cython.int, 19)

UTF8 = 0
"""How to spell: in UTF-8."""
CANONICAL = 1
"""As ``json.dumps`` does, with ``ensure_ascii`` and without."""
ANY = 2
"""With all escapes of RFC 8259, section 7."""

SPELLINGS = {"canonical": CANONICAL, "any": ANY}


@cython.final
@cython.cclass
class ByteTrie:
    """See the module docstring. Read-only once made."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.start)
            free(self.last)
            free(self.home)
            free(self.at)
            free(self.lo)
            free(self.hi)
            free(self.child)
            free(self.set_of)
            free(self.set_at)
            free(self.pool)
            free(self.slots)
            free(self.set_slots)
            free(self.part_lo)
            free(self.part_hi)
            free(self.part_child)
            free(self.whole)
            free(self.known)
            free(self.marked)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.k = self.pieces = self.way = self.count = self.room = self.entry_room = self.sets = 0
            self.set_room = self.pool_room = self.slot_count = self.set_slot_count = self.part_room = self.top = 0
            for name in ("start last home at lo hi child set_of set_at pool slots set_slots part_lo part_hi part_child "
                         "whole known marked").split():
                setattr(self, name, None)
            return self

    def __init__(self, classes: tuple, way: cython.int):
        """``classes``: of each its ranges of code points, disjoint; ``way``: UTF8, CANONICAL or ANY."""
        self.k = cython.cast(cython.int, len(classes))
        self.way = way
        self._cut(classes)
        self._rooms()
        self._characters()
        if way != 0:
            self._escapes()
        sort_triples(self.part_lo, self.part_hi, self.part_child, 0, self.top)
        # A root that is equal to a node below would not be the last.
        self._add(0)

    def nodes(self) -> list:
        """Of each node its entries: (first byte, last byte, child). The root is the last."""
        i: cython.int
        e: cython.int
        found: list = []
        row: list
        for i in range(self.count):
            row = []
            for e in range(self.at[i], self.at[i + 1]):
                row.append((self.lo[e], self.hi[e], self.child[e]))
            found.append(tuple(row))
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _cut(self, classes: tuple) -> cython.int:
        """The pieces."""
        i: cython.int = 0
        j: cython.int
        ranges: tuple
        pair: tuple
        for ranges in classes:
            self.pieces += cython.cast(cython.int, len(ranges))
        self.start = grow_int(self.start, self.pieces + 1)
        self.last = grow_int(self.last, self.pieces + 1)
        self.home = grow_int(self.home, self.pieces + 1)
        if not (self.start and self.last and self.home):
            raise MemoryError
        for j in range(self.k):
            ranges = classes[j]
            for pair in ranges:
                self.start[i] = pair[0]
                self.last[i] = pair[1]
                self.home[i] = j
                i += 1
        sort_triples(self.start, self.last, self.home, 0, self.pieces)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rooms(self) -> cython.int:
        i: cython.int
        self.room = self.set_room = self.part_room = 64
        self.entry_room = self.pool_room = 256
        self.slot_count = self.set_slot_count = 128
        self.at = grow_int(self.at, self.room + 1)
        self.set_of = grow_int(self.set_of, self.room)
        self.lo = grow_int(self.lo, self.entry_room)
        self.hi = grow_int(self.hi, self.entry_room)
        self.child = grow_int(self.child, self.entry_room)
        self.set_at = grow_int(self.set_at, self.set_room + 1)
        self.pool = grow_int(self.pool, self.pool_room)
        self.part_lo = grow_int(self.part_lo, self.part_room)
        self.part_hi = grow_int(self.part_hi, self.part_room)
        self.part_child = grow_int(self.part_child, self.part_room)
        self.slots = empty_table(self.slots, self.slot_count)
        self.set_slots = empty_table(self.set_slots, self.set_slot_count)
        self.whole = empty_table(self.whole, 3 * self.k + 1)
        self.marked = grow_int(self.marked, self.k + 1)
        if not (self.at and self.set_of and self.lo and self.hi and self.child and self.set_at and self.pool
                and self.part_lo and self.part_hi and self.part_child and self.slots and self.set_slots and self.whole
                and self.marked):
            raise MemoryError
        self.at[0] = 0
        self.set_at[0] = 0
        for i in range(self.k):
            self.marked[i] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _piece(self, code: cython.int) -> cython.int:
        """The last piece that begins at ``code`` or before; -1: there is none."""
        low: cython.int = 0
        high: cython.int = self.pieces
        middle: cython.int
        while low < high:
            middle = (low + high) // 2
            if self.start[middle] <= code:
                low = middle + 1
            else:
                high = middle
        return low - 1

    # -- nodes ------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _push(self, lo: cython.int, hi: cython.int, child: cython.int) -> cython.int:
        """One entry more of the node that is being made."""
        if self.top >= self.part_room:
            self.part_room *= 2
            self.part_lo = grow_int(self.part_lo, self.part_room)
            self.part_hi = grow_int(self.part_hi, self.part_room)
            self.part_child = grow_int(self.part_child, self.part_room)
            if not (self.part_lo and self.part_hi and self.part_child):
                raise MemoryError
        self.part_lo[self.top] = lo
        self.part_hi[self.top] = hi
        self.part_child[self.top] = child
        self.top += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _node(self, base: cython.int) -> cython.int:
        """The node of the entries from ``base`` on, which are sorted; they are taken from the stack. NONE: no entry."""
        i: cython.int
        j: cython.int
        e: cython.int
        size: cython.int
        other: cython.int
        if base == self.top:
            return NONE
        self._join(base)
        size = self.top - base
        i = self._slot(self.part_lo, self.part_hi, self.part_child, base, size)
        while self.slots[i] >= 0:
            other = self.slots[i]
            e = self.at[other]
            if self.at[other + 1] - e == size:
                j = 0
                while j < size and self.lo[e + j] == self.part_lo[base + j] and (
                        self.hi[e + j] == self.part_hi[base + j]) and self.child[e + j] == self.part_child[base + j]:
                    j += 1
                if j == size:
                    self.top = base
                    return other
            i = (i + 1) & (self.slot_count - 1)
        self.slots[i] = self.count
        self._add(base)
        if 2 * self.count > self.slot_count:
            self.slot_count *= 4
            self.slots = empty_table(self.slots, self.slot_count)
            if not self.slots:
                raise MemoryError
            for j in range(self.count):
                e = self.at[j]
                i = self._slot(self.lo, self.hi, self.child, e, self.at[j + 1] - e)
                put_slot(self.slots, self.slot_count, i, j)
        return self.count - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _join(self, base: cython.int) -> cython.void:
        """Entries from ``base`` on that are neighbours and lead to one place become one."""
        i: cython.int
        kept: cython.int = base
        for i in range(base, self.top):
            if kept > base and self.part_child[kept - 1] == self.part_child[i] and (
                    self.part_hi[kept - 1] + 1 == self.part_lo[i]):
                self.part_hi[kept - 1] = self.part_hi[i]
            else:
                self.part_lo[kept] = self.part_lo[i]
                self.part_hi[kept] = self.part_hi[i]
                self.part_child[kept] = self.part_child[i]
                kept += 1
        self.top = kept

    @cython.cfunc
    @cython.exceptval(check=False)
    def _slot(self, lo: cython.p_int, hi: cython.p_int, child: cython.p_int, at: cython.int,
              size: cython.int) -> cython.int:
        """Where a node is looked for first."""
        h: cython.ulonglong = 0
        i: cython.int
        for i in range(at, at + size):
            h = mix(mix(h, lo[i] << 8 | hi[i]), child[i])
        return cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.slot_count - 1))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _add(self, base: cython.int) -> cython.int:
        """The entries from ``base`` on as a new node."""
        i: cython.int
        j: cython.int
        begin: cython.int = self.at[self.count]
        end: cython.int
        child: cython.int
        fill: cython.int = self.set_at[self.sets]
        if self.count >= self.room:
            self.room *= 2
            self.at = grow_int(self.at, self.room + 1)
            self.set_of = grow_int(self.set_of, self.room)
            if not (self.at and self.set_of):
                raise MemoryError
        self._join(base)
        end = begin + self.top - base
        if end > self.entry_room:
            self.entry_room = 2 * end
            self.lo = grow_int(self.lo, self.entry_room)
            self.hi = grow_int(self.hi, self.entry_room)
            self.child = grow_int(self.child, self.entry_room)
            if not (self.lo and self.hi and self.child):
                raise MemoryError
        if fill + self.k > self.pool_room:
            self.pool_room = 2 * (fill + self.k)
            self.pool = grow_int(self.pool, self.pool_room)
            if not self.pool:
                raise MemoryError
        for i in range(end - begin):
            child = self.part_child[base + i]
            self.lo[begin + i] = self.part_lo[base + i]
            self.hi[begin + i] = self.part_hi[base + i]
            self.child[begin + i] = child
            if child < 0:
                fill = self._mark(~child, fill)
            else:
                for j in range(self.set_at[self.set_of[child]], self.set_at[self.set_of[child] + 1]):
                    fill = self._mark(self.pool[j], fill)
        self.at[self.count + 1] = end
        self.top = base
        self.set_of[self.count] = self._set(fill)
        self.count += 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _mark(self, index: cython.int, fill: cython.int) -> cython.int:
        """A class of the set that is being made, at ``pool[fill]`` if it is new there."""
        if self.marked[index]:
            return fill
        self.marked[index] = 1
        self.pool[fill] = index
        return fill + 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _set(self, fill: cython.int) -> cython.int:
        """The set of the classes that are marked: those of ``pool`` up to ``fill`` that are in no set yet."""
        begin: cython.int = self.set_at[self.sets]
        size: cython.int = fill - begin
        i: cython.int
        j: cython.int
        at: cython.int
        for i in range(begin, fill):
            self.marked[self.pool[i]] = 0
        sort_ints(self.pool, begin, fill)
        i = self._set_slot(begin, size)
        while self.set_slots[i] >= 0:
            at = self.set_at[self.set_slots[i]]
            if self.set_at[self.set_slots[i] + 1] - at == size:
                j = 0
                while j < size and self.pool[at + j] == self.pool[begin + j]:
                    j += 1
                if j == size:
                    return self.set_slots[i]
            i = (i + 1) & (self.set_slot_count - 1)
        self.set_slots[i] = self.sets
        self.sets += 1
        if self.sets >= self.set_room:
            self.set_room *= 2
            self.set_at = grow_int(self.set_at, self.set_room + 1)
            if not self.set_at:
                raise MemoryError
        self.set_at[self.sets] = fill
        if 2 * self.sets > self.set_slot_count:
            self.set_slot_count *= 4
            self.set_slots = empty_table(self.set_slots, self.set_slot_count)
            if not self.set_slots:
                raise MemoryError
            for j in range(self.sets):
                i = self._set_slot(self.set_at[j], self.set_at[j + 1] - self.set_at[j])
                put_slot(self.set_slots, self.set_slot_count, i, j)
        return self.sets - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _set_slot(self, at: cython.int, size: cython.int) -> cython.int:
        """Where a set is looked for first."""
        h: cython.ulonglong = hash_run(self.pool, at, size)
        return cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.set_slot_count - 1))

    # -- UTF-8 --------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _characters(self) -> cython.int:
        """The root's entries for characters as they are."""
        i: cython.int = 0
        while i < self.pieces and self.start[i] <= 0x7F:
            self._raw(self.start[i], self.last[i] if self.last[i] < 0x7F else 0x7F, ~self.home[i])
            i += 1
        self._longer(0x80, 0x7FF, 1, 0xC0)
        self._longer(0x800, 0xFFFF, 2, 0xE0)
        self._longer(0x10000, 0x10FFFF, 3, 0xF0)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _raw(self, lo: cython.int, hi: cython.int, child: cython.int) -> cython.int:
        """An entry for ASCII characters; between quotation marks without what may not stand there as it is."""
        if self.way == 0:
            return self._push(lo, hi, child)
        if lo < 0x20:
            lo = 0x20
        if lo <= 0x21 and lo <= hi:
            self._push(lo, hi if hi < 0x21 else 0x21, child)
        if lo < 0x23:
            lo = 0x23
        if lo <= 0x5B and lo <= hi:
            self._push(lo, hi if hi < 0x5B else 0x5B, child)
        if lo < 0x5D:
            lo = 0x5D
        if lo <= hi:
            self._push(lo, hi, child)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _longer(self, first: cython.int, last: cython.int, more: cython.int, mark: cython.int) -> cython.int:
        """The entries for the code points of ``more`` bytes behind a leading one (or in a node behind that): with
        ``mark`` in it."""
        shift: cython.int = 6 * more
        mask: cython.int = 0x3F
        block: cython.int = first >> shift
        low: cython.int
        high: cython.int
        until: cython.int
        child: cython.int
        at: cython.int
        while block <= last >> shift:
            low = block << shift if block << shift > first else first
            at = self._piece(low)
            if at < 0 or self.last[at] < low:  # no class has it
                if at + 1 == self.pieces or self.start[at + 1] > last:
                    break
                if self.start[at + 1] >> shift > block:
                    block = self.start[at + 1] >> shift
                    continue
            high = ((block + 1) << shift) - 1 if ((block + 1) << shift) - 1 < last else last
            child = self._block(low, high, more)
            until = self._alike(low, block, shift, last)
            if child != NONE:
                self._push(mark | block & mask, mark | until & mask, child)
            block = until + 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _alike(self, low: cython.int, block: cython.int, shift: cython.int, last: cython.int) -> cython.int:
        """The last of the blocks from ``block`` on, which begins at ``low``, that are within one piece: all alike."""
        at: cython.int = self._piece(low)
        end: cython.int
        if at < 0 or low != block << shift:
            return block
        end = self.last[at] if self.last[at] < last else last
        end = (end + 1 >> shift) - 1
        return end if end > block else block

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _block(self, first: cython.int, last: cython.int, more: cython.int) -> cython.int:
        """The node that reads ``more`` further bytes of the code points ``first`` to ``last``. Calls nest three deep.
        """
        base: cython.int = self.top
        at: cython.int = self._piece(first)
        size: cython.int = 1 << 6 * more
        low: cython.int
        high: cython.int
        if at >= 0 and last <= self.last[at] and not first & (size - 1) and last - first == size - 1:
            return self._whole(self.home[at], more)
        if more > 1:
            self._longer(first, last, more - 1, 0x80)
            return self._node(base)
        if at < 0:
            at = 0
        while at < self.pieces and self.start[at] <= last:
            low = self.start[at] if self.start[at] > first else first
            high = self.last[at] if self.last[at] < last else last
            if low <= high:
                self._push(0x80 | low & 0x3F, 0x80 | high & 0x3F, ~self.home[at])
            at += 1
        return self._node(base)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _whole(self, index: cython.int, more: cython.int) -> cython.int:
        """The node behind which any ``more`` bytes are characters of one class."""
        i: cython.int
        node: cython.int = ~index
        for i in range(more):
            if self.whole[3 * index + i] < 0:
                self._push(0x80, 0xBF, node)
                self.whole[3 * index + i] = self._node(self.top - 1)
            node = self.whole[3 * index + i]
        return node

    # -- between quotation marks ------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _escapes(self) -> cython.int:
        """The root's entry for a backslash: short escapes, in the order of their letters, then digits."""
        base: cython.int = self.top
        child: cython.int
        self._short(0x22, 0x22)
        if self.way == 2:
            self._short(0x2F, 0x2F)
        self._short(BACKSLASH, BACKSLASH)
        self._short(0x08, 0x62)
        self._short(0x0C, 0x66)
        self._short(0x0A, 0x6E)
        self._short(0x0D, 0x72)
        self._short(0x09, 0x74)
        if self.way == 1:
            self._hexadecimal()
        self.known = empty_table(self.known, 2 * BITS * self.k + 1)
        if not self.known:
            raise MemoryError
        child = self._digits(0, 16)
        if child != NONE:
            self._push(LETTER_U, LETTER_U, child)
        child = self._node(base)
        if child != NONE:
            self._push(BACKSLASH, BACKSLASH, child)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _short(self, code: cython.int, letter: cython.int) -> cython.int:
        """One short escape."""
        at: cython.int = self._piece(code)
        if at >= 0 and code <= self.last[at]:
            self._push(letter, letter, ~self.home[at])
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _hexadecimal(self) -> cython.int:
        """Leave of the pieces what ``json.dumps`` may write with four digits: neither what it always writes raw nor
        what has a short escape."""
        i: cython.int
        base: cython.int = self.top
        for i in range(self.pieces):
            self._keep(i, 0, 0x07)
            self._keep(i, 0x0B, 0x0B)
            self._keep(i, 0x0E, 0x1F)
            self._keep(i, 0x7F, 0x10FFFF)
        self.pieces = self.top - base
        self.top = base
        self.start = grow_int(self.start, self.pieces + 1)
        self.last = grow_int(self.last, self.pieces + 1)
        self.home = grow_int(self.home, self.pieces + 1)
        if not (self.start and self.last and self.home):
            raise MemoryError
        for i in range(self.pieces):
            self.start[i] = self.part_lo[base + i]
            self.last[i] = self.part_hi[base + i]
            self.home[i] = self.part_child[base + i]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _keep(self, piece: cython.int, first: cython.int, last: cython.int) -> cython.int:
        """On the stack, what a piece has of the code points ``first`` to ``last``."""
        if first < self.start[piece]:
            first = self.start[piece]
        if last > self.last[piece]:
            last = self.last[piece]
        return self._push(first, last, self.home[piece]) if first <= last else 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _hex(self, digit: cython.int, child: cython.int) -> cython.int:
        """The entries of a hexadecimal digit."""
        if child == NONE:
            return 0
        if digit < 10:
            return self._push(0x30 + digit, 0x30 + digit, child)
        if self.way == 2:
            self._push(0x37 + digit, 0x37 + digit, child)
        return self._push(0x57 + digit, 0x57 + digit, child)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _branch(self, base: cython.int) -> cython.int:
        """The node of entries of digits."""
        sort_triples(self.part_lo, self.part_hi, self.part_child, base, self.top)
        return self._node(base)

    @cython.cfunc
    @cython.exceptval(-2147483647, check=False)
    def _digits(self, first: cython.int, bits: cython.int) -> cython.int:
        """The node (or ``~class``) that reads the last ``bits`` bits of the code points from ``first`` on.

        Four bits a digit, high surrogates first; at ten bits the low surrogate begins. Calls nest eight deep.
        """
        last: cython.int = first + (1 << bits) - 1
        at: cython.int = self._piece(first)
        base: cython.int = self.top
        index: cython.int = -1
        key: cython.int = 0
        digit: cython.int
        node: cython.int
        if at >= 0 and self.last[at] >= last:
            index = self.home[at]
            if bits == 0:
                return ~index
            key = 2 * (BITS * index + bits) + (first >= ASTRAL)
            if self.known[key] >= 0:
                return self.known[key]
        elif (at < 0 or self.last[at] < first) and (at + 1 == self.pieces or self.start[at + 1] > last) and (
                first >= ASTRAL or bits < 12 or (bits == 12 and first != 0xD000)):
            return NONE  # and no surrogates among them
        if bits == 10:
            node = self._low_surrogates(first)
        else:
            for digit in range(16):
                if bits == 12 and first == 0xD000 and digit >= 8:
                    # ``D8`` to ``DB``: a quarter each of the code points past U+FFFF. ``DC`` to ``DF`` come second.
                    node = self._digits(ASTRAL + (digit - 8 << 18), 18) if digit < 12 else NONE
                else:
                    node = self._digits(first + (digit << bits - 4), bits - 4)
                self._hex(digit, node)
            node = self._branch(base)
        if index >= 0 and node != NONE:
            self.known[key] = node
        return node

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _low_surrogates(self, first: cython.int) -> cython.int:
        """The node that reads ``\\uDC00`` and so on for the 1,024 code points from ``first`` on."""
        base: cython.int = self.top
        digit: cython.int
        node: cython.int
        for digit in range(4):
            self._hex(12 + digit, self._digits(first + (digit << 8), 8))
        node = self._branch(base)
        if node == NONE:
            return NONE
        self._hex(13, node)
        node = self._branch(base)
        self._push(LETTER_U, LETTER_U, node)
        node = self._node(base)
        self._push(BACKSLASH, BACKSLASH, node)
        return self._node(base)
