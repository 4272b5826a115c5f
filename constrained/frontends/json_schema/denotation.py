"""What a schema denotes: for each JSON type, a union of shapes.

JSON types exclude each other, so a set of values is six independent sets, and conjunction, disjunction and negation
work type by type. ``null`` and booleans are bits; the others are tuples of shapes whose union is meant:

    numbers   ``NumberShape``      strings   ``StringShape``
    arrays    ``ArrayShape``       objects   ``ObjectShape``

Shapes of arrays and objects refer to the values inside by *expression id* (see ``expressions``), so nothing here looks
deeper than one level and recursion in a schema costs nothing. An empty tuple: no value of that type.

``Algebra`` is handed to the shapes: it makes conjunctions and complements of expressions by id and counts alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from constrained.frontends.json_schema import objects
from constrained.frontends.json_schema.arrays import ANY_ARRAY, ArrayShape
from constrained.frontends.json_schema.expressions import FALSE
from constrained.frontends.json_schema.numbers import ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.objects import ANY_OBJECT, ObjectShape
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape

__all__ = ["ANYTHING", "NOTHING", "Algebra", "Denotation", "conjunction", "difference", "disjunction", "negation"]


class Algebra(Protocol):
    """What shapes need to know about expressions."""

    def both(self, a: int, b: int) -> int: ...
    def negated(self, a: int) -> int: ...
    def spend(self, alternatives: int) -> None: ...
    def is_empty(self, expression: int, depth: int = 3) -> bool: ...
    def no_object(self, shape: ObjectShape, depth: int = 3) -> bool: ...
    def no_array(self, shape: ArrayShape, depth: int = 3) -> bool: ...


@dataclass(slots=True, unsafe_hash=True)
class Denotation:
    """A set of JSON values, type by type. ``booleans``: bit 0 false, bit 1 true. Not changed once it is made."""

    null: bool
    booleans: int
    numbers: tuple[NumberShape, ...]
    strings: tuple[StringShape, ...]
    arrays: tuple[ArrayShape, ...]
    objects: tuple[ObjectShape, ...]

    def is_nothing(self) -> bool:
        """Whether no alternative is left (each of those left may still turn out empty)."""
        return not (self.null or self.booleans or self.numbers or self.strings or self.arrays or self.objects)


_ANY_ARRAYS = (ANY_ARRAY,)
_ANY_OBJECTS = (ANY_OBJECT,)
ANYTHING = Denotation(True, 3, (ANY_NUMBER,), (ANY_STRING,), _ANY_ARRAYS, _ANY_OBJECTS)
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
        _product(a.numbers, b.numbers, algebra),
        _product(a.strings, b.strings, algebra),
        _product_arrays(a.arrays, b.arrays, algebra),
        _product_objects(a.objects, b.objects, algebra),
    )


def _product(xs: tuple[Any, ...], ys: tuple[Any, ...], algebra: Algebra) -> tuple[Any, ...]:
    if not xs or not ys:
        return ()
    if len(xs) == 1 and len(ys) == 1:
        both = xs[0] if xs[0] is ys[0] else xs[0].intersect(ys[0])
        return () if both is None else (both,)
    found: dict[Any, None] = {}
    for x in xs:
        for y in ys:
            both = x.intersect(y) if x is not y else x
            if both is not None:
                found[both] = None
    algebra.spend(len(found))
    return tuple(found)


def _product_arrays(xs: tuple[ArrayShape, ...], ys: tuple[ArrayShape, ...], algebra: Algebra) -> tuple[ArrayShape, ...]:
    if ys is _ANY_ARRAYS or not xs:
        return xs
    if xs is _ANY_ARRAYS or not ys:
        return ys
    found: dict[ArrayShape, None] = {}
    for x in xs:
        for y in ys:
            both = x.intersect(y, algebra) if x is not y else x
            if both is not None and not (len(xs) * len(ys) > 1 and algebra.no_array(both, 1)):
                found[both] = None
    algebra.spend(len(found))
    return tuple(found)


def _product_objects(xs: tuple[ObjectShape, ...], ys: tuple[ObjectShape, ...],
                     algebra: Algebra) -> tuple[ObjectShape, ...]:
    if ys is _ANY_OBJECTS or not xs:
        return xs
    if xs is _ANY_OBJECTS or not ys:
        return ys
    found: dict[ObjectShape, None] = {}
    many = len(xs) * len(ys) > 1
    for x in xs:
        for y in ys:
            if x is not y and many and objects.told_apart(x, y, algebra):
                continue
            for both in objects.meet(x, y, algebra) if x is not y else (x,):
                if not (many and algebra.no_object(both, 2)):
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
    numbers, strings, arrays, shapes = (tuple(kept) for kept in lists)
    # an alternative without any constraint swallows the others
    if ANY_NUMBER in numbers:
        numbers = (ANY_NUMBER,)
    if ANY_STRING in strings:
        strings = (ANY_STRING,)
    if ANY_ARRAY in arrays:
        arrays = _ANY_ARRAYS
    if ANY_OBJECT in shapes:
        shapes = _ANY_OBJECTS
    return Denotation(null, booleans, numbers, strings, arrays, shapes)


def difference(a: Denotation, b: Denotation, algebra: Algebra, *, apart: bool = True) -> Denotation:
    """Values of ``a`` that are not in ``b``. ``apart`` False: alternatives of objects may overlap, and say less."""
    return Denotation(
        a.null and not b.null,
        a.booleans & ~b.booleans,
        _scalars_without(a.numbers, b.numbers, algebra),
        _scalars_without(a.strings, b.strings, algebra),
        _arrays_without(a.arrays, b.arrays, algebra),
        _objects_without(a.objects, b.objects, algebra, apart),
    )


def negation(a: Denotation, algebra: Algebra) -> Denotation:
    """All other values. Alternatives of objects may overlap."""
    return difference(ANYTHING, a, algebra, apart=False)


def _scalars_without(left: tuple[Any, ...], shapes: tuple[Any, ...], algebra: Algebra) -> tuple[Any, ...]:
    """The complement of a union is the conjunction of the complements."""
    for shape in shapes:
        if not left:
            break
        left = _product(left, tuple(shape.complement()), algebra)
    return left


def _arrays_without(left: tuple[ArrayShape, ...], shapes: tuple[ArrayShape, ...],
                    algebra: Algebra) -> tuple[ArrayShape, ...]:
    for shape in shapes:
        found: dict[ArrayShape, None] = {}
        others: tuple[ArrayShape, ...] | None = None
        for one in left:
            both = one.intersect(shape, algebra)
            if both is None or algebra.no_array(both, 2):
                found[one] = None
                continue
            if shape.unique:
                taken = tuple(_repeating(one, shape, both, algebra).complement(algebra))
            elif others is None:
                taken = others = tuple(shape.complement(algebra))
            else:
                taken = others
            found.update(dict.fromkeys(_product_arrays((one,), taken, algebra)))
        left = tuple(found)
    return left


def _repeating(one: ArrayShape, shape: ArrayShape, both: ArrayShape, algebra: Algebra) -> ArrayShape:
    """A shape that holds of ``one`` what ``shape``, with different items, holds of it, but says nothing of that: where
    ``one`` says it already, or where no array with two items is in ``both``. Else ``shape``."""
    if one.unique:
        return replace(shape, unique=False)
    if algebra.is_empty(both.at(1), 2):
        return replace(both, rest=FALSE, prefix=both.prefix[:1] or (both.rest,), unique=False, evaluated=None, also=())
    return shape


def _objects_without(left: tuple[ObjectShape, ...], shapes: tuple[ObjectShape, ...], algebra: Algebra,
                     apart: bool) -> tuple[ObjectShape, ...]:
    for i, shape in enumerate(shapes, 1):
        if not left:
            break
        if shape == ANY_OBJECT:
            return ()
        left = tuple(dict.fromkeys(kept for one in left for kept in objects.difference(
            one, shape, algebra, apart=apart or i < len(shapes))))
    return left
