r"""Multiples of one number in an interval, in the common case: an automaton made at once, without products.

The unsigned texts without exponent are read by a state of remainder and of two comparisons, one with each bound: how
many digits there were, and whether they were more or less than the bound's. Exponents (``7e+16``) make a second,
small part: from some exponent on only the factor of the step that is prime to ten decides, and the mantissa is
counted by that; below it the last digits matter too.

``multiple_expression`` gives None where a step or a bound asks for more (many decimals, bounds past 1e16, hundreds
of remainders at each place of a mantissa); ``multiples`` then does it in general. Cost: 0.1 us a state, P (the step as
a whole number) times the digits of the bounds (``kernel.bounded_digits``, ``kernel.digit_blocks``).
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from math import gcd

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.digits import digits_of, exponents
from constrained.frontends.json_schema.multiples import EXPONENTS, MANTISSA_DIGITS
from constrained.frontends.plain_trees import plain_expression
from constrained.grammar.ir import ByteDfa, CharClass, Choice, Expr, Literal, Repeat, Sequence
from constrained.kernel.bounded_digits import BoundedDigits
from constrained.kernel.dfa_tables import TooManyStates
from constrained.kernel.digit_blocks import magnitude_block, mantissa_block
from constrained.kernel.nodes import dfa_of_block
from constrained.limits import Limits

__all__ = ["multiple_expression"]

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
        options.append(_magnitudes(size, scale, None if positive else low, low_open and not positive, high, high_open,
                                   fractions, limits))
        if high is None:
            options += scientific
    if low is None or low < 0 or (low == 0 and not low_open):
        negative = high is None or high > 0
        magnitude = _magnitudes(size, scale, None if negative or high is None else high.copy_abs(),
                                high_open and not negative, None if low is None else low.copy_abs(), low_open,
                                fractions, limits)
        parts = (magnitude, *scientific) if low is None else (magnitude,)
        options.append(Sequence((Literal(b"-"), Choice(parts))))
    return Choice(tuple(options))


def _magnitudes(size: int, scale: int, low: Decimal | None, low_open: bool, high: Decimal | None, high_open: bool,
                fractions: bool, limits: Limits) -> ByteDfa:
    """Unsigned texts without exponent between two bounds."""
    try:
        return dfa_of_block(*BoundedDigits(size, scale, fractions, _bound(low), low_open, _bound(high), high_open,
                                           min(limits.max_dfa_states + 1, 1 << 27)).run())
    except TooManyStates:
        raise _too_many(limits) from None


def _bound(number: Decimal | None) -> tuple[bytes, bytes] | tuple[()]:
    """The digits before and behind the point."""
    if number is None:
        return ()
    whole, tail = digits_of(number)
    return whole.encode(), tail.encode()


def _all_magnitudes(size: int, scale: int, fractions: bool, limits: Limits) -> ByteDfa:
    """Unsigned texts without exponent."""
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


@lru_cache(maxsize=1024)
def _exponents(first: int, last: int) -> Expr:
    return plain_expression(exponents(first, last))
