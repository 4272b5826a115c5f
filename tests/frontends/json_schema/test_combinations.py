"""Keywords and their combinations: what is accepted, what is not, what is refused and where."""

from __future__ import annotations

import json
from typing import Any

import pytest

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler

DRAFT_4 = "http://json-schema.org/draft-04/schema#"

#: name, schema, valid values, invalid values
KINDS: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("anything", True, [None, 1, "a", [], {}, [{"a": [1.5]}]], []),
    ("type list", {"type": ["integer", "null"]}, [1, None, -3], [1.5, "1", [], True]),
    ("siblings of a reference", {"$ref": "#/$defs/a", "maximum": 5, "$defs": {"a": {"type": "integer"}}},
     [5, -1], [6, "a", 1.5]),
    ("closed object", {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
     [{}, {"a": 1}], [{"a": "x"}, {"b": 1}, {"a": 1, "b": 1}]),
    ("required, undeclared", {"type": "object", "required": ["z"]}, [{"z": 1}, {"a": 1, "z": []}], [{}, {"a": 1}]),
    ("counts of members", {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "additionalProperties": False,
                           "minProperties": 2, "maxProperties": 2},
     [{"a": 1, "b": 1}, {"b": 1, "c": 2}], [{}, {"a": 1}, {"a": 1, "b": 1, "c": 1}]),
    ("patterns of names", {"type": "object", "patternProperties": {"^x": {"type": "integer"}, "y$": {"minimum": 5}},
                           "additionalProperties": {"type": "string"}},
     [{"x": 1, "ay": 7, "xy": 6, "b": "t"}], [{"x": "a"}, {"xy": 1}, {"xy": 6.5}, {"b": 1}, {"ay": 1}]),
    ("names", {"type": "object", "propertyNames": {"maxLength": 2}}, [{}, {"ab": 1}], [{"abc": 1}]),
    ("dependent", {"type": "object", "properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}},
     [{}, {"b": 1}, {"a": 1, "b": 2}], [{"a": 1}]),
    ("dependent schema", {"type": "object", "properties": {"a": {}, "b": {}},
                          "dependentSchemas": {"a": {"properties": {"b": {"type": "null"}}}}},
     [{"b": 1}, {"a": 1}, {"a": 1, "b": None}], [{"a": 1, "b": 1}]),
    ("tuple", {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"type": "null"}},
     [[], [1], [1, "a"], [1, "a", None]], [["a"], [1, 2], [1, "a", 3]]),
    ("lengths", {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3},
     [[True, False], [True] * 3], [[], [True], [True] * 4]),
    ("a bound that no text reaches", {"type": "string", "minLength": 2, "maxLength": 2147483647}, ["ab"], ["a", 1]),
    ("a draft named over http", {"$schema": "http://json-schema.org/draft/2019-09/schema#", "type": "array",
                                 "items": [{"type": "integer"}]}, [[1, "a"]], [["a"]]),
    ("contains", {"type": "array", "contains": {"type": "integer"}, "minContains": 2, "maxContains": 3},
     [[1, 2], ["a", 1, "b", 2, 3]], [[], [1], ["a", 1], [1, 2, 3, 4]]),
    ("different items", {"type": "array", "items": {"enum": ["a", 1, None]}, "uniqueItems": True, "minItems": 2},
     [["a", 1], [None, 1, "a"]], [["a"], ["a", "a"], [1, 1, "a"]]),
    ("one of two arrays with different items", {"oneOf": [
        {"type": "array", "items": {"type": ["integer", "null"]}, "uniqueItems": True},
        {"type": "array", "items": {"type": ["string", "null"]}, "uniqueItems": True}]},
     [[1, 2], ["a", None, "b"], [1, None]], [[], [None], [1, 1], ["a", "a"], [1, "a"], [None, None]]),
    ("one of two arrays, one with different items, with few arrays in common", {"oneOf": [
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        {"type": "array", "items": {"type": "string"}}]},
     [[1, 2], ["a", "a"], ["a"], [1]], [[], [1, 1], [1, "a"]]),
    ("an alternative that only the members around it rule out", {
        "properties": {"a": {"$ref": "#/$defs/names"}, "b": {"type": "string"}}, "additionalProperties": False,
        "type": "object", "allOf": [{"oneOf": [
            {"properties": {"a": {"$ref": "#/$defs/names"}}, "required": ["a"]},
            {"properties": {"b": {"type": "string"}}, "required": ["b"]}]}],
        "$defs": {"names": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 1}}},
     [{"a": ["x", "y"]}, {"b": ""}], [{}, {"a": ["x"], "b": ""}, {"a": ["x", "x"], "b": ""}, {"a": []}]),
    ("numbers of many digits inside lists", {"enum": [[10**29 + 1], [10**29 + 2]]},
     [[10**29 + 1], [10**29 + 2]], [[10**29 + 3]]),
    ("a number in a list, and what looks like its tag", {"enum": [[1], [{"": "1"}], ["n1e0"]]},
     [[1], [{"": "1"}], ["n1e0"]], [[2], [{"": "2"}], ["1"]]),
    ("zero with a sign is zero", {"allOf": [{"const": [-0.0]}, {"const": [0]}]}, [[0]], [[1]]),
    ("different items that only Python takes for equal", {
        "type": "array", "uniqueItems": True, "minItems": 3, "items": False,
        "prefixItems": [{"enum": [0]}, {"enum": [[1]]}, {"enum": [[True]]}]}, [[0, [1], [True]]], [[0, [1], [1]]]),
    ("different items, but not two or more of them", {"type": "array", "uniqueItems": True,
                                                      "not": {"uniqueItems": True, "minItems": 2}},
     [[], [1], [[]]], [[1, 2], [1, 1]]),
    ("any of", {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "string", "maxLength": 1}]},
     [5, "a", ""], [4, "ab", None]),
    ("one of, overlapping", {"oneOf": [{"type": "integer"}, {"minimum": 2, "type": "number"}]},
     [1, 2.5], [2, 1.5, "a"]),
    ("one of, objects", {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
     [{"a": 1}, {"b": 1}, {"a": 1, "c": 1}], [{}, {"a": 1, "b": 1}]),
    ("one of twice", {"oneOf": [{"type": "string"}, {"type": "string"}, {"type": "null"}]}, [None], ["a"]),
    ("one of, closed", {"type": "object", "oneOf": [
        {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "b"],
         "additionalProperties": False},
        {"properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}]},
     [{"a": "x"}, {"a": "x", "b": 1}], [{"a": "x", "b": "y"}, {"b": 1}]),
    ("one of closed ones, the larger without what it must have",
     {"type": "object", "oneOf": [
         {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "additionalProperties": False},
         {"properties": {"a": {"type": "string"}}, "additionalProperties": False}]},
     [{"b": 1}, {"a": "x", "b": 1}], [{}, {"a": "x"}, {"c": 1}]),
    ("not a constant", {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False,
                        "not": {"const": {"a": 1}}}, [{}, {"a": 2}], [{"a": 1}, {"b": 1}]),
    ("not closed", {"type": "object", "not": {"properties": {"a": {}}, "additionalProperties": False}},
     [{"b": 1}, {"b": 1, "a": 2}], [{}, {"a": 1}]),
    ("not items", {"type": "array", "not": {"items": {"type": "integer"}}}, [["a"], [1, "a"]], [[], [1, 2]]),
    ("not items behind a tuple", {"type": "array", "not": {"prefixItems": [{}], "items": {"type": "integer"}}},
     [["a", "b"], [1, 2, "c"]], [[], ["a"], ["a", 1]]),
    ("if then else", {"type": "object", "properties": {"k": {"enum": ["x", "y"]}, "v": {}}, "required": ["k", "v"],
                      "if": {"properties": {"k": {"const": "x"}}}, "then": {"properties": {"v": {"type": "integer"}}},
                      "else": {"properties": {"v": {"type": "string"}}}},
     [{"k": "x", "v": 1}, {"k": "y", "v": "a"}], [{"k": "x", "v": "a"}, {"k": "y", "v": 1}]),
    ("unevaluated", {"type": "object", "allOf": [{"properties": {"a": {"type": "integer"}}}], "properties": {"b": {}},
                     "unevaluatedProperties": False}, [{}, {"a": 1, "b": 2}], [{"a": "x"}, {"c": 1}]),
    ("unevaluated items", {"type": "array", "prefixItems": [{"type": "integer"}], "contains": {"const": "x"},
                           "unevaluatedItems": False}, [[1, "x"], [2, "x", "x"]], [[1], [1, "y"], [1, "x", 2]]),
    ("recursive", {"$defs": {"t": {"type": "object",
                                   "properties": {"v": {"type": "integer"}, "n": {"$ref": "#/$defs/t"}},
                                   "required": ["v"], "additionalProperties": False}}, "$ref": "#/$defs/t"},
     [{"v": 1}, {"v": 1, "n": {"v": 2, "n": {"v": 3}}}], [{}, {"v": 1, "n": {}}, {"v": 1, "n": 3}]),
    ("two members that must exist", {"type": "object", "maxProperties": 1,
                                     "patternProperties": {"a": {"type": "integer"}},
                                     "not": {"propertyNames": {"maxLength": 2}}},
     [{"abc": 1}, {"xyz": "t"}], [{}, {"ab": 1}, {"abc": "t"}]),
    ("two members that must exist, of names that a grammar cannot tell apart", {
        "type": "object", "allOf": [{"not": {"additionalProperties": {"type": "integer"}}},
                                    {"not": {"additionalProperties": {"type": "string"}}}]},
     [{"a": "x", "b": 1}, {"a": None}, {"a": 1, "b": 2, "c": "x"}, {"c": "x", "b": 1, "a": "y"}],
     [{}, {"a": 1}, {"a": "x"}, {"a": "x", "b": "y"}, {"a": 1, "b": 2}]),
    ("two members that must exist beside declared ones", {
        "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "maxProperties": 3,
        "allOf": [{"not": {"additionalProperties": {"type": "integer"}}},
                  {"not": {"patternProperties": {"^[xy]": {"type": "string"}}}}]},
     [{"a": 1, "b": "x", "x": 2}, {"a": 1, "x": None}, {"a": 1, "c": 2, "y": []}],
     [{"a": 1}, {"a": 1, "b": "x"}, {"a": 1, "x": 2}, {"a": 1, "b": "x", "x": "y"},
      {"a": 1, "b": "x", "c": 3, "x": 2}]),
    ("counts beside members that must exist", {
        "type": "object", "minProperties": 3, "not": {"additionalProperties": {"type": "integer"}}},
     [{"a": 1, "b": 2, "c": "x"}, {"a": "x", "b": "y", "c": "z"}, {"a": "x", "b": 1, "c": 2, "d": 3}],
     [{}, {"a": "x", "b": 1}, {"a": 1, "b": 2, "c": 3}]),
    ("not a recursive word", {"$defs": {"w": {"type": "object", "properties": {"a": {"$ref": "#/$defs/w"}},
                                              "additionalProperties": False}},
                              "allOf": [{"$ref": "#/$defs/w"}, {"not": {"const": {"a": {"a": {}}}}}]},
     [{}, {"a": {}}, {"a": {"a": {"a": {}}}}], [{"a": {"a": {}}}, {"b": {}}]),
    ("a member that must exist before others", {"type": "object", "not": {"additionalProperties": {"type": "integer"}}},
     [{"x": "", "y": 1}, {"y": 1, "x": ""}, {"x": 1, "y": "", "z": 2}], [{}, {"x": 1}, {"x": 1, "y": 2}]),
    ("a declared member beside one that must exist",
     {"properties": {"a": {"type": "string"}}, "not": {"additionalProperties": {"type": "integer"}}},
     [{"a": "", "y": 1}, {"y": None, "a": "", "x": 1}, {"x": 1, "a": ""}], [1, {"y": 1}, {"x": 1, "y": 2}]),
    ("a member of few names that must exist",
     {"items": {"minProperties": 3, "propertyNames": {"pattern": "^[a-d]$"},
                "not": {"additionalProperties": {"type": "integer"}}}},
     [[{"a": 1, "b": 2, "c": ""}], [{"a": "", "b": 2, "c": 1}], [{"d": 1, "c": 2, "b": "", "a": 1}]],
     [[{"a": 1, "b": ""}], [{"a": 1, "b": 2, "c": 3}], [{"a": 1, "b": "", "e": 1}]]),
    ("names that are held to the schema they are in", {"propertyNames": {"$ref": "#"}, "pattern": "^a"},
     ["a", {}, {"a": 1, "ab": {"b": 2}}, 3], ["b", {"b": 1}, {"a": 1, "b": 1}]),
    ("names not held to their schema", {"additionalProperties": {"$ref": "#"}, "propertyNames": {
        "not": {"$ref": "#"}}, "pattern": "^a"},
     ["a", {}, {"b": 1, "c": {"d": "a"}}], ["b", {"a": 1}, {"b": {"a": 1}}]),
    ("names of no length beside a declared one",
     {"properties": {"a": {}}, "additionalProperties": {"type": "null"},
      "propertyNames": {"minLength": 2, "maxLength": 1}}, [{}, 1], [{"a": 1}]),
    ("many patterns that ask for the same",
     {"patternProperties": {f"^({letter}|z){{2}}": {"type": "integer"} for letter in "abcdefghijkl"},
      "additionalProperties": False}, [{}, {"aa": 1, "lz": 2, "zz": 3}], [{"aa": "x"}, {"ab": 1}, {"z": 1}]),
    ("many patterns that ask for different things",
     {"patternProperties": {f"^{letter}+$": {"minimum": place} for place, letter in enumerate("abcdefghijklmnop")}
      | {"^[a-d]": {"multipleOf": 2}}, "additionalProperties": {"type": "null"}},
     [{"aa": 0, "c": 4, "pp": 15, "ab": 2, "q": None}], [{"c": 0}, {"c": 3}, {"pp": 14}, {"ab": 1}, {"q": 1}]),
    ("draft 4 tells integers by their spelling",
     {"$schema": DRAFT_4, "oneOf": [{"type": "number"}, {"type": "integer"}]}, [1.0, 1.5, 1e16, -0.0], [1, 0, 10**20]),
    ("draft 4, twice not an integer", {"$schema": DRAFT_4, "not": {"not": {"type": "integer"}}}, [1, -5], [1.0, 1.5]),
    ("draft 4, no integer of a list", {"$schema": DRAFT_4, "enum": [1, 2.5], "not": {"type": "integer"}},
     [1.0, 2.5], [1, 2.0]),
    ("draft 4, different integers", {"$schema": DRAFT_4, "uniqueItems": True, "items": {
        "type": "integer", "minimum": 1, "maximum": 3}}, [[1, 2], [3, 1, 2]], [[1.0], [1, 2.0], [1, 1]]),
    ("draft 6 has integers by value", {"$schema": "http://json-schema.org/draft-06/schema#", "oneOf": [
        {"type": "number"}, {"type": "integer"}]}, [1.5], [1, 1.0, 1e16]),
]


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize(("schema", "valid", "invalid"), [kind[1:] for kind in KINDS], ids=[kind[0] for kind in KINDS])
def test_values_are_judged_right(schema: Any, valid: list[Any], invalid: list[Any], order: str) -> None:
    free = byte_compiler().compile_json_schema(schema, property_order="any")
    grammar = byte_compiler().compile_json_schema(schema, property_order=order)
    for value in valid:
        text = json.dumps(value)
        assert accepts(free, text), text
        if order == "schema" and not accepts(grammar, text):  # then the members must fit in another order
            inside = value[0] if isinstance(value, list) else value
            assert isinstance(inside, dict)
            assert len(inside) > 1
    for value in invalid:
        assert not accepts(grammar, json.dumps(value)), value


REFUSED = [
    ({"properties": {"a": {"type": "array", "items": {"type": "string"}, "contains": {"enum": ["x", "y"]},
                           "prefixItems": [{"const": "x"}], "uniqueItems": True}}}, "/properties/a/uniqueItems"),
    ({"properties": {"a": {"not": {"uniqueItems": True}}}}, "/properties/a/not"),
    ({"items": {"minProperties": 3, "propertyNames": {"pattern": "^[a-z]{2}$"},
                "not": {"additionalProperties": {"type": "integer"}}}}, "/items/minProperties"),
]


@pytest.mark.parametrize(("schema", "pointer"), REFUSED)
def test_what_is_not_exact_is_refused_at_its_place(schema: Any, pointer: str) -> None:
    with pytest.raises(cd.UnsupportedSchemaError) as refused:
        byte_compiler().compile_json_schema(schema)
    assert refused.value.pointer == pointer
    report = cd.coverage(schema)
    assert not report.exact
    assert [entry.pointer for entry in report.relaxed] == [pointer]
    byte_compiler().compile_json_schema(schema, unsupported="ignore")
    with pytest.warns(UserWarning, match="not enforced"):
        byte_compiler().compile_json_schema(schema, unsupported="warn")


def test_relaxing_inside_a_negation_never_rejects_what_is_valid() -> None:
    schema = {"not": {"properties": {"a": {"not": {"uniqueItems": True}}}, "required": ["a"]}}
    grammar = byte_compiler().compile_json_schema(schema, unsupported="ignore")
    for value in ({"a": [1, 2]}, {"a": [1, 1]}, {}):
        assert accepts(grammar, json.dumps(value))


WRONG = [
    ({"type": "strin"}, "/type"), ({"properties": {"a": 1}}, "/properties/a"), ({"required": "a"}, "/required"),
    ({"minimum": "1"}, "/minimum"), ({"items": {"multipleOf": 0}}, "/items/multipleOf"), ({"anyOf": []}, "/anyOf"),
    ({"$ref": "#/$defs/none"}, "/$ref"), ({"pattern": "("}, "/pattern"), ({"enum": 3}, "/enum"),
    ({"$ref": "http://example.com/other.json"}, "/$ref"),
]


@pytest.mark.parametrize(("schema", "pointer"), WRONG)
def test_wrong_schemas_name_the_place(schema: Any, pointer: str) -> None:
    with pytest.raises(cd.SchemaError) as wrong:
        cd.Grammar.from_json_schema(schema)
    assert wrong.value.pointer == pointer
    assert not isinstance(wrong.value, cd.UnsupportedSchemaError)


@pytest.mark.parametrize("text", ["{", '{"const": NaN}', "[]", "3", b"\xff", '{"minimum": 1e99999999999999999999}',
                                  b'{"const": -0.1e-99999999999999999999}'])
def test_what_is_no_schema_is_an_error(text: Any) -> None:
    with pytest.raises(cd.SchemaError):
        cd.Grammar.from_json_schema(text)


@pytest.mark.parametrize("schema", [
    False, {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, {"enum": []},
    {"$ref": "#/$defs/a", "$defs": {
        "a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"]}}},
    {"type": "object", "required": ["a"], "properties": {"a": False}},
])
def test_a_schema_that_nothing_satisfies_is_an_error(schema: Any) -> None:
    with pytest.raises(cd.UnsatisfiableSchemaError):
        byte_compiler().compile_json_schema(schema)


def test_a_loop_without_a_value_is_an_error() -> None:
    for schema in ({"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"$ref": "#/$defs/a", "$defs": {
            "a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}):
        with pytest.raises(cd.SchemaError):
            cd.Grammar.from_json_schema(schema)


def test_the_compiler_keeps_schemas_by_all_options() -> None:
    info = byte_compiler().tokenizer_info
    compiler = cd.GrammarCompiler(info)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}}
    first = compiler.compile_json_schema(schema)
    assert compiler.compile_json_schema(dict(schema)) is first
    assert compiler.compile_json_schema(schema, strict_mode=True) is not first
    assert compiler.compile_json_schema(schema, property_order="any") is not first
    schema["properties"] = {}
    assert compiler.compile_json_schema(schema) is not first
    any_value = compiler.compile_builtin_json_grammar()
    assert accepts(any_value, '{"a": [1, null, "x"]}')
    assert not accepts(any_value, '{"a": }')


def test_strict_mode_closes_objects_that_say_nothing() -> None:
    schema = {"properties": {"a": {"type": "object", "properties": {"b": {}}},
                             "c": {"type": "object", "additionalProperties": {"type": "integer"}}}, "type": "object"}
    grammar = byte_compiler().compile_json_schema(schema, strict_mode=True)
    assert accepts(grammar, '{"a": {"b": 1}, "c": {"x": 1}}')
    for text in ('{"x": 1}', '{"a": {"x": 1}}', '{"c": {"x": "y"}}'):
        assert not accepts(grammar, text)


def test_coverage_of_an_exact_schema() -> None:
    report = cd.coverage({"type": "object", "properties": {"a": {"type": "integer", "minimum": 0}}, "title": "t"})
    assert report.exact
    assert [entry.pointer for entry in report.enforced] == [
        "/type", "/properties", "/properties/a/type", "/properties/a/minimum"]
    formats = cd.coverage({"type": "string", "format": "hostname"})
    assert formats.exact and [entry.pointer for entry in formats.withheld] == ["/format"]
    for draft, text in (("6", "hostname"), ("7", "ipv6")):
        assert not cd.coverage({"type": "string", "format": text}, draft=draft).withheld
    assert {entry.status for entry in cd.coverage({"format": "idn-email"}).entries} == {"relaxed"}
    unknown = cd.coverage({"type": "string", "format": "colour"})
    assert not unknown.exact
    assert unknown.relaxed[0].pointer == "/format"


def test_a_report_is_read_at_a_glance() -> None:
    exact = str(cd.coverage({"type": "object", "properties": {"a": {"type": "integer", "minimum": 0}}}))
    assert exact == "exact: 4 of 4 keywords enforced"
    lines = str(cd.coverage({"type": "array", "items": {"format": "nope"}})).split("\n")
    assert lines[0] == "not exact: 2 of 3 keywords enforced" and len(lines) == 2
    assert lines[1].startswith("relaxed at /items/format: ")


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")},
                                    {"indent": 1, "separators": (",", ": ")},
                                    {"indent": 2, "separators": (", ", ": ")}])
def test_exact_layouts_are_what_json_writes(order: str, layout: dict[str, Any]) -> None:
    schema = {"type": "object", "required": ["a"], "properties": {
        "a": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "object", "minProperties": 1,
                                                                    "properties": {"c": {"type": "string"}}},
        "d": {"type": "array", "contains": {"const": 1}}}}
    exact = byte_compiler().compile_json_schema(schema, property_order=order, any_whitespace=False, **layout)
    loose = byte_compiler().compile_json_schema(schema, property_order=order)
    for value in ({"a": [1, 2], "b": {"c": "x"}, "d": [2, 1]}, {"a": []}, {"a": [], "b": {"c": "\u00e9"}}):
        text = json.dumps(value, **layout)
        assert accepts(exact, text)
        assert accepts(loose, text)
        assert not accepts(exact, text.replace("{", "{ ", 1))


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize(("schema", "value"), [
    ({"type": "array", "contains": {"const": 1}, "minContains": 0, "maxContains": 2}, [1, 2]),
    ({"type": "array", "prefixItems": [{"enum": [1, 2]}, {"enum": [1, 2]}], "uniqueItems": True}, [2, 1, 3]),
    ({"type": "object", "properties": {"a": {}, "b": {}}, "maxProperties": 1}, {"a": 1}),
    ({"type": "object", "properties": {"a": {"const": 1}}, "maxProperties": 2, "additionalProperties": {"const": 2}},
     {"a": 1, "c": 2}),
], ids=["contains", "prefix", "declared", "undeclared"])
def test_what_is_empty_is_written_in_one_line(schema: dict[str, Any], value: Any, order: str) -> None:
    exact = byte_compiler().compile_json_schema(schema, property_order=order, any_whitespace=False, indent=2)
    for one in (value, type(value)()):
        assert accepts(exact, json.dumps(one, indent=2))
    brackets = json.dumps(type(value)())
    assert not accepts(exact, f"{brackets[0]}\n  \n{brackets[1]}")


UNIQUE: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"items": {"type": "string"}, "contains": {"type": "string", "minLength": 2}, "minContains": 2, "maxContains": 3},
     [["aa", "bb"], ["a", "bb", "cc", "dd"]], [["aa"], ["aa", "aa"], ["aa", "bb", "cc", "dd"], ["aa", "bb", "a", "a"]]),
    ({"prefixItems": [{"type": "string"}], "contains": {"type": "integer"}},
     [["a", 1], ["a", 1, 2]], [["a", 1, 1], ["a"], [1, 2]]),
    ({"items": {"type": "object", "minProperties": 2}}, [[{"a": 1, "b": 2}, {"a": 1, "c": 2}]],
     [[{"a": 1}], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]]),
    ({"items": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 2}},
     [[[1, 2], [2, 1]], []], [[[1, 1]], [[1, 2], [1, 2]], [[1]]]),
    ({"items": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2}, "minItems": 7},
     [[[], [True], [False], [True, True], [True, False], [False, True], [False, False]]],
     [[[], [True], [False], [True, True], [True, False], [False, True], []], [[True]]]),
    ({"items": {"type": "integer", "minimum": 1, "maximum": 3000}, "minItems": 2}, [[1, 3000], [7, 8, 9]],
     [[1], [1, 1], [0, 1]]),
    ({"contains": {}, "maxContains": 2}, [[1], [1, 2]], [[], [1, 1], [1, 2, 3]]),
    ({"items": {"type": "string"}, "contains": {"const": "x"}, "maxContains": 1},
     [["x"], ["a", "x", "b"]], [[], ["a"], ["x", "x"], ["x", 1]]),
    ({"items": {"type": "string"}, "contains": {"enum": ["x", "y", 1]}, "minContains": 2},
     [["x", "y"], ["y", "a", "x", "b"]], [["x"], ["x", "x"], ["x", 1]]),
    ({"items": {"type": ["boolean", "null"]}, "contains": {"type": "boolean"}, "minContains": 2},
     [[True, False], [False, None, True]], [[True, None], [True, True]]),
    ({"items": {"enum": [1, 2, "a"]}, "contains": {"type": "string"}, "minContains": 0, "maxContains": 1},
     [[], [2, 1], ["a", 2, 1]], [["a", "a"], [1, 1], [3]]),
]


@pytest.mark.parametrize(("keywords", "valid", "invalid"), UNIQUE)
def test_different_items_beside_other_keywords(keywords: dict[str, Any], valid: list[Any], invalid: list[Any]) -> None:
    schema = {"type": "array", "uniqueItems": True, **keywords}
    grammar = byte_compiler().compile_json_schema(schema)
    for value in valid:
        assert accepts(grammar, json.dumps(value)), value
    for value in invalid:
        assert not accepts(grammar, json.dumps(value)), value
    state = grammar.start_state
    while not grammar.is_complete(state):  # nothing ends dead on the way of a shortest end
        state = grammar.advance(state, grammar.shortest_completion(state)[:1])
        assert state
        assert grammar.allowed_ids(state)


def test_too_few_different_values_are_no_schema() -> None:
    for keywords in ({"items": {"type": "integer", "minimum": 1, "maximum": 3000}, "minItems": 3001},
                     {"items": {"type": "array", "items": {"type": "boolean"}, "maxItems": 1}, "minItems": 4}):
        with pytest.raises(cd.UnsatisfiableSchemaError):
            byte_compiler().compile_json_schema({"type": "array", "uniqueItems": True, **keywords})
    with pytest.raises(cd.GrammarLimitError, match="max_distinct_items"):
        byte_compiler().compile_json_schema({"type": "array", "uniqueItems": True, "minItems": 10_001, "items": {
            "type": "integer", "minimum": 1, "maximum": 20_000}})


def test_arrays_end_where_values_could_be_used_up() -> None:
    compiler = cd.GrammarCompiler(byte_compiler().tokenizer_info, limits=cd.Limits(max_distinct_items=3))
    many = {"type": "array", "uniqueItems": True, "items": {"type": "integer", "minimum": 1, "maximum": 200_000}}
    assert accepts(compiler.compile_json_schema(many), "[1, 2, 3]")
    assert not accepts(compiler.compile_json_schema(many), "[1, 2, 3, 4]")
    for items in ({"type": "string"}, {"type": "integer"}, {"type": "object"}, {"type": "string", "pattern": "^a+$"},
                  {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}):
        grammar = compiler.compile_json_schema({"type": "array", "uniqueItems": True, "items": items, "minItems": 4})
        value = {"string": '"' + "a" * 9, "integer": "1", "object": '{"a": 1'}[items["type"]]
        end = {"string": '"', "integer": "", "object": "}"}[items["type"]]
        zeros = "a" if items["type"] == "string" else "0"
        assert accepts(grammar, "[" + ", ".join(value + zeros * i + end for i in range(6)) + "]"), items
        assert not accepts(grammar, "[" + ", ".join(value + zeros * i + end for i in (0, 1, 2, 3, 1)) + "]")


def test_a_name_that_is_written_twice_is_no_second_member() -> None:
    schema = {"type": "object", "minProperties": 3, "not": {"additionalProperties": {"type": "integer"}}}
    for order in ("any", "schema"):
        grammar = byte_compiler().compile_json_schema(schema, property_order=order)
        assert accepts(grammar, '{"a": "x", "b": 1, "c": 2}')
        assert not accepts(grammar, '{"a": 1, "b": 3, "a": "x"}')
        assert not accepts(grammar, '{"b": "x", "a": 2, "b": 1}')


@pytest.mark.parametrize(("item", "values", "wrong"), [
    ({"type": "object", "properties": {"c": {"type": "string", "pattern": "^[A-Z]{2}$"}, "s": {"enum": ["x", "y", 1]}},
      "required": ["c", "s"], "additionalProperties": False},
     [{"c": "AB", "s": "x"}, {"c": "AB", "s": 1}, {"s": "x", "c": "ZZ"}], {"c": "A", "s": "x"}),
    ({"type": "object", "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 23}, "b": {"enum": [1, 2]}},
      "additionalProperties": False}, [{}, {"a": 1}, {"b": 1}, {"a": 1, "b": 1}], {"a": 24}),
    ({"type": "object", "properties": {"k": {"type": "string", "pattern": r"^[\s\S]*$", "maxLength": 10_000_000}},
      "additionalProperties": False}, [{"k": "a"}, {"k": ""}, {}], {"k": 1}),
    ({"type": "string", "pattern": "^a*b?$", "maxLength": 600}, ["a", "ab", "b", ""], "ba"),
])
def test_different_items_are_counted(item: Any, values: list[Any], wrong: Any) -> None:
    grammar = byte_compiler().compile_json_schema({"type": "array", "items": item, "uniqueItems": True},
                                                  property_order="any")
    assert accepts(grammar, json.dumps(values))
    assert not accepts(grammar, json.dumps([*values, values[0]]))
    assert not accepts(grammar, json.dumps([*values, wrong]))


def test_all_of_few_values_are_written_and_no_more() -> None:
    """Three by two values: an array of six ends there."""
    item = {"type": "object", "properties": {"a": {"enum": [1, 2, 3]}, "b": {"type": "boolean"}},
            "required": ["a", "b"], "additionalProperties": False}
    grammar = byte_compiler().compile_json_schema({"type": "array", "items": item, "uniqueItems": True, "minItems": 6})
    items = [{"a": a, "b": b} for a in (2, 3, 1) for b in (True, False)]
    assert accepts(grammar, json.dumps(items)) and not accepts(grammar, json.dumps(items[:5]))
    assert not accepts(grammar, json.dumps([*items, items[0]]))
    with pytest.raises(cd.UnsatisfiableSchemaError):
        byte_compiler().compile_json_schema({"type": "array", "items": item, "uniqueItems": True, "minItems": 7})


@pytest.mark.parametrize("items", [
    {"type": "array", "prefixItems": [False]},
    {"type": "array", "prefixItems": [{"type": "boolean", "not": {}}], "items": {"type": "integer"}},
    {"type": "array", "prefixItems": [{"const": 1}, {"allOf": [{"type": "null"}, {"type": "string"}]}, {}]},
    {"type": "array", "prefixItems": [{"type": "boolean"}, False], "minItems": 1},
])
def test_a_place_without_a_value_ends_the_arrays_that_are_counted(items: Any) -> None:
    """One to three values each: an item more would not be new."""
    schema = {"type": "array", "uniqueItems": True, "items": items}
    item = byte_compiler().compile_json_schema(items)
    few = [value for value in ([], [1], [True], [False]) if accepts(item, json.dumps(value))]
    assert 1 <= len(few) <= 3
    try:
        compiled = byte_compiler().compile_json_schema(schema)
    except cd.UnsupportedSchemaError as error:
        assert error.pointer == "/uniqueItems"
        return
    state = compiled.advance(compiled.start_state, json.dumps(few).encode()[:-1])
    assert compiled.allowed_ids(compiled.advance(state, b"]"))
    assert not compiled.advance(state, b",")
