# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What can follow in a text whose values must differ, as the automaton *exact* knows it (``value_pairs``).

What was seen plays no part here: which bytes a state reads, how many digits, and whether zeros are needless.

Data
    row_at[node]    of each node of exact the row of ``firsts`` that says what it can read, 0: not looked at yet
    free_at[node]   how many digits can follow it, whatever they are: at least so many, or -1 - n: n and no more
    pad_at[node]    of a place in a fraction whether one zero more only spells the same numbers again: 1, -1; 0: not
                    looked at yet
    firsts          rows of nine ints: bits of the bytes, a mark standing for both brackets; whether a mark can follow

Cost: 50 ns a byte; 0.3 us a digit that is met first.
"""

from __future__ import annotations

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
    from cython.cimports.constrained.kernel.value_states import HAS_EXPONENT, IS_ZERO, NUMBER, RECORDED
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.distance import minimum
    from constrained.kernel.int_rows import IntRows
    from constrained.kernel.memory import grow_int, zero_ints
    from constrained.kernel.token_automaton import TokenAutomaton, bases_of
    from constrained.kernel.value_reader import ValueReader
    from constrained.kernel.value_states import HAS_EXPONENT, IS_ZERO, NUMBER, RECORDED

BRACKET = cython.declare(cython.int, 1 << 27)  # of the third and the fourth word of 256 bits: "[" and "{"
NOT_ZERO = cython.declare(cython.int, 0x03FE0000)  # of the second one: digits but "0"
MOST_ZEROS = cython.declare(cython.int, 2_000)  # that are followed to find out whether they are needless


@cython.cclass
class ValueAhead:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.row_at)
            free(self.free_at)
            free(self.pad_at)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.row_at = self.free_at = self.pad_at = None
            self.cap = 0
            return self

    def __init__(self, reader: ValueReader, exact: TokenAutomaton, mark: cython.int):
        """``mark``: the id that stands for the beginning of a ``Distinct`` in exact's vocabulary."""
        self.reader = reader
        self.exact = exact
        self.mark = mark
        self.firsts = IntRows(9)

    @cython.final
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

    @cython.final
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

    @cython.final
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

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def first(self, state: cython.longlong) -> cython.int:
        """The row of ``firsts`` for a state of exact."""
        node: cython.int = self._place(state)
        if self.row_at[node] == 0:
            self.row_at[node] = self._look(node)
        return self.row_at[node]

    @cython.final
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
            self.pad_at = grow_int(self.pad_at, self.cap)
            if not (self.row_at and self.free_at and self.pad_at):
                raise MemoryError
            zero_ints(self.row_at, old, self.cap - old)
            zero_ints(self.free_at, old, self.cap - old)
            zero_ints(self.pad_at, old, self.cap - old)
        return node

    @cython.final
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

    # ---- digits ------------------------------------------------------------------------------------------

    @cython.final
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

    @cython.final
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

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _pads(self, reader: cython.int, state: cython.longlong) -> cython.bint:
        """Whether one zero more only spells the same numbers again: in a fraction that no other digit can follow. Of
        such zeros there are hundreds, or no end where their number is not capped."""
        word: cython.int = self.reader.states.get(reader, 1)
        node: cython.int
        if word & 15 != NUMBER or word >> 4 & (IS_ZERO | HAS_EXPONENT | RECORDED) != RECORDED:
            return False
        node = self._place(state)
        if self.pad_at[node] == 0:
            self._follow_zeros(state)
        if self.pad_at[node] < 0:
            return False
        self.reader._unpack(reader)
        return b"." in self.reader._digits()

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _follow_zeros(self, state: cython.longlong) -> cython.int:
        """Find for each state on the way of zeros from ``state`` on whether one more does nothing: no other digit can
        follow, and whatever else can leads where it does behind one zero more, and so on behind that one.

        Of states of one node the counts differ that are far from their bounds, and none of this depends on those."""
        after: cython.longlong
        before: list = self._beside_zeros(state)
        here: list
        way: list = []
        i: cython.int
        same: cython.bint
        pads: cython.bint = False
        while before is not None and len(way) < MOST_ZEROS:
            after = self.after(state, 0x30)
            if after == 0 or after == state:
                pads = True  # behind the last zero there is nothing to be skipped
                if after == state:
                    way.append((self._place(state), True))
                break
            here = self._beside_zeros(after)
            same = here is not None and here == before
            way.append((self._place(state), same))
            state = after
            before = here
        if not way:
            way.append((self._place(state), False))
        for i in range(len(way) - 1, -1, -1):
            pads = pads and way[i][1]
            if self.pad_at[way[i][0]] == 0 or not pads:
                self.pad_at[way[i][0]] = 1 if pads else -1
        return 0

    @cython.final
    @cython.cfunc
    def _beside_zeros(self, state: cython.longlong):
        """What leads on from a state in which no digit but zero can follow, zero left out; None: another can."""
        i: cython.int
        byte: cython.int
        word: cython.uint
        row: cython.int = self.first(state)
        found: list = []
        if self.firsts.get(row, 1) & NOT_ZERO:
            return None
        for i in range(8):
            word = cython.cast(cython.uint, self.firsts.get(row, i))
            byte = 32 * i
            while word != 0:
                if word & 1 and byte != 0x30:
                    found.append((byte, self.after(state, byte)))
                word >>= 1
                byte += 1
        return found

    def memory(self):
        """Bytes held, but for the reader and exact."""
        return 12 * self.cap + self.firsts.memory()
