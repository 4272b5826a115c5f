"""Values that are not in a schema, where they are written as they are: right, and not of squared size."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from benchmarks.conformance import accepts, byte_compiler
from constrained.engine.lowering import lower
from constrained.frontends.json_schema.compile import from_json_schema
from constrained.limits import Limits

jsonschema = pytest.importorskip("jsonschema")

INNER: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["c"]},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "patternProperties": {"^x": {"type": "null"}},
     "maxProperties": 2},
    {"properties": {"a": {"type": "integer"}, "b": {"type": "null"}}, "additionalProperties": False},
    {"type": ["object", "null"], "additionalProperties": {"type": "integer"}, "required": ["a", "b"]},
    {"type": "object", "properties": {"a": {"type": "integer"}, "z": {"required": ["b"]}}, "minProperties": 2},
]
MEMBERS = [("a", 1), ("a", "s"), ("b", 2), ("b", None), ("c", 0), ("x1", None), ("x1", 5), ("z", {})]


def outside(inner: Any) -> dict[str, Any]:
    return {"type": "object", "required": ["v"], "not": {"properties": {"v": inner}}}


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("inner", INNER)
def test_all_other_objects(inner: Any, order: str) -> None:
    compiled = byte_compiler().compile_json_schema(outside(inner), property_order=order)
    validator = jsonschema.Draft202012Validator(inner)
    for value in [None, 1, "s", []]:
        assert accepts(compiled, json.dumps({"v": value})) is not validator.is_valid(value), value
    for count in range(4):
        for chosen in itertools.combinations(MEMBERS, count):
            value = dict(chosen)
            found = {accepts(compiled, json.dumps({"v": dict(o)})) for o in itertools.permutations(value.items())}
            # an undeclared member that shows it may have to come last, since a later one could replace it
            assert (True in found) is not validator.is_valid(value), value


def test_of_many_members_one_is_wrong() -> None:
    def positions(count: int) -> int:
        inner = {"type": "object", "properties": {f"p{i:03}": {"type": "integer"} for i in range(count)}}
        return lower(from_json_schema(outside(inner), property_order="any"), Limits()).n_positions

    few, more, many = positions(20), positions(40), positions(80)
    assert many - more < 2.5 * (more - few)
