# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The tokens that come to grief along what was seen: a walk over the vocabulary with one reader and one automaton.

Idea
    From a state (reader, automaton) only bytes of the reader's outlook can lead to a state without a way on; so the
    walk follows those alone. Inside a string whose texts are nearly free there are many such bytes once much was seen,
    and none of them matters before the closing quotation mark comes: where the automaton stays in its state and can
    read bytes that were in no string so far, the walk goes only where the vocabulary has a token with a quotation mark
    or a backslash ahead (``closing``).

    What ``lives`` has to decide beyond that is asked of the caller.

Data
    closing[x]       whether such a token is below node x of the vocabulary's trie
    known            of each state of the automaton: 64 bytes, bits of the bytes that it can read (the caller's
                     ``first_bytes``), and of those that leave it where it is

Cost: 0.5-1 us a node that is visited.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.value_reader import ValueReader
    from cython.cimports.constrained.kernel.value_states import NUMBER, STRING
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int
    from constrained.kernel.token_trie import TokenTrie
    from constrained.kernel.value_reader import ValueReader
    from constrained.kernel.value_states import NUMBER, STRING

_BYTES = [bytes((value,)) for value in range(256)]
_BLANK = [0x09, 0x0A, 0x0D, 0x20]

MANY = cython.declare(cython.int, 4000)  # states of which something is known before all is forgotten


@cython.final
@cython.cclass
class Closing:
    """Which nodes of a vocabulary's trie have a token with a quotation mark or backslash below; made once for each."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.below)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.below = None
            return self

    def __init__(self, trie: TokenTrie):
        x: cython.int
        b: cython.int
        self.trie = trie
        self.below = grow_int(self.below, trie.n_nodes)
        if not self.below:
            raise MemoryError
        for x in range(trie.n_nodes):
            self.below[x] = 0
        x = trie.n_nodes - 1
        while x > 0:
            b = trie.word[x] & 255
            if b == 0x22 or b == 0x5C or self.below[x]:
                self.below[trie.parent[x]] = 1
            x -= 1


def blank_runs(trie: TokenTrie) -> list:
    """For 1, 2, ... blanks the trie's nodes that so many lead to and behind which something else comes."""
    found: list = []
    level: list = [0]
    following: list
    some: list
    x: cython.int
    y: cython.int
    i: cython.int
    inside: cython.int
    while level:
        following = []
        some = []
        for x in level:
            inside = 0
            for i in range(4):
                y = trie._child(x, _BLANK[i])
                if y > 0:
                    following.append(y)
                    inside += trie.end[y] - y
            if trie.end[x] - x - 1 > inside:
                some.append(x)
        found.append(some)
        level = following
    while found and not found[len(found) - 1]:
        found.pop()
    return found[1:]


@cython.final
@cython.cclass
class ValueWalk:
    """See the module docstring. ``automaton`` has ``advance``; ``owner``: ``first_bytes``, ``lives``, ``has_mark``."""

    def __init__(self, reader: ValueReader, automaton, owner, closing: Closing):
        self.reader = reader
        self.automaton = automaton
        self.owner = owner
        self.closing = closing
        self.known = {}

    @cython.cfunc
    def _of_state(self, state):
        """The 64 bytes of a state; ``known`` in the module docstring."""
        found = self.known.get(state)
        if found is None:
            if len(self.known) >= MANY:
                self.known.clear()
            first = self.owner.first_bytes(state)
            stays = bytearray(32)
            for b in range(256):
                if first[b >> 3] >> (b & 7) & 1 and self.automaton.advance(state, _BYTES[b]) == state:
                    stays[b >> 3] |= 1 << (b & 7)
            found = self.known[state] = first + bytes(stays)
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _away(self, first: cython.p_const_uchar, met: cython.p_int) -> cython.bint:
        """Whether one of the bytes ``first`` leads away from all that was seen; the outlook is in hand.

        Brackets may begin more, and digits an exponent. ``met``: also no string so far had it.
        """
        i: cython.int
        k: cython.int
        b: cython.int
        word: cython.int
        for i in range(32):
            word = first[i] & ~(self.reader.bits[i >> 2] >> (8 * (i & 3))) & 255
            if met:
                word &= ~(met[i >> 2] >> (8 * (i & 3)))
            if word == 0:
                continue
            for k in range(8):
                if word >> k & 1:
                    b = 8 * i + k
                    if b == 0x5B or b == 0x7B:
                        continue
                    if self.reader.kind == NUMBER and (0x30 <= b <= 0x39 or b == 0x2E or b == 0x2D or b == 0x2B
                                                       or b == 0x65 or b == 0x45):
                        continue
                    return True
        return False

    def walk(self, reader: cython.int, state, without: cython.bint, others):
        """The trie's nodes below which all tokens die, or None where a ``Distinct`` may begin on the way.

        Begins at ``reader`` and ``state``, with no blank first if ``without`` is set; ``others``: more beginnings,
        (reader, state, node) each, with no blank first.
        """
        x: cython.int
        node: cython.int
        b: cython.int
        i: cython.int
        here: cython.int
        r: cython.int
        only_closing: cython.bint
        closes: cython.bint
        trie: TokenTrie = self.closing.trie
        bits = cython.declare(cython.int[8])
        known: bytes
        first: cython.p_const_uchar
        dead = []
        marked = self.reader.mark()
        waiting = [(reader, state, 0, marked, without)]
        for here, after, node in others:
            waiting.append((here, after, node, marked, True))
        while waiting:
            here, state, node, marked, without = waiting.pop()
            self.reader.undo(marked)
            self.reader.look_at(here)
            for i in range(8):
                bits[i] = self.reader.bits[i]
            if without:
                bits[0] &= ~((1 << 0x09) | (1 << 0x0A) | (1 << 0x0D))
                bits[1] &= ~1
            known = self._of_state(state)
            first = known
            only_closing = self.reader.kind == STRING and self._away(first, self.reader.used)
            x = node + 1
            while x < trie.end[node]:
                b = trie.word[x] & 255
                closes = b == 0x22 or b == 0x5C
                if bits[b >> 5] >> (b & 31) & 1 and (
                    not only_closing or closes or self.closing.below[x] or not first[32 + (b >> 3)] >> (b & 7) & 1
                ):
                    if (b == 0x5B or b == 0x7B) and self.owner.has_mark(state):
                        return None
                    after = self.automaton.advance(state, _BYTES[b])
                    r = self.reader.one(here, b) if after else -1
                    if r < 0:
                        dead.append(x)
                    elif r > 0:
                        if (only_closing and not closes and after == state) or self._lives(r, after):
                            if trie.end[x] > x + 1:
                                waiting.append((r, after, x, self.reader.mark(), False))
                        else:
                            dead.append(x)
                x = trie.end[x]
        return dead

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _lives(self, reader: cython.int, state) -> cython.bint:
        if self.reader.look_at(reader):
            return True
        known: bytes = self._of_state(state)
        if self._away(known, None if not cython.compiled else cython.NULL):
            return True
        return self.owner.lives(reader, state)

    def survives(self, reader: cython.int, state, data: bytes):
        """Whether there is a way on behind ``data``, which has no bracket that opens."""
        after = self.automaton.advance(state, data)
        if not after:
            return False
        if reader != 0:
            reader = self.reader.feed(reader, data)
            if reader < 0:
                return False
        return reader == 0 or self._lives(reader, after)
