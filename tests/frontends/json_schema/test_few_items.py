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
from constrained.frontends.json_schema.cardinality import at_least
from constrained.frontends.json_schema.compile import normalise_schema
from constrained.frontends.json_schema.dialects import DIALECTS
from constrained.frontends.json_schema.finite_values import exact_count, finite_values
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.reading import canonical

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


@pytest.mark.parametrize(("begun", "end"), [
    ('[2,"b', '",1,"a"]'), ('[2,"ab', '",1,"a"]'), ('["b",1,"!', '","a"]'), ('[[],1', ',"a"]'),
    ('[{"b', '":0},1,"a"]')])
def test_an_end_that_has_to_choose_its_items_is_found_soon(begun: str, end: str) -> None:
    """Other items are nearer to the end of an item, and none of them to that of the array."""
    grammar = byte_compiler().compile_json_schema({
        "type": "array", "uniqueItems": True, "contains": {"enum": [1, "a"]}, "minContains": 2},
        limits=cd.Limits(max_distinct_search=2_000))
    assert grammar.shortest_completion(grammar.advance(grammar.start_state, begun.encode())) == end.encode()


def test_a_value_that_only_some_places_may_have_is_still_refused() -> None:
    """After ``[1`` it would have to be known that what is left of {1, 2} is not allowed behind."""
    with pytest.raises(cd.UnsupportedSchemaError) as caught:
        byte_compiler().compile_json_schema({
            "type": "array", "uniqueItems": True, "prefixItems": [{"enum": [1]}, {}], "items": {"not": {"const": 1}},
            "contains": {"enum": [1, 2]}, "minContains": 2})
    assert caught.value.pointer == "/uniqueItems"


def normalised(schema: dict[str, Any]) -> tuple[Normaliser, int]:
    normaliser = normalise_schema(schema, DIALECTS["2020-12"], cd.Limits(), "error", True, None)
    return normaliser, normaliser.at(normaliser.document.root_place())


@pytest.mark.parametrize(("items", "there_are"), [
    ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}, 5),
    ({"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2, "minItems": 1}, 6),
    ({"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 2, "maxItems": 2, "uniqueItems": True}, 6),
    ({"type": "object", "additionalProperties": False, "required": ["b"], "properties": {
        "a": {"type": "array", "items": {"enum": ["x", "y"]}, "uniqueItems": True}, "b": {"type": "boolean"}}}, 12),
    ({"type": "array", "items": {"type": "array", "items": {"const": 1}, "maxItems": 2}, "maxItems": 1}, 4),
    ({"type": ["null", "array"], "items": False}, 2),
])
def test_values_that_hold_arrays_are_counted(items: dict[str, Any], there_are: int) -> None:
    normaliser, root = normalised(items)
    values = finite_values(normaliser, root, 1000, strict=False)
    if values is not None:
        assert len(values) == there_are
    assert exact_count(normaliser, root, 10**6, strict=False) == there_are
    assert at_least(normaliser, root, 10**6, strict=False, digits=400) == there_are
    for most in (there_are, there_are - 1):
        assert exact_count(normaliser, root, most, strict=False) is None
        assert at_least(normaliser, root, most, strict=False, digits=400) == most


def closed(properties: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties, **others}


@pytest.mark.parametrize(("schema", "there_are"), [
    (closed({"a": {"enum": [1, 2]}, "b": {"enum": [1, 2, 3]}}, required=["a"]), 8),
    (closed({"a": {"enum": [1, 2]}, "b": {"enum": [1, 2, 3]}}, minProperties=1), 11),
    (closed({"a": {"enum": [1, 2]}, "b": {"enum": [1, 2, 3]}}, maxProperties=1), 6),
    (closed({"a": {"enum": [1, 2]}, "b": False, "c": {"type": "boolean"}}), 9),
    (closed({"a": closed({"b": {"enum": [1, 2]}, "c": {"type": "boolean"}}, required=["c"]), "d": {"const": 0}},
            required=["a"]), 12),
    ({"anyOf": [closed({"a": {"enum": [1, 2]}}), closed({"a": {"enum": [2, 3]}, "b": {"const": 1}})]}, 7),
    ({"type": "array", "prefixItems": [{"enum": [1, 2]}, {"enum": [2, 3, 4]}], "items": False}, 9),
    ({"type": "array", "prefixItems": [{"enum": [1, 2]}, {"enum": [2, 3, 4]}], "items": False, "minItems": 2,
      "uniqueItems": True}, 5),
    ({"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True, "maxItems": 4, "minItems": 1}, 15),
], ids=str)
def test_few_values_are_found_where_they_are_at_most_as_many(schema: dict[str, Any], there_are: int) -> None:
    normaliser, root = normalised(schema)
    for most in range(there_are + 3):
        values = finite_values(normaliser, root, most, strict=False)
        assert (values is None) == (most < there_are)
        if values is not None:
            oracle = jsonschema.Draft202012Validator(schema)
            assert len({canonical(value) for value in values}) == there_are and all(map(oracle.is_valid, values))


@pytest.mark.parametrize("schema", [
    closed({"from": closed({"hour": {"type": "integer", "minimum": 0, "maximum": 23},
                            "minute": {"type": "integer", "minimum": 0, "maximum": 59}}),
            "to": {"enum": [*range(300)]}}),
    {"type": "array", "items": {"enum": [*range(60)]}, "maxItems": 9, "uniqueItems": True},
])
def test_where_many_values_are_products_none_is_made(schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def counted(value: Any) -> str:
        made.append(value)
        return canonical(value)

    monkeypatch.setattr("constrained.frontends.json_schema.finite_values.canonical", counted)
    normaliser, root = normalised(schema)
    assert finite_values(normaliser, root, 2000, strict=False) is None
    assert not any(isinstance(value, (dict, list)) for value in made)


def test_different_items_of_thousands_that_hold_arrays() -> None:
    kinds = [f"kind {i}" for i in range(6)]
    schema = {"type": "array", "uniqueItems": True, "items": {
        "type": "object", "additionalProperties": False, "properties": {
            "of": {"type": "array", "items": {"enum": kinds}, "uniqueItems": True}, "by": {"enum": ["rate", "error"]}}}}
    grammar = byte_compiler().compile_json_schema(schema, property_order="any")
    oracle = jsonschema.Draft202012Validator(schema)
    for value in ([{}, {"of": []}, {"of": kinds[:2]}, {"of": kinds[1::-1]}], [{"of": kinds}, {"of": kinds}], [{}, {}],
                  [{"of": kinds[:1] * 2}], [{"by": "rate"}, {"by": "error"}, {"by": "rate", "of": []}]):
        assert accepts(grammar, json.dumps(value)) == oracle.is_valid(value)
    for seed in range(4):
        assert oracle.is_valid(json.loads(walk(grammar, random.Random(seed), 60)))
