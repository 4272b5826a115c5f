"""Names in a schema are found however its text is written; a text that plainly has none says so without a survey."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import constrained as cd
from constrained import Grammar
from constrained.frontends.json_schema.dialects import DIALECTS
from constrained.frontends.json_schema.direct_text import is_nameless, read_text
from constrained.frontends.json_schema.document import Document
from tests import oracles

ANCHORED = {"$ref": "#whole", "$defs": {"a": {"$anchor": "whole", "type": "integer"}}}
NAMED = {"$id": "https://example.org/root", "properties": {"n": {"$ref": "item"}},
         "$defs": {"item": {"$id": "item", "type": "integer"}}}
OLD = {"id": "http://example.org/root", "properties": {"n": {"$ref": "item"}},
       "definitions": {"item": {"id": "item", "type": "integer"}}}


def spellings(schema: Any) -> list[str]:
    text = json.dumps(schema)
    return [text, json.dumps(schema, indent=4), json.dumps(schema, separators=(",", ":")),
            text.replace("$", "\\u0024"), text.replace('"id"', '"\\u0069d"'), text.replace('":', '"        :'),
            text.replace(": ", ":\n\n\n\n\n\n")]


@pytest.mark.parametrize(("schema", "draft", "good", "bad"), [
    (ANCHORED, "2020-12", "1", '"a"'),
    (NAMED, "2020-12", '{"n": 1}', '{"n": "a"}'),
    (OLD, "draft4", '{"n": 1}', '{"n": "a"}'),
])
def test_names_are_found_in_every_spelling(schema: Any, draft: str, good: str, bad: str) -> None:
    for text in spellings(schema):
        rules = Grammar.from_json_schema(text, draft=draft).rules
        assert oracles.accepts(rules, good.encode()), text
        assert not oracles.accepts(rules, bad.encode()), text


@pytest.mark.parametrize("draft", ["draft4", "draft7", "2020-12"])
def test_properties_with_the_names_of_keywords_are_no_names(draft: str) -> None:
    name = "id" if draft == "draft4" else "$id"
    schema = {name: "http://example.org/a", "type": "object", "required": ["id", "b"], "additionalProperties": False,
              "properties": {"id": {"type": "integer"}, "b": {"$ref": "#/definitions/b"}},
              "definitions": {"b": {"enum": ["id"]}}}
    for text in spellings(schema):
        rules = Grammar.from_json_schema(text, draft=draft).rules
        assert oracles.accepts(rules, b'{"id": 1, "b": "id"}'), text
        assert not oracles.accepts(rules, b'{"id": "1", "b": "id"}'), text


@pytest.mark.parametrize("schema", [ANCHORED, NAMED, OLD, {"unevaluatedItems": False}, {"properties": {"id": {}}}, {}])
def test_a_text_says_what_a_survey_finds(schema: Any) -> None:
    for dialect in DIALECTS.values():
        surveyed = Document(schema, dialect)
        for text in spellings(schema):
            read = read_text(text)
            assert read is not None and read[0] == schema
            nameless = is_nameless(read[1], dialect.id_keyword == "id")
            assert nameless <= (surveyed.plain and not surveyed.mentioned), text
            assert nameless or schema in (ANCHORED, NAMED, OLD) or surveyed.mentioned, text


def test_an_id_that_is_no_text() -> None:
    """It is an error whether something is looked up by name or not; what another draft calls an id may be anything."""
    nested = {"id": True, "properties": {"a": {"id": {"type": "string"}, "type": "string"}}}
    assert cd.Grammar.from_json_schema(nested)
    wrong_ids: tuple[Any, ...] = (
        {"$id": True, "$ref": "other"}, {"$id": 3, "items": {"$ref": "#name"}}, {"properties": {"a": {"$id": True}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {"id": {"type": "string"}}}})
    for schema in wrong_ids:
        for written in (schema, json.dumps(schema)):
            with pytest.raises(cd.SchemaError, match=r"/\$?id'.*must be a string"):
                cd.Grammar.from_json_schema(written)
    for wrong in (True, None, 3, [], {}):  # what a reference leads to may be a wrong one
        with pytest.raises(cd.SchemaError, match="must be a string"):
            cd.Grammar.from_json_schema({"$defs": {"a": {"$ref": wrong}}, "properties": {"x": {"$ref": "#/$defs/a"}}})


IN_DATA = {"id": "http://example.org/r", "properties": {"n": {"$ref": "#/definitions/item"}},
           "definitions": {"item": {"id": "item", "type": "integer", "default": {"id": "x"}}}, "default": [{"id": "y"}]}


@pytest.mark.parametrize(("change", "plain"), [
    ({}, True), ({"also": {"id": "z", "items": {"$ref": "#"}}}, False), ({"also": {"$ref": "item"}}, False),
    ({"also": {"$schema": "http://json-schema.org/draft-07/schema"}}, False), ({"also": {"$dynamicRef": "#a"}}, False),
    ({"also": {"items": {"$ref": "#"}}}, True), ({"also": {"$anchor": "a"}}, True),
])
def test_an_id_matters_to_the_references_inside_of_it(change: Any, plain: bool) -> None:
    schema = {**IN_DATA, **change}
    assert Document(schema, DIALECTS["draft4"]).plain is plain
    if not (set(map(str, change.get("also", ()))) & {"$ref", "$dynamicRef"}):
        rules = Grammar.from_json_schema(json.dumps(schema), draft="draft4").rules
        assert oracles.accepts(rules, b'{"n": 1}') and not oracles.accepts(rules, b'{"n": "a"}')


def test_a_document_whose_references_are_pointers_needs_no_library() -> None:
    code = ("import json, sys; from constrained import Grammar; "
            "Grammar.from_json_schema(json.dumps(json.loads(sys.argv[1])), draft='draft4'); "
            "sys.exit('referencing' in sys.modules)")
    for schema, needed in ((IN_DATA, 0), (OLD, 1)):
        assert subprocess.run([sys.executable, "-c", code, json.dumps(schema)], check=False).returncode == needed


@pytest.mark.parametrize(("draft", "name"), [("draft4", "id"), ("draft6", "$id"), ("draft7", "$id")])
def test_ids_in_dependencies_of_both_kinds(draft: str, name: str) -> None:
    """Names and schemas may stand beside each other in any order (``referencing`` takes all for what the first is)."""
    item = {name: "item", "type": "integer"}
    for dependencies in ({"a": ["b"], "c": item}, {"c": item, "a": ["b"]}, {"c": {"properties": {"d": item}}, "a": []}):
        schema = {name: "http://example.org/r", "properties": {"n": {"$ref": "item"}}, "dependencies": dependencies,
                  "items": [True]}  # in draft 4, too
        rules = Grammar.from_json_schema(schema, draft=draft).rules
        assert oracles.accepts(rules, b'{"n": 1}') and not oracles.accepts(rules, b'{"n": "a"}')


def test_one_value_in_many_places() -> None:
    """A dict that stands under many names is as long as its text would be, which is not written to know it."""
    schema: Any = {"type": "integer", "minimum": 0.5}
    for _ in range(10):
        schema = {"properties": {"a": schema, "b": schema}, "required": ["a"]}
    rules = Grammar.from_json_schema(schema).rules
    assert oracles.accepts(rules, b'{"a":' * 10 + b"1" + b"}" * 10)
    assert not oracles.accepts(rules, b'{"a":' * 10 + b"0" + b"}" * 10)
    for _ in range(300):
        schema = {"properties": {"a": schema, "b": schema}}
    with pytest.raises(cd.GrammarLimitError, match="max_source_chars"):
        Grammar.from_json_schema(schema)
    circle: dict[str, Any] = {"properties": {}}
    circle["properties"]["a"] = circle
    with pytest.raises(cd.GrammarLimitError, match="holds itself"):
        Grammar.from_json_schema(circle)
