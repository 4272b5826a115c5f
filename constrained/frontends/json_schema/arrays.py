"""``ArrayShape``: one conjunction of constraints on an array's items.

    prefix     expressions of the first items, by place
    rest       the expression of every later item
    minimum, maximum   how many items
    contains   ``(expression, least, most, start)``: how many items from place ``start`` on satisfy it (most None: any
               number)
    unique     no two items are equal
    evaluated  how many leading items count as evaluated, -1: all; None: not tracked
    also       expressions whose items count as evaluated wherever they stand (``contains`` of 2020-12)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from constrained.frontends.json_schema.expressions import FALSE, TRUE
from constrained.frontends.json_schema.refusal import NotEnforced

if TYPE_CHECKING:
    from constrained.frontends.json_schema.denotation import Algebra

__all__ = ["ANY_ARRAY", "ArrayShape"]


@dataclass(slots=True, unsafe_hash=True)
class ArrayShape:
    """See the module docstring. A value: it is not changed once it is made, which is not enforced, for speed."""

    prefix: tuple[int, ...] = ()
    rest: int = TRUE
    minimum: int = 0
    maximum: int | None = None
    contains: tuple[tuple[int, int, int | None, int], ...] = ()
    unique: bool = False
    evaluated: int | None = None
    also: tuple[int, ...] = ()

    def at(self, index: int) -> int:
        """What is said about the item at ``index``."""
        return self.prefix[index] if index < len(self.prefix) else self.rest

    def intersect(self, other: ArrayShape, algebra: Algebra) -> ArrayShape | None:
        """Arrays in both; None where that is plainly impossible."""
        n = max(len(self.prefix), len(other.prefix))
        prefix = tuple(algebra.both(self.at(i), other.at(i)) for i in range(n))
        rest = algebra.both(self.rest, other.rest)
        maximum = self.maximum if other.maximum is None else (
            other.maximum if self.maximum is None else min(self.maximum, other.maximum))
        evaluated = other.evaluated if self.evaluated is None else self.evaluated if other.evaluated is None else (
            -1 if -1 in (self.evaluated, other.evaluated) else max(self.evaluated, other.evaluated))
        found = ArrayShape(prefix, rest, max(self.minimum, other.minimum), maximum,
                           tuple(dict.fromkeys(self.contains + other.contains)), self.unique or other.unique, evaluated,
                           self.also if not other.also else tuple(dict.fromkeys(self.also + other.also)))
        return found.tidy()

    def tidy(self) -> ArrayShape | None:
        """The same with an impossible item as an end of the array; None if that leaves too few."""
        if any(contained[0] == TRUE for contained in self.contains):
            return self._counted().tidy()
        maximum = self.maximum
        for index, expression in enumerate(self.prefix):
            if expression == FALSE and (maximum is None or index < maximum):
                maximum = index
                break
        if self.rest == FALSE and (maximum is None or maximum > len(self.prefix)):
            maximum = len(self.prefix)
        if maximum is not None and self.minimum > maximum:
            return None
        if any(least > 0 and (expression == FALSE or maximum == 0) for expression, least, _, _ in self.contains):
            return None
        prefix = self.prefix if maximum is None else self.prefix[:maximum]
        unique = self.unique and not (maximum is not None and maximum <= 1)
        if maximum == self.maximum and prefix == self.prefix and unique == self.unique:
            return self
        rest = self.rest if maximum is None or maximum > len(prefix) else FALSE
        return ArrayShape(prefix, rest, self.minimum, maximum, self.contains, unique, self.evaluated, self.also)

    def _counted(self) -> ArrayShape:
        """The same with the items counted where any of them is wanted."""
        minimum, maximum = self.minimum, self.maximum
        for expression, least, most, start in self.contains:
            if expression == TRUE:
                minimum = max(minimum, start + least) if least else minimum
                if most is not None:
                    maximum = start + most if maximum is None else min(maximum, start + most)
        return replace(self, minimum=minimum, maximum=maximum,
                       contains=tuple(one for one in self.contains if one[0] != TRUE))

    def complement(self, algebra: Algebra) -> list[ArrayShape]:
        """All other arrays: for each thing that is said, those that break it."""
        if self.unique:
            raise NotEnforced("the negation of uniqueItems", "state what may repeat instead, or drop the negation")
        found: list[ArrayShape] = []
        for index, expression in enumerate(self.prefix):
            if expression != TRUE:
                before = (TRUE,) * index
                found.append(ArrayShape((*before, algebra.negated(expression)), minimum=index + 1))
        if self.rest != TRUE:
            wrong = algebra.negated(self.rest)
            n = len(self.prefix)
            if self.rest == FALSE:
                found.append(ArrayShape(minimum=n + 1))
            else:
                found.append(ArrayShape(minimum=n + 1, contains=((wrong, 1, None, n),)))
        if self.minimum > 0:
            found.append(ArrayShape(maximum=self.minimum - 1))
        if self.maximum is not None:
            found.append(ArrayShape(minimum=self.maximum + 1))
        for expression, least, most, start in self.contains:
            if least > 0:
                found.append(ArrayShape(contains=((expression, 0, least - 1, start),)))
            if most is not None:
                found.append(ArrayShape(contains=((expression, most + 1, None, start),)))
        return found


ANY_ARRAY = ArrayShape()
