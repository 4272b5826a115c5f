"""The values of an expression, one by one, where they are few: of all types, nested ones too.

Each value comes once, as JSON Schema compares them. Looks a few levels deep and gives up as soon as there are more than
was asked for: of scalars as they are made, of arrays and objects before, where their numbers of items and members say
so. The cost is that of making so many values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.cardinality import MAX_LAYERS, arrays_of, texts_of_lengths
from constrained.frontends.json_schema.expressions import FALSE
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.objects import ObjectShape
from constrained.frontends.json_schema.reading import canonical

__all__ = ["exact_count", "finite_values"]

MAX_DEPTH = 3
_ABSENT = object()


def finite_values(normaliser: Normaliser, expression: int, most: int, *, strict: bool,
                  depth: int = MAX_DEPTH) -> list[Any] | None:
    """All values of ``expression`` if it is plain that they are at most ``most``, else None.

    ``strict``: objects that say nothing of undeclared members have none.
    """
    if expression == FALSE:
        return []
    d = normaliser.denote(expression)
    if (d.arrays or d.objects) and depth == 0:
        return None
    found: dict[str, Any] = {}

    def add(values: Iterable[Any]) -> bool:
        for value in values:
            found[canonical(value)] = value
            if len(found) > most:
                return False
        return True

    add([None] if d.null else [])
    add([value for bit, value in ((1, False), (2, True)) if d.booleans & bit])
    for string in d.strings:
        try:
            texts = string.enumerated(most, normaliser.limits)
        except GrammarLimitError:
            return None  # a pattern beside many lengths
        if texts is None or not add(texts):
            return None
    for number in d.numbers:
        numbers = number.enumerated(most)
        if numbers is None or not add(numbers):
            return None
    for array in d.arrays:
        if normaliser.no_array(array):
            continue
        places = _places(normaliser, array, most, strict, depth)
        if places is None or _arrays_at_least(array, places) > most or not add(_arrays(array, places)):
            return None
    for shape in d.objects:
        if normaliser.no_object(shape):
            continue
        members = _members(normaliser, shape, most, strict, depth)
        if members is None or _objects_at_least(shape, members) > most or not add(_objects(shape, members)):
            return None
    return list(found.values())


def _places(normaliser: Normaliser, shape: ArrayShape, most: int, strict: bool, depth: int) -> list[list[Any]] | None:
    """The values of each item that may stand."""
    longest = shape.maximum
    if longest is None:
        if shape.rest != FALSE and not normaliser.is_empty(shape.rest):
            return None
        longest = len(shape.prefix)
    if shape.contains or longest > most:
        return None
    places: list[list[Any]] = []
    for i in range(longest):
        values = finite_values(normaliser, shape.at(i), most, strict=strict, depth=depth - 1)
        if values is None:
            return None
        if not values:
            break
        places.append(values)
    return places


def _arrays(shape: ArrayShape, places: list[list[Any]]) -> Iterable[list[Any]]:
    for length in range(shape.minimum, len(places) + 1):
        for items in itertools.product(*places[:length]):
            if not shape.unique or len({canonical(item) for item in items}) == length:
                yield list(items)


def _arrays_at_least(shape: ArrayShape, places: list[list[Any]]) -> int:
    """How many arrays ``_arrays`` makes at least: of different items, as each takes one value from those behind it."""
    count, found = 1, int(shape.minimum == 0)
    for i, values in enumerate(places):
        count *= max(len(values) - i, 0) if shape.unique else len(values)
        found += count if i + 1 >= shape.minimum else 0
    return found


def _members(normaliser: Normaliser, shape: ObjectShape, most: int, strict: bool,
             depth: int) -> list[tuple[str, list[Any]]] | None:
    """The values of each member that may stand, ``_ABSENT`` among them where it need not."""
    closed = (strict and not shape.said) or not (shape.maximum is None or shape.maximum > len(shape.required))
    if shape.exists or not (closed or all(normaliser.is_empty(expression) for _, expression in shape.others)):
        return None
    known = dict(shape.properties)
    known.update((name, shape.at_other(name)) for name in sorted(shape.required - known.keys()))
    found: dict[str, list[Any]] = {}
    room = most  # as the object exists, each value of a member is in one at least
    for name in sorted(known, key=lambda name: _effort(normaliser, known[name])):
        absent = [] if name in shape.required else [_ABSENT]
        values = finite_values(normaliser, known[name], room - len(absent), strict=strict, depth=depth - 1)
        if values is None:
            return None
        found[name] = absent + values
        if values and _all_counts(shape, len(known)):
            room //= len(found[name])
    return [(name, found[name]) for name in known]


def _effort(normaliser: Normaliser, expression: int) -> int:
    """How dear it is to see that there are many values: nested ones may be made, patterns with lengths are products."""
    d = normaliser.denote(expression)
    return 2 if any(string.languages for string in d.strings) else int(bool(d.arrays or d.objects))


def _all_counts(shape: ObjectShape, known: int) -> bool:
    """Whether it is nothing against an object how many of its ``known`` members that need not stand do."""
    return shape.minimum <= len(shape.required) and (shape.maximum is None or shape.maximum >= known)


def _objects(shape: ObjectShape, members: list[tuple[str, list[Any]]]) -> Iterable[dict[str, Any]]:
    names = [name for name, _ in members]
    for values in itertools.product(*(values for _, values in members)):
        found = {name: value for name, value in zip(names, values, strict=True) if value is not _ABSENT}
        if len(found) >= shape.minimum and (shape.maximum is None or len(found) <= shape.maximum):
            yield found


def _objects_at_least(shape: ObjectShape, members: list[tuple[str, list[Any]]]) -> int:
    """How many objects ``_objects`` makes at least: all, where each number of members is allowed."""
    return math.prod(len(values) for _, values in members) if _all_counts(shape, len(members)) else 0


def exact_count(normaliser: Normaliser, expression: int, most: int, *, strict: bool,
                depth: int = MAX_DEPTH) -> int | None:
    """How many values an expression has, if they are under ``most`` and can be counted without overlap: scalars, arrays
    of such items, and objects of such members. ``strict`` as above."""
    d = normaliser.denote(expression)
    if len(d.arrays) > 1 or len(d.objects) > 1 or len(d.strings) > 1 or len(d.numbers) > 1:
        return None
    count = int(d.null) + (d.booleans & 1) + (d.booleans >> 1)
    for string in d.strings:
        if string.values is None and not string.languages:
            few = string.enumerated(most, normaliser.limits)
            if few is None:
                return None
            count += len(few)
        elif string.values is None:
            texts, whole = texts_of_lengths(string, most, normaliser.limits)
            if not whole:
                return None
            count += texts
        else:
            count += len(string.values)
    for number in d.numbers:
        numbers = number.count()
        if numbers is None:
            return None
        count += numbers
    for array in d.arrays:
        if not normaliser.no_array(array):
            arrays = _arrays_counted(normaliser, array, most, strict, depth)
            if arrays is None:
                return None
            count += arrays
    for shape in d.objects:
        if not normaliser.no_object(shape):
            objects = _objects_counted(normaliser, shape, most, strict, depth)
            if objects is None:
                return None
            count += objects
    return count if count < most else None


def _arrays_counted(normaliser: Normaliser, shape: ArrayShape, most: int, strict: bool, depth: int) -> int | None:
    """Items of one kind, of which there are so many values."""
    if shape.prefix or shape.contains or depth == 0 or shape.minimum > MAX_LAYERS:
        return None
    if shape.rest == FALSE or normaliser.is_empty(shape.rest) or shape.maximum == 0:
        return int(shape.minimum == 0)
    values = exact_count(normaliser, shape.rest, most, strict=strict, depth=depth - 1)
    return None if values is None else arrays_of(values, shape.minimum, shape.maximum, unique=shape.unique, most=most)


def _objects_counted(normaliser: Normaliser, shape: ObjectShape, most: int, strict: bool, depth: int) -> int | None:
    """Each member varies by itself; None where that is not all."""
    closed = (strict and not shape.said) or all(normaliser.is_empty(expression) for _, expression in shape.others)
    known = shape.declared()
    if not closed or depth == 0 or shape.exists or not shape.required <= known.keys() or (
            shape.minimum > len(shape.required)) or (shape.maximum is not None and shape.maximum < len(known)):
        return None
    count = 1
    for name, expression in shape.properties:
        values = 0 if normaliser.is_empty(expression) else exact_count(normaliser, expression, most, strict=strict,
                                                                      depth=depth - 1)
        if values is None:
            return None
        count *= values if name in shape.required else values + 1
        if count >= most:
            return None
    return count
