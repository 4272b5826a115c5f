"""How many values an expression has at least: what ``uniqueItems`` needs to know before it promises another item.

The answer is a lower bound, cut off at what is asked for. It looks a few levels deep; JSON types exclude each other,
so their numbers add up, while alternatives of one type may overlap and the largest counts.

Cost: an automaton where strings have patterns, else a few microseconds a level.
"""

from __future__ import annotations

from dataclasses import replace

from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.expressions import FALSE
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.objects import ObjectShape
from constrained.frontends.json_schema.strings import StringShape
from constrained.limits import Limits
from constrained.regex.dfa import DEAD, Dfa, is_endless, topological_order

__all__ = ["arrays_of", "at_least", "strings_at_least", "texts_at_least"]

MAX_DEPTH = 4
"""Levels of values that are looked into."""

CHARACTERS = 0x110000 - 0x800

MAX_LAYERS = 2_000
"""Lengths of strings up to which those beside a pattern are counted."""


def at_least(normaliser: Normaliser, expression: int, most: int, *, strict: bool, digits: int,
             depth: int = MAX_DEPTH) -> int:
    """A lower bound of the number of values of ``expression``, up to ``most``.

    ``strict``: objects that say nothing of undeclared members have none. ``digits``: how many a number may have.
    Raises ``GrammarLimitError``.
    """
    if expression == FALSE:
        return 0
    d = normaliser.denote(expression)
    found = int(d.null) + (d.booleans & 1) + (d.booleans >> 1)
    found += max((numbers_at_least(shape, most, digits) for shape in d.numbers), default=0)
    if found < most:
        found += max((strings_at_least(shape, most, normaliser.limits) for shape in d.strings), default=0)
    if depth and found < most:
        found += max((_arrays(normaliser, shape, most, strict, digits, depth - 1) for shape in d.arrays
                      if not normaliser.no_array(shape)), default=0)
    if depth and found < most:
        found += max((_objects(normaliser, shape, most, strict, digits, depth - 1) for shape in d.objects
                      if not normaliser.no_object(shape)), default=0)
    return min(found, most)


def numbers_at_least(shape: NumberShape, most: int, digits: int) -> int:
    """A lower bound of the members of a shape that can be written with ``digits``, up to ``most``."""
    there_are = shape.count()
    if there_are is not None:
        return min(there_are, most)
    if shape.not_multiple_of and shape.lower is not None and shape.upper is not None:
        return 0  # how many are left is not counted
    return min(most, int(10 ** min(digits, 20)))


def strings_at_least(shape: StringShape, most: int, limits: Limits) -> int:
    """The same for strings."""
    if shape.values is not None:
        return min(len(shape.values), most)
    if not shape.languages:
        longest = 20 if shape.maximum is None else min(shape.maximum, 20)
        return max(min(int(CHARACTERS**longest) - len(shape.excluded), most), 0)
    if shape.minimum == 0 and shape.maximum is None:
        return texts_at_least(shape.dfa(limits), most)
    return texts_of_lengths(shape, most, limits)[0]


def texts_of_lengths(shape: StringShape, most: int, limits: Limits) -> tuple[int, bool]:
    """A lower bound of the members, up to ``most``, counted by length without a product; whether they are all that
    there are (lengths were counted to the end, not only up to ``MAX_LAYERS``)."""
    dfa = replace(shape, minimum=0, maximum=None).dfa(limits)
    minimum, maximum = shape.minimum, shape.maximum
    sizes = [sum(last - first + 1 for first, last in ranges) for ranges in dfa.classes]
    ways = {0: 1}
    total = 0
    last = MAX_LAYERS if maximum is None else min(maximum, MAX_LAYERS)
    for length in range(last + 1):
        if length >= minimum:
            total += sum(count for state, count in ways.items() if state in dfa.accepting)
        if total >= most or not ways:
            break
        following: dict[int, int] = {}
        for state, count in ways.items():
            for size, target in zip(sizes, dfa.rows[state], strict=True):
                if target != DEAD:
                    following[target] = min(following.get(target, 0) + count * size, most)
        ways = following
    return min(total, most), not ways or last == maximum


def texts_at_least(dfa: Dfa, most: int) -> int:
    """The number of texts of a trimmed automaton, up to ``most``."""
    if not dfa.accepting:
        return 0
    if is_endless(dfa):
        return most
    order = topological_order(dfa)
    assert order is not None  # where there is no loop
    sizes = [sum(last - first + 1 for first, last in ranges) for ranges in dfa.classes]
    ways = [0] * len(dfa.rows)
    ways[0] = 1
    for state in order:
        for size, target in zip(sizes, dfa.rows[state], strict=True):
            if target != DEAD:
                ways[target] = min(ways[target] + ways[state] * size, most)
    return min(sum(ways[state] for state in dfa.accepting), most)


def arrays_of(values: int, least: int, longest: int | None, *, unique: bool, most: int) -> int:
    """How many arrays of ``least`` to ``longest`` items (None: no end) there are of so many values, up to ``most``.

    With ``unique`` no value comes twice. More than ``MAX_LAYERS`` items at least are not counted: 0.
    """
    if least > MAX_LAYERS:
        return 0
    if values == 1 and not unique:  # one for each length
        return most if longest is None else max(min(longest - least + 1, most), 0)
    total, ways, size = 0, 1, 0
    while ways and total < most and (longest is None or size <= longest):
        if size >= least:
            total += ways
        ways = min(ways * (values - size if unique else values), most)  # it never shrinks but to nothing
        size += 1
    return min(total, most)


def _arrays(normaliser: Normaliser, shape: ArrayShape, most: int, strict: bool, digits: int, depth: int) -> int:
    if shape.contains:
        return 0
    k = len(shape.prefix)
    longest = shape.maximum
    for i, place in enumerate(shape.prefix):  # a place without a value ends the array before it
        if normaliser.is_empty(place):
            longest = i if longest is None else min(longest, i)
            break
    rest = shape.rest != FALSE and not normaliser.is_empty(shape.rest)
    if rest and longest is None and not shape.unique and shape.minimum <= k + 1:
        return most  # one for each length
    found = 1 if shape.minimum == 0 else 0
    if longest == 0 or (k == 0 and not rest):
        return found
    if k == 0:
        values = at_least(normaliser, shape.rest, most, strict=strict, digits=digits, depth=depth)
        return arrays_of(values, shape.minimum, longest, unique=shape.unique, most=most)
    # one place that varies, the others filled somehow
    if shape.unique:
        if shape.minimum > 1:
            return 0
        values = at_least(normaliser, shape.at(0), most, strict=strict, digits=digits, depth=depth)
        return min(found + values, most)
    places = range(max(shape.minimum, 1)) if shape.minimum <= k + 1 else range(k + 1)
    return min(found + max((at_least(normaliser, shape.at(i), most, strict=strict, digits=digits, depth=depth)
                            for i in list(places)[:8]), default=0), most)


def _objects(normaliser: Normaliser, shape: ObjectShape, most: int, strict: bool, digits: int, depth: int) -> int:
    if shape.exists:
        return 0
    required = len(shape.required)
    room = shape.maximum is None or shape.maximum > required
    found = 1 if shape.minimum <= required else 0
    if found and (shape.maximum is None or shape.maximum >= len(shape.properties)):  # all declared members vary
        for name, expression in shape.properties:
            values = at_least(normaliser, expression, most, strict=strict, digits=digits, depth=depth)
            found *= max(values, 1) if name in shape.required else values + 1
            if found >= most:
                return most
    elif shape.minimum <= required + 1:  # one member that varies, the required ones filled somehow
        for name, expression in shape.properties:
            if (room or name in shape.required) and (name not in shape.required or shape.minimum <= required):
                found = max(found, at_least(normaliser, expression, most, strict=strict, digits=digits, depth=depth))
            if found >= most:
                return most
    if not room or (strict and not shape.said):
        return found
    for names, expression in shape.others:
        if expression != FALSE and not normaliser.is_empty(expression):
            left = names.exclude_values([name for name, _ in shape.properties])
            others = shape.minimum  # names beside the one that varies
            found = max(found, strings_at_least(left, most + others, normaliser.limits) - others)
            if shape.minimum <= required and found < most:
                found = max(found, at_least(normaliser, expression, most, strict=strict, digits=digits, depth=depth))
    return min(found, most)
