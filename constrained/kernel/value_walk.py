# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The tokens that come to grief along what was seen: a walk over the vocabulary with pairs of readers and an automaton.

Idea
    From a pair (``value_pairs``) only bytes of the reader's outlook can lead to one without a way on; so the walk
    follows those alone. Inside a string whose texts are nearly free there are many such bytes once much was seen, and
    none of them matters before the closing quotation mark comes: where the automaton stays in its state and can read
    bytes that were in no string so far, the walk goes only where the vocabulary has a token with a quotation mark or a
    backslash ahead (``closing``). Of a number that many digits
    more can follow only what is no digit matters.

    Behind blanks, if all blanks do the same, the walk begins again at the vocabulary's few runs of them
    (``blank_runs``).

Data
    below[x]         what tokens below node x of the vocabulary's trie have: bit 0 such a byte, bit 1 one that is no
                     digit; the rest: how many digits in a row right there. ``digits``: the most of all
    blanks           of each state of the automaton its states behind 1, 2, ... blanks; None: it matters which ones

Cost: 0.1-0.3 us a node that is visited; 1 ns a token below those found.
"""

from __future__ import annotations

import numpy as np

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int, grow_uint
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.value_pairs import GHOST, MANY_DIGITS, ValuePairs
    from cython.cimports.constrained.kernel.value_states import STRING
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int, grow_uint
    from constrained.kernel.token_trie import TokenTrie
    from constrained.kernel.value_pairs import GHOST, MANY_DIGITS, ValuePairs
    from constrained.kernel.value_states import STRING

_BLANK = [0x09, 0x0A, 0x0D, 0x20]

MANY = cython.declare(cython.int, 4000)  # states of which something is known before all is forgotten


@cython.final
@cython.cclass
class Closing:
    """What is below each node of a vocabulary's trie; made once for each. See the module docstring."""

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
        top: cython.int
        run: cython.int
        self.trie = trie
        self.below = grow_int(self.below, trie.n_nodes)
        if not self.below:
            raise MemoryError
        for x in range(trie.n_nodes):
            self.below[x] = 0
        x = trie.n_nodes - 1
        self.digits = 0
        while x > 0:
            b = trie.word[x] & 255
            top = trie.parent[x]
            self.below[top] |= self.below[x] & 3
            if 0x30 <= b <= 0x39:
                run = (self.below[x] >> 2) + 1
                self.digits = max(self.digits, run)
                if run > self.below[top] >> 2:
                    self.below[top] = self.below[top] & 3 | run << 2
            else:
                self.below[top] |= 3 if b == 0x22 or b == 0x5C else 2
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
    """See the module docstring. ``runs``: what ``blank_runs`` found. ``gone``: a row of bits, all 0 between calls."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.gone)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.gone = None
            return self

    def __init__(self, pairs: ValuePairs, closing: Closing, runs: list):
        i: cython.int
        self.pairs = pairs
        self.reader = pairs.reader
        self.closing = closing
        self.runs = runs
        self.blanks = {}
        self.gone = grow_uint(self.gone, closing.trie.words)
        if not self.gone:
            raise MemoryError
        for i in range(closing.trie.words):
            self.gone[i] = 0

    # ---- one pair ----------------------------------------------------------------------------------------

    def walk(self, reader: cython.int, state: cython.longlong):
        """The trie's nodes below which all tokens die, or None where a ``Distinct`` may begin on the way."""
        x: cython.int
        node: cython.int
        b: cython.int
        i: cython.int
        here: cython.int
        r: cython.int
        first: cython.int
        after: cython.longlong
        passing: cython.int
        without: cython.bint
        trie: TokenTrie = self.closing.trie
        pairs: ValuePairs = self.pairs
        bits = cython.declare(cython.int[8])
        dead: list = []
        others = self._behind_blanks(reader, state)
        marked = self.reader.mark()
        waiting: list = [(reader, state, 0, marked, others is not None)]
        if others is not None:
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
            first = pairs.first(state)
            passing = 0
            if self.reader.kind == STRING:
                passing = 1 if pairs.leads_away(first, True) else 0
            elif pairs.grows(here, state, MANY_DIGITS + self.closing.digits):
                passing = 2
            x = node + 1
            while x < trie.end[node]:
                b = trie.word[x] & 255
                if bits[b >> 5] >> (b & 31) & 1:
                    if (b == 0x5B or b == 0x7B) and pairs.firsts.get(first, 8) != 0:
                        return None
                    after = pairs.after(state, b)
                    if (passing == 1 and after == state and b != 0x22 and b != 0x5C) or (
                            passing == 2 and 0x30 <= b <= 0x39):
                        if self.closing.below[x] & passing:
                            r = self.reader.one(here, b)
                            waiting.append((r, after, x, self.reader.mark(), False))
                    else:
                        r = self.reader.one(here, b) if after != 0 else GHOST
                        if r < 0 or not pairs.lives(r, after):
                            dead.append(x)
                        elif r > 0 and trie.end[x] > x + 1:
                            waiting.append((r, after, x, self.reader.mark(), False))
                x = trie.end[x]
        return dead

    @cython.cfunc
    def _behind_blanks(self, reader: cython.int, state: cython.longlong):
        """Where the walk goes on behind blanks: (reader, state, node of the trie); None: as behind other bytes."""
        i: cython.int
        after: cython.longlong
        found: list = []
        self.reader.look_at(reader)
        if self.reader.bits[1] & 1 == 0 and self.reader.bits[0] & ((1 << 0x09) | (1 << 0x0A) | (1 << 0x0D)) == 0:
            return found
        states = self._states_behind_blanks(state)
        if states is None:
            return None
        reader = self.reader.one(reader, 0x20)  # of more blanks it knows nothing
        if reader < 0:
            return None
        for after in states:
            if not self.pairs.lives(reader, after):
                return None
        for i in range(min(len(states), len(self.runs))):
            for node in self.runs[i]:
                found.append((reader, states[i], node))
        return found

    @cython.cfunc
    def _states_behind_blanks(self, state: cython.longlong):
        """The states behind 1, 2, ... blanks, as long as there are some; None where it matters which ones."""
        i: cython.int
        key: object = state
        here: cython.longlong
        found: list = []
        if key in self.blanks:
            return self.blanks[key]
        if len(self.blanks) >= MANY:
            self.blanks.clear()
        for _ in range(max(len(self.runs), 1)):  # one at least: whether blanks live is asked of these
            here = self.pairs.after(state, 0x20)
            for i in range(3):
                if self.pairs.after(state, _BLANK[i]) != here:
                    self.blanks[key] = None
                    return None
            if here == 0:
                break
            found.append(here)
            state = here
        self.blanks[key] = found
        return found

    # ---- several -----------------------------------------------------------------------------------------

    def dying(self, pairs: tuple, tried: list):
        """The ids of those tokens of ``tried`` (id, bytes, whether a bracket opens among them) that no pair survives,
        each tried by itself."""
        one: tuple
        data: bytes
        some: cython.bint
        reader: cython.int = 0
        state: cython.longlong = 0
        found: list = []
        marked = self.reader.mark()
        if len(pairs) == 1:
            reader, state = pairs[0]
        for one in tried:
            data = one[1]
            if reader > 0 and not one[2]:
                self.pairs._run(reader, state, data, 0)
                some = self.pairs.state != 0 and self.pairs.lives(self.pairs.here, self.pairs.state)
            else:
                some = len(self.pairs._living(self.pairs._fed(pairs, data))) > 0
            if not some:
                found.append(one[0])
            self.reader.undo(marked)
        return found

    def walk_all(self, pairs: tuple):
        """The same for any pairs, byte by byte. A ghost is followed wherever it can go."""
        x: cython.int
        node: cython.int
        b: cython.int
        trie: TokenTrie = self.closing.trie
        bits = cython.declare(cython.int[8])
        dead: list = []
        waiting: list = [(pairs, 0, self.reader.mark())]
        while waiting:
            pairs, node, marked = waiting.pop()
            self.reader.undo(marked)
            self._troubling(pairs, bits)
            x = node + 1
            while x < trie.end[node]:
                b = trie.word[x] & 255
                if bits[b >> 5] >> (b & 31) & 1:
                    after = self.pairs._living(self.pairs._byte(
                        self.pairs._with_marks(pairs) if b == 0x5B or b == 0x7B else pairs, b))
                    if not after:
                        dead.append(x)
                    elif trie.end[x] > x + 1:
                        waiting.append((after, x, self.reader.mark()))
                x = trie.end[x]
        return dead

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _troubling(self, pairs: tuple, bits: cython.p_int) -> cython.int:
        """Write the bytes behind which a pair is not calm."""
        i: cython.int
        row: cython.int
        reader: cython.int
        state: cython.longlong
        for i in range(8):
            bits[i] = 0
        for reader, state in pairs:
            if reader == GHOST:
                row = self.pairs.first(state)
                for i in range(8):
                    bits[i] |= self.pairs.firsts.get(row, i)
            elif reader != 0:
                self.reader.look_at(reader)
                for i in range(8):
                    bits[i] |= self.reader.bits[i]
        return 0

    # ---- what masks lose -----------------------------------------------------------------------------------

    def lost(self, allowed: cython.uint[::1], nodes: list, ids: list):
        """Of the tokens below ``nodes`` and ``ids`` those that a mask allows: how many, the words that they are in, in
        order, and their bits there."""
        trie: TokenTrie = self.closing.trie
        gone: cython.p_uint = self.gone
        x: cython.int
        i: cython.int
        node: cython.int
        token: cython.int
        word: cython.uint
        words: cython.int = 0
        count: cython.int = 0
        for node in nodes:
            for x in range(node, trie.end[node]):
                token = trie.token[x]
                if token != trie.spare:
                    gone[token >> 5] |= cython.cast(cython.uint, 1) << (token & 31)
        if nodes:
            for i in range(trie.n_twins):
                token = trie.twins[2 * i]
                if gone[token >> 5] >> (token & 31) & 1:
                    token = trie.twins[2 * i + 1]
                    gone[token >> 5] |= cython.cast(cython.uint, 1) << (token & 31)
        for token in ids:
            gone[token >> 5] |= cython.cast(cython.uint, 1) << (token & 31)
        for i in range(trie.words):
            gone[i] &= allowed[i] if cython.compiled else int(allowed[i])
            if gone[i] != 0:
                words += 1
        found_places = np.empty(words, dtype=np.uint32)
        found_bits = np.empty(words, dtype=np.uint32)
        if words > 0:
            places: cython.uint[::1] = found_places
            bits: cython.uint[::1] = found_bits
            x = 0
            for i in range(trie.words):
                word = gone[i]
                if word != 0:
                    gone[i] = 0
                    places[x] = i
                    bits[x] = word
                    x += 1
                while word != 0:
                    word &= word - 1
                    count += 1
        return count, found_places, found_bits
