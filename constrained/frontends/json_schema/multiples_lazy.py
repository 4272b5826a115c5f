r"""Multiples of a number with too many remainders for an automaton: one that is built as texts meet it.

``step = P / 10**s`` (P whole). A text without exponent is read as the whole number N that its digits make, in units of
its last place: it is right if ``N * 10**(s - places)`` is a multiple of P within the bounds, and it can become right if
one of the numbers that its digits begin is: those are an interval for each count of digits to come, and an interval
has a multiple of P if it reaches the next one. Past all bounds the remainder of N is enough.

A mantissa with an exponent (``1.5e+20``) is a multiple exactly if the part R of P that is prime to ten divides its
digits M, and the exponent makes up for the rest; so M is kept by its remainder, and a mantissa can become right if its
digits can become a multiple of R. Negative exponents are those of finitely many multiples below 0.0001: they are
written one by one.

Cost: no state is made before a text meets it; 5 us a step, 20 within bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import gcd
from typing import Any

from constrained.frontends.json_schema.multiples import EXPONENTS, MANTISSA_DIGITS
from constrained.grammar.ir import Choice, Expr, Literal, Sequence
from constrained.grammar.lazy import LazyDfa

__all__ = ["lazy_multiples"]

_POINT, _ZERO, _NINE, _PLUS = 0x2E, 0x30, 0x39, 0x2B
_LEAST_EXPONENT, _LAST_EXPONENT = EXPONENTS[1]
#: From here on numbers are written with an exponent, and below the other.
_LARGE, _SMALL = Decimal(10) ** _LEAST_EXPONENT, Decimal(10) ** (EXPONENTS[0][1] + 1)
#: Small multiples that are written one by one.
_FEW = 1_000
#: Twos and fives in P that an exponent of ``_LAST_EXPONENT`` makes up for in any case.
_STEADY = 250

_Ranges = tuple[tuple[int, int], ...]
_DIGITS: _Ranges = ((_ZERO, _NINE),)


def lazy_multiples(step: Decimal, low: Decimal | None, low_open: bool, high: Decimal | None, high_open: bool,
                   fractions: bool, spelled: Callable[[Decimal], Expr | None]) -> Expr | None:
    """The texts of the multiples of ``step`` in an interval; ``fractions``: whole ones may be ``5.0`` and ``5e+16``.

    ``spelled`` writes one number. None: a bound lies where numbers have exponents, or too many multiples do.
    """
    _, digits, exponent = step.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    size = int(Decimal((0, digits, 0))) * int(10 ** max(exponent, 0))
    rest, steady = size, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        steady = max(steady, power)
    if steady > _STEADY or (fractions and any(
            bound is not None and bound.copy_abs() >= _LARGE for bound in (low, high))):
        return None
    small = _small_multiples(step, low, low_open, high, high_open) if scale and fractions else []
    if small is None:
        return None
    options = [expr for value in small if (expr := spelled(value)) is not None]
    for sign, least, least_open, most, most_open in ((b"", low, low_open, high, high_open),
                                                     (b"-", high, high_open, low, low_open)):
        least = None if least is None else -least if sign else least
        most = None if most is None else -most if sign else most
        first = 0 if least is None else _whole(least, scale, least_open, up=True)
        last = None if most is None else _whole(most, scale, most_open, up=False)
        if last is not None and last // size * size < max(first, 0):
            continue
        source = _Plain(size, scale, max(first, 0), last, fractions)
        options.append(Sequence((Literal(sign), LazyDfa(source))))
        if fractions and last is None:
            options.append(Sequence((Literal(sign), LazyDfa(_Scientific(size, scale, rest)))))
    return Choice(tuple(options)) if options else None


def _whole(bound: Decimal, scale: int, is_open: bool, *, up: bool) -> int:
    """The first whole number, in units of ``10**-scale``, that a lower (``up``) or an upper bound lets through."""
    sign, digits, exponent = bound.as_tuple()
    assert isinstance(exponent, int)
    value = int(Decimal((0, digits, 0))) * (-1 if sign else 1)
    shift = exponent + scale
    if shift >= 0:
        found = value * int(10**shift)
        return found + (1 if up else -1) * is_open
    unit = int(10**-shift)
    if value % unit == 0:
        return value // unit + (1 if up else -1) * is_open
    return -(-value // unit) if up else value // unit


def _small_multiples(step: Decimal, low: Decimal | None, low_open: bool, high: Decimal | None,
                     high_open: bool) -> list[Decimal] | None:
    """Those between -0.0001 and 0.0001, without 0; None if they are many."""
    _, digits, exponent = step.as_tuple()
    assert isinstance(exponent, int)
    unit = int(Decimal((0, digits, 0)))
    count = (int(10 ** max(EXPONENTS[0][1] + 1 - exponent, 0)) - 1) // unit
    if count > _FEW:
        return None
    found = []
    for k in [*range(-count, 0), *range(1, count + 1)]:
        value = Decimal((int(k < 0), tuple(map(int, str(abs(k) * unit))), exponent))
        if (low is None or value > low or (value == low and not low_open)) and (
                high is None or value < high or (value == high and not high_open)):
            found.append(value)
    return found


#: ("start",); ("whole", N); ("rest", N mod P): past the bounds; ("places", N, places behind the point) and
#: ("tail", N mod P, places) likewise.
_State = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Plain:
    """Unsigned texts without exponent of the multiples of ``size`` from ``first`` to ``last``, in units of
    ``10**-scale``."""

    size: int
    scale: int
    first: int
    last: int | None
    fractions: bool
    alphabet: bytes = b".0123456789"

    def start(self) -> _State:
        return ("start",)

    def reads(self, state: _State) -> _Ranges:
        kind = state[0]
        if kind in ("whole", "rest") and (self.fractions or self.scale):
            return ((_POINT, _POINT),) if state == ("whole", 0) else ((_POINT, _POINT), *_DIGITS)
        if kind in ("places", "tail") and state[2] >= self.scale:
            return ((_ZERO, _ZERO),)
        return () if state == ("whole", 0) else _DIGITS

    def step(self, state: _State, byte: int) -> _State | None:
        kind = state[0]
        after: _State
        if byte == _POINT:
            after = ("places" if kind == "whole" else "tail", state[1], 0)
        elif kind == "start":
            after = ("whole", byte - _ZERO)
        elif kind in ("whole", "rest"):
            number = 10 * state[1] + byte - _ZERO
            after = (kind, number if kind == "whole" else number % self.size)
        else:
            number, places = state[1], state[2]
            if places < self.scale:
                number = 10 * number + byte - _ZERO
            after = (kind, number if kind == "places" else number % self.size, min(places + 1, max(self.scale, 1)))
        if after[0] == "whole" and self.last is None and after[1] and after[1] * 10**self.scale >= self.first:
            after = ("rest", after[1] % self.size)  # whatever follows, no bound is near
        return after if self._left(after) is not None else None

    def accepts(self, state: _State) -> bool:
        return self._left(state) == 0

    def left(self, state: _State) -> int:
        found = self._left(state)
        assert found is not None
        return found

    def _left(self, state: _State) -> int | None:
        return _plain_left(self, state)

    def shortest(self, state: _State) -> int | None:
        """The fewest characters that make a right text of it; None if none do."""
        kind = state[0]
        if kind == "start":
            return min((1 + more for digit in range(10) if (more := self._left(("whole", digit))) is not None),
                       default=None)
        exact = kind in ("whole", "places")
        if kind in ("places", "tail"):
            number, places = state[1], state[2]
            if places >= self.scale:  # only zeros may follow, and one digit must
                fits = self._fits(number, 0, 0, exact)
                return (0 if places else 1) if fits else None
            least = max(places, 1)
            return next((count - places for count in range(least, self.scale + 1)
                         if self._fits(number, count - places, self.scale - count, exact)), None)
        number = state[1]
        best: int | None = None
        digits = 0
        while best is None or digits < best:
            zeros = self.scale + digits
            if self._fits(number, digits, self.scale, exact):
                best = digits if best is None else min(best, digits)
            for places in range(1, self.scale + 1):
                cost = digits + 1 + places
                if (best is None or cost < best) and self._fits(number, digits + places, self.scale - places, exact):
                    best = cost
                    break
            if number == 0 and exact:
                break  # nothing follows a 0 but the point
            if self.last is not None and exact and number * 10**zeros > self.last:
                break
            digits += 1
        return best

    def _fits(self, number: int, more: int, zeros: int, exact: bool) -> bool:
        """Whether with ``more`` digits behind ``number``, and ``zeros`` places of the scale left out, there is a
        multiple within the bounds."""
        count: int = 10**more
        left_out: int = 10**zeros
        unit = self.size // gcd(self.size, left_out)
        if not exact:
            return -number * count % unit < count
        low, high = number * count, (number + 1) * count - 1
        low = max(low, -(-self.first // left_out))
        if self.last is not None:
            high = min(high, self.last // left_out)
        return high // unit * unit >= low


@lru_cache(maxsize=8192)
def _plain_left(source: _Plain, state: _State) -> int | None:
    return source.shortest(state)


#: ("start",); ("digits", M mod P, digits behind the point, whether it stands); ("exponent", texts that may follow).
@dataclass(frozen=True, slots=True)
class _Scientific:
    """Unsigned multiples with a positive exponent; ``rest``: the part of ``size`` that is prime to ten."""

    size: int
    scale: int
    rest: int
    alphabet: bytes = b"+.0123456789Ee"

    def start(self) -> _State:
        return ("start",)

    def reads(self, state: _State) -> _Ranges:
        kind = state[0]
        if kind == "start":
            return ((_ZERO + 1, _NINE),)
        if kind == "exponent":
            return tuple((byte, byte) for byte in sorted({text[0] for text in state[1] if text}))
        _, number, places, point = state
        found: list[tuple[int, int]] = [] if point else [(_POINT, _POINT)]
        if point and places < MANTISSA_DIGITS:
            found += _DIGITS
        if number % self.rest == 0 and bool(places) == point:
            found += [(0x45, 0x45), (0x65, 0x65)]
        return tuple(found)

    def step(self, state: _State, byte: int) -> _State | None:
        kind = state[0]
        if kind == "start":
            after: _State = ("digits", (byte - _ZERO) % self.size, 0, False)
        elif kind == "exponent":
            return ("exponent", frozenset(text[1:] for text in state[1] if text[:1] == bytes((byte,))))
        elif byte == _POINT:
            after = (*state[:3], True)
        elif byte > _NINE:
            return ("exponent", _exponents(self.size, self.scale, state[1], state[2]))
        else:
            after = ("digits", (10 * state[1] + byte - _ZERO) % self.size, state[2] + 1, True)
        return after if self._digits(after) is not None else None

    def _digits(self, state: _State) -> int | None:
        """How many digits are missing at least; None if too many are."""
        _, number, places, point = state
        least = int(point and places == 0)
        return next((more for more in range(least, MANTISSA_DIGITS - places + 1)
                     if -number * 10**more % self.rest < 10**more), None)

    def accepts(self, state: _State) -> bool:
        return state[0] == "exponent" and b"" in state[1]

    def left(self, state: _State) -> int:
        """An exponent of three digits always does."""
        if state[0] == "start":
            return 1 + min(self.left(("digits", digit % self.size, 0, False)) for digit in range(1, 10)
                           if self._digits(("digits", digit % self.size, 0, False)) is not None)
        if state[0] == "exponent":
            return min(map(len, state[1]))
        more = self._digits(state)
        assert more is not None
        return more + (not state[3] and more > 0) + 1 + len(str(_LAST_EXPONENT))


@lru_cache(maxsize=1024)
def _exponents(size: int, scale: int, number: int, places: int) -> frozenset[bytes]:
    """The exponents, as they are written, that make multiples of digits with that remainder."""
    found: list[bytes] = []
    for value in range(_LEAST_EXPONENT, _LAST_EXPONENT + 1):
        if number * pow(10, value - places + scale, size) % size == 0:
            found += [b"%d" % value, b"+%d" % value]
    return frozenset(found)
