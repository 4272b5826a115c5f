"""Names in a schema are found however its text is written; a text that plainly has none says so without a survey."""

from __future__ import annotations

import json
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
            assert is_nameless(read[1], dialect.id_keyword == "id") == (surveyed.plain and not surveyed.mentioned), text


def test_an_id_that_is_no_text() -> None:
    """It names nothing, and is an error once something has to be looked up by name."""
    nested = {"$id": True, "properties": {"a": {"$id": True, "type": "string"}}}
    assert cd.Grammar.from_json_schema(nested)
    for schema in ({"$id": True, "$ref": "other"}, {"$id": 3, "items": {"$ref": "#name"}}):
        for written in (schema, json.dumps(schema)):
            with pytest.raises(cd.SchemaError, match=r"at '/\$id'.*must be a string|leads nowhere"):
                cd.Grammar.from_json_schema(written)
    for wrong in (True, None, 3, [], {}):  # what a reference leads to may be a wrong one
        with pytest.raises(cd.SchemaError, match="must be a string"):
            cd.Grammar.from_json_schema({"$defs": {"a": {"$ref": wrong}}, "properties": {"x": {"$ref": "#/$defs/a"}}})
