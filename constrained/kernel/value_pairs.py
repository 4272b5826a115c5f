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

    row_at[node]    of each node of exact the row of ``firsts`` that says what it can read, 0: not looked at yet
    free_at[node]   how many digits can follow it, whatever they are: at least so many, or -1 - n: n and no more
    dead            places in an item, (state of exact, lexeme, nodes), from which every way ends in one of a few
                    values: those; as long as all are seen there is no way on. Nodes from ``solid`` on may be taken back
    firsts          rows of nine ints: bits of the bytes, a mark standing for both brackets; whether a mark can follow

Cost: a byte of one pair 0.1-0.3 us; a search 1 us a state that it meets.
"""

from __future__ import annotations

from heapq import heappop, heappush

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.distance import minimum
    from cython.cimports.constrained.kernel.int_rows import IntRows
    from cython.cimports.constrained.kernel.memory import grow_int, zero_ints
    from cython.cimports.constrained.kernel.token_automaton import TokenAutomaton, bases_of
    from cython.cimports.constrained.kernel.value_reader import ValueReader
    from cython.cimports.constrained.kernel.value_states import DISTINCT, FLAGS, HAS_EXPONENT, IS_ZERO, NUMBER, SEEN
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.distance import minimum
    from constrained.kernel.int_rows import IntRows
    from constrained.kernel.memory import grow_int, zero_ints
    from constrained.kernel.token_automaton import TokenAutomaton, bases_of
    from constrained.kernel.value_reader import ValueReader
    from constrained.kernel.value_states import DISTINCT, FLAGS, HAS_EXPONENT, IS_ZERO, NUMBER, SEEN

GHOST = cython.declare(cython.int, -1)
BRACKET = cython.declare(cython.int, 1 << 27)  # of the third and the fourth word of 256 bits: "[" and "{"
OF_NUMBER = cython.declare(cython.int, 0x03FF6800)  # of the second one: digits, point and signs
NOT_ZERO = cython.declare(cython.int, 0x03FE0000)  # digits but "0"
MANY_DIGITS = cython.declare(cython.int, 10)  # 10 ** 10 numbers are more than there are nodes for values
MOST_DEAD = cython.declare(cython.int, 4_000)
EXPONENT = cython.declare(cython.int, 1 << 5)  # of the third and the fourth one: "E" and "e"


class SearchLimitReached(Exception):
    """Whether an item can still be ended as a new one was searched for too long; args: states met."""


@cython.final
@cython.cclass
class ValuePairs:
    """See the module docstring. ``searched``: states met since ``begin``."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.row_at)
            free(self.free_at)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.row_at = self.free_at = None
            self.cap = 0
            return self

    def __init__(self, reader: ValueReader, exact: TokenAutomaton, mark: cython.int, max_search: cython.int):
        """``mark``: the id that stands for the beginning of a ``Distinct`` in exact's vocabulary."""
        self.reader = reader
        self.exact = exact
        self.mark = mark
        self.max_search = max_search
        self.firsts = IntRows(9)
        self.dead = {}
        self.killers = set()
        self.begin()

    def begin(self):
        """A step or a mask begins, and all that was tried before is taken back."""
        self.searched = 0
        self.solid = self.reader.trie.n

    # ---- exact -------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def after(self, state: cython.longlong, byte: cython.int) -> cython.longlong:
        """The state of exact behind ``byte``, or 0."""
        a: Automaton = self.exact.a
        node: cython.int
        row: cython.int
        r: cython.longlong = 0
        try:
            with a.lock:
                node = self.exact.node_of(state)
                if node != 0:
                    row = a.step(a.row_of(node), a.cls[byte])
                    if row != 0:
                        r = self.exact.place_of(a.row_node[row // a.n_classes], bases_of(state))
                        r = self.exact.handle_of(r)
            return r
        except BaseException:
            self.exact._recover()
            raise

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def marked(self, state: cython.longlong) -> cython.longlong:
        """The state of exact in which a ``Distinct`` has begun, or 0."""
        r: cython.longlong
        if self.firsts.get(self.first(state), 8) == 0:
            return 0
        try:
            with self.exact.a.lock:
                r = self.exact._step(state, self.mark)
            return r
        except BaseException:
            self.exact._recover()
            raise

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def distance(self, state: cython.longlong) -> cython.longlong:
        r: cython.longlong
        try:
            with self.exact.a.lock:
                r = minimum(self.exact.a, self.exact.absolute_of(state))
            return r
        except BaseException:
            self.exact._recover()
            raise

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def first(self, state: cython.longlong) -> cython.int:
        """The row of ``firsts`` for a state of exact."""
        node: cython.int = self._place(state)
        if self.row_at[node] == 0:
            self.row_at[node] = self._look(node)
        return self.row_at[node]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _place(self, state: cython.longlong) -> cython.int:
        """The node of a state, with room for what is known of it."""
        node: cython.int = self.exact.node_of(state)
        old: cython.int = self.cap
        if node >= old:
            self.cap = 2 * node + 64
            self.row_at = grow_int(self.row_at, self.cap)
            self.free_at = grow_int(self.free_at, self.cap)
            if not (self.row_at and self.free_at):
                raise MemoryError
            zero_ints(self.row_at, old, self.cap - old)
            zero_ints(self.free_at, old, self.cap - old)
        return node

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _look(self, node: cython.int) -> cython.int:
        """What can follow ``node``."""
        one: TokenAutomaton = self.exact
        a: Automaton = one.a
        i: cython.int
        j: cython.int
        b: cython.int
        row: cython.p_int = self.firsts.row
        for i in range(9):
            row[i] = 0
        if node != 0:
            try:
                with a.lock:
                    a.need_classes()
                    for i in range(8):
                        one.first[i] = 0
                    a.first_classes(node, one.first)
                    if a.guard_loop >= 0 or a.budgets or a.has_lazy:
                        one._drop_dead_classes(node)
                    for i in range(a.n_classes):
                        if one.first[i >> 5] >> (i & 31) & 1:
                            for j in range(a.class_off[i], a.class_off[i + 1]):
                                b = a.class_bytes[j]
                                row[b >> 5] |= cython.cast(cython.int, 1) << (b & 31)
                    if one._reads_tokens(node) and one.next_state(node, self.mark) != 0:
                        row[2] |= BRACKET
                        row[3] |= BRACKET
                        row[8] = 1
            except BaseException:
                one._recover()
                raise
        return self.firsts.intern()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grows(self, reader: cython.int, state: cython.longlong, digits: cython.int) -> cython.bint:
        """Whether a number is being read that any ``digits`` digits can follow, all with the same effect on exact.

        Behind each of them the same end makes another number, unless it is zero whatever the exponent: more than were
        ever seen if ``digits`` is ``MANY_DIGITS`` or more.
        """
        word: cython.int = self.reader.states.get(reader, 1)
        node: cython.int
        known: cython.int
        if word & 15 != NUMBER or word >> 4 & IS_ZERO:
            return False
        node = self._place(state)
        if self.free_at[node] >= 0 and self.free_at[node] < digits:
            self._count_free(state, 2 * digits)
        known = self.free_at[node]
        return (known if known >= 0 else -1 - known) >= digits

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _count_free(self, state: cython.longlong, most: cython.int) -> cython.int:
        """Find how many digits can follow, of each state on the way."""
        digit: cython.int
        count: cython.int = 0
        i: cython.int
        node: cython.int
        after: cython.longlong
        way: list = [self._place(state)]
        ends: cython.bint = False
        while count < most:
            after = self.after(state, 0x30)
            for digit in range(0x31, 0x3A):
                if after != 0 and self.after(state, digit) != after:
                    after = 0
            if after == 0:
                ends = True
                break
            if after == state:
                count = most
                break
            count += 1
            state = after
            way.append(self._place(state))
        for i in range(len(way)):
            node = way[i]
            if ends:
                self.free_at[node] = i - count - 1
            elif self.free_at[node] >= 0 and self.free_at[node] < count - i:
                self.free_at[node] = count - i
        return 0

    def first_bytes(self, state: cython.longlong):
        """The bytes that exact can read, as an int of 256 bits; a mark stands for both brackets."""
        i: cython.int
        row: cython.int = self.first(state)
        word: object
        number: object = 0
        for i in range(8):
            word = cython.cast(cython.uint, self.firsts.get(row, i))
            number |= word << 32 * i
        return number

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
        if key is not None and key in self.dead and self._has_seen(reader, self.dead[key]):
            return False
        before = self.reader.mark()
        try:
            self.killers = set()
            self.frame = self.reader.states.get(reader, 0)
            found = self._search(reader, state)
        finally:
            self.reader.undo(before)
        if not found and key is not None and max(self.killers, default=0) < self.solid:
            if len(self.dead) >= MOST_DEAD:
                self.dead.clear()
            self.dead[key] = tuple(self.killers)
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
        met: set = {here}
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
                    for pair in self._ways(here, byte, row):
                        if pair[0] == GHOST or pair in met:
                            continue
                        if byte == 0x30 and pair[1] == here[1] and self._pads(here[0], row):
                            continue
                        if pair[0] == 0 or self._has_way(pair[0], pair[1]):
                            return True
                        met.add(pair)
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
    @cython.exceptval(-1, check=False)
    def _pads(self, reader: cython.int, row: cython.int) -> cython.bint:
        """Whether one zero more, that leaves exact where it was, only spells the same numbers again: in a fraction that
        no other digit can follow. There is no end of such zeros where their number is not capped."""
        word: cython.int = self.reader.states.get(reader, 1)
        if word & 15 != NUMBER or word >> 4 & (IS_ZERO | HAS_EXPONENT) or self.firsts.get(row, 1) & NOT_ZERO:
            return False
        self.reader._unpack(reader)
        return b"." in self.reader._digits()

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
        return 8 * self.cap + self.firsts.memory()


def in_order(found: dict):
    """Pairs in order; ghosts only as long as they can read what no other can, beside others."""
    ghost = found.get(GHOST)
    if ghost is not None and (len(found) == 1 or list(found.values()).count(ghost) > 1):
        del found[GHOST]
    return tuple(sorted(found.items()))
