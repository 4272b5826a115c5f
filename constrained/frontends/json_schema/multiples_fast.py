r"""Multiples of one number in an interval, in the common case: an automaton made at once, without products.

The unsigned texts without exponent are read by a state of remainder and of two comparisons, one with each bound: how
many digits there were, and whether they were more or less than the bound's. Exponents (``7e+16``) make a second,
small part: from some exponent on only the factor of the step that is prime to ten decides, and the mantissa is
counted by that; below it the last digits matter too.

``multiple_expression`` gives None where a step or a bound asks for more (many decimals, bounds past 1e16, hundreds
of remainders at each place of a mantissa); ``multiples`` then does it in general. Cost: 3 us a state, P (the step as a
whole number) times the digits of the bounds; 1 us a state of numbers longer than those, and without bounds 0.1 us
(``kernel.digit_blocks``).
"""

from __future__ import annotations

from decimal import Decimal
from math import gcd

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.digits import exponents
from constrained.frontends.json_schema.multiples import EXPONENTS, MANTISSA_DIGITS
from constrained.frontends.regex import plain_expression
from constrained.grammar.ir import ByteDfa, CharClass, Choice, Expr, Literal, Repeat, Sequence
from constrained.kernel.digit_blocks import magnitude_block, mantissa_block
from constrained.kernel.nodes import dfa_of_block
from constrained.limits import Limits

__all__ = ["multiple_expression"]

_POINT = 0x2E
_DIGIT = CharClass(((0x30, 0x39),))
_E = CharClass(((0x45, 0x45), (0x65, 0x65)))
#: A bound past this reaches the numbers that are written with an exponent.
_LARGE = Decimal(10) ** EXPONENTS[1][0]
#: States of mantissas, one for each remainder and place: beyond, the general way is faster.
_MOST_REMAINDERS = 8_000
#: Remainders, whatever the limit: times the places of a mantissa they must stay below 2**27.
_MOST = 1 << 22
_LEAST_EXPONENT, _LAST_EXPONENT = EXPONENTS[1]
#: Decimals from which a step has multiples among the numbers written with a negative exponent.
_DECIMALS = -EXPONENTS[0][1]


class _Bound:
    """One bound as digits. A comparison is (digits read, -1 | 0 | 1), or after the point only that."""

    def __init__(self, number: Decimal) -> None:
        _, digits, exponent = number.as_tuple()
        assert isinstance(exponent, int)
        text = "".join(map(str, digits)) + "0" * exponent
        if exponent < 0:
            text = text.rjust(-exponent + 1, "0")
            text, self.tail = text[:exponent], text[exponent:].rstrip("0")
        else:
            self.tail = ""
        self.whole = text.lstrip("0") or "0"

    def digit(self, read: int, order: int, digit: int) -> tuple[int, int]:
        """The comparison of whole parts after one more digit."""
        if read >= len(self.whole):
            return len(self.whole) + 1, 1
        if order == 0:
            own = ord(self.whole[read]) - 0x30
            order = (digit > own) - (digit < own)
        return read + 1, order

    def settled(self, read: int, order: int) -> int:
        """How the whole parts compare at their end."""
        return -1 if read < len(self.whole) else 1 if read > len(self.whole) else order

    def after(self, order: int, place: int, digit: int) -> int:
        """The comparison after a digit behind the point."""
        if order:
            return order
        own = ord(self.tail[place]) - 0x30 if place < len(self.tail) else 0
        return (digit > own) - (digit < own)

    def finished(self, order: int, places: int) -> int:
        """How the numbers compare with so many places written."""
        return -1 if order == 0 and places < len(self.tail) else order


def multiple_expression(step: Decimal, low: Decimal | None, low_open: bool, high: Decimal | None, high_open: bool,
                        fractions: bool, limits: Limits, *, with_exponents: bool = True) -> Expr | None:
    """The texts of the multiples of ``step`` in an interval; ``fractions``: whole ones may be ``5.0`` and ``5e+16``
    (not the latter without ``with_exponents``).

    None: not this simple. Raises GrammarLimitError (``max_dfa_states``).
    """
    _, digits, exponent = step.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    size = int(Decimal((0, digits, 0))) * int(10 ** max(exponent, 0))
    if scale >= _DECIMALS:
        return None
    if with_exponents and any(bound is not None and bound.copy_abs() >= _LARGE for bound in (low, high)):
        return None
    rest, steady = size, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        steady = max(steady, power)
    free = max(steady - scale, 0)
    if rest > 1 and free and rest * MANTISSA_DIGITS * (1 + free + free * free // 2) + size * free > _MOST_REMAINDERS:
        return None
    if size > min(limits.max_dfa_states, _MOST):
        raise GrammarLimitError("max_dfa_states", limits.max_dfa_states,
                                "a multiple is counted by remainder, and this one has too many")
    options: list[Expr] = []
    scientific = _scientific(size, scale, rest, steady) if fractions and with_exponents else []
    if low is None and high is None:
        magnitude = _all_magnitudes(size, scale, fractions, limits)
        return Sequence((Repeat(Literal(b"-"), 0, 1), Choice((magnitude, *scientific))))
    if high is None or high > 0 or (high == 0 and not high_open):
        positive = low is None or low < 0
        options.append(_Magnitudes(size, scale, None if positive else low, low_open and not positive, high, high_open,
                                   fractions, limits).run())
        if high is None:
            options += scientific
    if low is None or low < 0 or (low == 0 and not low_open):
        negative = high is None or high > 0
        magnitude = _Magnitudes(size, scale, None if negative or high is None else high.copy_abs(),
                                high_open and not negative, None if low is None else low.copy_abs(), low_open,
                                fractions, limits).run()
        parts = (magnitude, *scientific) if low is None else (magnitude,)
        options.append(Sequence((Literal(b"-"), Choice(parts))))
    return Choice(tuple(options))


#: (kind, remainder, then the comparisons: digits and order for each bound; behind the point order, order, places, 0).
_State = tuple[int, int, int, int, int, int]
_START, _WHOLE, _ZERO, _TAIL = range(4)


class _Magnitudes:
    """Unsigned texts without exponent."""

    def __init__(self, size: int, scale: int, low: Decimal | None, low_open: bool, high: Decimal | None,
                 high_open: bool, fractions: bool, limits: Limits) -> None:
        self.size, self.scale, self.fractions, self.limits = size, scale, fractions, limits
        self.low_open, self.high_open = low_open, high_open
        self.low = None if low is None else _Bound(low)
        self.high = None if high is None else _Bound(high)
        #: From this place on all further ones are alike.
        self.last_place = max(1, scale, *(len(bound.tail) for bound in (self.low, self.high) if bound is not None))
        #: Where whole numbers that are longer than the bounds begin: a state for each remainder, in order.
        self.long = -1
        self.order: list[_State] = [(_START, 0, 0, 0, 0, 0)]
        self.number: dict[_State, int] = {self.order[0]: 0}

    def place(self, state: _State) -> int:
        if state[0] == _WHOLE and self.high is None and (self.low is None or state[2] > len(self.low.whole)):
            if self.long < 0:  # nothing more is compared
                self.long = len(self.order)
                self.order += [(_WHOLE, remainder, *state[2:]) for remainder in range(self.size)]
                self.check()
            return self.long + state[1]
        found = self.number.get(state)
        if found is None:
            found = self.number[state] = len(self.order)
            self.order.append(state)
            self.check()
        return found

    def check(self) -> None:
        if len(self.order) > self.limits.max_dfa_states + 1:
            raise _too_many(self.limits)

    def run(self) -> ByteDfa:
        rows: list[tuple[tuple[int, int, int], ...]] = []
        accepting: list[int] = []
        for index, state in enumerate(self.order):
            if self.long >= 0 and self.long <= index < self.long + self.size:
                if index == self.long:
                    self.longer(rows, accepting)
                continue
            targets = self.tail_targets(state) if state[0] == _TAIL else self.whole_targets(state)
            row = [(0x30 + digit, 0x30 + digit, self.place(target)) for digit, target in targets]
            if state[0] in (_WHOLE, _ZERO):
                _, remainder, low_read, low_order, high_read, high_order = state
                low_now = self.low.settled(low_read, low_order) if self.low is not None else 0
                high_now = self.high.settled(high_read, high_order) if self.high is not None else 0
                if self.has_point(remainder):
                    row.insert(0, (_POINT, _POINT, self.place((_TAIL, remainder, low_now, high_now, 0, 0))))
                if self.accepts(remainder, low_now, high_now, 0):
                    accepting.append(index)
            elif state[0] == _TAIL and state[4] and self.accepts(*state[1:5]):
                accepting.append(index)
            rows.append(tuple(row))
        return ByteDfa(tuple(rows), frozenset(accepting))

    def has_point(self, remainder: int) -> bool:
        """Whether a fraction may follow: where no digit of it counts, only after a multiple."""
        return self.scale > 0 or (self.fractions and remainder == 0)

    def longer(self, rows: list[tuple[tuple[int, int, int], ...]], accepting: list[int]) -> None:
        """The states from ``self.long`` on, all at once."""
        size, long = self.size, self.long
        numbers = list(range(long, long + size)) * (10 // size + 2)
        # By the first of ten remainders in a row: the edges of the ten digits.
        digits = list(zip(*[[(0x30 + digit, 0x30 + digit, number) for number in numbers[digit:digit + size]]
                            for digit in range(10)], strict=True))
        above = 0 if self.low is None else 1
        for remainder in range(size):
            row = digits[remainder * 10 % size]
            if self.has_point(remainder):
                row = ((_POINT, _POINT, self.place((_TAIL, remainder, above, 0, 0, 0))), *row)
            if self.accepts(remainder, above, 0, 0):
                accepting.append(long + remainder)
            rows.append(row)

    def whole_targets(self, state: _State) -> list[tuple[int, _State]]:
        kind, remainder, low_read, low_order, high_read, high_order = state
        found: list[tuple[int, _State]] = []
        if kind == _ZERO:
            return found
        for digit in range(10):
            low = self.low.digit(low_read, low_order, digit) if self.low is not None else (0, 0)
            high = self.high.digit(high_read, high_order, digit) if self.high is not None else (0, 0)
            if self.high is not None and high[0] > len(self.high.whole):
                continue  # longer than any number that is small enough
            zero = kind == _START and digit == 0
            found.append((digit, (_ZERO if zero else _WHOLE, (remainder * 10 + digit) % self.size, *low, *high)))
        return found

    def tail_targets(self, state: _State) -> list[tuple[int, _State]]:
        _, remainder, low_order, high_order, places, _ = state
        found: list[tuple[int, _State]] = []
        for digit in range(10):
            after = remainder
            if places < self.scale:
                after = (remainder * 10 + digit) % self.size
            elif digit:
                break  # more places than the step has hold zeros only
            if after and places + 1 >= self.scale:
                continue  # nothing makes up for it any more
            low = self.low.after(low_order, places, digit) if self.low is not None else 0
            high = self.high.after(high_order, places, digit) if self.high is not None else 0
            found.append((digit, (_TAIL, after, low, high, min(places + 1, self.last_place), 0)))
        return found

    def accepts(self, remainder: int, low: int, high: int, places: int) -> bool:
        if remainder * int(10 ** max(self.scale - places, 0)) % self.size:
            return False
        if self.low is not None:
            low = self.low.finished(low, places)
            if low < 0 or (low == 0 and self.low_open):
                return False
        if self.high is not None:
            high = self.high.finished(high, places)
            if high > 0 or (high == 0 and self.high_open):
                return False
        return True


def _all_magnitudes(size: int, scale: int, fractions: bool, limits: Limits) -> ByteDfa:
    """What ``_Magnitudes`` makes without bounds."""
    places = max(1, scale) if fractions or scale else 0
    if 2 + size * (places + 2) > limits.max_dfa_states + 1:
        raise _too_many(limits)
    accepting = [1, *[2 + remainder for remainder in range(size) if remainder * 10**scale % size == 0]]
    for place in range(1, places + 1):
        unit = int(10 ** max(scale - place, 0))
        base = 2 + size * (place + 1)
        accepting += [base + remainder for remainder in range(size) if remainder * unit % size == 0]
    ends = frozenset(accepting)
    return dfa_of_block(magnitude_block(size, scale, places, ends), ends)


def _too_many(limits: Limits) -> GrammarLimitError:
    return GrammarLimitError("max_dfa_states", limits.max_dfa_states,
                             "the remainders of a multiple take too many states")


def _scientific(size: int, scale: int, rest: int, steady: int) -> list[Expr]:
    """Unsigned multiples with a positive exponent."""
    free = max(steady - scale, 0)
    found: list[Expr] = []
    # From this exponent on the last digits do not matter, however long the mantissa is.
    mantissa = _counted_mantissa(rest)
    found.append(Sequence((mantissa, _E, _exponents(_LEAST_EXPONENT + free, _LAST_EXPONENT))))
    for exponent in range(_LEAST_EXPONENT, _LEAST_EXPONENT + free):
        short = exponent + scale - steady  # places up to which this exponent is large enough
        if short >= 0:
            found.append(Sequence((_counted_mantissa(rest, short), _E, _exponents(exponent, exponent))))
        for places in range(max(short, 0) + 1, MANTISSA_DIGITS + 1):
            zeros = exponent - places + scale
            if zeros < 0:
                continue
            unit = size
            for prime in (2, 5):
                for _ in range(zeros):
                    unit = unit // prime if unit % prime == 0 else unit
            if rest > 1:
                found.append(Sequence((_fixed_mantissa(unit, places), _E, _exponents(exponent, exponent))))
                continue
            width = min(steady - zeros, places)
            texts = [f"{value:0{width}}" for value in range(0, 10**width, unit)]
            found.append(Sequence((CharClass(((0x31, 0x39),)), Literal(b"."),
                                   Repeat(_DIGIT, places - width, places - width),
                                   Choice(tuple(Literal(text.encode()) for text in texts)), _E,
                                   _exponents(exponent, exponent))))
    return found


def _counted_mantissa(rest: int, most: int = MANTISSA_DIGITS) -> Expr:
    """``d.ddd`` with at most ``most`` places whose digits are a multiple of ``rest``, which is prime to ten."""
    if rest == 1:
        tail = Repeat(Sequence((Literal(b"."), Repeat(_DIGIT, 1, most))), 0, 1) if most else Literal(b"")
        return Sequence((CharClass(((0x31, 0x39),)), tail))
    ends = frozenset([1, *[1 + rest * (place + 1) for place in range(1, most + 1)]])
    return dfa_of_block(mantissa_block([rest] * (most + 1), ends), ends)


def _fixed_mantissa(unit: int, places: int) -> Expr:
    """``d.ddd`` with exactly so many places whose digits are a multiple of ``unit``.

    What the powers of ten still to come make up for need not be counted.
    """
    rest = unit
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    moduli = [unit // gcd(unit // rest, 10 ** (places - place)) for place in range(places + 1)]
    ends = frozenset((1 + moduli[0] + sum(moduli[:-1]),))
    return dfa_of_block(mantissa_block(moduli, ends), ends)


def _exponents(first: int, last: int) -> Expr:
    return plain_expression(exponents(first, last))
