# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Ways to read a text under which nothing came twice: pairs of a reader's state and an automaton's.

Idea
    A reader (``value_reader``) remembers what was seen, the automaton *exact* knows what may follow; it reads a mark
    where a ``Distinct`` begins. A pair lives while its unfinished items can still be completed as new ones: any byte
    that leads away from all that was seen will do, and only where there is none a search tells.

    Where several pairs live and one of them comes to grief, a *ghost* stays for it as long as it can read what the
    others cannot (``engine.distinct.automaton`` says what for).

Data
    Pairs are a tuple of (reader's state, handle of exact), sorted, each reader's state once; none: dead. Reader 0 has
    nothing to watch, ``GHOST`` stands for one that came to grief.

    dead    places in an item, (state of exact, lexeme, nodes), from which every way ends in one of a few values: those;
            as long as all are seen there is no way on. Nodes from ``solid`` on may be taken back
    ways    other such places, and bytes that led to where a way on can be seen at once: mostly they still do

Cost: a byte of one pair 0.1-0.3 us; a search 1 us a state that it meets.
"""

from __future__ import annotations

from heapq import heappop, heappush

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.token_automaton import TokenAutomaton
    from cython.cimports.constrained.kernel.value_ahead import BRACKET, ValueAhead
    from cython.cimports.constrained.kernel.value_reader import ValueReader
    from cython.cimports.constrained.kernel.value_states import DISTINCT, FLAGS, NUMBER, SEEN
else:
    from constrained.kernel.token_automaton import TokenAutomaton
    from constrained.kernel.value_ahead import BRACKET, ValueAhead
    from constrained.kernel.value_reader import ValueReader
    from constrained.kernel.value_states import DISTINCT, FLAGS, NUMBER, SEEN

GHOST = cython.declare(cython.int, -1)
OF_NUMBER = cython.declare(cython.int, 0x03FF6800)  # of the second word of 256 bits: digits, point and signs
MANY_DIGITS = cython.declare(cython.int, 10)  # 10 ** 10 numbers are more than there are nodes for values
MOST_DEAD = cython.declare(cython.int, 4_000)
EXPONENT = cython.declare(cython.int, 1 << 5)  # of the third and the fourth one: "E" and "e"


class SearchLimitReached(Exception):
    """Whether an item can still be ended as a new one was searched for too long; args: states met."""


@cython.final
@cython.cclass
class ValuePairs(ValueAhead):
    """See the module docstring. ``searched``: states met since ``begin``."""

    def __init__(self, reader: ValueReader, exact: TokenAutomaton, mark: cython.int, max_search: cython.int):
        """``mark``: the id that stands for the beginning of a ``Distinct`` in exact's vocabulary."""
        ValueAhead.__init__(self, reader, exact, mark)
        self.max_search = max_search
        self.dead = {}
        self.ways = {}
        self.way = None
        self.killers = set()
        self.begin()

    def begin(self):
        """A step or a mask begins, and all that was tried before is taken back."""
        self.searched = 0
        self.solid = self.reader.trie.n

    # ---- steps -------------------------------------------------------------------------------------------

    def feed(self, pairs: tuple, data: bytes):
        """The pairs after ``data``; a ``Distinct`` begins in front of a bracket. Raises ``SearchLimitReached``."""
        return self._living(self._fed(pairs, data))

    def read(self, pairs: tuple, data: bytes):
        """The same, but whether they live is not asked."""
        return self._fed(pairs, data)

    def living(self, pairs: tuple):
        """The pairs without those that have no way on; a ghost may stay for one."""
        return self._living(pairs)

    @cython.cfunc
    def _fed(self, pairs: tuple, data: bytes):
        i: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = len(data)
        byte: cython.int
        text: cython.p_const_uchar = data
        while i < n and pairs:
            if len(pairs) == 1:
                i = self._run(pairs[0][0], pairs[0][1], data, i)
                if self.state == 0:
                    return ()
                pairs = ((self.here, self.state),)
                if i == n:
                    break
            byte = text[i]
            pairs = self._byte(self._with_marks(pairs) if byte == 0x5B or byte == 0x7B else pairs, byte)
            i += 1
        return pairs

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _run(self, reader: cython.int, state: cython.longlong, data: bytes, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read ``data[i:]`` with one pair, which is left in ``here`` and ``state`` (0: dead), up to where a mark may
        stand; returns that place."""
        n: cython.Py_ssize_t = len(data)
        byte: cython.int
        r: cython.int
        watched: cython.bint = reader > 0
        text: cython.p_const_uchar = data
        if watched:
            self.reader._unpack(reader)
        while i < n:
            byte = text[i]
            if (byte == 0x5B or byte == 0x7B) and self.firsts.get(self.first(state), 8) != 0:
                break
            state = self.after(state, byte)  # first: the reader relies on it that this is JSON
            if state == 0:
                break
            if watched:
                r = self.reader._step(byte)
                if r < 0:
                    state = 0
                    break
                if r == 0:
                    reader = 0
                    watched = False
            i += 1
        self.here = self.reader._pack() if watched and state != 0 else reader
        self.state = state
        return i

    @cython.cfunc
    def _byte(self, pairs: tuple, byte: cython.int):
        """The pairs behind ``byte``, marks taken."""
        found: dict = {}
        reader: cython.int
        state: cython.longlong
        for reader, state in pairs:
            state = self.after(state, byte)
            if state != 0:
                self._add(found, self.reader.one(reader, byte) if reader > 0 else reader, state)
        return in_order(found)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _add(self, found: dict, reader: cython.int, state: cython.longlong) -> cython.int:
        """Add a pair; two states with one reader become one."""
        known: object = found.get(reader)
        found[reader] = state if known is None else self.exact.unite(known, state)
        return 0

    @cython.cfunc
    def _with_marks(self, pairs: tuple):
        found: dict = dict(pairs)
        changed: cython.bint = False
        reader: cython.int
        state: cython.longlong
        for reader, state in pairs:
            while reader != GHOST:
                state = self.marked(state)
                if state == 0:
                    break
                reader = self.reader.marked(reader)
                self._add(found, reader, state)
                changed = True
        return in_order(found) if changed else pairs

    # ---- no dead ends --------------------------------------------------------------------------------

    @cython.cfunc
    def _living(self, pairs: tuple):
        reader: cython.int
        state: cython.longlong
        dying: cython.int = 0
        found: dict = {}
        for reader, state in pairs:
            if reader > 0 and not self.lives(reader, state):
                reader = GHOST
                dying += 1
            self._add(found, reader, state)
        return in_order(found) if dying > 0 else pairs

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def lives(self, reader: cython.int, state: cython.longlong) -> cython.bint:
        """Whether the unfinished items of a reader can be completed as new ones. Raises ``SearchLimitReached``."""
        found: cython.bint
        if reader == 0 or self._has_way(reader, state):
            return True
        key = self._key(reader, state)
        if key is not None:
            if key in self.dead and self._has_seen(reader, self.dead[key]):
                return False
            if key in self.ways and self._is_way(reader, state, self.ways[key]):
                return True
        before = self.reader.mark()
        try:
            self.killers = set()
            self.frame = self.reader.states.get(reader, 0)
            found = self._search(reader, state)
        finally:
            self.reader.undo(before)
        if found:
            if key is not None and self.way is not None:
                if len(self.ways) >= MOST_DEAD:
                    self.ways.clear()
                self.ways[key] = self.way
        elif key is not None and max(self.killers, default=0) < self.solid:
            if len(self.dead) >= MOST_DEAD:
                self.dead.clear()
            self.dead[key] = tuple(self.killers)
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _is_way(self, reader: cython.int, state: cython.longlong, way: bytes) -> cython.bint:
        """Whether ``way``, which has no bracket that opens, leads to where a way on can be seen at once."""
        found: cython.bint
        before = self.reader.mark()
        self._run(reader, state, way, 0)
        found = self.state != 0 and (self.here == 0 or self._has_way(self.here, self.state))
        self.reader.undo(before)
        return found

    @cython.cfunc
    def _key(self, reader: cython.int, state: cython.longlong):
        """What ``dead`` knows a place by: it is in an item of one array only, and its nodes will stay; else None."""
        flags: cython.int = self.reader.frames.get(self.reader.states.get(reader, 0), FLAGS)
        here: cython.int = -self.reader.states.get(reader, 2)
        begun: cython.int = -self.reader.states.get(reader, 3)
        if flags != DISTINCT or self.reader.states.get(reader, 4) != 1 or here >= self.solid or begun >= self.solid:
            return None
        return state, self.reader.states.get(reader, 1), here, begun

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _has_seen(self, reader: cython.int, values: tuple) -> cython.bint:
        seen: cython.int = self.reader.frames.get(self.reader.states.get(reader, 0), SEEN)
        value: cython.int
        for value in values:
            if not self.reader.trie.contains(seen, value):
                return False
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _has_way(self, reader: cython.int, state: cython.longlong) -> cython.bint:
        """Whether there is a way on that can be seen at once."""
        return (self.grows(reader, state, MANY_DIGITS) or self.reader.look_at(reader)
                or self.leads_away(self.first(state), False))

    @cython.cfunc
    @cython.exceptval(check=False)
    def leads_away(self, row: cython.int, unused: cython.bint) -> cython.bint:
        """Whether a byte of a row of ``firsts`` leads away from all that was seen; the reader's outlook is in hand.

        Brackets may begin more, and digits an exponent. ``unused``: a byte, too, that no string had so far.
        """
        i: cython.int
        word: cython.int
        number: cython.bint = self.reader.kind == NUMBER
        for i in range(8):
            word = self.firsts.get(row, i) & ~self.reader.bits[i]
            if unused:
                word &= ~self.reader.used[i]
            if i == 1 and number:
                word &= ~OF_NUMBER
            elif i == 2 or i == 3:
                word &= ~(BRACKET | EXPONENT) if number else ~BRACKET
            if word != 0:
                return True
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _search(self, reader: cython.int, state: cython.longlong) -> cython.bint:
        """By turns from what is nearest to an end of all that was met, and from what the last step led nearest to one:
        where what was seen bars the near ends, the first has all their other spellings to try, and the second goes by.
        """
        i: cython.int
        byte: cython.int
        row: cython.int
        word: cython.uint
        some: cython.bint
        far: cython.longlong
        here: tuple = (reader, state)
        pair: tuple
        met: dict = {here: None}
        heap: list = [(self.distance(state), here)]
        last: list = []
        fresh: list
        done: set = set()
        while heap:
            here = last.pop()[1] if last and len(done) & 1 else heappop(heap)[1]
            if here in done:
                continue
            done.add(here)
            fresh = []
            row = self.first(here[1])
            for i in range(8):
                word = cython.cast(cython.uint, self.firsts.get(row, i))
                byte = 32 * i - 1
                while word != 0:
                    byte += 1
                    word, some = word >> 1, word & 1
                    if not some:
                        continue
                    if byte == 0x30 and self._pads(here[0], here[1]):
                        continue
                    for pair in self._ways(here, byte, row):
                        if pair[0] == GHOST or pair in met:
                            continue
                        if pair[0] == 0 or self._has_way(pair[0], pair[1]):
                            self.way = _way_to(met, here, byte)
                            return True
                        met[pair] = (here, byte)
                        far = self.distance(pair[1])
                        heappush(heap, (far, pair))
                        fresh.append((-far, pair))
            fresh.sort()
            last += fresh
            self.searched += 1
            if self.searched + len(heap) > self.max_search:
                raise SearchLimitReached(self.searched)
        return False

    @cython.cfunc
    def _ways(self, here: tuple, byte: cython.int, row: cython.int):
        """The pairs behind a byte of one that is watched; ``row``: of ``firsts``."""
        reader: cython.int
        state: cython.longlong
        if (byte == 0x5B or byte == 0x7B) and self.firsts.get(row, 8) != 0:
            return self._byte(self._with_marks((here,)), byte)
        state = self.after(here[1], byte)
        if state == 0:
            return ()
        reader = self.reader.one(here[0], byte)
        if reader < 0 and self.reader.frame == self.frame:
            self.killers.add(self.reader.killer)
        return ((reader, state),)

    def memory(self):
        """Bytes held, but for the reader and exact."""
        return ValueAhead.memory(self) + 300 * (len(self.dead) + len(self.ways))


@cython.cfunc
def _way_to(met: dict, here: tuple, byte: cython.int):
    """The bytes that led to ``here``, and ``byte``; None if a bracket opens among them, where a mark may stand."""
    found: bytearray = bytearray((byte,))
    while met[here] is not None:
        here, byte = met[here]
        found.append(byte)
    found.reverse()
    return None if b"[" in found or b"{" in found else bytes(found)


def in_order(found: dict):
    """Pairs in order; ghosts only as long as they can read what no other can, beside others."""
    ghost = found.get(GHOST)
    if ghost is not None and (len(found) == 1 or list(found.values()).count(ghost) > 1):
        del found[GHOST]
    return tuple(sorted(found.items()))
