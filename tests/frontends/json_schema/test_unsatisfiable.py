"""A schema without a value is an error that says where and why."""

from __future__ import annotations

from typing import Any

import pytest

import constrained as cd
from benchmarks.conformance import byte_compiler

NONE = {"type": "string", "minLength": 3, "maxLength": 2}
OBJECT = {"type": "object", "properties": {"a": NONE, "b": {}}, "required": ["b", "a"]}

CASES: dict[str, tuple[Any, str, str]] = {
    "false": (False, "", "the schema is false"),
    "a required member": (OBJECT, "/properties/a", "'type', 'minLength', 'maxLength' exclude each other"),
    "deep": ({"type": "object", "properties": {"x": {"type": "array", "minItems": 1, "items": OBJECT}},
              "required": ["x"]}, "/properties/x/items/properties/a", "exclude each other"),
    "a reference": ({"$defs": {"n": NONE}, "allOf": [{}, {"$ref": "#/$defs/n"}]}, "/$defs/n", "exclude each other"),
    "itself": ({"type": "object", "properties": {"me": {"$ref": "#"}}, "required": ["me"]}, "", "without end"),
    "each other": (
        {"$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/m"}}, "required": ["next"]},
                   "m": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"},
        "/$defs/n", "without end"),
    "every alternative": ({"anyOf": [NONE, {"const": 1, "type": "null"}]}, "/anyOf/0", "exclude each other"),
    "one keyword": ({"not": {}}, "", "its keyword 'not' leaves none"),
    "parts against each other": ({"allOf": [{"type": "string"}, {"type": "null"}]}, "", "its keyword 'allOf'"),
    "a name that is not allowed": ({"type": "object", "properties": {"a": {}}, "required": ["a", "b"],
                                    "additionalProperties": False}, "", "the required member 'b' is not allowed"),
    "an item in its place": ({"type": "array", "prefixItems": [{}, NONE], "minItems": 2}, "/prefixItems/1", "exclude"),
    "contains": ({"type": "array", "contains": False}, "/contains", "the schema is false"),
    "optional parts are not to blame": ({"type": "object", "properties": {"a": NONE}, "minProperties": 2,
                                         "maxProperties": 1}, "", "'minProperties', 'maxProperties' exclude"),
    "a pointer's escapes": ({"type": "object", "properties": {"a/b": False}, "required": ["a/b"]},
                            "/properties/a~1b", "the schema is false"),
    "draft 4's list": ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "array", "minItems": 1,
                        "items": [NONE]}, "/items/0", "exclude each other"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_place_and_the_reason(name: str) -> None:
    schema, pointer, reason = CASES[name]
    with pytest.raises(cd.UnsatisfiableSchemaError) as caught:
        byte_compiler().compile_json_schema(schema)
    assert caught.value.pointer == pointer and reason in str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_a_grammar_of_it_says_the_same(name: str) -> None:
    """Whichever way it is compiled, and in whichever order members are written."""
    schema, pointer, words = CASES[name]
    for options in ({}, {"property_order": "any"}, {"property_order": "any", "unsupported": "ignore"}):
        said = []
        for by_grammar in (False, True):
            with pytest.raises(cd.UnsatisfiableSchemaError) as caught:
                if by_grammar:
                    byte_compiler().compile_grammar(cd.Grammar.from_json_schema(schema, **options))
                else:
                    byte_compiler().compile_json_schema(schema, **options)
            said.append((caught.value.pointer, str(caught.value)))
        assert said[0] == said[1]
        assert said[0][0] == pointer
        assert words in said[0][1]


def test_strict_mode_is_named() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "required": ["b"]}
    with pytest.raises(cd.UnsatisfiableSchemaError, match="strict_mode"):
        byte_compiler().compile_json_schema(schema, strict_mode=True)
    byte_compiler().compile_json_schema(schema)


def test_types() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Loop", me=("Loop", ...))
    with pytest.raises(cd.UnsatisfiableSchemaError, match="without end") as caught:
        byte_compiler().compile_json_schema(model)
    assert caught.value.pointer == "/$defs/Loop"


def test_a_vocabulary_that_cannot_spell_it() -> None:
    from constrained.vocabulary import TokenizerInfo

    info = TokenizerInfo([b"<s>", b"a", b'"', b"1"], stop_token_ids=[0])
    with pytest.raises(cd.UnsatisfiableSchemaError, match="this vocabulary can spell") as caught:
        cd.GrammarCompiler(info).compile_json_schema({"type": "null"})
    assert caught.value.pointer == ""


def test_a_great_schema_takes_no_longer_than_so_many_questions() -> None:
    wide = {"type": "object", "properties": {f"p{i}": {"type": "null"} for i in range(1000)} | {"z": NONE},
            "required": [f"p{i}" for i in range(1000)] + ["z"]}
    with pytest.raises(cd.UnsatisfiableSchemaError, match="no value satisfies the schema") as caught:
        byte_compiler().compile_json_schema(wide)
    assert caught.value.pointer == ""
