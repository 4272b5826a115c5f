# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Decimal numbers counted by remainder and compared with two bounds, as a block.

Unsigned texts without exponent are read by a state of a remainder and two comparisons. A number without leading zeros
is smaller than a bound with more digits before the point, so before it a state tells how many digits there were (as
far as a bound has them) and how they compare with as many digits of the bound; behind it, how the whole parts compare
and then how the digits do. A whole part that is too long for the upper bound leads nowhere.

    kind, rest   START, WHOLE (digits), ZERO (a single 0) or TAIL (behind the point); the remainder
    read         digits before the point, up to one more than both bounds have; behind it places, up to ``last_place``
    low, high    how the digits compare with each bound: -1, 0 or 1; without a bound 0

States are made as they are met (an open hash table finds them), so only those that can be reached are there. Reading
digit ``d`` after remainder ``r`` leaves ``(10 r + d) % size``; from the ``scale``-th place on digits must be zeros.
Cost: 10 ns a digit of a state.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.hashing import mix, put_slot
    from cython.cimports.constrained.kernel.memory import empty_table, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.blocks import Block
    from constrained.kernel.hashing import mix, put_slot
    from constrained.kernel.memory import empty_table, grow_int

from constrained.kernel.dfa_tables import TooManyStates  # noqa: E402 - a Python name in both modes

START = cython.declare(cython.int, 0)
WHOLE = cython.declare(cython.int, 1)
ZERO = cython.declare(cython.int, 2)
TAIL = cython.declare(cython.int, 3)


@cython.final
@cython.cclass
class BoundedDigits:
    """See the module docstring. ``run`` is called once."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.kind)
            free(self.rest)
            free(self.read)
            free(self.low)
            free(self.high)
            free(self.slots)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.count = self.room = self.slot_count = 0
            for name in "kind rest read low high slots".split():
                setattr(self, name, None)
            return self

    def __init__(self, size: cython.int, scale: cython.int, fractions: cython.bint, low: tuple, low_open: cython.bint,
                 high: tuple, high_open: cython.bint, most: cython.int):
        """``low``, ``high``: the digits of a bound before and behind the point as two bytes objects, none that is
        needless, or an empty tuple; ``..._open``: the bound itself is no member. ``fractions``: without a ``scale``,
        zeros may follow a point. ``size`` must be below 2**27, ``scale`` below 1,000.
        """
        self.size = size
        self.scale = scale
        self.fractions = fractions
        self.most = most
        self.low_open = low_open
        self.high_open = high_open
        self.has_low = len(low) > 0
        self.has_high = len(high) > 0
        self.low_whole = low[0] if self.has_low else b""
        self.low_tail = low[1] if self.has_low else b""
        self.high_whole = high[0] if self.has_high else b""
        self.high_tail = high[1] if self.has_high else b""
        self.low_size = cython.cast(cython.int, len(self.low_whole))
        self.high_size = cython.cast(cython.int, len(self.high_whole))
        self.low_places = cython.cast(cython.int, len(self.low_tail))
        self.high_places = cython.cast(cython.int, len(self.high_tail))
        self.last_read = 1 + (self.low_size if self.low_size > self.high_size else self.high_size)
        self.last_place = max(1, scale, self.low_places, self.high_places)
        self.room = 64
        self.slot_count = 128
        self.kind = grow_int(self.kind, self.room)
        self.rest = grow_int(self.rest, self.room)
        self.read = grow_int(self.read, self.room)
        self.low = grow_int(self.low, self.room)
        self.high = grow_int(self.high, self.room)
        self.slots = empty_table(self.slots, self.slot_count)
        if not (self.kind and self.rest and self.read and self.low and self.high and self.slots):
            raise MemoryError

    def run(self) -> tuple:
        """(block, accepting states). Raises TooManyStates."""
        block: Block = Block()
        accepting: list = []
        state: cython.int = 0
        e: cython.int = 0
        room: cython.int = 256
        i: cython.int
        kind: cython.int
        low: cython.int
        high: cython.int
        block._room(self.room, room, 0)
        self._place(START, 0, 0, 0, 0)
        while state < self.count:
            if e + 11 > room:
                room *= 2
                block._room(self.room, room, 0)
            elif block.n < self.room:
                block._room(self.room, room, 0)
            block.first[state] = e
            kind = self.kind[state]
            if kind == TAIL:
                if self.read[state] > 0 and self._accepts(self.rest[state], self.low[state], self.high[state],
                                                          self.read[state]):
                    accepting.append(state)
                e = self._tail(block, e, state)
            else:
                if kind != START:
                    low = self._settled(self.has_low, self.low_size, self.read[state], self.low[state])
                    high = self._settled(self.has_high, self.high_size, self.read[state], self.high[state])
                    if self.scale > 0 or (self.fractions and self.rest[state] == 0):
                        e = self._edge(block, e, e, 0x2E, self._place(TAIL, self.rest[state], 0, low, high))
                    if self._accepts(self.rest[state], low, high, 0):
                        accepting.append(state)
                if kind != ZERO:
                    e = self._whole(block, e, state)
            state += 1
        block._room(self.count, e, cython.cast(cython.int, len(accepting)))
        block.first[self.count] = e
        i = 0
        for end in accepting:
            block.final[i] = end
            i += 1
        block.measure()
        return block, frozenset(accepting)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _edge(self, block: Block, begin: cython.int, at: cython.int, byte: cython.int, to: cython.int) -> cython.int:
        """An edge of the state whose edges begin at ``begin``, joined with the last one where that is alike."""
        if at > begin and block.to[at - 1] == to and block.hi[at - 1] == byte - 1:
            block.hi[at - 1] = byte
            return at
        block.lo[at] = byte
        block.hi[at] = byte
        block.to[at] = to
        return at + 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _whole(self, block: Block, e: cython.int, state: cython.int) -> cython.int:
        """The digits before the point."""
        begin: cython.int = e
        digit: cython.int
        low: cython.int
        high: cython.int
        read: cython.int = self.read[state]
        after: cython.int = read + 1 if read < self.last_read else read
        kind: cython.int
        rest: cython.int
        if self.has_high and read >= self.high_size:
            return e  # longer than any number that is small enough
        for digit in range(10):
            low = 0
            high = 0
            if self.has_low:
                low = self._compared(self.low_whole, self.low_size, read, self.low[state], digit)
            if self.has_high:
                high = self._compared(self.high_whole, self.high_size, read, self.high[state], digit)
            kind = ZERO if digit == 0 and self.kind[state] == START else WHOLE
            rest = cython.cast(cython.int, (cython.cast(cython.longlong, self.rest[state]) * 10 + digit) % self.size)
            e = self._edge(block, begin, e, 0x30 + digit, self._place(kind, rest, after, low, high))
        return e

    @cython.cfunc
    @cython.exceptval(-2, check=False)
    def _compared(self, own: bytes, size: cython.int, read: cython.int, order: cython.int,
                  digit: cython.int) -> cython.int:
        """How the digits so far compare with as many of a bound after one more; 1 where it has no more."""
        mine: cython.int
        if read >= size:
            return 1
        if order != 0:
            return order
        mine = cython.cast(cython.int, own[read]) - 0x30
        return (digit > mine) - (digit < mine)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _settled(self, there: cython.bint, size: cython.int, read: cython.int, order: cython.int) -> cython.int:
        """How whole parts compare at their end."""
        if not there:
            return 0
        return -1 if read < size else 1 if read > size else order

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _tail(self, block: Block, e: cython.int, state: cython.int) -> cython.int:
        """The digits behind the point."""
        begin: cython.int = e
        digit: cython.int
        rest: cython.int
        low: cython.int
        high: cython.int
        place: cython.int = self.read[state]
        after: cython.int = place + 1 if place < self.last_place else place
        for digit in range(10):
            rest = self.rest[state]
            if place < self.scale:
                rest = cython.cast(cython.int, (cython.cast(cython.longlong, rest) * 10 + digit) % self.size)
            elif digit > 0:
                break
            if rest != 0 and place + 1 >= self.scale:
                continue  # nothing makes up for it any more
            low = self._behind(self.has_low, self.low_tail, self.low_places, self.low[state], place, digit)
            high = self._behind(self.has_high, self.high_tail, self.high_places, self.high[state], place, digit)
            e = self._edge(block, begin, e, 0x30 + digit, self._place(TAIL, rest, after, low, high))
        return e

    @cython.cfunc
    @cython.exceptval(-2, check=False)
    def _behind(self, there: cython.bint, own: bytes, size: cython.int, order: cython.int, place: cython.int,
                digit: cython.int) -> cython.int:
        """How numbers compare after a digit behind the point."""
        mine: cython.int = 0
        if not there:
            return 0
        if order != 0:
            return order
        if place < size:
            mine = cython.cast(cython.int, own[place]) - 0x30
        return (digit > mine) - (digit < mine)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _accepts(self, rest: cython.int, low: cython.int, high: cython.int, places: cython.int) -> cython.bint:
        """Whether a number may end with so many places written."""
        left: cython.longlong = rest
        i: cython.int
        for i in range(places, self.scale):
            left = left * 10 % self.size
        if left % self.size:
            return False
        if self.has_low:
            if low == 0 and places < self.low_places:
                low = -1
            if low < 0 or (low == 0 and self.low_open):
                return False
        if self.has_high:
            if high == 0 and places < self.high_places:
                high = -1
            if high > 0 or (high == 0 and self.high_open):
                return False
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def _slot(self, kind: cython.int, rest: cython.int, read: cython.int, low: cython.int,
              high: cython.int) -> cython.int:
        """Where a state is looked for first."""
        h: cython.ulonglong = mix(mix(kind + 4 * (low + 1) + 16 * (high + 1), rest), read)
        return cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.slot_count - 1))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _place(self, kind: cython.int, rest: cython.int, read: cython.int, low: cython.int,
               high: cython.int) -> cython.int:
        """The number of a state. Raises TooManyStates."""
        i: cython.int = self._slot(kind, rest, read, low, high)
        j: cython.int
        while self.slots[i] >= 0:
            j = self.slots[i]
            if self.kind[j] == kind and self.rest[j] == rest and self.read[j] == read and self.low[j] == low and (
                    self.high[j] == high):
                return j
            i = (i + 1) & (self.slot_count - 1)
        if self.count >= self.most:
            raise TooManyStates
        if self.count >= self.room:
            self.room *= 2
            self.kind = grow_int(self.kind, self.room)
            self.rest = grow_int(self.rest, self.room)
            self.read = grow_int(self.read, self.room)
            self.low = grow_int(self.low, self.room)
            self.high = grow_int(self.high, self.room)
            if not (self.kind and self.rest and self.read and self.low and self.high):
                raise MemoryError
        self.slots[i] = self.count
        self.kind[self.count] = kind
        self.rest[self.count] = rest
        self.read[self.count] = read
        self.low[self.count] = low
        self.high[self.count] = high
        self.count += 1
        if 2 * self.count > self.slot_count:
            self.slot_count *= 4
            self.slots = empty_table(self.slots, self.slot_count)
            if not self.slots:
                raise MemoryError
            for j in range(self.count):
                i = self._slot(self.kind[j], self.rest[j], self.read[j], self.low[j], self.high[j])
                put_slot(self.slots, self.slot_count, i, j)
        return self.count - 1
