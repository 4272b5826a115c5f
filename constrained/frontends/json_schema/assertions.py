# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What the keywords of one schema object assert, each read once and checked as it is read.

``own_denotation`` is the conjunction of all keywords that look at nothing but the value: type by type, one shape each.
Which keywords there are is seen in one pass over the schema (``kinds_of``), as bits.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.errors import (
    GrammarLimitError,
    NotRegularError,
    RegexError,
    SchemaError,
    UnsatisfiableGrammarError,
    echo,
)
from constrained.frontends.json_schema.denotation import ANYTHING
from constrained.frontends.json_schema.numbers import (
    ANY_INTEGER,
    ANY_NUMBER,
    PLAIN_INTEGER,
    NumberShape,
    whole_interval,
)
from constrained.frontends.json_schema.objects import ANY_OTHERS, disjoint_cells, split_cells
from constrained.frontends.json_schema.reading import count_of, decimal_of
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape, either
from constrained.limits import LARGEST_REPEAT

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.arrays import ArrayShape
    from cython.cimports.constrained.frontends.json_schema.denotation import Denotation, conjunction
    from cython.cimports.constrained.frontends.json_schema.document import Place
    from cython.cimports.constrained.frontends.json_schema.objects import ObjectShape, meet
    from cython.cimports.constrained.frontends.json_schema.places import Places
else:
    from constrained.frontends.json_schema.arrays import ArrayShape
    from constrained.frontends.json_schema.denotation import Denotation, conjunction
    from constrained.frontends.json_schema.document import Place
    from constrained.frontends.json_schema.objects import ObjectShape, meet
    from constrained.frontends.json_schema.places import Places

__all__ = ["APPLIES", "REFERS", "VALUES", "kinds_of", "own_denotation"]

ANNOTATIONS = frozenset(("byte", "binary"))
"""Formats that say how text is meant, not which text is valid: no validator asserts them."""

_ANY_NUMBERS: tuple = (ANY_NUMBER,)
_INTEGERS: tuple = (ANY_INTEGER,)
_PLAIN_INTEGERS: tuple = (PLAIN_INTEGER,)
_ANY_STRINGS: tuple = (ANY_STRING,)
_NULL = cython.declare(cython.int, 1)
_BOOLEAN = cython.declare(cython.int, 2)
_INTEGER = cython.declare(cython.int, 4)
_NUMBER = cython.declare(cython.int, 8)
_STRING = cython.declare(cython.int, 16)
_ARRAY = cython.declare(cython.int, 32)
_OBJECT = cython.declare(cython.int, 64)
_EVERY = cython.declare(cython.int, 127)
_TYPES: dict = {"null": 1, "boolean": 2, "integer": 4, "number": 8, "string": 16, "array": 32, "object": 64}
FEW_CELLS = cython.declare(cython.int, 8)
"""Sets of names that patterns cut out, from which on it is looked whether there are any."""
_NOTHING_NAMED: frozenset = frozenset()

_NUMERIC = cython.declare(cython.int, 1)
_STRINGS = cython.declare(cython.int, 2)
_OBJECTS = cython.declare(cython.int, 4)
_ARRAYS = cython.declare(cython.int, 8)
_FORMAT = cython.declare(cython.int, 16)
VALUES = 32
APPLIES = 64
REFERS = 128
"""Bits of ``kinds_of``: values are listed; the meaning of other schemas comes in, in place; there is a reference."""

_KINDS: dict = {
    **dict.fromkeys("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split(), 1),
    **dict.fromkeys("minLength maxLength pattern".split(), 2),
    "format": 2 + 16,
    **dict.fromkeys("properties required additionalProperties patternProperties propertyNames minProperties "
                    "maxProperties dependentRequired".split(), 4),
    **dict.fromkeys("items prefixItems additionalItems minItems maxItems uniqueItems contains".split(), 8),
    "enum": 32, "const": 32,
    **dict.fromkeys("allOf anyOf oneOf not if dependentSchemas dependencies $dynamicRef $recursiveRef "
                    "unevaluatedProperties unevaluatedItems".split(), 64),
    "$ref": 64 + 128,
}


@cython.ccall
@cython.exceptval(-1, check=False)
def kinds_of(schema) -> cython.int:
    """Which kinds of keywords a schema has."""
    kinds: cython.int = 0
    for keyword in schema:
        found = _KINDS.get(keyword)
        if found is not None:
            kinds |= cython.cast(cython.int, found)
    return kinds


@cython.ccall
def own_denotation(normaliser: Places, place: Place, kinds: cython.int) -> Denotation:
    """What the assertions of the schema of ``place`` say; ``kinds`` as ``kinds_of`` says."""
    schema = place.schema
    known: frozenset = place.dialect.keywords
    types: cython.int = _types(schema)
    if normaliser.names_only:
        types &= _STRING
    numbers: tuple = ()
    if types & _NUMBER:
        numbers = _ANY_NUMBERS
    elif types & _INTEGER:
        numbers = _INTEGERS if place.dialect.float_integers else _PLAIN_INTEGERS
    if kinds & _NUMERIC:
        number = _number(place, numbers[0] if len(numbers) > 0 else ANY_NUMBER)
        if len(numbers) > 0:
            numbers = () if number is None else (number,)
    if kinds & _FORMAT and len(numbers) > 0 and normaliser.assert_formats and isinstance(schema["format"], str):
        held = NumberShape.from_format(schema["format"])
        if held is not None:
            numbers = tuple([both for both in [n.intersect(held) for n in numbers] if both is not None])
    strings: tuple = _ANY_STRINGS if types & _STRING else ()
    if kinds & _STRINGS:
        string = _string(normaliser, place, len(strings) > 0)
        strings = () if string is None or len(strings) == 0 else (string,)
    arrays: tuple = ()
    objects: tuple = ()
    if types & _ARRAY:
        if kinds & _ARRAYS:
            array = _array(normaliser, place, schema, known)
            arrays = () if array is None else (array,)
        else:
            arrays = (ArrayShape(evaluated=0),) if normaliser.tracking else ANYTHING.arrays
    if types & _OBJECT:
        if kinds & _OBJECTS:
            objects = _object(normaliser, place, schema, known)
        else:
            objects = (ObjectShape(evaluated=(_NOTHING_NAMED, ())),) if normaliser.tracking else ANYTHING.objects
    found: Denotation
    if types == _EVERY and numbers is _ANY_NUMBERS and strings is _ANY_STRINGS and (
            arrays is ANYTHING.arrays and objects is ANYTHING.objects):
        found = ANYTHING
    else:
        found = Denotation((types & _NULL) != 0, 3 if types & _BOOLEAN else 0, numbers, strings, arrays, objects)
    if kinds & VALUES:
        if "enum" in schema:
            found = conjunction(normaliser.values(list(schema["enum"])), found, normaliser)
        if "const" in schema and "const" in known:
            found = conjunction(normaliser.values([schema["const"]]), found, normaliser)
    return found


@cython.cfunc
@cython.exceptval(-1, check=False)
def _types(schema) -> cython.int:
    types = schema.get("type")
    if types is None:
        return _EVERY
    if isinstance(types, str):
        return cython.cast(cython.int, _TYPES[types])
    found: cython.int = 0
    for name in types:
        found |= cython.cast(cython.int, _TYPES[name])
    return found


@cython.cfunc
def _number(place: Place, number):
    """The numbers of a shape within the bounds and the multiples that a schema asks for; None: there are none."""
    schema = place.schema
    exclusive: cython.bint = "exclusiveMinimum" in schema or "exclusiveMaximum" in schema
    if not exclusive and "multipleOf" not in schema:
        least, most = schema.get("minimum"), schema.get("maximum")
        if (least is None or type(least) is int) and (most is None or type(most) is int) and (
                least is None or most is None or least <= most):
            return whole_interval(number, least, most)
    low, high = decimal_of(place, "minimum"), decimal_of(place, "maximum")
    bounds: list
    if exclusive and place.dialect.exclusive_flags:
        below, above = schema.get("exclusiveMinimum", False), schema.get("exclusiveMaximum", False)
        bounds = [(low, below, None, False)] if low is not None else []
        if high is not None:
            bounds.append((None, False, high, above))
    else:
        bounds = [(low, False, high, False)] if low is not None or high is not None else []
        if exclusive:
            bounds.append((decimal_of(place, "exclusiveMinimum"), True, decimal_of(place, "exclusiveMaximum"), True))
    found = number
    for lower, lower_open, upper, upper_open in bounds:
        if found is None:
            return None
        found = found.intersect(NumberShape.of_bounds(lower, upper, lower_open=lower_open, upper_open=upper_open))
    step = decimal_of(place, "multipleOf")
    if step is not None and found is not None:
        found = found.intersect(NumberShape.of_multiples(step))
    return found


@cython.cfunc
def _string(normaliser: Places, place: Place, wanted: cython.bint):
    schema = place.schema
    least, most = count_of(place, "minLength", normaliser.limits), _bound(normaliser, place, "maxLength")
    found = ANY_STRING
    if least or most is not None:
        found = StringShape.of_lengths(least or 0, most)
    if "pattern" in schema:
        pattern = schema["pattern"]
        pointer = f"{place.pointer}/pattern"
        try:
            shape = StringShape.from_pattern(pattern, normaliser.limits)
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
        if normaliser.assert_formats and wanted:
            formatted = None if name in ANNOTATIONS else (
                StringShape.from_format(name, normaliser.limits, draft=place.dialect.name))
            if formatted is None and NumberShape.from_format(name) is None:
                normaliser.unknown_format(pointer, name)
            elif formatted is not None and found is not None:
                found = found.intersect(formatted)
    return found


@cython.cfunc
def _array(normaliser: Places, place: Place, schema, known: frozenset):
    prefix: tuple = ()
    rest: cython.int = 1
    tracking: cython.bint = normaliser.tracking
    seen = 0 if tracking else None
    items = schema.get("items", True)
    if isinstance(items, list) and place.dialect.items_lists:
        prefix = tuple([normaliser.under(place, "items", i) for i in range(len(items))])
        seen = len(prefix) if tracking else None
        if "additionalItems" in schema:
            rest = normaliser.under(place, "additionalItems")
            seen = -1 if tracking else None
    else:
        if "prefixItems" in schema and "prefixItems" in known:
            first = schema["prefixItems"]
            prefix = tuple([normaliser.under(place, "prefixItems", i) for i in range(len(first))])
            seen = len(prefix) if tracking else None
        if "items" in schema:
            rest = normaliser.under(place, "items")
            seen = -1 if tracking else None
    contains: tuple = ()
    also: tuple = ()
    if "contains" in schema and "contains" in known:
        few = count_of(place, "minContains", normaliser.limits) if "minContains" in known else None
        many = _bound(normaliser, place, "maxContains") if "maxContains" in known else None
        few = 1 if few is None else few
        if few > 0 or many is not None:
            contains = ((normaliser.under(place, "contains"), few, many, 0),)
        if tracking and place.dialect.name == "2020-12":
            also = (normaliser.under(place, "contains"),)
    unique = schema.get("uniqueItems", False)
    least = 0
    most = None
    if "minItems" in schema or "maxItems" in schema:
        least = count_of(place, "minItems", normaliser.limits) or 0
        most = _bound(normaliser, place, "maxItems")
    shape: ArrayShape = ArrayShape(prefix, rest, least, most, contains, unique, seen, also)
    return shape.tidy()


@cython.cfunc
def _object(normaliser: Places, place: Place, schema, known: frozenset) -> tuple:
    properties: dict = {}
    rest: cython.int = 1
    if "properties" in schema:
        properties = normaliser.all_under(place, "properties", schema["properties"])
    said: cython.bint = "additionalProperties" in schema
    if said:
        rest = normaliser.under(place, "additionalProperties")
    cells: tuple = ANY_OTHERS if rest == 1 else ((ANY_STRING, rest),) if rest != 0 else ()
    patterns: list = []
    if schema.get("patternProperties"):
        values: list = [normaliser.under(place, "patternProperties", one) for one in schema["patternProperties"]]
        try:
            patterns = _patterns(normaliser, place, schema["patternProperties"])
            cells = _pattern_cells(normaliser, patterns, values, rest)
        except NotRegularError as error:  # any name may be one that it matches
            normaliser.refuse(f"{place.pointer}/patternProperties", *_not_regular(error.pattern, error))
            cells, patterns, values = ANY_OTHERS, [ANY_STRING], [1]
        for name in properties:
            for names, expression in zip(patterns, values):
                if names.contains(name):
                    properties[name] = normaliser.both(properties[name], expression)
    required: frozenset = frozenset(schema["required"]) if "required" in schema else _NOTHING_NAMED
    evaluated = None
    if normaliser.tracking:
        evaluated = (frozenset(properties), (ANY_STRING,) if said else tuple(patterns))
    least = 0
    most = None
    if "minProperties" in schema or "maxProperties" in schema:
        least = count_of(place, "minProperties", normaliser.limits) or 0
        most = _bound(normaliser, place, "maxProperties")
    shape: ObjectShape = ObjectShape(tuple(properties.items()), cells, required, (), least, most, said, evaluated)
    shapes: tuple = () if shape.is_impossible() else (shape,)
    if "propertyNames" in schema and "propertyNames" in known:
        names_allowed = normaliser.strings_of(normaliser.under(place, "propertyNames"))
        allowed = split_cells([(names, 1) for names in disjoint_cells(names_allowed)], 0)
        shapes = _met(normaliser, shapes, (ObjectShape((), tuple(allowed)),))
    if "dependentRequired" in schema and "dependentRequired" in known:
        for name, needs in schema["dependentRequired"].items():
            shapes = _dependent(normaliser, shapes, name, ObjectShape(required=frozenset(needs)))
    return shapes


@cython.cfunc
def _patterns(normaliser: Places, place: Place, patterns) -> list:
    """The names of each pattern."""
    found: list = []
    for pattern in patterns:
        try:
            names = StringShape.from_pattern(pattern, normaliser.limits)
        except UnsatisfiableGrammarError:
            names = StringShape.of_values([])
        except NotRegularError:
            raise
        except RegexError as error:
            raise SchemaError(f"the pattern cannot be used: {error}",
                              pointer=f"{place.pointer}/patternProperties") from None
        found.append(names)
    return found


def _not_regular(pattern: str, error: NotRegularError):
    """Why a pattern is not enforced, and what to do."""
    what = str(error).split("\n", 1)[0]
    return f"the pattern {echo(pattern)} is no regular language: {what}", error.hint or ""


@cython.cfunc
def _pattern_cells(normaliser: Places, patterns: list, values: list, rest: cython.int) -> tuple:
    """The names by which patterns they match: disjoint cells."""
    cells: list = [(ANY_STRING, 1, False)]
    for names, expression in _joined(patterns, values):
        outside = names.complement()
        refined: list = []
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
    found: list = [(names, value if matched else rest) for names, value, matched in cells]
    return tuple([cell for cell in found if cell[1] != 0])


@cython.cfunc
def _joined(patterns: list, values: list) -> list:
    """The patterns with what they ask for; those that ask for the same as one, where that is simple."""
    found: list = []
    places: dict = {}
    for names, value in zip(patterns, values):
        place = places.setdefault(value, len(found))
        if place < len(found):
            both = either(found[place][0], names)
            if both is not None:
                found[place] = both, value
                continue
        found.append((names, value))
    return found


@cython.cfunc
def _met(normaliser: Places, shapes: tuple, options: tuple) -> tuple:
    """What is in one of either."""
    found: list = []
    for shape in shapes:
        for option in options:
            found.extend(meet(shape, option, normaliser))
    return tuple(found)


@cython.cfunc
def _dependent(normaliser: Places, shapes: tuple, name, then: ObjectShape) -> tuple:
    """Without ``name``, or with it and with ``then``."""
    options: tuple = (ObjectShape(((name, 0),)), *meet(then, ObjectShape(required=frozenset([name])), normaliser))
    found: tuple = _met(normaliser, shapes, options)
    normaliser.spend(len(found))
    return found


@cython.cfunc
def _bound(normaliser: Places, place: Place, keyword: str):
    """An upper bound. One above the largest ``max_repeat`` is none, since no text gets there, and is noted."""
    try:
        return count_of(place, keyword, normaliser.limits)
    except GrammarLimitError as error:
        if error.value < LARGEST_REPEAT:
            raise
        reason = f"no text is long enough to reach a bound above {error.value:,}"
        normaliser.notes[f"{place.pointer}/{keyword}", "annotation", reason] = None
        return None
