"""The form of a value as prompts show it."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

import pytest

from constrained.typed.outline import MAX_LENGTH, outline

pydantic = pytest.importorskip("pydantic")


class Tag(pydantic.BaseModel):
    """Not for the prompt: models copy it."""

    name: str
    weight: Annotated[float, pydantic.Field(ge=0, le=1)]


class Node(pydantic.BaseModel):
    label: str
    children: list[Node]


@pytest.mark.parametrize(("annotation", "form"), [
    (int, "<integer>"),
    (Annotated[int, pydantic.Field(ge=0, le=9)], "<integer from 0 to 9>"),
    (str, "<string>"),
    (bool, "true | false"),
    (None, "null"),
    (datetime.date, "<date>"),
    (Literal["a", "b", 3], '"a" | "b" | 3'),
    (list[int], "[<integer>, ...]"),
    (tuple[int, str], "[<integer>, <string>]"),
    (dict[str, int], "{<key>: <integer>, ...}"),
    (Tag, '{"name": <string>, "weight": <number from 0 to 1>}'),
    (list[Tag], '[{"name": <string>, "weight": <number from 0 to 1>}, ...]'),
    (int | None, "<integer> | null"),
    (Annotated[str, pydantic.Field(description="the  family\nname")], "<string: the family name>"),
    (Any, None),
])
def test_forms(annotation: Any, form: str | None) -> None:
    schema = pydantic.TypeAdapter(annotation).json_schema()
    assert outline(schema) == form


def test_recursion_ends() -> None:
    form = outline(pydantic.TypeAdapter(Node).json_schema())
    assert form is not None and "<Node>" in form and len(form) < 600


@pytest.mark.parametrize("schema", [
    {"$ref": "#"}, {"anyOf": [{"$ref": "#"}]}, {"allOf": [{"$ref": "#"}]}, {"$ref": "#/$defs/missing"},
    {"$ref": "other.json"}, {"type": "array", "items": {"$ref": "#"}}, {"type": []},
    {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}, {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
    {"type": "nonsense"}, {"enum": []}, {"properties": None}, True, False, {}, [], 3,
])
def test_odd_schemas_end(schema: Any) -> None:
    form = outline(schema)
    assert form is None or len(form) <= MAX_LENGTH


def test_too_long() -> None:
    assert outline({"properties": {f"member number {i}": {"type": "string"} for i in range(100)}}) is None
    assert outline({"enum": list(range(100))}) == " | ".join(map(str, range(12))) + " | ..."
