
"""OpenAI's strict subset: what its clients produce passes, what its servers refuse is refused, and only where asked."""

from __future__ import annotations

from typing import Any, Literal

import pytest

pytest.importorskip("torch")
pytest.importorskip("starlette", reason="the server is not installed: pip install 'constrained[server]'")

from constrained.errors import ConstrainedError
from constrained.server.fields import Fields
from constrained.server.formats import read_constraint, text_format
from constrained.server.problems import ApiError
from constrained.server.settings import ServerSettings
from constrained.server.strict_subset import openai_refusal
from constrained.server.tools import read_tools


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = closed(a=schema)
    return schema


TEXT = {"type": "string"}

TAKEN = [
    closed(), closed(a=TEXT), closed(a={"type": ["string", "null"], "description": "x", "title": "y", "default": "z"}),
    closed(a={"type": "string", "pattern": r"^@[a-zA-Z0-9_]+\(?=$", "format": "date-time"}),
    closed(a={"type": "string", "pattern": "[(?=]x"}),
    closed(a={"type": "number", "multipleOf": 0.5, "minimum": 1, "exclusiveMaximum": 4}),
    closed(a={"type": "array", "items": TEXT, "minItems": 1, "maxItems": 3}),
    closed(a={"enum": [1, "b", None]}, b={"const": "x"}, c={"anyOf": [TEXT, closed(d=TEXT)]}),
    {**closed(a={"$ref": "#/$defs/n"}),
     "$defs": {"n": closed(next={"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]})}},
    {**closed(a={"$ref": "#"}), "$schema": "https://json-schema.org/draft/2020-12/schema"},
    nested(10), closed(**{f"p{i}": TEXT for i in range(5_000)}), closed(a={"enum": [f"{i}" for i in range(1_000)]}),
    closed(a={"enum": ["x" * 60 + f"{i:3}" for i in range(238)]}), closed(a={"enum": ["x" * 60_000]}),
]

REFUSED = [
    (True, "", "root"), ({"type": "array", "items": TEXT}, "", "root"), ({}, "", "root"),
    ({"type": ["object", "null"], **{k: v for k, v in closed().items() if k != "type"}}, "", "root"),
    ({**closed(), "anyOf": [closed()]}, "", "anyOf"), ({"type": "object", "properties": {}, "required": []}, "",
                                                      "additionalProperties"),
    ({**closed(a=TEXT), "additionalProperties": TEXT}, "", "additionalProperties"),
    ({**closed(a=TEXT, b=TEXT), "required": ["a"]}, "", "missing: 'b'"),
    ({**closed(a=TEXT), "required": ["a", "c"]}, "", "'c'"),
    (closed(a={"type": "object"}), "/properties/a", "additionalProperties"),
    (closed(**{"a/~": {"allOf": [TEXT]}}), "/properties/a~1~0", "allOf"),
    *((closed(a={"type": "string", key: 1}), "/properties/a", key) for key in (
        "minLength", "maxLength", "not", "oneOf", "if", "then", "else", "contains", "uniqueItems", "prefixItems",
        "patternProperties", "propertyNames", "minProperties", "unevaluatedItems", "dependentSchemas")),
    (closed(a={"type": "array"}), "/properties/a", "items"), (closed(a={}), "/properties/a", "type"),
    (closed(a={"type": "array", "items": {}}), "/properties/a/items", "type"),
    (closed(a=True), "/properties/a", "object"),
    (closed(a={"type": "text"}), "/properties/a", "type"), (closed(a={"type": [1]}), "/properties/a", "type"),
    (closed(a={"type": "string", "format": "uri"}), "/properties/a", "'uri'"),
    (closed(a={"type": "string", "pattern": r"\\(?<!b)a"}), "/properties/a", "lookaround"),
    (closed(a={"$ref": "#/$defs/x", "description": "y"}), "/properties/a", "description"),
    (closed(a={"$ref": "https://example.org/x"}), "/properties/a", "$ref"),
    (closed(a={"anyOf": [TEXT, {"type": "string", "minLength": 2}]}), "/properties/a/anyOf/1", "minLength"),
    ({**closed(a=TEXT), "$defs": {"d": {"type": "object"}}}, "/$defs/d", "additionalProperties"),
    (nested(11), "/properties/a" * 10, "levels"), (closed(**{f"p{i}": TEXT for i in range(5_001)}), "", "5000"),
    (closed(a={"enum": list(range(600))}, b={"enum": list(range(401))}), "/properties/b", "1000"),
    (closed(a={"enum": ["x" * 60 + f"{i:3}" for i in range(251)]}), "/properties/a", "15000"),
    (closed(a={"enum": ["x" * 120_000]}), "/properties/a", "120000"),
    (closed(a={"enum": {}}), "/properties/a", "a list"),
    ({"type": "object", "properties": [], "required": [], "additionalProperties": False}, "", "properties"),
]


@pytest.mark.parametrize("schema", TAKEN, ids=range(len(TAKEN)))
def test_what_is_taken(schema) -> None:
    assert openai_refusal(schema) is None


@pytest.mark.parametrize(("schema", "pointer", "word"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(schema, pointer: str, word: str) -> None:
    found = openai_refusal(schema)
    assert found is not None and found[0] == pointer and word in found[1], found


def test_depth_takes_no_stack() -> None:
    schema: Any = TEXT
    for _ in range(50_000):
        schema = {"type": "array", "items": schema}
    assert openai_refusal(closed(a=schema)) is None


def test_what_openai_s_own_package_makes_of_types() -> None:
    openai = pytest.importorskip("openai", reason="the clients are not installed: pip install 'constrained[clients]'")
    pydantic = pytest.importorskip("pydantic")
    from openai.lib._pydantic import to_strict_json_schema

    class Leaf(pydantic.BaseModel):
        kind: Literal["a", "b"]
        size: float | None = None

    class Tree(pydantic.BaseModel):
        name: str = pydantic.Field(description="its name")
        leaves: list[Leaf]
        left: Tree | None = None
        first: Leaf = pydantic.Field(description="the first")

    Tree.model_rebuild(_types_namespace={"Tree": Tree, "Leaf": Leaf})
    assert openai_refusal(to_strict_json_schema(Tree)) is None
    tool = openai.pydantic_function_tool(Leaf)
    assert read_tools(Fields({"tools": [tool]}), subset="openai") is not None

    class Short(pydantic.BaseModel):
        name: str = pydantic.Field(max_length=3)

    found = openai_refusal(to_strict_json_schema(Short))
    assert found is not None and found[0] == "/properties/name"


OPEN = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}


@pytest.mark.parametrize("name", ["x", "no space", ""])
@pytest.mark.parametrize("strict", [True, False, None])
@pytest.mark.parametrize("subset", ["none", "openai"])
@pytest.mark.parametrize("schema", [OPEN, closed(a=TEXT)], ids=["open", "closed"])
def test_it_holds_for_strict_schemas_only(subset, strict, name, schema) -> None:
    inner = {"name": name, "schema": schema, **({} if strict is None else {"strict": strict})}
    function = {"name": name, "parameters": schema, **({} if strict is None else {"strict": strict})}
    reads = [
        (lambda: read_constraint(Fields({"response_format": {"type": "json_schema", "json_schema": inner}}), "line",
                                 subset), "response_format.json_schema", "schema", "invalid_json_schema"),
        (lambda: text_format(Fields({"type": "json_schema", **inner}, "text.format"), "line", subset), "text.format",
         "schema", "invalid_json_schema")]
    if name == "x":  # other names are refused for tools whatever the subset
        reads += [
            (lambda: read_tools(Fields({"tools": [{"type": "function", "function": function}]}), subset=subset),
             "tools[0].function", "parameters", "invalid_function_parameters"),
            (lambda: read_tools(Fields({"tools": [{"type": "function", **function}]}), flat=True, subset=subset),
             "tools[0]", "parameters", "invalid_function_parameters")]
    wrong = "name" if name != "x" else "schema" if schema is OPEN else None
    for read, path, key, code in reads:
        if subset == "none" or not strict or wrong is None:
            assert read() is not None
            continue
        with pytest.raises(ApiError) as caught:
            read()
        assert caught.value.status == 400 and caught.value.code == code
        assert caught.value.param == f"{path}.{'name' if wrong == 'name' else key}"


def test_the_setting() -> None:
    with pytest.raises(ConstrainedError, match="strict_subset"):
        ServerSettings(strict_subset="azure")
