"""Why a schema has no value: asked once it is known that it has none, for the words of the error.

From the root down, the first schema that a value needs and that has no value by itself is gone into: what a reference
leads to, a part of ``allOf``, every alternative of ``anyOf`` or ``oneOf``, a required member, an item that must be
there. Where there is none, the keywords of that schema exclude each other; where it is one that was gone through
before, a value would need another one inside without end.

Whether a schema has values is read off the rules it is written as. Cost: the rules of every schema that is looked at,
``MOST`` of them at most; nothing where a schema has values, for nobody asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from constrained.errors import ConstrainedError, UnsatisfiableGrammarError, UnsatisfiableSchemaError, echo
from constrained.frontends.json_schema.compile import normalise_schema, read_document
from constrained.frontends.json_schema.document import Place
from constrained.frontends.json_schema.emit import Emitter
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.policy import json_policy
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.grammar.analysis import require_productive
from constrained.limits import Limits

__all__ = ["why_unsatisfiable"]

MOST = 200
"""Schemas of which it is asked whether they have values."""


def why_unsatisfiable(schema: Any, limits: Limits, *, draft: str | int | None = None, strict_mode: bool = False,
                      assert_formats: bool | str = True, registry: Any = None, **spelling: Any
                      ) -> UnsatisfiableSchemaError:
    """The error for a schema of which no text can be written; arguments as ``from_json_schema``."""
    try:
        value, dialect, _ = read_document(schema, draft, registry, limits, "ignore",
                                          spelling.get("max_number_digits", 400))
        normaliser = normalise_schema(value, dialect, limits, "ignore", assert_formats, registry, comparing=False)
        spelling["property_order"] = "schema"  # whether there is a value does not depend on it; the rules say it sooner
        search = _Search(normaliser, json_policy(spelling, dialect.float_integers), strict_mode)
        found = search.cause(normaliser.document.root_place())
    except (ConstrainedError, NotEnforced, RecursionError):
        found = None  # it is known already that there is no value
    if found is None:
        return UnsatisfiableSchemaError(
            "no value satisfies the schema, or none that this vocabulary can spell",
            hint="look for a required member whose schema is false or needs itself, or for keywords that exclude each "
                 "other")
    pointer, reason = found
    return UnsatisfiableSchemaError(f"no value satisfies the schema: {reason}", pointer=pointer)


class _Search:
    """Goes down one document."""

    def __init__(self, normaliser: Normaliser, policy: Any, strict: bool) -> None:
        self.normaliser = normaliser
        self.policy = policy
        self.strict = strict
        self.asked = 0

    def is_empty(self, place: Place) -> bool:
        """Whether it is plain that a schema has no value by itself."""
        self.asked += 1
        if self.asked > MOST:
            return False
        emitter = Emitter(self.normaliser, self.policy, strict=self.strict)
        try:
            require_productive(emitter.run(self.normaliser.at(place)))
        except UnsatisfiableGrammarError:
            return True
        except (ConstrainedError, NotEnforced):
            pass
        return False

    def cause(self, root: Place) -> tuple[str, str] | None:
        """The pointer of the innermost schema that has no value, and why."""
        if not self.is_empty(root):
            return None
        place, passed = root, [root.pointer]
        while True:
            inner = self.empty_inside(place)
            if inner is None:
                return place.pointer, self.words(place)
            if inner.pointer in passed:
                return inner.pointer, "each of its values needs another one inside, without end"
            passed.append(inner.pointer)
            place = inner

    def empty_inside(self, place: Place) -> Place | None:
        """A schema that a value of ``place`` needs, and that has none."""
        if not isinstance(place.schema, dict):
            return None
        for group in self.needed(self.normaliser.document.enter(place)):
            empty = [self.is_empty(inner) for inner in group]
            if empty and all(empty):
                return group[0]
        return None

    def needed(self, place: Place) -> Iterator[list[Place]]:
        """Groups of schemas of which one must have a value."""
        schema, known = place.schema, place.dialect.keywords
        if isinstance(schema.get("$ref"), str):
            yield [self.normaliser.document.follow(place, schema["$ref"])]
            if place.dialect.ref_alone:
                return
        for index in range(len(_list(schema, "allOf"))):
            yield [place.inner("allOf", index)]
        for keyword in ("anyOf", "oneOf"):
            yield [place.inner(keyword, index) for index in range(len(_list(schema, keyword)))]
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        for name in _list(schema, "required"):
            if name in properties:
                yield [place.inner("properties", name)]
            elif "patternProperties" not in schema and schema.get("additionalProperties", False) is not False:
                yield [place.child("additionalProperties")]
        yield from self.needed_items(place, known)

    def needed_items(self, place: Place, known: frozenset[str]) -> Iterator[list[Place]]:
        """The schemas of items that must be there."""
        schema = place.schema
        least = schema.get("minItems", 0)
        least = least if isinstance(least, int) else 0
        listed = "prefixItems" if "prefixItems" in known else "items" if place.dialect.items_lists else ""
        prefix = _list(schema, listed) if listed else []
        for index in range(min(least, len(prefix))):
            yield [place.inner(listed, index)]
        rest = "items" if listed != "items" or not isinstance(schema.get("items"), list) else "additionalItems"
        if rest in schema and rest in known and least > len(prefix):
            yield [place.child(rest)]
        if "contains" in schema and "contains" in known and not (
                "minContains" in known and schema.get("minContains", 1) == 0):
            yield [place.child("contains")]

    def words(self, place: Place) -> str:
        """Why a schema that is itself the cause has no value."""
        schema = place.schema
        if not isinstance(schema, dict):
            return "the schema is false"
        said = [keyword for keyword in schema if keyword in place.dialect.keywords or keyword == "$ref"]
        if schema.get("additionalProperties") is False and "patternProperties" not in schema:
            for name in _list(schema, "required"):
                if name not in schema.get("properties", {}):
                    return f"the required member {echo(name)} is not allowed"
        shown = ", ".join(echo(keyword) for keyword in said[:8]) + (", ..." if len(said) > 8 else "")
        if self.strict and "required" in said and "additionalProperties" not in said:
            shown += " (and strict_mode, which allows no undeclared member)"
        return f"its keyword {shown} leaves none" if len(said) == 1 else f"its keywords {shown} exclude each other"


def _list(schema: dict[str, Any], keyword: str) -> list[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []
