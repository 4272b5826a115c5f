"""What the keywords of one schema object assert, each read once and checked as it is read.

``own_denotation`` is the conjunction of all keywords that look at nothing but the value: type by type, one shape each.
Which keywords there are is seen in one pass over the schema (``kinds_of``), as bits.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from constrained.errors import (
    GrammarLimitError,
    NotRegularError,
    RegexError,
    SchemaError,
    UnsatisfiableGrammarError,
    echo,
)
from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.denotation import ANYTHING, Denotation, conjunction
from constrained.frontends.json_schema.document import Place
from constrained.frontends.json_schema.expressions import FALSE, TRUE
from constrained.frontends.json_schema.numbers import ANY_INTEGER, ANY_NUMBER, PLAIN_INTEGER, NumberShape
from constrained.frontends.json_schema.objects import ANY_OTHERS, Cell, ObjectShape, disjoint_cells, meet, split_cells
from constrained.frontends.json_schema.reading import count_of, decimal_of, flag_of, mapping_of, names_of
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape, either
from constrained.limits import LARGEST_REPEAT

if TYPE_CHECKING:
    from constrained.frontends.json_schema.normalise import Normaliser

__all__ = ["APPLIES", "REFERS", "kinds_of", "own_denotation"]

ANNOTATIONS = frozenset(("byte", "binary"))
"""Formats that say how text is meant, not which text is valid: no validator asserts them."""

_ANY_NUMBERS = (ANY_NUMBER,)
_INTEGERS = (ANY_INTEGER,)
_PLAIN_INTEGERS = (PLAIN_INTEGER,)
_ANY_STRINGS = (ANY_STRING,)
_TYPES = frozenset("null boolean integer number string array object".split())
_ONE_TYPE = {name: frozenset((name,)) for name in _TYPES}
FEW_CELLS = 8
"""Sets of names that patterns cut out, from which on it is looked whether there are any."""
_STRING_ONLY = frozenset(("string",))
_NOTHING_NAMED: frozenset[str] = frozenset()

_NUMERIC, _STRINGS, _OBJECTS, _ARRAYS, _FORMAT, _VALUES = 1, 2, 4, 8, 16, 32
APPLIES, REFERS = 64, 128
"""Bits of ``kinds_of``: the meaning of other schemas comes in, in place; there is a reference."""

_KINDS: dict[str, int] = {
    **dict.fromkeys("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split(), _NUMERIC),
    **dict.fromkeys("minLength maxLength pattern".split(), _STRINGS),
    "format": _STRINGS | _FORMAT,
    **dict.fromkeys("properties required additionalProperties patternProperties propertyNames minProperties "
                    "maxProperties dependentRequired".split(), _OBJECTS),
    **dict.fromkeys("items prefixItems additionalItems minItems maxItems uniqueItems contains".split(), _ARRAYS),
    "enum": _VALUES, "const": _VALUES,
    **dict.fromkeys("allOf anyOf oneOf not if dependentSchemas dependencies $dynamicRef $recursiveRef "
                    "unevaluatedProperties unevaluatedItems".split(), APPLIES),
    "$ref": REFERS | APPLIES,
}


def kinds_of(schema: dict[str, Any]) -> int:
    """Which kinds of keywords a schema has."""
    kinds = 0
    for keyword in schema:
        kinds |= _KINDS.get(keyword, 0)
    return kinds


def own_denotation(normaliser: Normaliser, place: Place, kinds: int) -> Denotation:
    """What the assertions of the schema of ``place`` say; ``kinds`` as ``kinds_of`` says."""
    schema, known = place.schema, place.dialect.keywords
    types = _types(place, schema)
    if normaliser.names_only:
        types = types & _STRING_ONLY
    numbers: tuple[NumberShape, ...] = ()
    if "number" in types:
        numbers = _ANY_NUMBERS
    elif "integer" in types:
        numbers = _INTEGERS if place.dialect.float_integers else _PLAIN_INTEGERS
    if kinds & _NUMERIC:
        number = _number(place, numbers[0] if numbers else ANY_NUMBER)
        if numbers:
            numbers = () if number is None else (number,)
    if kinds & _FORMAT and numbers and normaliser.assert_formats and isinstance(schema["format"], str):
        held = NumberShape.from_format(schema["format"])
        if held is not None:
            numbers = tuple(both for n in numbers if (both := n.intersect(held)) is not None)
    strings = _ANY_STRINGS if "string" in types else ()
    if kinds & _STRINGS:
        string = _string(normaliser, place, bool(strings))
        strings = () if string is None or not strings else (string,)
    arrays: tuple[ArrayShape, ...] = ()
    objects: tuple[ObjectShape, ...] = ()
    if "array" in types:
        if kinds & _ARRAYS:
            array = _array(normaliser, place, schema, known)
            arrays = () if array is None else (array,)
        else:
            arrays = (ArrayShape(evaluated=0),) if normaliser.tracking else ANYTHING.arrays
    if "object" in types:
        if kinds & _OBJECTS:
            objects = _object(normaliser, place, schema, known)
        else:
            objects = (ObjectShape(evaluated=(_NOTHING_NAMED, ())),) if normaliser.tracking else ANYTHING.objects
    if types is _TYPES and numbers is _ANY_NUMBERS and strings is _ANY_STRINGS and (
            arrays is ANYTHING.arrays and objects is ANYTHING.objects):
        found = ANYTHING
    else:
        found = Denotation("null" in types, 3 if "boolean" in types else 0, numbers, strings, arrays, objects)
    if kinds & _VALUES:
        if "enum" in schema:
            values = schema["enum"]
            if not isinstance(values, list):
                raise SchemaError("enum must be a list", pointer=f"{place.pointer}/enum")
            found = conjunction(normaliser.values(values), found, normaliser)
        if "const" in schema and "const" in known:
            found = conjunction(normaliser.values([schema["const"]]), found, normaliser)
    return found


def _types(place: Place, schema: dict[str, Any]) -> frozenset[str]:
    types = schema.get("type")
    if type(types) is str:
        one = _ONE_TYPE.get(types)
        if one is not None:
            return one
    if types is None:
        if "type" in schema:
            raise SchemaError("type must be a string or a list of strings", pointer=f"{place.pointer}/type")
        return _TYPES
    if isinstance(types, str):
        types = [types]
    if not isinstance(types, list) or not types:
        raise SchemaError("type must be a string or a list of strings", pointer=f"{place.pointer}/type")
    for name in types:
        if not isinstance(name, str) or name not in _TYPES:
            raise SchemaError(f"unknown type {echo(str(name))}", pointer=f"{place.pointer}/type",
                              hint=f"one of {', '.join(sorted(_TYPES))}")
    return frozenset(types)


def _number(place: Place, number: NumberShape) -> NumberShape | None:
    low, high = decimal_of(place, "minimum"), decimal_of(place, "maximum")
    bounds: list[tuple[Decimal | None, bool, Decimal | None, bool]]
    if place.dialect.exclusive_flags:
        below, above = flag_of(place, "exclusiveMinimum"), flag_of(place, "exclusiveMaximum")
        bounds = [(low, below, None, False)] if low is not None else []
        if high is not None:
            bounds.append((None, False, high, above))
    else:
        bounds = [(low, False, high, False)] if low is not None or high is not None else []
        under, over = decimal_of(place, "exclusiveMinimum"), decimal_of(place, "exclusiveMaximum")
        if under is not None or over is not None:
            bounds.append((under, True, over, True))
    found: NumberShape | None = number
    for lower, lower_open, upper, upper_open in bounds:
        if found is None:
            return None
        found = found.intersect(NumberShape.of_bounds(lower, upper, lower_open=lower_open, upper_open=upper_open))
    step = decimal_of(place, "multipleOf")
    if step is not None:
        if step <= 0:
            raise SchemaError("multipleOf must be greater than 0", pointer=f"{place.pointer}/multipleOf")
        if found is not None:
            found = found.intersect(NumberShape.of_multiples(step))
    return found


def _string(normaliser: Normaliser, place: Place, wanted: bool) -> StringShape | None:
    schema = place.schema
    least, most = count_of(place, "minLength", normaliser.limits), _bound(normaliser, place, "maxLength")
    found: StringShape | None = ANY_STRING
    if least or most is not None:
        found = StringShape.of_lengths(least or 0, most)
    if "pattern" in schema:
        pattern = schema["pattern"]
        pointer = f"{place.pointer}/pattern"
        if not isinstance(pattern, str):
            raise SchemaError("pattern must be a string", pointer=pointer)
        try:
            shape: StringShape | None = StringShape.from_pattern(pattern, normaliser.limits)
        except UnsatisfiableGrammarError:
            shape = None
        except NotRegularError as error:
            normaliser.refuse(pointer, *_not_regular(pattern, error))
            shape = ANY_STRING
        except RegexError as error:
            raise SchemaError(f"the pattern cannot be used: {error}", pointer=pointer) from None
        if found is not None:
            found = shape if shape is None else found.intersect(shape)
    if "format" in schema:
        name = schema["format"]
        pointer = f"{place.pointer}/format"
        if not isinstance(name, str):
            raise SchemaError("format must be a string", pointer=pointer)
        if normaliser.assert_formats and wanted:
            formatted = None if name in ANNOTATIONS else (
                StringShape.from_format(name, normaliser.limits, draft=place.dialect.name))
            if formatted is None and NumberShape.from_format(name) is None:
                normaliser.unknown_format(pointer, name)
            elif formatted is not None and found is not None:
                found = found.intersect(formatted)
    return found


def _array(normaliser: Normaliser, place: Place, schema: dict[str, Any], known: frozenset[str]) -> ArrayShape | None:
    prefix: tuple[int, ...] = ()
    rest = TRUE
    seen = 0 if normaliser.tracking else None
    items = schema.get("items", True)
    if isinstance(items, list) and place.dialect.items_lists:
        prefix = tuple(normaliser.under(place, "items", i) for i in range(len(items)))
        seen = len(prefix) if normaliser.tracking else None
        if "additionalItems" in schema:
            rest = normaliser.under(place, "additionalItems")
            seen = -1 if normaliser.tracking else None
    else:
        if "prefixItems" in schema and "prefixItems" in known:
            if not isinstance(schema["prefixItems"], list):
                raise SchemaError("prefixItems must be a list", pointer=f"{place.pointer}/prefixItems")
            prefix = tuple(normaliser.under(place, "prefixItems", i) for i in range(len(schema["prefixItems"])))
            seen = len(prefix) if normaliser.tracking else None
        if "items" in schema:
            rest = normaliser.under(place, "items")
            seen = -1 if normaliser.tracking else None
    contains: tuple[tuple[int, int, int | None, int], ...] = ()
    also: tuple[int, ...] = ()
    if "contains" in schema and "contains" in known:
        few = count_of(place, "minContains", normaliser.limits) if "minContains" in known else None
        many = _bound(normaliser, place, "maxContains") if "maxContains" in known else None
        few = 1 if few is None else few
        if few > 0 or many is not None:
            contains = ((normaliser.under(place, "contains"), few, many, 0),)
        if normaliser.tracking and place.dialect.name == "2020-12":
            also = (normaliser.under(place, "contains"),)
    unique = flag_of(place, "uniqueItems")
    least, most = 0, None
    if "minItems" in schema or "maxItems" in schema:
        least = count_of(place, "minItems", normaliser.limits) or 0
        most = _bound(normaliser, place, "maxItems")
    return ArrayShape(prefix, rest, least, most, contains, unique, seen, also).tidy()


def _object(normaliser: Normaliser, place: Place, schema: dict[str, Any],
            known: frozenset[str]) -> tuple[ObjectShape, ...]:
    properties: dict[str, int] = {}
    if "properties" in schema:
        properties = normaliser.all_under(place, "properties", mapping_of(place, "properties"))
    said = "additionalProperties" in schema
    rest = normaliser.under(place, "additionalProperties") if said else TRUE
    cells: tuple[Cell, ...] = ANY_OTHERS if rest == TRUE else ((ANY_STRING, rest),) if rest != FALSE else ()
    evaluated_cells: tuple[StringShape, ...] = ()
    if "patternProperties" in schema and mapping_of(place, "patternProperties"):
        values = [normaliser.under(place, "patternProperties", pattern) for pattern in schema["patternProperties"]]
        try:
            cells, patterns = _pattern_cells(normaliser, place, schema, values, rest)
        except NotRegularError as error:  # any name may be one that it matches
            normaliser.refuse(f"{place.pointer}/patternProperties", *_not_regular(error.pattern, error))
            cells, patterns, values = ANY_OTHERS, [ANY_STRING], [TRUE]
        evaluated_cells = tuple(patterns)
        for name in properties:
            for names, expression in zip(patterns, values, strict=True):
                if names.contains(name):
                    properties[name] = normaliser.both(properties[name], expression)
    required = names_of(place, "required") if "required" in schema else _NOTHING_NAMED
    evaluated = None
    if normaliser.tracking:
        evaluated = (frozenset(properties), (ANY_STRING,) if said else evaluated_cells)
    least, most = 0, None
    if "minProperties" in schema or "maxProperties" in schema:
        least = count_of(place, "minProperties", normaliser.limits) or 0
        most = _bound(normaliser, place, "maxProperties")
    shape = ObjectShape(tuple(properties.items()), cells, required, (), least, most, said, evaluated)
    shapes: tuple[ObjectShape, ...] = () if shape.is_impossible() else (shape,)
    if "propertyNames" in schema and "propertyNames" in known:
        names_allowed = normaliser.strings_of(normaliser.under(place, "propertyNames"))
        allowed = split_cells([(names, TRUE) for names in disjoint_cells(names_allowed)], FALSE)
        named = ObjectShape((), tuple(allowed))
        shapes = tuple(both for s in shapes for both in meet(s, named, normaliser))
    if "dependentRequired" in schema and "dependentRequired" in known:
        for name in mapping_of(place, "dependentRequired"):
            shapes = _dependent(normaliser, shapes, name, ObjectShape(
                required=names_of(place, "dependentRequired", name)))
    return shapes


def _not_regular(pattern: str, error: NotRegularError) -> tuple[str, str]:
    """Why a pattern is not enforced, and what to do."""
    what = str(error).split("\n", 1)[0]
    return f"the pattern {echo(pattern)} is no regular language: {what}", error.hint or ""


def _pattern_cells(normaliser: Normaliser, place: Place, schema: dict[str, Any], values: list[int],
                   rest: int) -> tuple[tuple[Cell, ...], list[StringShape]]:
    """The names by which patterns they match: disjoint cells, and the patterns' own names."""
    patterns: list[StringShape] = []
    cells: list[tuple[StringShape, int, bool]] = [(ANY_STRING, TRUE, False)]
    for pattern in schema["patternProperties"]:
        try:
            names = StringShape.from_pattern(pattern, normaliser.limits)
        except UnsatisfiableGrammarError:
            names = StringShape.of_values([])
        except NotRegularError:
            raise
        except RegexError as error:
            raise SchemaError(f"the pattern cannot be used: {error}",
                              pointer=f"{place.pointer}/patternProperties") from None
        patterns.append(names)
    for names, expression in _joined(patterns, values):
        outside = names.complement()
        refined: list[tuple[StringShape, int, bool]] = []
        for cell, value, matched in cells:
            inside = cell.intersect(names)
            if inside is not None and len(cells) > FEW_CELLS and inside.is_plainly_empty(normaliser.limits):
                refined.append((cell, value, matched))
                continue
            if inside is not None:
                refined.append((inside, normaliser.both(value, expression), True))
            for other in outside:
                left = cell.intersect(other)
                if left is not None:
                    refined.append((left, value, matched))
        cells = refined
        normaliser.spend(len(cells))
    found = [(names, value if matched else rest) for names, value, matched in cells]
    return tuple([cell for cell in found if cell[1] != FALSE]), patterns


def _joined(patterns: list[StringShape], values: list[int]) -> list[Cell]:
    """The patterns with what they ask for; those that ask for the same as one, where that is simple."""
    found: list[Cell] = []
    places: dict[int, int] = {}
    for names, value in zip(patterns, values, strict=True):
        place = places.setdefault(value, len(found))
        if place < len(found):
            both = either(found[place][0], names)
            if both is not None:
                found[place] = both, value
                continue
        found.append((names, value))
    return found


def _dependent(normaliser: Normaliser, shapes: tuple[ObjectShape, ...], name: str,
               then: ObjectShape) -> tuple[ObjectShape, ...]:
    """Without ``name``, or with it and with ``then``."""
    options = (ObjectShape(((name, FALSE),)), *meet(then, ObjectShape(required=frozenset([name])), normaliser))
    found = tuple(both for s in shapes for option in options for both in meet(s, option, normaliser))
    normaliser.spend(len(found))
    return found


def _bound(normaliser: Normaliser, place: Place, keyword: str) -> int | None:
    """An upper bound. One above the largest ``max_repeat`` is none, since no text gets there, and is noted."""
    try:
        return count_of(place, keyword, normaliser.limits)
    except GrammarLimitError as error:
        if error.value < LARGEST_REPEAT:
            raise
        reason = f"no text is long enough to reach a bound above {error.value:,}"
        normaliser.notes[f"{place.pointer}/{keyword}", "annotation", reason] = None
        return None
