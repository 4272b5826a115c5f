"""``uniqueItems`` beside ``contains`` and ``prefixItems`` of few values: judged as ``jsonschema`` does, no dead end."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler, exact_json, walk

VALUES = [1, 2, 3, "a"]
ARRAYS = [list(items) for size in range(4) for items in itertools.product(VALUES, repeat=size)]

some = st.sampled_from([
    {"enum": [1]}, {"enum": [1, 2]}, {"enum": [2, 3]}, {"enum": [1, 2, 3]}, {"type": "integer"}, {"type": "string"},
    {"enum": [1, "a"]}, {"not": {"const": 1}}, {}, {"minimum": 2, "type": "integer", "maximum": 3}])


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "array", "uniqueItems": True}
    if draw(st.booleans()):
        schema["prefixItems"] = draw(st.lists(some, min_size=1, max_size=3))
    if draw(st.booleans()):
        schema["items"] = draw(some)
    wanted = [{"contains": draw(some), **({"maxContains": draw(st.integers(1, 2))} if draw(st.booleans()) else {}),
               **({"minContains": draw(st.integers(0, 2))} if draw(st.booleans()) else {})}
              for _ in range(draw(st.integers(1, 2)))]
    schema.update(wanted[0])
    if len(wanted) > 1:
        schema["allOf"] = wanted[1:]
    if draw(st.booleans()):
        schema["maxItems"] = draw(st.integers(1, 4))
    if draw(st.booleans()):
        schema["minItems"] = draw(st.integers(1, 3))
    return schema


def check(schema: dict[str, Any], seed: int) -> bool:
    """Judges all small arrays; whether the schema has values. ``NotEnforced`` kinds are the caller's."""
    oracle = jsonschema.Draft202012Validator(schema)
    try:
        grammar = byte_compiler().compile_json_schema(schema)
    except cd.UnsatisfiableSchemaError:
        assert not any(map(oracle.is_valid, ARRAYS))
        return False
    for value in ARRAYS:
        assert accepts(grammar, json.dumps(value)) == oracle.is_valid(value), value
    rng = random.Random(seed)
    for _ in range(4):
        text = walk(grammar, rng, 30)
        assert oracle.is_valid(exact_json(text)), text
    return True


@given(schemas(), st.integers(0, 1 << 30))
@settings(max_examples=30, deadline=None)
@example({"type": "array", "uniqueItems": True, "prefixItems": [{"enum": [1]}], "items": {"enum": [1, 2]},
          "contains": {"enum": [1, 2]}}, 1)
def test_arrays(schema: dict[str, Any], seed: int) -> None:
    try:
        check(schema, seed)
    except cd.UnsupportedSchemaError:
        pass


@pytest.mark.parametrize("schema", [
    {"prefixItems": [{"type": "string"}], "contains": {"const": 1}},
    {"prefixItems": [{}], "items": {"type": "string"}, "contains": {"const": "a"}, "maxContains": 1},
    {"prefixItems": [{"enum": [1, 2]}, {}], "contains": {"enum": [1, 2]}, "maxContains": 1},
    {"prefixItems": [{"type": "integer"}, {"type": "string"}], "contains": {"enum": ["a"]},
     "items": {"type": "string"}},
    {"prefixItems": [{}, {}], "contains": {"const": 1}, "minContains": 0, "maxContains": 1, "minItems": 3},
])  # fmt: skip
def test_kinds_that_were_refused(schema: dict[str, Any]) -> None:
    assert check({"type": "array", "uniqueItems": True, **schema}, 7)


def test_a_value_that_only_some_places_may_have_is_still_refused() -> None:
    """After ``[1`` it would have to be known that what is left of {1, 2} is not allowed behind."""
    with pytest.raises(cd.UnsupportedSchemaError) as caught:
        byte_compiler().compile_json_schema({
            "type": "array", "uniqueItems": True, "prefixItems": [{"enum": [1]}, {}], "items": {"not": {"const": 1}},
            "contains": {"enum": [1, 2]}, "minContains": 2})
    assert caught.value.pointer == "/uniqueItems"
