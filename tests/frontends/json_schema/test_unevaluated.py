"""``unevaluatedProperties`` and ``unevaluatedItems`` beside many alternatives of ``anyOf``."""

from __future__ import annotations

import itertools
import json
from typing import Any

import jsonschema
import pytest

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler


def tagged(count: int) -> dict[str, Any]:
    """Alternatives that exclude each other by a member."""
    return {"type": "object", "unevaluatedProperties": False, "anyOf": [
        {"properties": {"kind": {"const": f"k{i}"}, f"p{i}": {"type": "integer"}}, "required": ["kind"]}
        for i in range(count)]}


def open_ones(count: int) -> dict[str, Any]:
    """Alternatives that may hold together."""
    return {"type": "object", "unevaluatedProperties": False, "anyOf": [
        {"properties": {f"p{i}": {"type": "integer"}}, "required": [f"p{i}"]} for i in range(count)]}


OBJECTS: list[dict[str, Any]] = [
    {**({"kind": kind} if kind else {}), **dict.fromkeys(names, 1), **({"p1": "x"} if wrong else {})}
    for kind in ("", "k1", "k7") for wrong in (False, True) for size in range(4)
    for names in itertools.combinations(["p0", "p1", "p7", "q"], size)]


@pytest.mark.parametrize("schema", [tagged(8), tagged(30), open_ones(3), open_ones(7)])
def test_alternatives(schema: dict[str, Any]) -> None:
    grammar = byte_compiler().compile_json_schema(schema, property_order="any")
    oracle = jsonschema.Draft202012Validator(schema)
    judged = [oracle.is_valid(value) for value in OBJECTS]
    assert any(judged) and not all(judged)
    assert [accepts(grammar, json.dumps(value)) for value in OBJECTS] == judged


def test_items() -> None:
    schema = {"type": "array", "unevaluatedItems": False, "anyOf": [
        {"prefixItems": [{"const": i}, *([True] * (i % 3))], "minItems": 1} for i in range(9)]}
    grammar = byte_compiler().compile_json_schema(schema)
    oracle = jsonschema.Draft202012Validator(schema)
    for size, first in itertools.product(range(5), range(10)):
        value = [first, 5, 6, 7][:size]
        assert accepts(grammar, json.dumps(value)) == oracle.is_valid(value), value


def test_too_many_that_may_hold_together() -> None:
    schema = open_ones(9)
    with pytest.raises(cd.UnsupportedSchemaError, match="combinations") as caught:
        byte_compiler().compile_json_schema(schema)
    assert caught.value.pointer == "/anyOf"
    grammar = byte_compiler().compile_json_schema(schema, unsupported="ignore", property_order="any")
    oracle = jsonschema.Draft202012Validator(schema)
    assert all(accepts(grammar, json.dumps(value)) for value in OBJECTS if oracle.is_valid(value))
    assert [entry.pointer for entry in cd.coverage(schema).relaxed] == ["/anyOf"]
