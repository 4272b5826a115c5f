"""A wrong schema is an error at its pointer, with what the metaschema says where it says something."""

from __future__ import annotations

from typing import Any

import pytest

import constrained as cd
from constrained.frontends.json_schema.compile import from_json_schema


@pytest.mark.parametrize(("schema", "pointer", "words"), [
    ({"properties": {"a": {"minimum": "x"}}}, "/properties/a/minimum", "'x' is not of type 'number'"),
    ({"required": "a"}, "/required", "is not of type 'array'"),
    ({"allOf": []}, "/allOf", "metaschema of 2020-12"),
    ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": 3},
     "/exclusiveMinimum", "metaschema of draft4"),
    ({"type": "objct"}, "/type", "one of array, boolean"),
    ({"$ref": "#/nowhere"}, "/$ref", "check the names"),
])
def test_wrong_schemas(schema: Any, pointer: str, words: str) -> None:
    pytest.importorskip("jsonschema")
    with pytest.raises(cd.SchemaError) as caught:
        from_json_schema(schema)
    assert caught.value.pointer == pointer
    assert words in str(caught.value)


def test_without_the_metaschema_the_message_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(cd.SchemaError, match="required must hold a list of names"):
        from_json_schema({"required": "a"})
