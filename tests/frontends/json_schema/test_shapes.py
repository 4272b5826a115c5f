"""A wrong keyword is an error wherever it stands, with its pointer: against the metaschemas."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import constrained as cd
from constrained.frontends.json_schema.compile import from_json_schema, read_schema
from constrained.frontends.json_schema.dialects import DIALECTS, PYTHON_TYPES, Dialect, find_dialect
from constrained.frontends.json_schema.shapes import Checked
from constrained.limits import Limits
from tests.shared_data import require_shared

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY") == "1"
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"property_order": "any"}, {"unsupported": "ignore"}, {"strict_mode": True})
DRAFT4 = "http://json-schema.org/draft-04/schema#"
DRAFT7 = "http://json-schema.org/draft-07/schema#"


def errors(schema: Any) -> set[tuple[str, str]]:
    """The pointers and messages that a schema is refused with, given as a value and as a text, whatever the options."""
    found = set()
    for options in OPTIONS:
        for written in (schema, json.dumps(schema)):
            try:
                from_json_schema(written, **options)
                found.add(("", "right"))
            except cd.SchemaError as error:
                assert type(error) is cd.SchemaError, error
                found.add((error.pointer, error.reason))
    return found


DEAD: list[tuple[Any, str, str]] = [
    ({"$defs": {"a": {"type": "any"}}}, "/$defs/a/type", "unknown type 'any'"),
    ({"definitions": {"a": {"items": {"minLength": -1}}}}, "/definitions/a/items/minLength",
     "minLength must be an integer of at least 0"),
    ({"type": "string", "items": {"minimum": "x"}}, "/items/minimum", "minimum must be a number, not a string"),
    ({"type": "string", "properties": []}, "/properties", "properties must be an object"),
    ({"type": "string", "required": True}, "/required", "required must hold a list of names"),
    ({"type": "string", "items": 3}, "/items", "a schema is an object or a boolean, not a number"),
    ({"type": "array", "additionalProperties": "no"}, "/additionalProperties",
     "a schema is an object or a boolean, not a string"),
    ({"anyOf": [True, {"required": "a"}]}, "/anyOf/1/required", "required must hold a list of names"),
    ({"allOf": [False, {"enum": "a"}]}, "/allOf/1/enum", "enum must be a list"),
    ({"properties": {"a/b": {"not": {}, "oneOf": [{"~": {}, "type": []}]}}}, "/properties/a~1b/oneOf/0/type",
     "type must be a string or a list of strings"),
    ({"not": {"oneOf": [{"properties": {}, "items": False}, {"properties": {}, "items": {"type": "any"}}],
              "not": True}}, "/not/oneOf/1/items/type", "unknown type 'any'"),
    ({"then": {"maxItems": 1.5}}, "/then/maxItems", "maxItems must be an integer of at least 0"),
    ({"else": None}, "/else", "a schema is an object or a boolean, not null"),
    ({"contentSchema": {"uniqueItems": "yes"}}, "/contentSchema/uniqueItems", "uniqueItems must be a boolean"),
    ({"type": "null", "contains": {"multipleOf": 0}}, "/contains/multipleOf", "multipleOf must be greater than 0"),
    ({"minContains": -1}, "/minContains", "minContains must be an integer of at least 0"),
    ({"$defs": {"a": {"pattern": "("}}}, "/$defs/a/pattern", "the pattern cannot be used"),
    ({"$defs": {"a": {"patternProperties": {"a": {}, "(": {}}}}}, "/$defs/a/patternProperties",
     "the pattern cannot be used"),
    ({"$defs": {"a": {"pattern": 3}}}, "/$defs/a/pattern", "pattern must be a string"),
    ({"dependencies": {"a": ["b"], "c": ["d", 3]}}, "/dependencies", "dependencies must hold a list of names"),
    ({"dependentRequired": {"a": "b"}, "type": "string"}, "/dependentRequired",
     "dependentRequired must hold a list of names"),
    ({"dependentSchemas": {"a": 1}, "type": "string"}, "/dependentSchemas/a",
     "a schema is an object or a boolean, not a number"),
    ({"prefixItems": {}}, "/prefixItems", "prefixItems must be a list"),
    ({"type": "object", "anyOf": [{"type": "string", "allOf": []}, {}]}, "/anyOf/0/allOf",
     "allOf must be a list of schemas that is not empty"),
    ({"type": "string", "items": [True]}, "/items", "a schema is an object or a boolean, not an array"),
    ({"$id": 3}, "/$id", "$id must be a string"),
    ({"$defs": {"a": {"$ref": 3}}}, "/$defs/a/$ref", "$ref must be a string"),
    ({"$schema": DRAFT7, "$ref": "#/definitions/a", "definitions": {"a": {}}, "minimum": "x"}, "/minimum",
     "minimum must be a number, not a string"),
    ({"$schema": DRAFT4, "type": "string", "maximum": 3, "exclusiveMaximum": 3}, "/exclusiveMaximum",
     "exclusiveMaximum must be a boolean"),
    ({"$schema": DRAFT7, "type": "string", "items": [{"type": "a"}]}, "/items/0/type", "unknown type 'a'"),
    ({"$schema": DRAFT7, "type": "string", "items": [{}, 3]}, "/items/1",
     "a schema is an object or a boolean, not a number"),
    ({"$ref": "#/parts/a", "parts": {"a": {"items": {"type": 3}}}}, "/parts/a/items/type",
     "type must be a string or a list of strings"),
    ({"$ref": "#/properties/type", "properties": {"type": {"$ref": "#/required"}}, "required": []}, "/required",
     "a schema is an object or a boolean, not an array"),
    ({"$defs": {"a": {"$id": "http://example.org/a", "$schema": DRAFT7, "items": [{"type": 4}]}}},
     "/$defs/a/items/0/type", "type must be a string or a list of strings"),
    ({"$defs": {"a": {"$id": "http://example.org/a", "$schema": "http://example.org/other", "items": [{}]}}},
     "/$defs/a/items", "a schema is an object or a boolean, not an array"),
]


@pytest.mark.parametrize("number", range(len(DEAD)))
def test_a_wrong_keyword_in_a_place_that_decides_nothing(number: int) -> None:
    schema, pointer, reason = DEAD[number]
    for found in (errors(schema), errors({"properties": {"x": schema}, "not": {"type": "null"}})
                  if "$" not in str(schema) else set()):
        for where, words in found:
            assert where.endswith(pointer)
            assert words.startswith(reason)


@pytest.mark.parametrize("schema", [
    {"const": {"type": 3}, "default": {"type": 3}, "examples": {"items": 3}, "x": {"items": 3}, "title": 3},
    {"enum": [{"items": 3}, {"required": "a"}]},
    {"properties": {"items": {}, "required": True, "type": {"type": "string"}, "$ref": {}}},
    {"$schema": DRAFT7, "$defs": {"a": {"type": "any"}}, "prefixItems": 3, "dependentRequired": 3, "minContains": "x"},
    {"$schema": DRAFT4, "const": 1, "if": 3, "contains": 3, "propertyNames": 3, "$id": 3},
    {"additionalItems": 3, "$recursiveAnchor": 3},
    {"minLength": Decimal("1.0"), "$defs": {"a": {"maxItems": 10**30, "minItems": 10**30, "pattern": "(a)\\1"}}},
    {"$defs": {"a": {"$ref": "#/nowhere"}}},
    {"properties": {"a": {"$id": "http://example.org/a", "$schema": DRAFT7, "items": [{"type": "integer"}]}}},
    {"$schema": DRAFT7, "$ref": "#/definitions/a", "definitions": {"a": {"definitions": {"$ref": {"type": "null"}}}}},
])
def test_what_holds_no_schema_may_be_anything(schema: Any) -> None:
    for options in OPTIONS:
        assert from_json_schema(schema, **options)
        assert from_json_schema(json.dumps(schema, default=float), **options)


def test_a_dialect_without_the_validation_vocabulary() -> None:
    referencing = pytest.importorskip("referencing")
    from referencing.jsonschema import DRAFT202012

    uri = "http://example.org/dialect"
    metaschema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": uri, "$vocabulary": {
        "https://json-schema.org/draft/2020-12/vocab/core": True,
        "https://json-schema.org/draft/2020-12/vocab/applicator": True}}
    registry = referencing.Registry().with_resource(uri, DRAFT202012.create_resource(metaschema))
    assert from_json_schema({"$schema": uri, "minimum": "x", "properties": {"a": {"type": 3}}}, registry=registry)
    with pytest.raises(cd.SchemaError, match="properties must be an object"):
        from_json_schema({"$schema": uri, "minimum": "x", "properties": 3}, registry=registry)


def test_another_document_is_checked_where_it_is_used() -> None:
    referencing = pytest.importorskip("referencing")
    from referencing.jsonschema import DRAFT7 as SPECIFICATION

    other = {"$schema": DRAFT7, "type": "string", "items": [{"type": 3}]}
    registry = referencing.Registry().with_resource("http://example.org/o", SPECIFICATION.create_resource(other))
    assert from_json_schema({"$defs": {"a": {"$ref": "http://example.org/o"}}}, registry=registry)
    with pytest.raises(cd.SchemaError, match="type must be a string or a list") as caught:
        from_json_schema({"properties": {"a": {"$ref": "http://example.org/o"}}}, registry=registry)
    assert caught.value.pointer == "/properties/a/$ref/items/0/type"


def test_an_object_that_stands_in_many_places_is_looked_at_once() -> None:
    inner: dict[str, Any] = {"type": "string", "maxLength": "x"}
    for _ in range(60):
        inner = {"anyOf": [inner, inner]}
    with pytest.raises(cd.SchemaError, match="maxLength must be a number"):
        Checked().require(inner, DIALECTS["2020-12"], Limits())


# ---- against the metaschemas ------------------------------------------------------------------------------------


def metaschema_of(dialect: Dialect) -> Callable[[Any], bool]:
    """Whether a schema is right, by the metaschema of a dialect."""
    validators = pytest.importorskip("jsonschema").validators
    kind = validators.validator_for({"$schema": dialect.uri + ("#" if "draft-0" in dialect.uri else "")})
    assert kind.META_SCHEMA["$schema"].rstrip("#") == dialect.uri
    validator = kind(kind.META_SCHEMA, format_checker=kind.FORMAT_CHECKER)
    return lambda schema: bool(validator.is_valid(schema))


def is_right(schema: Any, dialect: Dialect) -> bool:
    try:
        Checked().require(read_schema(json.dumps(schema), Limits()), dialect, Limits())
    except cd.SchemaError:
        return False
    return True


NAMES = st.sampled_from(["a", "type", "$ref", "items", "x/y"])
JUNK = st.sampled_from([None, True, 3, -1, 1.5, "a", "(", [], ["a"], [3], {}, {"a": 3}, {"type": "any"}])
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def keywords_of(dialect: Dialect, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of mostly right keywords; only what is plain though a metaschema forbids it is left out."""
    by_name = st.dictionaries(NAMES, inner, max_size=2)
    several = st.lists(inner, min_size=1, max_size=2)
    names = st.lists(NAMES, min_size=1, max_size=2, unique=True)
    number = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 1e30]))
    count = st.sampled_from([0, 1, 10**20] if dialect.name == "draft4" else [0, 1, 2.0, 10**20])
    right: dict[str, st.SearchStrategy[Any]] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        "enum": st.lists(st.integers(), min_size=1, max_size=3, unique=True), "format": st.sampled_from(["date", "x"]),
        "required": names, "pattern": st.sampled_from(["^a+$", "", "[a-c]"]), "properties": by_name,
        "patternProperties": st.dictionaries(st.sampled_from(["a", "^b$"]), inner, max_size=2),
        **dict.fromkeys(["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"], count),
        **dict.fromkeys(["minimum", "maximum"], number), "multipleOf": st.sampled_from([1, 0.5, 3]),
        "uniqueItems": st.booleans(), "additionalProperties": inner | st.booleans(),
        **dict.fromkeys(["allOf", "anyOf", "oneOf"], several), "not": inner, "definitions": by_name,
        "dependencies": st.dictionaries(NAMES, inner | names, max_size=2),
        "items": inner | several if dialect.items_lists else inner, "$comment": st.just("c"), "default": JUNK,
        "x-other": JUNK,
    }
    wrong: list[Any] = [True, 3, "a", [3], {"a": 3}, None, 0.25]
    late = {
        "const": JUNK, "contains": inner, "propertyNames": inner, "if": inner, "then": inner, "else": inner,
        "additionalItems": inner, "prefixItems": several, "dependentSchemas": by_name,
        "dependentRequired": st.dictionaries(NAMES, names, max_size=2), "unevaluatedProperties": inner,
        "unevaluatedItems": inner, "minContains": count, "maxContains": count}
    right.update({name: values for name, values in late.items() if name in dialect.keywords})
    if dialect.dynamic:
        right.update({"$defs": by_name, "contentSchema": inner, "$anchor": st.just("a")})
    else:
        right["$defs"] = JUNK
    if not dialect.exclusive_flags:
        right.update(dict.fromkeys(["exclusiveMinimum", "exclusiveMaximum"], number))
    if dialect.name == "draft4":
        right.update(dict.fromkeys(["const", "if", "propertyNames"], JUNK))
        wrong = [3, "a", [3], {"a": 3}, None, 0.25]
    free = {"const", "default", "x-other", *([] if dialect.dynamic else ["$defs"])}
    if dialect.name == "draft4":
        free |= {"if", "propertyNames"}
    asked = sorted(set(right) - free - {"$comment"})
    entry = st.one_of(
        st.sampled_from(sorted(right)).flatmap(lambda name: st.tuples(st.just(name), right[name])),
        st.tuples(st.sampled_from(asked), st.sampled_from(wrong)) if asked else st.nothing())
    plain = st.sampled_from(sorted(right)).flatmap(lambda name: st.tuples(st.just(name), right[name]))
    return st.lists(st.one_of(plain, plain, plain, entry), max_size=3).map(dict)


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_what_the_metaschema_says(name: str) -> None:
    dialect = DIALECTS[name]
    oracle = metaschema_of(dialect)
    leaves = st.sampled_from([{}, {"type": "string"}] if name == "draft4" else [True, False, {}, {"type": "string"}])
    schemas = st.recursive(leaves, lambda inner: keywords_of(dialect, inner), max_leaves=8)
    seen = {True: 0, False: 0}

    @settings(max_examples=5000 if NIGHTLY else 300, database=None)
    @given(schemas)
    def compared(schema: Any) -> None:
        right = is_right(schema, dialect)
        seen[right] += 1
        assert right == oracle(schema), schema

    compared()
    assert min(seen.values()) > 20


def test_every_schema_of_the_sample_is_right() -> None:
    """Those that the metaschema calls wrong only list a value twice."""
    import gzip

    wrong = []
    with gzip.open(require_shared() / "data" / "maskbench" / "dev.jsonl.gz") as lines:
        for line in lines:
            one = json.loads(line)
            try:
                Checked().require(read_schema(json.dumps(one["schema"]), Limits()),
                                  find_dialect(None, one["schema"]), Limits())
            except cd.SchemaError as error:
                wrong.append((one["name"], str(error)))
    assert not wrong


def test_the_keywords_of_every_dialect_have_a_shape() -> None:
    for dialect in (*DIALECTS.values(), PYTHON_TYPES):
        for keyword in dialect.keywords - {"const"}:
            with pytest.raises(cd.SchemaError, match=r"must|is an object or a boolean"):
                Checked().require({keyword: Decimal("-0.5") if keyword not in ("minimum", "maximum") and not (
                    keyword.startswith("exclusive")) else "x"}, dialect, Limits())
