"""The direct pass writes the rules that normalising and emitting write, and leaves all errors to them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import constrained as cd
from benchmarks.conformance import DRAFTS, maskbench_schemas, suite_groups
from constrained.frontends.json_schema import mixed
from constrained.frontends.json_schema.compile import build, from_json_schema
from constrained.grammar.ir import RuleSet
from tests.frontends.same_rules import difference, reached
from tests.shared_data import require_shared

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")
OPTIONS: list[dict[str, Any]] = [
    {"property_order": "any"}, {}, {"strict_mode": True},
    {"any_whitespace": False, "strict_mode": True, "property_order": "any"},
    {"any_whitespace": False, "separators": (",", ":")}, {"any_whitespace": False, "indent": 1},
    {"max_whitespace_cnt": None, "string_escapes": "canonical", "max_number_digits": 20, "assert_formats": False},
]


def outcome(schema: Any, options: dict[str, Any], direct: bool) -> RuleSet | tuple[Any, ...]:
    """The rules, or what the error says."""
    try:
        return from_json_schema(schema, **options) if direct else build(schema, **options)[0]
    except cd.SchemaError as error:
        return type(error), error.pointer, str(error)
    except cd.ConstrainedError as error:
        return type(error), str(error)


def check(schema: Any, options: dict[str, Any], where: str = "") -> bool:
    """Whether the outcome is rules."""
    # whoever comes second finds scalars whose meaning is known, and so makes no rule for some
    other, one = outcome(schema, options, False), outcome(schema, options, True)
    if not isinstance(one, RuleSet) or not isinstance(other, RuleSet):
        assert one == other, (where, options)
        return False
    assert difference(one, other) is None, (where, options)
    # what is combined of one place only may be a rule of its own here
    combined = sum(name.startswith(("and ", "or ", "not ", "const ")) for name in other.rules)
    # and so may a union that comes to any value, beside that of any value
    anything = any(name.startswith("true ") for name in one.rules)
    assert reached(one) <= reached(other) + combined + anything, (where, options)
    return True


def test_schemas_from_the_wild() -> None:
    schemas = list(maskbench_schemas(require_shared()))[:: 1 if NIGHTLY else 9]
    good = sum([check(json.dumps(schema), OPTIONS[n % len(OPTIONS)], name)
                for n, (name, schema, _) in enumerate(schemas)])
    assert good > 0.95 * len(schemas)


@pytest.mark.parametrize("draft", DRAFTS if NIGHTLY else ("draft4", "draft2019-09"))
def test_the_suites_schemas(draft: str) -> None:
    shared = require_shared()
    good = 0
    for n, (name, schema, _) in enumerate(suite_groups(shared, draft)):
        for options in OPTIONS if NIGHTLY else (OPTIONS[n % len(OPTIONS)],):
            good += check(schema, {"draft": draft, **options}, name)
    assert good > 100


def made_up(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas around others: plain ones, and some that are not."""
    names = st.sampled_from(["a", "b", "ü"])
    types = st.sampled_from(["object", "array", "string", ["object", "null"], ["array", "integer"]])
    return st.fixed_dictionaries({}, optional={
        "type": types, "properties": st.dictionaries(names, inner, max_size=3), "items": inner,
        "required": st.lists(names, max_size=2), "additionalProperties": inner, "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 3)}) | st.fixed_dictionaries({}, optional={
            "anyOf": st.lists(inner, min_size=1, max_size=3), "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2), "not": inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=1),
            "properties": st.dictionaries(names, inner, max_size=2), "required": st.lists(names, max_size=1)})


LEAVES = st.sampled_from([
    True, False, {}, {"type": "string"}, {"type": "integer"}, {"type": ["string", "null"]}, {"enum": ["x", "y"]},
    {"const": 1}, {"type": "string", "maxLength": 3}, {"type": "number", "minimum": 1, "maximum": 0}, {"type": "any"},
    {"$ref": "#"}, {"$ref": "#/properties/a"}, {"$ref": "#/items"}, {"title": "t"}, {"type": "object"}])


@settings(max_examples=3000 if NIGHTLY else 200)
@given(st.recursive(LEAVES, made_up, max_leaves=12))
@example({"anyOf": [True], "properties": {"a": {"anyOf": [{"type": "string"}, {"title": "t"}]}}})
@example({"patternProperties": {"^a": {"items": {"anyOf": [{"const": 1}, {"title": "t"}]}, "properties": {}}}})
def test_schemas_that_are_made_up(schema: Any) -> None:
    for options in OPTIONS[:3]:
        check(schema, options)


PLAIN: list[Any] = [
    True, {}, {"type": "object"}, {"type": ["object", "null"]}, {"type": "array"}, {"description": "anything"},
    {"type": "object", "properties": {}}, {"properties": {"a": {"type": "string"}}},
    {"type": ["object", "array", "integer"], "properties": {"a": {}}, "items": {"type": "number"}},
    {"type": "object", "required": ["b", "a", "ü"], "properties": {"b": {"type": "integer"}}},
    {"type": "object", "required": ["a"], "additionalProperties": {"type": "boolean"}},
    {"type": "object", "properties": {"é\n": {"type": "null"}, "\ud800": {}, "\ud83d\ude00": {}, '"': True}},
    {"type": "object", "properties": {"a/b": {"properties": {"c~": {"properties": {"d": {"type": "string"}}}}}}},
    {"type": "array", "items": {"type": "array", "items": {"type": "array", "minItems": 2, "maxItems": 3}}},
    {"type": "array", "maxItems": 0}, {"type": "array", "minItems": 1, "maxItems": 1, "items": {"enum": ["a"]}},
    {"type": ["array", "null"], "items": {"type": "string"}, "minItems": 3},
    {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"properties": {"x": {"$ref": "#"}}}}},
    {"properties": {f"{n}": {"$ref": f"#/definitions/{name}"} for n, name in enumerate(
        ("a", "b~1c", "", "a", "d~0", "e%20f", "d~0/properties/x", "a", ""))},
     "definitions": {"a": {"enum": ["a"]}, "b/c": {"enum": ["b"]}, "": {"enum": ["c"]}, "e f": {"enum": ["e"]},
                     "d~": {"properties": {"x": {"enum": ["d"]}}}}},
    {"properties": {"0": {"$ref": "#/properties/1"}, "1": {"enum": ["x"]}, "2": {"$ref": "#/properties/0"},
                    "3": {"$ref": "#/properties/4/items"}, "4": {"items": {"enum": ["y"]}}}},
    {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"enum": ["x", "y"]}, "c": {"enum": ["y", "x"]}}},
    {"properties": {"a": {"enum": [1, "1", None, True, Decimal("1.5")]}, "b": {"const": "k"}, "c": {"const": None}}},
    {"properties": {"a": {"type": "string", "pattern": "^a+$", "maxLength": 9},
                    "b": {"type": "string", "format": "date"}, "c": {"type": "integer", "minimum": 3, "maximum": 40},
                    "d": {"type": ["string", "null"], "minLength": 2}, "e": {"minimum": 3}, "f": {"format": "date"}}},
    {"properties": {"a": {"enum": ["x", "xy", "x", ""], "maxLength": 1}, "b": {"type": "string", "enum": [
        f"{n}" for n in range(90, 190)], "minLength": 3}, "c": {"const": "xyz", "minLength": 1, "maxLength": 3}}},
    {"properties": {"a": {"enum": ["a\U0001f600", "b"], "maxLength": 2}, "b": {"enum": ["ü", "b"], "minLength": 1},
                    "c": {"enum": ["a", "ab"], "maxLength": Decimal("1.0")}, "d": {"enum": ["a", 1], "maxLength": 1},
                    "e": {"enum": ["a", "ab"], "maxLength": 1, "pattern": "a"}, "f": {"enum": ["a"], "maxLength": 0}}},
    {"properties": {"a": {"type": "string", "required": ["b"], "items": {"type": "null"}, "properties": {"b": {}}}}},
    {"anyOf": [{"type": "string"}, {"type": "null"}]}, {"oneOf": [{"type": "string"}, {"type": "number"}]},
    {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}, {"enum": [1, "a"]}]},
    {"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string", "maxLength": 3}]},
    {"type": "object", "anyOf": [{"required": ["a"]}, {"properties": {"a": {"type": "string"}}}]},
    {"oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "$defs": {
        "a": {"type": "object", "properties": {"k": {"const": "a"}, "x": {"$ref": "#"}}, "required": ["k"]},
        "b": {"type": "object", "properties": {"k": {"enum": ["b", "c"]}}, "required": ["k"]}}},
    {"oneOf": [{"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
               {"type": "object", "properties": {"b": {}}, "required": ["b"], "additionalProperties": False}]},
    {"anyOf": [{"type": "object", "required": ["k"], "additionalProperties": closed, "properties": {
        "k": {"const": f"k{n}"}, "a": {"type": "integer"}}} for n, closed in enumerate((False, True, False, True))]},
    {"anyOf": [{"type": "object", "properties": {"k": {"type": kind}, "a": {}}, "required": ["k"]}
               for kind in ("string", "integer", "null", "array", "object")]},
    {"oneOf": [{"type": "object", "additionalProperties": False, "required": [names[0]], "properties": {
        name: {"type": "integer"} for name in names}} for names in ("ab", "cde", "f", "ghi", "jk")]},
    {"anyOf": [{"type": "object", "additionalProperties": False, "required": list(names), "properties": {
        name: {"type": "integer"} for name in names}} for names in ("ab", "cde", "f", "ghi", "jk")]},
    {"properties": {"a": {"allOf": [{"$ref": "#"}]}, "b": {"anyOf": [{"type": "string"}], "title": "t"}}},
    {"type": "array", "items": {"type": "number"}, "minimum": 0},
    {"type": ["object", "array"], "properties": {"a": {"type": "string"}}, "format": "none that is known"},
    {"anyOf": [{"type": "object", "properties": {"a": {}}, "maximum": 3}, {"type": "null"}]},
    {"type": "object", "properties": {"a": {"type": "boolean"}}, "patternProperties": {".*": {"type": "boolean"}}},
    {"type": "object", "properties": {"b": {"type": "null"}, "a1": {"items": {"type": "string"}}},
     "patternProperties": {"^a": {"items": {"type": "string"}}}, "additionalProperties": {"type": "integer"}},
    {"type": "object", "patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False},
    {"type": "object", "properties": {"b": {"type": "null"}}, "patternProperties": {"^a": {"type": "string"}}},
    {"patternProperties": {"^.*$": {"properties": {"x": {"type": "string"}}}}, "additionalProperties": False},
    {"type": "object", "patternProperties": {}, "additionalProperties": {"type": "string"}},
    {"properties": {"a": {"type": "object", "properties": {"x": {"type": "string"}}},
                    "b": {"type": "object", "properties": {"x": {"type": "string"}}},
                    "c": {"type": "object", "properties": {"x": {"type": "integer"}}}}},
    {"properties": {"a": False, "b": {}, "c": {"type": "array", "enum": ["x"]}, "d": {"$ref": "#/properties/a"}}},
    {"properties": {"a": False}, "additionalProperties": False}, {"properties": {"a": {"enum": [1], "type": "null"}}},
    {"properties": {"a": {"allOf": [{"allOf": [False]}]}, "b": {"allOf": [{"$ref": "#/properties/a"}]}}},
    {"type": "array", "items": {"type": "string"}, "additionalItems": False}, {"additionalItems": {"type": "null"}},
    {"oneOf": [{"type": "null"}, {"type": "boolean"}, {"type": "number"}, {"type": "string", "maxLength": 2}]},
    {"anyOf": [{"enum": [None, "a", 2]}, {"const": False}, {"type": "array"}, {"const": True}, {"type": "object"}]},
    {"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}, {"enum": ["c", "d", "c"]}, {"type": "null"}]},
    {"type": ["string", "integer"], "oneOf": [{"const": "a"}, {"type": "integer"}, {"enum": ["b", "c"]}]},
    {"type": ["string", "integer"], "anyOf": [{"const": "a"}, {"type": "number"}, {"enum": ["b", None]}]},
    {"type": "string", "anyOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}, {"enum": ["\ud83d\ude00"]}]},
    {"type": "string", "oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}, {"enum": ["c", "a", "d"]}]},
    {"type": "string", "anyOf": [{"enum": ["a", "b"]}, {"pattern": "^a"}, {"enum": ["x", "y"]}]},
    {"oneOf": [{"type": ["number", "null"]}, {"enum": [1, "a"]}, {"enum": [False, None]}, {"type": ["string"]}]},
    {"type": "string", "anyOf": [{"maxLength": 1}, {"minLength": 5}]},
    {"properties": {"a": {"type": "string", "enum": [str(n) for n in range(950, 1050)], "maxLength": 3},
                    "b": {"enum": [str(n) for n in range(950, 1050)], "minLength": 3, "maxLength": 4},
                    "c": {"enum": ["a", "bb", "\ud83d\ude00"], "minLength": 2}}},
    {"type": "string", "oneOf": [{"enum": ["a"]}, {"enum": ["b", "c"], "title": "t"}]},
    {"type": ["string", "null"], "anyOf": [{"enum": ["a", 1, None]}, {"format": "date"}]},
    {"type": ["object", "null"], "oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "null"}]},
    {"type": ["array", "string"], "anyOf": [{"type": "array", "items": {"type": "null"}}, {"enum": ["a", "b"]}]},
]


@pytest.mark.parametrize("number", range(len(PLAIN)))
def test_plain_schemas_need_nothing_else(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = PLAIN[number]
    for options in OPTIONS:
        assert check(schema, options)
    monkeypatch.setattr(mixed.Host, "slow", None)  # what is not plain would need one
    for options in OPTIONS[:5]:
        from_json_schema(schema, **options)


ALIKE: list[Any] = [
    {"anyOf": [{"type": "object", "properties": {name: {"type": "integer"}}, "additionalProperties": False}
               for name in "abcd"]},
    {"anyOf": [{"type": "object", "properties": {name: {"type": "integer"} for name in names}, "required": list(need),
                "additionalProperties": False} for names, need in (("a", "a"), ("ab", "b"), ("ac", "c"), ("d", "d"))]},
    {"anyOf": [{"type": "object", "properties": {name: {} for name in "abcd"}, "required": [name]} for name in "abcd"]},
    {"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}, "b": False}, "required": [name]}
               for name in "abcd"]},
    {"type": "object", "properties": {"a": {"type": "string"}}, "patternProperties": {"^a": {"minLength": 1}}},
]


@pytest.mark.parametrize("number", range(len(ALIKE)))
def test_alternatives_that_may_be_fewer_are_left_alone(number: int) -> None:
    for options in OPTIONS:
        check(ALIKE[number], options)


COUNTED: list[Any] = [
    {"type": "object", "minProperties": 1}, {"minProperties": 0, "maxProperties": 2},
    {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}},
    {"type": "object", "maxProperties": 1, "properties": {"a": {}, "b": {}}, "additionalProperties": False},
    {"type": "object", "minProperties": 2, "properties": {"a": {}, "b": {}}, "additionalProperties": False},
    {"type": "object", "minProperties": 2, "properties": {"a": {}, "b": {"type": "null"}}, "required": ["c"]},
    {"type": "object", "minProperties": 1, "maxProperties": 3, "required": ["a", "b"]},
    {"type": "object", "maxProperties": 9, "properties": {"a": {}}, "additionalProperties": False},
    {"type": ["object", "string"], "minProperties": 1, "properties": {"a": {"type": "object", "minProperties": 1}}},
]


@pytest.mark.parametrize("number", range(len(COUNTED)))
def test_counts_of_members_need_nothing_else_in_any_order(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = COUNTED[number]
    for options in OPTIONS:
        check(schema, options)
    monkeypatch.setattr(mixed.Host, "slow", None)  # as above
    from_json_schema(schema, property_order="any")


def wrong(schema: Any) -> dict[str, Any]:
    """A schema in the midst of others that are read before and after."""
    return {"type": "object", "required": ["a"], "properties": {
        "a": {"type": "object", "properties": {"x": {"type": "string"}, "y": schema}, "required": ["y"]},
        "b": {"type": "array", "items": {"properties": {"z": schema}}}}}


COMBINED: list[Any] = [
    {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}]},
    {"anyOf": [{"type": "object", "properties": {}}, {"type": "object", "properties": {"a": {"type": "null"}}}]},
    {"anyOf": [{"type": "array", "items": {}}, {"type": "array", "items": {"type": "null"}}]},
    {"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "null"}}]},
    {"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
               {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}]},
    {"oneOf": [{"type": "object", "properties": {"k": {"const": "a"}}, "required": ["k"]},
               {"type": "object", "properties": {"k": {"enum": ["a", "b"]}}, "required": ["k"]}]},
    {"anyOf": [{"type": "object", "required": [name]} for name in "abcde"]},
    {"type": "object", "anyOf": [{"type": "object", "required": ["a"]}, {"type": "string"}]},
    {"properties": {"a": {"items": False}, "b": {"type": "array", "items": {"type": "null", "enum": [1]}}}},
    {"properties": {"a": {"not": {}}, "b": {"type": "object", "properties": {"x": {"not": {}}}, "required": ["x"]}}},
    {"properties": {"a": {"anyOf": [False, {"type": "array", "items": False, "minItems": 1}]}, "b": {"enum": []}}},
    {"properties": {"a": {"items": {"items": {"not": {}}}}}, "additionalProperties": {"not": {}}},
    {"properties": {"a": {"not": {"type": "object"}, "properties": {"b": {"not": {}}, "c": False}}}},
    {"anyOf": [{"type": "object", "properties": {"a": False}}, {"type": "object", "properties": {"b": {}}}]},
    {"oneOf": [{"type": "object", "properties": {"a": False}}, {"type": "object", "required": ["a"]}]},
    {"type": "object", "minProperties": 2, "properties": {"a": False, "b": {}}, "additionalProperties": False},
    {"type": "object", "minProperties": 3}, {"type": "object", "minProperties": 2, "required": ["a"]},
    {"type": "object", "maxProperties": 0}, {"type": "object", "minProperties": 1, "patternProperties": {"^a": {}}},
    {"type": "object", "minProperties": 2, "properties": {"a": {}}, "additionalProperties": {"type": "null"}},
    {"anyOf": [{"type": "object", "minProperties": 1}, {"type": "object", "maxProperties": 2}]},
    {"type": ["string", "object"], "anyOf": [{"type": "number"}, {"properties": {"a": {}}}]},
    {"type": "string", "anyOf": [{"type": "number"}, {"type": "boolean"}]},
    {"type": "array", "items": [{}], "additionalItems": False}, {"items": [{}], "additionalItems": {"type": "null"}},
    {"type": ["object", "string"], "oneOf": [{"enum": ["a", {"a": 1}]}, {"properties": {"b": {}}}]},
    {"type": ["object", "string"], "anyOf": [{"maxLength": 1}, {"properties": {"b": {}}}]},
    {"oneOf": [{"type": "string"}, {"type": "string"}]}, {"oneOf": [{"type": "string"}, {"enum": ["a", 1]}]},
    {"oneOf": [{"type": "object", "properties": {"a": False}}, {"type": "string"}]},
    {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}, {"type": "null"}], "$defs": {
        "a": {"type": "object", "required": ["a"]}}},
    {"type": "object", "properties": {"ab": {"type": "string"}}, "patternProperties": {"^a": {"maxLength": 3}}},
    {"type": "object", "patternProperties": {"^a": {"type": "string"}}, "required": ["ab", "b"]},
    {"type": "object", "patternProperties": {"^a": False}}, {"type": "object", "patternProperties": {"(": {}}},
    {"type": "object", "patternProperties": {"^a": {}, "b$": {"type": "null"}}}, {"patternProperties": {"a": 3}},
    {"allOf": [{"$ref": "#"}]}, {"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}},
    {"properties": {"a": {"oneOf": [{"$ref": "#/properties/b"}, {"type": "null"}]}, "b": {"$ref": "#/properties/a"}}},
]


@pytest.mark.parametrize("number", range(len(COMBINED)))
def test_what_is_combined_is_left_alone(number: int) -> None:
    schema = COMBINED[number]
    for options in OPTIONS:
        check(schema, options)
        check({"type": "object", "properties": {"x": schema, "y": {"items": schema}}, "required": ["x"]}, options)
        check(schema, {"draft": "draft4", **options})


WRONG: list[Any] = [
    False, 3, None, "x", [], {"type": "strin"}, {"type": []}, {"type": None}, {"type": ["string", 1]},
    {"properties": []}, {"properties": {"x": 1}}, {"properties": {"x": False}, "required": ["x"]},
    {"type": "object", "required": "x"}, {"type": "object", "required": [1]}, {"additionalProperties": 1},
    {"additionalProperties": False, "required": ["x"]}, {"items": 1}, {"items": False, "minItems": 1},
    {"type": "array", "minItems": -1}, {"type": "array", "minItems": 2, "maxItems": 1},
    {"type": "array", "maxItems": "1"}, {"type": "array", "minItems": 10**12}, {"enum": 3}, {"enum": []},
    {"type": "string", "enum": [1]}, {"type": "string", "minLength": -1}, {"type": "string", "minLength": "1"},
    {"type": "string", "pattern": "("}, {"type": "string", "pattern": 1}, {"type": "string", "format": 1},
    {"type": "integer", "minimum": "1"}, {"type": "integer", "minimum": 3, "maximum": 1},
    {"type": "integer", "multipleOf": 0}, {"$ref": 1}, {"$ref": "#/nowhere"}, {"$ref": "other"}, {"$ref": "#name"},
    {"$ref": "#/properties/a/properties/y"}, {"properties": {"a": {"$ref": "#/definitions/b"},
    "c": {"$ref": "#/definitions/d"}}, "definitions": {"b": {}}}, {"properties": {"a": {"$ref": "#/definitions/b"},
    "c": {"$ref": "#/definitions/d/e"}}, "definitions": {"b": {}, "d/e": {}}},
    {"type": "object", "minProperties": -1},
    {"type": "object", "minProperties": "1"}, {"type": "object", "minProperties": 2, "maxProperties": 1},
    {"type": "object", "maxProperties": 1, "required": ["a", "b"]}, {"maxProperties": 10**12},
    {"type": "object", "minProperties": 1, "additionalProperties": False}, {"minProperties": True},
    {"anyOf": []}, {"allOf": [3]},
    {"not": {}}, {"const": "a", "type": "integer"}, {"type": "array", "uniqueItems": 1},
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors_are_those_of_the_other_way(number: int) -> None:
    for options in OPTIONS:
        for schema in (WRONG[number], wrong(WRONG[number])):
            check(schema, options)
            check(schema, {"draft": "draft4", **options})


def test_what_the_spelling_may_not_be() -> None:
    for options in ({"string_escapes": "some"}, {"property_order": 1}, {"max_number_digits": 0},
                    {"max_whitespace_cnt": 64.0}, {"separators": 3}):
        assert outcome({}, options, True) == outcome({}, options, False)
        with pytest.raises(cd.SchemaError):
            from_json_schema({}, **options)


def deep(levels: int) -> Iterator[dict[str, Any]]:
    """Arrays, objects and unions in each other."""
    yield {"type": "array", "items": {}}
    schemas = [{"type": "string"}, {"type": "string"}]
    for _ in range(levels):
        schemas = [{"type": "array", "items": schemas[0]}, {"type": "object", "properties": {"a": schemas[1]}}]
    yield from schemas


def test_depth_is_no_recursion() -> None:
    for schema in deep(400):
        for options in OPTIONS[:3]:
            check(schema, options)
