"""Sets of numbers as a schema describes them, and the JSON texts of their members. Everything is exact decimals.

A ``NumberShape`` is a conjunction: an interval, a number of which every member is a multiple, numbers of which none
is, and single values left out; or it is a finite set of values.

A number is written as sign, digits, fraction and exponent. With the bounds of an interval the digits are compared
from left to right, so the spellings of an interval are a pattern: all shorter integers, then digit by digit (the
same construction for fractions). Exponents are accepted as ``repr`` of a float writes them: one digit, a fraction
that does not end in 0, and an exponent below -4 or above 15; then a bound is first felt at the mantissa and decided
at the exponent. Multiples are counted by remainder in an automaton (``multiples``), and whatever asks for one
multiplies everything out. A number on which nothing is asked may have any exponent of up to three digits.

Zero may be negative. Cost: a shape seen before 1 us, an interval 20-60 us, a multiple 1 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, lru_cache, reduce
from itertools import combinations
from math import lcm

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.grammar.ir import Choice, Expr
from constrained.limits import Limits

__all__ = ["ANY_INTEGER", "ANY_NUMBER", "PLAIN_INTEGER", "NumberShape", "common_multiple", "is_multiple",
           "whole_interval"]

_DEFAULT_LIMITS = Limits()
_ONE = Decimal(1)
#: Digits that a number of a schema may take when written out: a state each where it is compared.
_LONGEST = _DEFAULT_LIMITS.max_dfa_states
#: Multiples in an interval that are tried one by one.
_LOOKED_AT = 1000

#: Steps that leave numbers out, up to which members are counted.
_LEFT_OUT = 6

#: Whole numbers below this are remembered as decimals.
_SMALL = 10**18
_NONE: frozenset[Decimal] = frozenset()


@dataclass(slots=True)
class NumberShape:
    """The numbers between ``lower`` and ``upper`` (None: no bound) that the other fields let pass.

    ``integer``: only whole ones (``multiple_of`` 1 with a meaning for spellings). ``multiple_of``: a positive decimal.
    ``not_multiple_of``: positive decimals. ``values``, where not None, holds all members; of the rest only ``integer``
    and ``plain`` then say something: how they may be spelled. ``plain``, in a draft that tells integers by that: True,
    without fraction and exponent (``integer``, too); False, with one.
    A value: it is not changed once it is made, which is not enforced, for speed.
    """

    integer: bool = False
    lower: Decimal | None = None
    lower_open: bool = False
    upper: Decimal | None = None
    upper_open: bool = False
    multiple_of: Decimal | None = None
    not_multiple_of: frozenset[Decimal] = _NONE
    excluded: frozenset[Decimal] = _NONE
    values: tuple[Decimal, ...] | None = None
    plain: bool | None = None
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """Kept: tables are asked for the same shapes again and again."""
        if self._hash == 0:
            self._hash = hash((self.integer, self.lower, self.lower_open, self.upper, self.upper_open, self.multiple_of,
                               self.not_multiple_of, self.excluded, self.values, self.plain)) or 1
        return self._hash

    @staticmethod
    def of_values(values: Iterable[Decimal | int]) -> NumberShape:
        """Just these (finite) numbers; 1 and 1.0 are one."""
        return NumberShape(values=tuple(dict.fromkeys(map(_plain, values))))

    @staticmethod
    def of_bounds(lower: Decimal | int | None = None, upper: Decimal | int | None = None, *, lower_open: bool = False,
                  upper_open: bool = False, integer: bool = False) -> NumberShape:
        """An interval; ``..._open``: its end is not a member."""
        return NumberShape(integer, None if lower is None else _plain(lower), lower_open and lower is not None,
                           None if upper is None else _plain(upper), upper_open and upper is not None)

    @staticmethod
    def of_multiples(step: Decimal | int) -> NumberShape:
        """The multiples of ``step``, which is positive."""
        return NumberShape(multiple_of=_plain(step))

    @staticmethod
    def from_format(name: str) -> NumberShape | None:
        """``int32``, ``int64``, ``float``, ``double``: what the type can hold. None for any other name."""
        return _FORMATS.get(name)

    def exclude_values(self, values: Iterable[Decimal | int]) -> NumberShape:
        """The same without ``values``."""
        out = frozenset(map(_plain, values))
        if self.values is not None:
            return NumberShape(self.integer, values=tuple(value for value in self.values if value not in out),
                               plain=self.plain)
        return replace(self, excluded=self.excluded | out) if out else self

    def intersect(self, other: NumberShape) -> NumberShape | None:
        """What is in both; None where that is nothing, as far as the interval and single values tell."""
        if self is other or other is ANY_NUMBER:
            return self
        if self is ANY_NUMBER:
            return other
        if type(other) is not NumberShape:  # a kind of its own, which knows more
            return other.intersect(self)
        plain = other.plain if self.plain is None else self.plain
        if other.plain is not None and other.plain is not plain:
            return None
        if self.values is not None or other.values is not None:
            mine, theirs = (self, other) if self.values is not None else (other, self)
            assert mine.values is not None
            kept = tuple(value for value in mine.values if theirs.contains(value))
            return NumberShape(self.integer or other.integer, values=kept, plain=plain) if kept else None
        lower, lower_open = _tighter(self.lower, self.lower_open, other.lower, other.lower_open, 1)
        upper, upper_open = _tighter(self.upper, self.upper_open, other.upper, other.upper_open, -1)
        step = self.multiple_of if other.multiple_of is None else (
            other.multiple_of if self.multiple_of is None else common_multiple(self.multiple_of, other.multiple_of))
        found = NumberShape(self.integer or other.integer, lower, lower_open, upper, upper_open, step,
                            self.not_multiple_of | other.not_multiple_of, self.excluded | other.excluded, None, plain)
        return None if found.is_empty() else found

    def complement(self) -> list[NumberShape]:
        """Shapes that together are all numbers but these; they may overlap."""
        found: list[NumberShape] = []
        if self.plain is not None:
            found.append(NumberShape(plain=False) if self.plain else PLAIN_INTEGER)
        if self.values is not None:
            return [ANY_NUMBER.exclude_values(self.values), *found]
        if self.lower is not None:
            found.append(NumberShape(upper=self.lower, upper_open=not self.lower_open))
        if self.upper is not None:
            found.append(NumberShape(lower=self.upper, lower_open=not self.upper_open))
        if self.integer and not self.plain:
            found.append(NumberShape(not_multiple_of=frozenset((_ONE,))))
        if self.multiple_of is not None:
            found.append(NumberShape(not_multiple_of=frozenset((self.multiple_of,))))
        found += [NumberShape(multiple_of=step) for step in sorted(self.not_multiple_of)]
        if self.excluded:
            found.append(NumberShape.of_values(sorted(self.excluded)))
        return found

    def contains(self, number: Decimal | int) -> bool:
        """Whether ``number`` is a member."""
        value = _plain(number)
        if self.values is not None:
            return value in self.values
        if self.lower is not None and (value < self.lower or (self.lower_open and value == self.lower)):
            return False
        if self.upper is not None and (value > self.upper or (self.upper_open and value == self.upper)):
            return False
        if value in self.excluded or (self.integer and not is_multiple(value, _ONE)):
            return False
        if self.multiple_of is not None and not is_multiple(value, self.multiple_of):
            return False
        return not any(is_multiple(value, step) for step in self.not_multiple_of)

    def step(self) -> Decimal | None:
        """The number of which all members are multiples, ``integer`` included; None if there is none."""
        if not self.integer:
            return self.multiple_of
        return _ONE if self.multiple_of is None else common_multiple(self.multiple_of, _ONE)

    def is_finite(self) -> bool:
        """Whether the members are at hand as ``values``."""
        return self.values is not None

    def is_any(self) -> bool:
        """Whether nothing is asked."""
        return self == ANY_NUMBER

    def is_empty(self) -> bool:
        """Whether there is surely no member. Exact but for long intervals whose steps many others leave out."""
        if self.values is not None:
            return not self.values
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            return self.lower > self.upper or not self.contains(self.lower)
        step = self.step()
        if step is None:
            return False
        if self.not_multiple_of:
            # If the first multiple is left out by a divisor of it, then so is every other.
            if any(is_multiple(step, other) for other in self.not_multiple_of):
                return True
        elif self.lower is None or self.upper is None:
            return False
        few = self.enumerated(len(self.excluded) + 2 if not self.not_multiple_of else _LOOKED_AT)
        return few is not None and not few

    def enumerated(self, most: int) -> tuple[Decimal, ...] | None:
        """All members in order, if the candidates (multiples in a closed interval) are at most ``most``; else None."""
        if self.values is not None:
            return self.values if len(self.values) <= most else None
        if self.lower is None or self.upper is None:
            return None
        if self.lower == self.upper:
            return (self.lower,) if self.contains(self.lower) else ()
        step = self.step()
        if step is None:
            return () if self.lower > self.upper else None
        scale = _scale(step, self.lower, self.upper)
        unit = _scaled(step, scale)
        first, last = -(-_scaled(self.lower, scale) // unit), _scaled(self.upper, scale) // unit
        if last - first + 1 > most:
            return None
        candidates = [_unscaled(index * unit, scale) for index in range(first, last + 1)]
        return tuple(value for value in candidates if self.contains(value))

    def count(self) -> int | None:
        """How many members there are; None where they have no end or are not counted so."""
        if self.values is not None:
            return len(self.values)
        step = self.step()
        if self.lower is None or self.upper is None:
            return None
        if self.lower >= self.upper:
            return int(self.lower == self.upper and self.contains(self.lower))
        if step is None or len(self.not_multiple_of) > _LEFT_OUT:
            return None
        found = 0
        for size in range(len(self.not_multiple_of) + 1):  # inclusion and exclusion
            for some in combinations(sorted(self.not_multiple_of), size):
                common = reduce(common_multiple, some, step)
                found += (-1) ** size * self._multiples(common)
        everything = replace(self, excluded=frozenset())
        return found - sum(1 for value in self.excluded if everything.contains(value))

    def _multiples(self, step: Decimal) -> int:
        """How many multiples of ``step`` the interval has."""
        assert self.lower is not None
        assert self.upper is not None
        scale = _scale(step, self.lower, self.upper)
        unit, low, high = _scaled(step, scale), _scaled(self.lower, scale), _scaled(self.upper, scale)
        return max((high - self.upper_open) // unit - -(-(low + self.lower_open) // unit) + 1, 0)

    def to_expr(self, policy: TextPolicy, limits: Limits = _DEFAULT_LIMITS) -> Expr:
        """The JSON texts of the members; a choice of nothing where there is none.

        Raises GrammarLimitError (``max_dfa_states``) for multiples with very many remainders.
        """
        return _expression(self, policy.max_number_digits, policy.integer_as_float, limits)


ANY_NUMBER = NumberShape()
ANY_INTEGER = NumberShape(integer=True)
PLAIN_INTEGER = NumberShape(integer=True, plain=True)
"""The integers of a draft for which ``1.0`` is none."""


def whole_interval(kind: NumberShape, lower: int | None, upper: int | None) -> NumberShape:
    """``kind`` (``ANY_NUMBER``, ``ANY_INTEGER`` or ``PLAIN_INTEGER``) from ``lower`` to ``upper``, no less, and both.

    It is what ``intersect`` makes of them.
    """
    return NumberShape(kind.integer, None if lower is None else _plain(lower), False,
                       None if upper is None else _plain(upper), False, None, _NONE, _NONE, None, kind.plain)


def _plain(number: Decimal | int) -> Decimal:
    """``number`` as a decimal of its value alone: equal numbers become equal, -0 becomes 0. No context rounds it."""
    if isinstance(number, int):
        if -_SMALL < number < _SMALL:
            return _of_small(number)
        number = Decimal(number)
    if not number.is_finite():
        raise ValueError(f"a number of JSON is finite, not {number}")
    if not number:
        return Decimal(0)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    if max(len(digits), abs(exponent)) > _LONGEST:
        raise GrammarLimitError("max_dfa_states", _LONGEST, f"a number of {max(len(digits), abs(exponent))} digits")
    end = len(digits)
    if digits[end - 1]:
        return number
    while digits[end - 1] == 0:
        end -= 1
    return Decimal((sign, digits[:end], exponent + len(digits) - end))


@lru_cache(maxsize=1024)
def _of_small(number: int) -> Decimal:
    zeros = 0
    while number and number % 10 == 0:
        number //= 10
        zeros += 1
    return Decimal(number) if zeros == 0 else Decimal((int(number < 0), Decimal(abs(number)).as_tuple().digits, zeros))


#: What the number formats can hold: OpenAPI's, and IEEE 754 for floats (the finite ones).
_FORMATS: dict[str, NumberShape] = {
    "int32": NumberShape.of_bounds(-(2**31), 2**31 - 1, integer=True),
    "int64": NumberShape.of_bounds(-(2**63), 2**63 - 1, integer=True),
    "float": NumberShape.of_bounds(-(2**24 - 1) * 2**104, (2**24 - 1) * 2**104),
    "double": NumberShape.of_bounds(-(2**53 - 1) * 2**971, (2**53 - 1) * 2**971),
}


def _tighter(a: Decimal | None, a_open: bool, b: Decimal | None, b_open: bool,
             sign: int) -> tuple[Decimal | None, bool]:
    """The stricter of two bounds; ``sign``: 1 for lower ones, -1 for upper ones."""
    if a is None:
        return b, b_open
    if b is None:
        return a, a_open
    if a == b:
        return a, a_open or b_open
    return (a, a_open) if (a > b) == (sign > 0) else (b, b_open)


def _scale(*numbers: Decimal) -> int:
    """The power of ten that makes all ``numbers`` whole."""
    return max(0, *(-exponent for number in numbers if isinstance(exponent := number.as_tuple().exponent, int)))


def _scaled(number: Decimal, scale: int) -> int:
    """``number`` times ten to the ``scale``, which is whole."""
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    zeros: int = 10 ** (exponent + scale)
    found = int(Decimal((0, digits, 0))) * zeros  # not by text: Python bounds its length
    return -found if sign else found


def _unscaled(number: int, scale: int) -> Decimal:
    return _plain(Decimal((int(number < 0), Decimal(abs(number)).as_tuple().digits, -scale)))


def common_multiple(a: Decimal, b: Decimal) -> Decimal:
    """The least number that is a multiple of both."""
    scale = _scale(a, b)
    return _unscaled(lcm(_scaled(a, scale), _scaled(b, scale)), scale)


def is_multiple(value: Decimal, step: Decimal) -> bool:
    """Whether ``value`` is a whole multiple of ``step``."""
    scale = _scale(value, step)
    return _scaled(value, scale) % _scaled(step, scale) == 0


@lru_cache(maxsize=4096)
def _expression(shape: NumberShape, digits: int, integer_as_float: bool, limits: Limits) -> Expr:
    return _writer()(shape, digits, integer_as_float, limits) or Choice(())


@cache
def _writer() -> Callable[[NumberShape, int, bool, Limits], Expr | None]:
    """``number_expression``, whose module needs this one: asked for once, since an import takes 1 us each time."""
    from constrained.frontends.json_schema.number_texts import number_expression

    return number_expression
