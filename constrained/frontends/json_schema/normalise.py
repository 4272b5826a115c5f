"""Schemas to denotations: each keyword read once, checked as it is read, and combined type by type.

``Normaliser.denote(e)`` gives what expression ``e`` denotes, one level deep; the expressions of items and members are
interned, not followed. Denotations are kept by expression. In-place applicators (allOf, anyOf, oneOf, not, if,
references) do recurse here; a loop of them without a value in between, or a chain deeper than ``MAX_CHAIN``, is
refused. Chains of references that say nothing else are followed in a loop.

What cannot be enforced exactly raises ``UnsupportedSchemaError``; with ``unsupported`` "warn" or "ignore" the keyword
is left out (a superset) and noted for the coverage report.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from constrained.errors import (
    GrammarLimitError,
    RegexError,
    SchemaError,
    UnsatisfiableGrammarError,
    UnsupportedSchemaError,
    echo,
)
from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.denotation import (
    ANYTHING,
    NOTHING,
    Denotation,
    conjunction,
    difference,
    disjunction,
)
from constrained.frontends.json_schema.dialects import VALIDATION
from constrained.frontends.json_schema.document import Document, Place
from constrained.frontends.json_schema.expressions import FALSE, TRUE, Expressions
from constrained.frontends.json_schema.given import Given
from constrained.frontends.json_schema.numbers import ANY_INTEGER, ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.objects import Cell, ObjectShape, distance, meet, split_cells
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape
from constrained.limits import Limits

__all__ = ["Normaliser", "Note"]

MAX_CHAIN = 150
"""In-place applicators inside each other, references followed included."""

ANNOTATIONS = frozenset(("byte", "binary"))
"""Formats that say how text is meant, not which text is valid: no validator asserts them."""

ANY_NUMBERS = (ANY_NUMBER,)
ANY_STRINGS = (ANY_STRING,)
_TYPES = frozenset("null boolean integer number string array object".split())
_NUMERIC = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_STRINGS = ("minLength", "maxLength", "pattern", "format")
_OBJECTS = ("properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
            "maxProperties", "dependentRequired")
_ARRAYS = ("items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains")
_APPLICATORS = ("allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies")

Note = tuple[str, str, str]
"""``(JSON Pointer, "relaxed" or "annotation", reason)``."""


class _Loop(SchemaError):
    """An expression was asked for while it is being found out."""


class Normaliser:
    """The expressions of one document and what they denote. See the module docstring."""

    def __init__(self, document: Document, limits: Limits, *, unsupported: str = "error",
                 assert_formats: bool = True) -> None:
        self.document = document
        self.limits = limits
        self.unsupported = unsupported
        self.assert_formats = assert_formats
        self.expressions = Expressions()
        self.denoted: dict[int, Denotation] = {FALSE: NOTHING, TRUE: ANYTHING}
        self.places: list[Place] = []
        self.active: dict[int, None] = {}
        self.spent = 0
        self.notes: dict[Note, None] = {}
        self.tracking = not document.mentioned.isdisjoint(("unevaluatedProperties", "unevaluatedItems"))
        self.dynamic = not document.mentioned.isdisjoint(("$dynamicRef", "$recursiveRef"))
        self.empties: dict[int, bool] = {}
        self.loose = False
        self.inexact: set[int] = set()

    # ---- the algebra that shapes use ----------------------------------------------------------------

    def both(self, a: int, b: int) -> int:
        """The conjunction of two expressions."""
        if a == b or b == TRUE:
            return a
        if a == TRUE:
            return b
        if a == FALSE or b == FALSE:
            return FALSE
        entries = self.expressions.entries
        if entries[a][0] == "const" and entries[b][0] == "const":
            return FALSE  # equal ones are one expression
        return self.expressions.conjunction([a, b])

    def negated(self, a: int) -> int:
        """The complement of an expression."""
        return self.expressions.negation(a)

    def spend(self, alternatives: int) -> None:
        """Count alternatives made; raises ``GrammarLimitError`` beyond ``max_schema_alternatives``."""
        self.spent += alternatives
        if self.spent > self.limits.max_schema_alternatives:
            raise GrammarLimitError("max_schema_alternatives", self.limits.max_schema_alternatives,
                                    "the schema combines too many alternatives")

    # ---- expressions of places -----------------------------------------------------------------------

    def at(self, place: Place) -> int:
        """The expression of a schema where it stands."""
        schema = place.schema
        if schema is True:
            return TRUE
        if schema is False:
            return FALSE
        if not isinstance(schema, dict):
            raise SchemaError(f"a schema is an object or a boolean, not {_name(schema)}", pointer=place.pointer)
        if not schema:
            return TRUE
        if type(schema) is dict and len(schema) < 8:
            content = _content(schema)
            if content is not None:  # equal ones are one expression, wherever they stand
                key = (place.dialect.name, content)
                known = self.expressions.ids.get(("place", key))
                if known is None:
                    self.places.append(place)
                    known = self.expressions.intern("place", len(self.places) - 1, key)
                return known
        scope: Any = None
        if place.scope is not None:
            place = self.document.enter(place)
            if self.dynamic:
                scope = tuple(dict.fromkeys(uri for uri, _ in place.scope.dynamic_scope()))
        known = self.expressions.ids.get(("place", (id(schema), scope)))
        if known is not None:
            return known
        self.places.append(place)
        return self.expressions.intern("place", len(self.places) - 1, (id(schema), scope))

    def constant(self, value: Any) -> int:
        """The expression of exactly one value."""
        return self.expressions.intern("const", value, canonical(value))

    # ---- denotations ---------------------------------------------------------------------------------

    def denote(self, expression: int) -> Denotation:
        """What an expression denotes; kept."""
        known = self.denoted.get(expression)
        if known is not None:
            if expression in self.inexact:
                self.loose = True
            return known
        kind, parts = self.expressions.entries[expression]
        if expression in self.active:
            pointer = self.places[parts].pointer if kind == "place" else ""
            raise _Loop("the schema refers to itself without a value in between", pointer=pointer,
                        hint="a reference loop must pass through a property or an item")
        if len(self.active) > MAX_CHAIN:
            raise GrammarLimitError("max_nesting", MAX_CHAIN, "references and combinators are nested too deeply")
        self.active[expression] = None
        outside, self.loose = self.loose, False
        try:
            if kind == "place":
                found = self._place(self.places[parts])
            elif kind == "const":
                found = self._constant(parts)
            elif kind == "and":
                found = ANYTHING
                denied = []
                for part in parts:
                    inner, negated = self.expressions.entries[part]
                    if inner == "not":
                        denied.append(negated)
                    else:
                        found = conjunction(found, self.denote(part), self)
                for part in denied:  # within what the others leave, few alternatives are possible
                    found = self.without(found, part)
            elif kind == "or":
                found = disjunction([self.denote(part) for part in parts], self)
            else:
                found = self.without(ANYTHING, parts)
        except NotEnforced as refused:
            self.refuse("", refused.reason, refused.hint)
            found = ANYTHING
        finally:
            del self.active[expression]
            if self.loose:
                self.inexact.add(expression)
            self.loose = self.loose or outside
        self.denoted[expression] = found
        return found

    def without(self, found: Denotation, expression: int) -> Denotation:
        """What of ``found`` is not in an expression. Of one that was relaxed to a superset nothing can be taken off."""
        taken = self.denote(expression)
        if expression in self.inexact:
            return found
        return difference(found, taken, self)

    def is_empty(self, expression: int, depth: int = 3) -> bool:
        """Whether it is plain that nothing satisfies the expression, looking ``depth`` values deep."""
        if expression <= TRUE:
            return expression == FALSE
        known = self.empties.get(expression)
        if known is not None:
            return known
        if expression in self.active or depth == 0 or len(self.active) > 40:
            return False
        try:
            found = self._is_empty(self.denote(expression), depth)
        except _Loop:
            return False  # asked in the middle of finding out what this very schema denotes
        self.empties[expression] = found
        return found

    def _is_empty(self, d: Denotation, depth: int) -> bool:
        if d.null or d.booleans or d.numbers or d.strings:
            return False
        return all(self.no_array(a, depth) for a in d.arrays) and all(self.no_object(o, depth) for o in d.objects)

    def no_object(self, shape: ObjectShape, depth: int = 3) -> bool:
        """Whether it is plain that no object fits the shape."""
        if shape.is_impossible():
            return True
        if depth <= 0:
            return False
        known = dict(shape.properties)
        return any(self.is_empty(known[name] if name in known else shape.at_other(name), depth - 1)
                   for name in shape.required)

    def no_array(self, shape: ArrayShape, depth: int = 3) -> bool:
        """Whether it is plain that no array fits the shape."""
        if depth <= 0:
            return False
        return any(self.is_empty(shape.at(i), depth - 1) for i in range(min(shape.minimum, len(shape.prefix) + 1)))

    def _constant(self, value: Any) -> Denotation:
        if value is None:
            return Denotation(True, 0, (), (), (), ())
        if isinstance(value, bool):
            return Denotation(False, 2 if value else 1, (), (), (), ())
        if isinstance(value, (int, Decimal)):
            return Denotation(False, 0, (NumberShape.of_values([Decimal(value)]),), (), (), ())
        if isinstance(value, str):
            return Denotation(False, 0, (), (StringShape.of_values([value]),), (), ())
        if isinstance(value, list):
            items = tuple(self.constant(item) for item in value)
            return Denotation(False, 0, (), (), (ArrayShape(items, FALSE, len(items), len(items)),), ())
        members = tuple((name, self.constant(item)) for name, item in value.items())
        return Denotation(False, 0, (), (), (), (ObjectShape(members, (), frozenset(value), said=True),))

    def _values(self, values: list[Any]) -> Denotation:
        """A finite set: numbers and strings as one shape each."""
        numbers: list[Decimal] = []
        strings: list[str] = []
        rest: list[Denotation] = []
        null = False
        booleans = 0
        for value in values:
            if value is None:
                null = True
            elif isinstance(value, bool):
                booleans |= 2 if value else 1
            elif isinstance(value, (int, Decimal)):
                numbers.append(Decimal(value))
            elif isinstance(value, str):
                strings.append(value)
            else:
                rest.append(self._constant(value))
        found = Denotation(null, booleans, (NumberShape.of_values(numbers),) if numbers else (),
                           (StringShape.of_values(strings),) if strings else (), (), ())
        return disjunction([found, *rest], self) if rest else found

    def _place(self, place: Place) -> Denotation:
        """The conjunction of what every keyword of a schema says."""
        schema = place.schema
        if type(schema) is Given and schema.denotation is not None:
            return schema.denotation
        dialect = place.dialect
        ref = schema.get("$ref")
        if ref is not None and (dialect.ref_alone or len(schema) == 1):
            return self.denote(self._end_of_references(place, ref))
        known = dialect.keywords
        if "type" not in known:  # a dialect of one's own without the validation vocabulary
            schema = {key: value for key, value in schema.items() if key not in VALIDATION}
            place = place._replace(schema=schema)
        found = self._own(place, schema, known)
        if ref is not None:
            found = conjunction(found, self.denote(self.at(self.document.follow(place, ref))), self)
        if found.objects and "allOf" in schema and _comes_first(schema, "allOf", "properties"):
            # the order of members is that of the text
            found = conjunction(self._all_of(place, schema["allOf"], ANYTHING), found, self)
        dynamic = dialect.dynamic
        if dynamic and dynamic in schema:
            target = self.document.follow(place, schema[dynamic], dynamic)
            found = conjunction(found, self.denote(self.at(target)), self)
        for keyword in _APPLICATORS:
            if (keyword in schema and keyword in known) or (keyword == "dependencies" and keyword in schema):
                try:
                    found = _APPLY[keyword](self, place, schema[keyword], found)
                except NotEnforced as refused:
                    self.refuse(f"{place.pointer}/{keyword}", refused.reason, refused.hint)
                if found.is_nothing():
                    return found
        if self.tracking:
            if "unevaluatedProperties" in schema and "unevaluatedProperties" in known:
                found = self._unevaluated_properties(place, found)
            if "unevaluatedItems" in schema and "unevaluatedItems" in known:
                found = self._unevaluated_items(place, found)
        return found

    def _end_of_references(self, place: Place, ref: Any) -> int:
        """Where a chain of references that say nothing else ends."""
        seen: set[int] = set()
        while True:
            place = self.document.enter(self.document.follow(place, ref))
            schema = place.schema
            if not isinstance(schema, dict) or "$ref" not in schema or (
                    not place.dialect.ref_alone and len(schema) > 1) or self.dynamic:
                return self.at(place)
            if id(schema) in seen:
                raise _Loop("the schema refers to itself without a value in between", pointer=place.pointer,
                            hint="a reference loop must pass through a property or an item")
            seen.add(id(schema))
            ref = schema["$ref"]

    # ---- assertions of one schema object -------------------------------------------------------------

    def _own(self, place: Place, schema: dict[str, Any], known: frozenset[str]) -> Denotation:
        types = self._types(place, schema)
        numbers: tuple[NumberShape, ...] = ()
        if "number" in types:
            numbers = ANY_NUMBERS
        elif "integer" in types:
            numbers = (ANY_INTEGER,)
        if numbers and not schema.keys().isdisjoint(_NUMERIC):
            number = self._number(place, schema, numbers[0])
            numbers = () if number is None else (number,)
        elif not schema.keys().isdisjoint(_NUMERIC):
            self._number(place, schema, ANY_NUMBER)
        name = schema.get("format")
        if numbers and isinstance(name, str) and self.assert_formats:
            held = NumberShape.from_format(name)
            if held is not None:
                numbers = tuple(both for n in numbers if (both := n.intersect(held)) is not None)
        strings: tuple[StringShape, ...] = ANY_STRINGS if "string" in types else ()
        if not schema.keys().isdisjoint(_STRINGS):
            string = self._string(place, schema, bool(strings))
            strings = () if string is None or not strings else (string,)
        arrays: tuple[ArrayShape, ...] = ()
        objects: tuple[ObjectShape, ...] = ()
        if "array" in types:
            array = self._array(place, schema, known) if not schema.keys().isdisjoint(_ARRAYS) else ArrayShape(
                evaluated=0 if self.tracking else None)
            arrays = () if array is None else (array,)
        if "object" in types:
            objects = self._object(place, schema, known) if not schema.keys().isdisjoint(_OBJECTS) else (
                ObjectShape(evaluated=(frozenset(), ()) if self.tracking else None),)
        found = Denotation("null" in types, 3 if "boolean" in types else 0, numbers, strings, arrays, objects)
        if types is _TYPES and numbers is ANY_NUMBERS and strings is ANY_STRINGS and not self.tracking and (
            schema.keys().isdisjoint(_ARRAYS) and schema.keys().isdisjoint(_OBJECTS)
        ):
            found = ANYTHING
        if "enum" in schema:
            values = schema["enum"]
            if not isinstance(values, list):
                raise SchemaError("enum must be a list", pointer=f"{place.pointer}/enum")
            found = conjunction(self._values(values), found, self)
        if "const" in schema and "const" in known:
            found = conjunction(self._values([schema["const"]]), found, self)
        return found

    def _types(self, place: Place, schema: dict[str, Any]) -> frozenset[str]:
        types = schema.get("type")
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

    def _number(self, place: Place, schema: dict[str, Any], number: NumberShape) -> NumberShape | None:
        low, high = self._decimal(place, "minimum"), self._decimal(place, "maximum")
        bounds: list[tuple[Decimal | None, bool, Decimal | None, bool]]
        if place.dialect.exclusive_flags:
            below, above = self._flag(place, "exclusiveMinimum"), self._flag(place, "exclusiveMaximum")
            bounds = [(low, below, None, False)] if low is not None else []
            if high is not None:
                bounds.append((None, False, high, above))
        else:
            bounds = [(low, False, high, False)] if low is not None or high is not None else []
            under, over = self._decimal(place, "exclusiveMinimum"), self._decimal(place, "exclusiveMaximum")
            if under is not None or over is not None:
                bounds.append((under, True, over, True))
        found: NumberShape | None = number
        for lower, lower_open, upper, upper_open in bounds:
            if found is None:
                return None
            found = found.intersect(NumberShape.of_bounds(lower, upper, lower_open=lower_open, upper_open=upper_open))
        step = self._decimal(place, "multipleOf")
        if step is not None:
            if step <= 0:
                raise SchemaError("multipleOf must be greater than 0", pointer=f"{place.pointer}/multipleOf")
            if found is not None:
                found = found.intersect(NumberShape.of_multiples(step))
        return found

    def _string(self, place: Place, schema: dict[str, Any], wanted: bool) -> StringShape | None:
        least, most = self._count(place, "minLength"), self._count(place, "maxLength")
        found: StringShape | None = ANY_STRING
        if least or most is not None:
            found = StringShape.of_lengths(least or 0, most)
        if "pattern" in schema:
            pattern = schema["pattern"]
            pointer = f"{place.pointer}/pattern"
            if not isinstance(pattern, str):
                raise SchemaError("pattern must be a string", pointer=pointer)
            try:
                shape: StringShape | None = StringShape.from_pattern(pattern, self.limits)
            except UnsatisfiableGrammarError:
                shape = None
            except RegexError as error:
                raise SchemaError(f"the pattern cannot be used: {error}", pointer=pointer) from None
            if found is not None:
                found = shape if shape is None else found.intersect(shape)
        if "format" in schema:
            name = schema["format"]
            pointer = f"{place.pointer}/format"
            if not isinstance(name, str):
                raise SchemaError("format must be a string", pointer=pointer)
            if self.assert_formats and wanted:
                formatted = None if name in ANNOTATIONS else (
                    StringShape.from_format(name, self.limits, draft=place.dialect.name))
                if formatted is None and NumberShape.from_format(name) is None:
                    self.notes[pointer, "annotation", f"the format {echo(name)} is not known"] = None
                elif formatted is not None and found is not None:
                    found = found.intersect(formatted)
        return found

    def _array(self, place: Place, schema: dict[str, Any], known: frozenset[str]) -> ArrayShape | None:
        prefix: tuple[int, ...] = ()
        rest = TRUE
        seen = 0 if self.tracking else None
        items = schema.get("items", True)
        if isinstance(items, list) and place.dialect.items_lists:
            prefix = tuple(self.at(place.inner("items", i)) for i in range(len(items)))
            seen = len(prefix) if self.tracking else None
            if "additionalItems" in schema:
                rest = self.at(place.child("additionalItems"))
                seen = -1 if self.tracking else None
        else:
            if "prefixItems" in schema and "prefixItems" in known:
                if not isinstance(schema["prefixItems"], list):
                    raise SchemaError("prefixItems must be a list", pointer=f"{place.pointer}/prefixItems")
                prefix = tuple(self.at(place.inner("prefixItems", i)) for i in range(len(schema["prefixItems"])))
                seen = len(prefix) if self.tracking else None
            if "items" in schema:
                rest = self.at(place.child("items"))
                seen = -1 if self.tracking else None
        contains: tuple[tuple[int, int, int | None, int], ...] = ()
        also: tuple[int, ...] = ()
        if "contains" in schema and "contains" in known:
            least = self._count(place, "minContains") if "minContains" in known else None
            most = self._count(place, "maxContains") if "maxContains" in known else None
            least = 1 if least is None else least
            if least > 0 or most is not None:
                contains = ((self.at(place.child("contains")), least, most, 0),)
            if self.tracking and place.dialect.name == "2020-12":
                also = (self.at(place.child("contains")),)
        unique = self._flag(place, "uniqueItems")
        found = ArrayShape(prefix, rest, self._count(place, "minItems") or 0, self._count(place, "maxItems"),
                           contains, unique, seen, also)
        return found.tidy()

    def _object(self, place: Place, schema: dict[str, Any], known: frozenset[str]) -> tuple[ObjectShape, ...]:
        properties: dict[str, int] = {}
        if "properties" in schema:
            members = self._mapping(place, "properties")
            properties = {name: self.at(place.inner("properties", name)) for name in members}
        said = "additionalProperties" in schema
        rest = self.at(place.child("additionalProperties")) if said else TRUE
        cells: list[Cell] = [(ANY_STRING, rest)] if rest != FALSE else []
        evaluated_cells: tuple[StringShape, ...] = ()
        if "patternProperties" in schema and self._mapping(place, "patternProperties"):
            cells, patterns = self._pattern_cells(place, schema, rest)
            evaluated_cells = tuple(patterns)
            for name in properties:
                for names, expression in zip(patterns, self._pattern_values(place, schema), strict=True):
                    if names.contains(name):
                        properties[name] = self.both(properties[name], expression)
        required = self._names(place, "required") if "required" in schema else frozenset()
        evaluated = None
        if self.tracking:
            evaluated = (frozenset(properties), (ANY_STRING,) if said else evaluated_cells)
        shape = ObjectShape(tuple(properties.items()), tuple(cells), required, (),
                            self._count(place, "minProperties") or 0, self._count(place, "maxProperties"),
                            said, evaluated)
        shapes: tuple[ObjectShape, ...] = () if shape.is_impossible() else (shape,)
        if "propertyNames" in schema and "propertyNames" in known:
            names_allowed = self.denote(self.at(place.child("propertyNames"))).strings
            allowed = split_cells([(names, TRUE) for names in _disjoint_cells(names_allowed)], FALSE)
            named = ObjectShape((), tuple(allowed))
            shapes = tuple(both for s in shapes for both in meet(s, named, self))
        if "dependentRequired" in schema and "dependentRequired" in known:
            for name in self._mapping(place, "dependentRequired"):
                shapes = self._dependent(shapes, name, ObjectShape(
                    required=self._names(place, "dependentRequired", name)))
        return shapes

    def _pattern_values(self, place: Place, schema: dict[str, Any]) -> list[int]:
        return [self.at(place.inner("patternProperties", pattern)) for pattern in schema["patternProperties"]]

    def _pattern_cells(self, place: Place, schema: dict[str, Any], rest: int) -> tuple[list[Cell], list[StringShape]]:
        """The names by which patterns they match: disjoint cells, and the patterns' own names."""
        patterns: list[StringShape] = []
        cells: list[tuple[StringShape, int, bool]] = [(ANY_STRING, TRUE, False)]
        for pattern, expression in zip(schema["patternProperties"], self._pattern_values(place, schema), strict=True):
            try:
                names = StringShape.from_pattern(pattern, self.limits)
            except UnsatisfiableGrammarError:
                names = StringShape.of_values([])
            except RegexError as error:
                raise SchemaError(f"the pattern cannot be used: {error}",
                                  pointer=f"{place.pointer}/patternProperties") from None
            patterns.append(names)
            outside = names.complement()
            refined: list[tuple[StringShape, int, bool]] = []
            for cell, value, matched in cells:
                inside = cell.intersect(names)
                if inside is not None:
                    refined.append((inside, self.both(value, expression), True))
                for other in outside:
                    left = cell.intersect(other)
                    if left is not None:
                        refined.append((left, value, matched))
            cells = refined
            self.spend(len(cells))
        found = [(names, value if matched else rest) for names, value, matched in cells]
        return [cell for cell in found if cell[1] != FALSE], patterns

    def _dependent(self, shapes: tuple[ObjectShape, ...], name: str, then: ObjectShape) -> tuple[ObjectShape, ...]:
        """Without ``name``, or with it and with ``then``."""
        options = (ObjectShape(((name, FALSE),)), *meet(then, ObjectShape(required=frozenset([name])), self))
        found = tuple(both for s in shapes for option in options for both in meet(s, option, self))
        self.spend(len(found))
        return found

    # ---- in-place applicators ------------------------------------------------------------------------

    def _branches(self, place: Place, keyword: str, value: Any) -> list[int]:
        if not isinstance(value, list) or not value:
            raise SchemaError(f"{keyword} must be a list of schemas that is not empty",
                              pointer=f"{place.pointer}/{keyword}")
        return [self.at(place.inner(keyword, i)) for i in range(len(value))]

    def _all_of(self, place: Place, value: Any, found: Denotation) -> Denotation:
        for branch in self._branches(place, "allOf", value):
            found = conjunction(found, self.denote(branch), self)
        return found

    def _any_of(self, place: Place, value: Any, found: Denotation) -> Denotation:
        branches = [conjunction(found, self.denote(branch), self) for branch in self._branches(place, "anyOf", value)]
        if self.tracking and len(branches) > 1:
            # what is evaluated depends on all branches that hold, so those combinations are alternatives too
            if len(branches) > 6:
                return self.relaxed(place, "anyOf", "unevaluated keywords over more than six schemas of anyOf", found)
            combined = [found]
            for branch in branches:
                combined += [conjunction(c, branch, self) for c in combined]
            branches = [c for c in combined[1:] if not c.is_nothing()] or [NOTHING]
        return disjunction(branches, self)

    def _one_of(self, place: Place, value: Any, found: Denotation) -> Denotation:
        """Each branch without all others, within what the siblings leave: that often tells the branches apart."""
        listed = self._branches(place, "oneOf", value)
        expressions = list(dict.fromkeys(listed))
        branches = [conjunction(found, self.denote(e), self) for e in expressions]
        if not self.inexact.isdisjoint(expressions):
            return disjunction(branches, self)
        if len(listed) == len(expressions) and self._tagged(branches):
            return disjunction(branches, self)
        exact: list[Denotation] = []
        for i, branch in enumerate(branches):
            if listed.count(expressions[i]) > 1:  # a schema that stands twice can never be the only one
                continue
            for other in _nearest_first(branch, branches[:i] + branches[i + 1 :]):
                if not branch.is_nothing():
                    branch = difference(branch, other, self)
            exact.append(branch)
        return disjunction(exact, self) if exact else NOTHING

    def _tagged(self, branches: list[Denotation]) -> bool:
        """Whether a required member with a text of its own in each branch tells many objects apart."""
        if len(branches) < 8:
            return False  # told apart one by one, and more
        shapes = [branch.objects for branch in branches]
        if not all(shapes) or any(b.null or b.booleans or b.numbers or b.strings or b.arrays for b in branches):
            return False
        for name in frozenset.intersection(*(shape.required for objects in shapes for shape in objects)):
            seen: set[str] = set()
            for objects in shapes:
                texts = self._texts([shape.at(name) for shape in objects])
                if texts is None or not seen.isdisjoint(texts):
                    break
                seen |= texts
            else:
                return True
        return False

    def _texts(self, values: list[int]) -> set[str] | None:
        """The values of expressions that have only texts, few and known."""
        found: set[str] = set()
        for value in values:
            if value in self.active:
                return None
            d = self.denote(value)
            if d.null or d.booleans or d.numbers or d.arrays or d.objects:
                return None
            for string in d.strings:
                if string.values is None:
                    return None
                found.update(string.values)
        return found

    def _not(self, place: Place, value: Any, found: Denotation) -> Denotation:
        return self.without(found, self.at(place.child("not")))

    def _if(self, place: Place, value: Any, found: Denotation) -> Denotation:
        schema = place.schema
        if "then" not in schema and "else" not in schema and not self.tracking:
            return found
        expression = self.at(place.child("if"))
        then = conjunction(found, self.denote(expression), self)
        if "then" in schema:
            then = conjunction(then, self.denote(self.at(place.child("then"))), self)
        other = found
        if "else" in schema:
            other = conjunction(found, self.denote(self.at(place.child("else"))), self)
        return disjunction([then, self.without(other, expression)], self)

    def _dependent_schemas(self, place: Place, value: Any, found: Denotation) -> Denotation:
        for name in self._mapping(place, "dependentSchemas"):
            then = self.denote(self.at(place.inner("dependentSchemas", name)))
            found = self._if_present(name, then, found)
        return found

    def _dependencies(self, place: Place, value: Any, found: Denotation) -> Denotation:
        for name, needs in self._mapping(place, "dependencies").items():
            if isinstance(needs, list):
                shape = ObjectShape(required=self._names(place, "dependencies", name))
                then = Denotation(True, 3, ANY_NUMBERS, ANY_STRINGS, ANYTHING.arrays, (shape,))
            else:
                then = self.denote(self.at(place.inner("dependencies", name)))
            found = self._if_present(name, then, found)
        return found

    def _if_present(self, name: str, then: Denotation, found: Denotation) -> Denotation:
        """Of ``found``, everything that is no object with ``name``, or satisfies ``then``."""
        without = Denotation(True, 3, ANY_NUMBERS, ANY_STRINGS, ANYTHING.arrays, (ObjectShape(((name, FALSE),)),))
        having = Denotation(False, 0, (), (), (), (ObjectShape(required=frozenset([name])),))
        present = conjunction(conjunction(found, having, self), then, self)
        return disjunction([conjunction(found, without, self), present], self)

    # ---- unevaluated ---------------------------------------------------------------------------------

    def _unevaluated_properties(self, place: Place, found: Denotation) -> Denotation:
        rest = self.at(place.child("unevaluatedProperties"))
        shapes: list[ObjectShape] = []
        for shape in found.objects:
            names, cells = shape.evaluated if shape.evaluated is not None else (frozenset(), ())
            left = [(ANY_STRING, rest)] if rest != FALSE else []
            if cells:
                left = split_cells([(cell, TRUE) for cell in _disjoint_cells(cells)], rest)
            closing = ObjectShape(tuple((name, TRUE) for name in names), tuple(left), said=True,
                                  evaluated=(frozenset(), (ANY_STRING,)))
            shapes.extend(meet(shape, closing, self))
        return Denotation(found.null, found.booleans, found.numbers, found.strings, found.arrays, tuple(shapes))

    def _unevaluated_items(self, place: Place, found: Denotation) -> Denotation:
        rest = self.at(place.child("unevaluatedItems"))
        shapes: list[ArrayShape] = []
        for shape in found.arrays:
            if shape.evaluated == -1:
                shapes.append(shape)
                continue
            left = self.expressions.disjunction([*shape.also, rest]) if shape.also else rest
            closing = ArrayShape((TRUE,) * (shape.evaluated or 0), left, evaluated=-1)
            both = shape.intersect(closing, self)
            if both is not None:
                shapes.append(both)
        return Denotation(found.null, found.booleans, found.numbers, found.strings, tuple(shapes), found.objects)

    # ---- refusing ------------------------------------------------------------------------------------

    def relaxed(self, place: Place, keyword: str, reason: str, instead: Denotation) -> Denotation:
        """Refuse a keyword, or use ``instead``, a superset, where that is asked for."""
        self.refuse(f"{place.pointer}/{keyword}", reason)
        return instead

    def refuse(self, pointer: str, reason: str, hint: str = "") -> None:
        """Raise ``UnsupportedSchemaError``, or note (and warn) with ``unsupported`` "ignore" ("warn")."""
        if self.unsupported == "error":
            raise UnsupportedSchemaError(f"{reason}: not enforced exactly", pointer=pointer, hint=(
                (hint or "simplify it") + '; unsupported="warn" leaves it out'))
        if self.unsupported == "warn":
            warnings.warn(f"at {pointer}: {reason}: not enforced", stacklevel=2)
        self.notes[pointer, "relaxed", reason] = None
        self.loose = True

    # ---- reading keyword values ----------------------------------------------------------------------

    def _decimal(self, place: Place, keyword: str) -> Decimal | None:
        value = place.schema.get(keyword)
        if value is None:
            if keyword in place.schema:
                raise SchemaError(f"{keyword} must be a number", pointer=f"{place.pointer}/{keyword}")
            return None
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            raise SchemaError(f"{keyword} must be a number, not {_name(value)}", pointer=f"{place.pointer}/{keyword}")
        return Decimal(value)

    def _count(self, place: Place, keyword: str) -> int | None:
        value = self._decimal(place, keyword)
        if value is None:
            return None
        if value < 0 or value != value.to_integral_value():
            raise SchemaError(f"{keyword} must be an integer of at least 0", pointer=f"{place.pointer}/{keyword}")
        if value > self.limits.max_repeat:
            raise GrammarLimitError("max_repeat", self.limits.max_repeat, f"{keyword} is {echo(str(value))}")
        return int(value)

    def _flag(self, place: Place, keyword: str) -> bool:
        value = place.schema.get(keyword, False)
        if not isinstance(value, bool):
            raise SchemaError(f"{keyword} must be a boolean", pointer=f"{place.pointer}/{keyword}")
        return value

    def _mapping(self, place: Place, keyword: str) -> Mapping[str, Any]:
        value = place.schema[keyword]
        if not isinstance(value, dict):
            raise SchemaError(f"{keyword} must be an object", pointer=f"{place.pointer}/{keyword}")
        return value

    def _names(self, place: Place, keyword: str, name: str | None = None) -> frozenset[str]:
        value = place.schema[keyword] if name is None else place.schema[keyword][name]
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise SchemaError(f"{keyword} must hold a list of names", pointer=f"{place.pointer}/{keyword}")
        return frozenset(value)


_APPLY: dict[str, Callable[[Normaliser, Place, Any, Denotation], Denotation]] = {
    "allOf": Normaliser._all_of, "anyOf": Normaliser._any_of, "oneOf": Normaliser._one_of, "not": Normaliser._not,
    "if": Normaliser._if, "dependentSchemas": Normaliser._dependent_schemas, "dependencies": Normaliser._dependencies,
}


def canonical(value: Any) -> str:
    """A text that equal JSON values share: numbers by value, keys sorted."""
    if isinstance(value, (dict, list)):
        return json.dumps(_plain(value), sort_keys=True, ensure_ascii=True)
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return "n" + str(Decimal(value).normalize())
    return json.dumps(value)


def _plain(value: Any) -> Any:
    """Numbers as tagged strings, so that 1 and 1.0 are one; depth is bounded where schemas are read."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return {"": str(Decimal(value).normalize())}
    return value


def _name(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float, Decimal)):
        return "a number"
    names: dict[type, str] = {str: "a string", list: "an array", dict: "an object"}
    return names.get(type(value), type(value).__name__)


_CONTENT = frozenset("type minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength enum "
                     "const minItems maxItems".split())
_SILENT = frozenset("title description default examples $comment deprecated readOnly writeOnly".split())


def _content(schema: dict[str, Any], depth: int = 1) -> tuple[Any, ...] | None:
    """What a schema says, to be compared; None where it says more than a few simple things, of itself and its items."""
    found: list[tuple[Any, ...]] = []
    for key, value in schema.items():
        if key in _CONTENT:
            kind = type(value)
            if kind is list:
                if len(value) > 64 or any(isinstance(item, (list, dict)) for item in value):
                    return None
                value = tuple([(type(item), item) for item in value])
            elif kind is dict:
                return None
            found.append((key, kind, value))
        elif key == "items" and type(value) is dict and depth:
            inner = _content(value, depth - 1)
            if inner is None:
                return None
            found.append((key, dict, inner))
        elif key not in _SILENT:
            return None
    if len(found) > 1:
        found.sort(key=_first)
    return tuple(found)


def _first(entry: tuple[Any, ...]) -> Any:
    return entry[0]


def _nearest_first(branch: Denotation, others: list[Denotation]) -> list[Denotation]:
    """``others`` in the order in which taking them off ``branch`` makes few alternatives."""
    if len(others) < 3 or not branch.objects:
        return others
    first = branch.objects[0]
    return sorted(others, key=lambda other: sum(distance(first, shape) for shape in other.objects))


def _comes_first(schema: dict[str, Any], one: str, other: str) -> bool:
    return other in schema and next(key for key in schema if key in (one, other)) == one


def _disjoint_cells(cells: tuple[StringShape, ...]) -> list[StringShape]:
    found: list[StringShape] = []
    for cell in cells:
        left = [cell]
        for earlier in found:
            left = [both for a in left for b in earlier.complement() if (both := a.intersect(b)) is not None]
        found.extend(left)
    return found


