"""Schemas to denotations: each keyword read once, checked as it is read, and combined type by type.

``Normaliser.denote(e)`` gives what expression ``e`` denotes, one level deep; the expressions of items and members are
interned, not followed. Denotations are kept by expression. In-place applicators (allOf, anyOf, oneOf, not, if,
references) do recurse here; a loop of them without a value in between, or a chain deeper than ``MAX_CHAIN``, is
refused. Chains of references that say nothing else are followed in a loop.

What cannot be enforced exactly raises ``UnsupportedSchemaError``; with ``unsupported`` "warn" or "ignore" the keyword
is left out (a superset) and noted for the coverage report.
"""

from __future__ import annotations

import marshal
import warnings
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from constrained.errors import GrammarLimitError, SchemaError, UnsupportedSchemaError, echo
from constrained.frontends.json_schema.applicators import (
    APPLICATORS,
    all_of,
    unevaluated_items,
    unevaluated_properties,
)
from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.assertions import APPLIES, REFERS, kinds_of, own_denotation
from constrained.frontends.json_schema.contents import content_of, leaves
from constrained.frontends.json_schema.denotation import (
    ANYTHING,
    NOTHING,
    Denotation,
    conjunction,
    difference,
    disjunction,
    negation,
    no_array,
)
from constrained.frontends.json_schema.dialects import VALIDATION
from constrained.frontends.json_schema.document import Document, Place
from constrained.frontends.json_schema.expressions import FALSE, TRUE, Algebra
from constrained.frontends.json_schema.given import Given
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.objects import ObjectShape, no_object
from constrained.frontends.json_schema.reading import canonical, kind_name
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import StringShape
from constrained.limits import Limits

__all__ = ["Normaliser", "Note"]

MAX_CHAIN = 150
"""In-place applicators inside each other, references followed included."""

MOST_WRITTEN = 4_000_000
"""Bytes of schemas that are compared as a whole, for one document."""

Note = tuple[str, str, str]
"""``(JSON Pointer, "relaxed" or "annotation", reason)``."""


class _Loop(SchemaError):
    """An expression was asked for while it is being found out."""


class Normaliser(Algebra):
    """The expressions of one document and what they denote. See the module docstring."""

    def __init__(self, document: Document, limits: Limits, *, unsupported: str = "error",
                 assert_formats: bool | str = True, comparing: bool = True) -> None:
        """``comparing``: schemas that say the same are one expression, whose place is that of the first."""
        super().__init__(limits.max_schema_alternatives)
        self.document = document
        self.limits = limits
        self.unsupported = unsupported
        self.assert_formats = assert_formats
        self.denoted: dict[int, Denotation] = {FALSE: NOTHING, TRUE: ANYTHING}
        self.places: list[Place] = []
        self.active: dict[int, None] = {}
        self.notes: dict[Note, None] = {}
        self.tracking = not document.mentioned.isdisjoint(("unevaluatedProperties", "unevaluatedItems"))
        self.dynamic = not document.mentioned.isdisjoint(("$dynamicRef", "$recursiveRef"))
        self.leaves = leaves(document.dialect, limits.max_repeat)
        self.alike: dict[Any, int] = {}
        """Expressions of places by what they say, and by identity."""
        self.comparing = comparing
        self.written = 0
        self.contents: dict[int, Any] = {}
        """What the places say that are compared, by expression."""
        self.loose = False
        self.asking = 0  # questions being answered of which the answer may be "not plain"
        self.inexact: set[int] = set()
        self.names_only = False
        """Whether only the strings are found out: see ``strings_of``."""

    # ---- expressions of places -----------------------------------------------------------------------

    def at(self, place: Place) -> int:
        """The expression of a schema where it stands."""
        key = self._key(place.schema, place)
        if type(key) is int:
            return key
        known = self.alike.get(key)
        return self._new(place, key) if known is None else known

    def under(self, place: Place, keyword: str, name: str | int | None = None) -> int:
        """The expression of the schema under a keyword of a place, or under a name of that."""
        schema = place.schema[keyword] if name is None else place.schema[keyword][name]
        key = self._key(schema, place)
        if type(key) is int:
            return key
        known = self.alike.get(key)
        if known is not None:
            return known
        return self._new(place.child(keyword) if name is None else place.inner(keyword, name), key)

    def all_under(self, place: Place, keyword: str, schemas: Mapping[str, Any]) -> dict[str, int]:
        """The expressions of the schemas under the names of a keyword of a place."""
        found: dict[str, int] = {}
        alike, dialect, comparing = self.alike, place.dialect.name, self.comparing
        for name, schema in schemas.items():
            key: Any
            if type(schema) is dict and schema and comparing:
                content = content_of(schema)  # most are small and were read before
                key = self._other_key(schema, place) if content is None else (dialect, content)
            else:
                key = self._key(schema, place)
            if type(key) is int:
                found[name] = key
                continue
            known = alike.get(key)
            found[name] = self._new(place.inner(keyword, name), key) if known is None else known
        return found

    def _key(self, schema: Any, place: Place) -> Any:
        """What tells a schema read as ``place`` is from others: an expression, (dialect, content), what it is written
        as, or (identity,)."""
        if type(schema) is dict:
            if not schema:
                return TRUE
            if self.comparing:
                content = content_of(schema)
                if content is not None:  # equal ones are one expression, wherever they stand
                    return place.dialect.name, content
        elif type(schema) is bool:
            return TRUE if schema else FALSE
        elif isinstance(schema, dict) and not schema:
            return TRUE
        return self._other_key(schema, place)

    def _other_key(self, schema: Any, place: Place) -> Any:
        """The same for a schema that says more than a few simple things."""
        if place.scope is not None:
            return None
        if type(schema) is dict and self.comparing and schema is not self.document.root:
            known = self.alike.get((id(schema),))
            return self._written(schema) if known is None else known
        return (id(schema),)

    def _written(self, schema: dict[str, Any]) -> Any:
        """A key that equal schemas of a plain document share, whose references mean the same everywhere: its bytes.

        Schemas inside others are written again and again, so that ends at ``MOST_WRITTEN`` bytes. ``marshal`` writes
        no decimals and nothing that another front end made: those schemas are told apart by identity.
        """
        if self.written > MOST_WRITTEN:
            return (id(schema),)
        try:
            found = marshal.dumps(schema, 2)
        except ValueError:
            self.written += MOST_WRITTEN // 40  # who knows how much was written before that
            return (id(schema),)
        self.written += len(found)
        known = self.alike.get(found)
        if known is None:
            return found
        self.alike[id(schema),] = known
        return known

    def _new(self, place: Place, key: Any) -> int:
        """The expression of a schema that is not known by ``key``; None: its scope says more about what it is."""
        schema = place.schema
        if not isinstance(schema, dict):
            raise SchemaError(f"a schema is an object or a boolean, not {kind_name(schema)}", pointer=place.pointer)
        if key is None:
            place = self.document.enter(place)
            key = (id(schema), tuple(dict.fromkeys(uri for uri, _ in place.scope.dynamic_scope()))
                   if self.dynamic else None)
            known = self.alike.get(key)
            if known is not None:
                return known
        found = self.alike[key] = self.expressions.place(len(self.places))
        self.places.append(place)
        if type(key) is bytes:
            self.alike[id(schema),] = found
        elif len(key) == 2 and place.dialect is self.document.dialect and type(key[0]) is str:
            leaf = self.leaves.get(key[1])
            if leaf is not None:
                self.denoted[found] = leaf
            else:
                self.contents[found] = key[1]
        return found

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
                taken = self.denote(parts)
                found = ANYTHING if parts in self.inexact else negation(taken, self)
        except NotEnforced as refused:
            self.refuse(self.pointer(expression), refused.reason, refused.hint)
            found = ANYTHING
        finally:
            del self.active[expression]
            if self.loose:
                self.inexact.add(expression)
            self.loose = self.loose or outside
        self.denoted[expression] = found
        if expression in self.contents and expression not in self.inexact and not (
                found.arrays or found.objects or self.names_only):
            self.leaves[self.contents[expression]] = found
        return found

    def strings_of(self, expression: int) -> tuple[StringShape, ...]:
        """The strings of an expression. What its schema says of members and items is not looked at where that leads
        back to a schema of which they are asked: a name has no names."""
        try:
            return self.denote(expression).strings
        except _Loop:
            if self.names_only:
                raise
        outside = self.denoted, self.active
        self.denoted, self.active = {FALSE: NOTHING, TRUE: ANYTHING}, {}
        self.names_only = True
        try:
            return self.denote(expression).strings
        finally:
            self.names_only = False
            self.denoted, self.active = outside

    def without(self, found: Denotation, expression: int) -> Denotation:
        """What of ``found`` is not in an expression. Of one that was relaxed to a superset nothing can be taken off."""
        taken = self.denote(expression)
        if expression in self.inexact:
            return found
        return difference(found, taken, self)

    def is_empty(self, expression: int, depth: int = 3) -> bool:
        """Whether it is plain that nothing satisfies the expression, looking ``depth`` values deep."""
        known = self.empties.get(expression)
        if known is not None:
            return known
        if expression in self.active or depth == 0 or len(self.active) > 40:
            return False
        self.asking += 1
        try:
            found = not self._plainly_filled(expression, depth) and self._is_empty(self.denote(expression), depth)
        except (_Loop, NotEnforced):
            return False  # asked in the middle of finding out what this very schema denotes; or not plain at all
        finally:
            self.asking -= 1
        self.empties[expression] = found
        return found

    def _plainly_filled(self, expression: int, depth: int) -> bool:
        """Whether a type of values is left of which nothing is taken: what is left of the others need not be known."""
        kind, parts = self.expressions.entries[expression]
        if kind == "not":
            given, denied = None, [parts]
        elif kind == "and":
            entries = self.expressions.entries
            denied = [entries[part][1] for part in parts if entries[part][0] == "not"]
            plain = [part for part in parts if entries[part][0] != "not"]
            if not denied or len(plain) > 1:
                return False
            given = plain[0] if plain else None
        else:
            return False
        d = ANYTHING if given is None else self.denote(given)
        taken = [self.denote(part) for part in denied]
        taken = [t for t, part in zip(taken, denied, strict=True) if part not in self.inexact]
        if d.null and not any(t.null for t in taken):
            return True
        if d.numbers and not any(t.numbers for t in taken):
            return True
        if d.strings and not any(t.strings for t in taken):
            return True
        left = d.booleans
        for t in taken:
            left &= ~t.booleans
        if left:
            return True
        if d.arrays and not any(t.arrays for t in taken) and not all(self.no_array(a, depth) for a in d.arrays):
            return True
        return bool(d.objects) and not any(t.objects for t in taken) and not all(
            self.no_object(o, depth) for o in d.objects)

    def _is_empty(self, d: Denotation, depth: int) -> bool:
        if d.null or d.booleans or d.numbers or d.strings:
            return False
        if len(d.objects) == 1 and not d.arrays:
            return self.no_object(d.objects[0], depth)
        return all(self.no_array(a, depth) for a in d.arrays) and all(self.no_object(o, depth) for o in d.objects)

    def no_object(self, shape: ObjectShape, depth: int = 3) -> bool:
        """Whether it is plain that no object fits the shape."""
        return no_object(shape, self, depth)

    def no_array(self, shape: ArrayShape, depth: int = 3) -> bool:
        """Whether it is plain that no array fits the shape."""
        return no_array(shape, self, depth)

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

    def values(self, values: list[Any]) -> Denotation:
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
        kinds = kinds_of(schema)
        ref = schema.get("$ref") if kinds & REFERS else None
        if ref is not None and (dialect.ref_alone or len(schema) == 1):
            return self.denote(self._end_of_references(place, ref))
        known = dialect.keywords
        if "type" not in known:  # a dialect of one's own without the validation vocabulary
            schema = {key: value for key, value in schema.items() if key not in VALIDATION}
            place = place._replace(schema=schema)
            kinds = kinds_of(schema)
        found = own_denotation(self, place, kinds)
        if not kinds & APPLIES:
            return found
        if ref is not None:
            found = conjunction(found, self.denote(self.at(self.document.follow(place, ref))), self)
        if found.objects and "allOf" in schema and _comes_first(schema, "allOf", "properties"):
            # the order of members is that of the text
            found = conjunction(all_of(self, place, schema["allOf"], ANYTHING), found, self)
        dynamic = dialect.dynamic
        if dynamic and dynamic in schema:
            target = self.document.follow(place, schema[dynamic], dynamic)
            found = conjunction(found, self.denote(self.at(target)), self)
        for keyword, apply in APPLICATORS.items():
            if keyword in schema and (keyword in known or keyword == "dependencies"):
                try:
                    found = apply(self, place, schema[keyword], found)
                except NotEnforced as refused:
                    self.refuse(f"{place.pointer}/{keyword}", refused.reason, refused.hint)
                if found.is_nothing():
                    return found
        if self.tracking:
            if "unevaluatedProperties" in schema and "unevaluatedProperties" in known:
                found = unevaluated_properties(self, place, found)
            if "unevaluatedItems" in schema and "unevaluatedItems" in known:
                found = unevaluated_items(self, place, found)
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

    def pointer(self, expression: int, keyword: str = "") -> str:
        """Where an expression stands: of a combination, where its first place does, or the first with ``keyword``."""
        first: str | None = None
        entries = self.expressions.entries
        stack = [expression]
        while stack:
            kind, parts = entries[stack.pop()]
            if kind == "place":
                place = self.places[parts]
                if keyword in place.schema:
                    return f"{place.pointer}/{keyword}"
                first = place.pointer if first is None else first
            elif kind == "not":
                stack.append(parts)
            elif kind in ("and", "or"):
                stack.extend(reversed(parts))
        return first or ""

    # ---- refusing ------------------------------------------------------------------------------------

    def relaxed(self, place: Place, keyword: str, reason: str, instead: Denotation) -> Denotation:
        """Refuse a keyword, or use ``instead``, a superset, where that is asked for."""
        self.refuse(f"{place.pointer}/{keyword}", reason)
        return instead

    def unknown_format(self, pointer: str, name: str) -> None:
        """Note (and warn of) an annotation; refuse it where only known formats are wanted."""
        reason = f"the format {echo(name)} is not known"
        if self.assert_formats == "strict":
            self.refuse(pointer, reason, "leave it out, or let it be an annotation with assert_formats=True")
            return
        if self.unsupported == "warn" and (pointer, "annotation", reason) not in self.notes:
            warnings.warn(f"at {pointer}: {reason}: not enforced", stacklevel=2)
        self.notes[pointer, "annotation", reason] = None

    def refuse(self, pointer: str, reason: str, hint: str = "") -> None:
        """Raise ``UnsupportedSchemaError``, or note (and warn) with ``unsupported`` "ignore" ("warn")."""
        if self.asking:  # perhaps it need not be known
            raise NotEnforced(reason, hint)
        if self.unsupported == "error":
            raise UnsupportedSchemaError(f"{reason}: not enforced exactly", pointer=pointer, hint=hint or "simplify it",
                                         option='unsupported="warn" leaves it out')
        if self.unsupported == "warn":
            warnings.warn(f"at {pointer}: {reason}: not enforced", stacklevel=2)
        self.notes[pointer, "relaxed", reason] = None
        self.loose = True


def _comes_first(schema: dict[str, Any], one: str, other: str) -> bool:
    return other in schema and next(key for key in schema if key in (one, other)) == one
