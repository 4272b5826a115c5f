"""What a schema denotes: for each JSON type, a union of shapes.

JSON types exclude each other, so a set of values is six independent sets, and conjunction, disjunction and negation work
type by type. ``null`` and booleans are bits; the others are tuples of shapes whose union is meant:

    numbers   ``NumberShape``      strings   ``StringShape``
    arrays    ``ArrayShape``       objects   ``ObjectShape``

Shapes of arrays and objects refer to the values inside by *expression id* (see ``expressions``), so nothing here looks
deeper than one level and recursion in a schema costs nothing. An empty tuple: no value of that type.

``Algebra`` is handed to the shapes: it makes conjunctions and complements of expressions by id and counts alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from constrained.frontends.json_schema.arrays import ANY_ARRAY, ArrayShape
from constrained.frontends.json_schema.numbers import ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.objects import ANY_OBJECT, ObjectShape
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape

__all__ = ["ANYTHING", "NOTHING", "Algebra", "Denotation", "conjunction", "disjunction", "negation"]


class Algebra(Protocol):
    """What shapes need to know about expressions."""

    def both(self, a: int, b: int) -> int: ...
    def negated(self, a: int) -> int: ...
    def spend(self, alternatives: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Denotation:
    """A set of JSON values, type by type. ``booleans``: bit 0 false, bit 1 true."""

    null: bool
    booleans: int
    numbers: tuple[NumberShape, ...]
    strings: tuple[StringShape, ...]
    arrays: tuple[ArrayShape, ...]
    objects: tuple[ObjectShape, ...]

    def is_nothing(self) -> bool:
        """Whether no alternative is left (each of those left may still turn out empty)."""
        return not (self.null or self.booleans or self.numbers or self.strings or self.arrays or self.objects)


ANYTHING = Denotation(True, 3, (ANY_NUMBER,), (ANY_STRING,), (ANY_ARRAY,), (ANY_OBJECT,))
NOTHING = Denotation(False, 0, (), (), (), ())


def conjunction(a: Denotation, b: Denotation, algebra: Algebra) -> Denotation:
    """Values in both."""
    if a is ANYTHING:
        return b
    if b is ANYTHING:
        return a
    return Denotation(
        a.null and b.null,
        a.booleans & b.booleans,
        _product(a.numbers, b.numbers, algebra, None),
        _product(a.strings, b.strings, algebra, None),
        _product(a.arrays, b.arrays, algebra, algebra),
        _product(a.objects, b.objects, algebra, algebra),
    )


def _product(xs: tuple[Any, ...], ys: tuple[Any, ...], algebra: Algebra, context: Algebra | None) -> tuple[Any, ...]:
    if not xs or not ys:
        return ()
    found: dict[Any, None] = {}
    for x in xs:
        for y in ys:
            both = (x.intersect(y) if context is None else x.intersect(y, context)) if x is not y else x
            if both is not None:
                found[both] = None
    algebra.spend(len(found))
    return tuple(found)


def disjunction(parts: list[Denotation], algebra: Algebra) -> Denotation:
    """Values in any of them."""
    if len(parts) == 1:
        return parts[0]
    null = False
    booleans = 0
    lists: list[dict[Any, None]] = [{}, {}, {}, {}]
    for part in parts:
        if part is ANYTHING:
            return ANYTHING
        null = null or part.null
        booleans |= part.booleans
        for kept, more in zip(lists, (part.numbers, part.strings, part.arrays, part.objects), strict=True):
            kept.update(dict.fromkeys(more))
    algebra.spend(sum(len(kept) for kept in lists))
    numbers, strings, arrays, objects = (tuple(kept) for kept in lists)
    # an alternative without any constraint swallows the others
    if ANY_NUMBER in numbers:
        numbers = (ANY_NUMBER,)
    if ANY_STRING in strings:
        strings = (ANY_STRING,)
    if ANY_ARRAY in arrays:
        arrays = (ANY_ARRAY,)
    if ANY_OBJECT in objects:
        objects = (ANY_OBJECT,)
    return Denotation(null, booleans, numbers, strings, arrays, objects)


def negation(a: Denotation, algebra: Algebra) -> Denotation:
    """All other values."""
    return Denotation(
        not a.null,
        3 & ~a.booleans,
        _complement(a.numbers, ANY_NUMBER, algebra, None),
        _complement(a.strings, ANY_STRING, algebra, None),
        _complement(a.arrays, ANY_ARRAY, algebra, algebra),
        _complement(a.objects, ANY_OBJECT, algebra, algebra),
    )


def _complement(shapes: tuple[Any, ...], everything: Any, algebra: Algebra, context: Algebra | None) -> tuple[Any, ...]:
    """The complement of a union is the conjunction of the complements."""
    left: tuple[Any, ...] = (everything,)
    for shape in shapes:
        others = shape.complement() if context is None else shape.complement(context)
        left = _product(left, tuple(others), algebra, context)
    return left
