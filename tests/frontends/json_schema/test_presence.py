"""Alternatives that differ only in which members stand: fewer of them, the same objects."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.conformance import accepts, byte_compiler
from constrained.frontends.json_schema.cubes import Cubes
from constrained.frontends.json_schema.expressions import FALSE
from constrained.frontends.json_schema.objects import ObjectShape
from constrained.frontends.json_schema.presence import fewer_shapes

NAMES = "abcdef"


def cube(must: int, cannot: int, n: int = 6) -> int:
    return must | (cannot & ~must) << n


def fewer_cubes(cubes: Iterable[int], n: int) -> list[tuple[int, int]]:
    """The cubes that are left, each with the one it was made from."""
    table = Cubes(n)
    for one in cubes:
        row = table.add()
        for k in range(2 * n):
            if one >> k & 1:
                table.ask(row, k % n, k < n)

    def written(row: int) -> int:
        return sum(1 << k for k in range(2 * n) if table.asks(row, k % n, k < n))

    before = list(cubes)
    return [(written(row), before[table.origin(row)]) for row in table.fewer()]


def holds(cube: int, present: int, n: int = 6) -> bool:
    return not cube & (1 << n) - 1 & ~present and not cube >> n & present


@given(st.lists(st.builds(cube, st.integers(0, 63), st.integers(0, 63)), max_size=12))
def test_the_same_sets_are_held(cubes: list[int]) -> None:
    found = fewer_cubes(dict.fromkeys(cubes), 6)
    for present in range(64):
        assert any(holds(one, present) for one, _ in found) == any(holds(one, present) for one in cubes)
    assert len(found) <= len(set(cubes))
    for one, origin in found:
        assert origin in cubes and not one & ~origin  # conditions are only dropped


def test_a_chain_falls_apart() -> None:
    """ "Lacks 0; has 0, lacks 1; has 0 and 1, lacks 2 ..." is "lacks 0, or lacks 1, ..."."""
    chain = [cube((1 << k) - 1, 1 << k, 8) for k in range(8)]
    assert sorted(one for one, _ in fewer_cubes(chain, 8)) == [cube(0, 1 << k, 8) for k in range(8)]


def test_more_names_than_a_word_has_bits() -> None:
    for n in (31, 32, 63, 64, 65, 130):
        chain = [cube((1 << k) - 1, 1 << k, n) for k in range(n)]
        assert sorted(one for one, _ in fewer_cubes(chain, n)) == [cube(0, 1 << k, n) for k in range(n)]
        names = [f"n{k}" for k in range(n)]
        shapes = tuple(ObjectShape(((names[k], FALSE),), required=frozenset(names[:k])) for k in range(n))
        found = fewer_shapes(shapes, False, False)
        assert {shape.properties for shape in found} == {((name, FALSE),) for name in names}
        assert not any(shape.required for shape in found)


def test_what_others_cover_is_left_out() -> None:
    cubes = [cube(0b01, 0b10, 2), cube(0b10, 0b01, 2), cube(0b11, 0, 2), cube(0, 0b11, 2)]
    assert [one for one, _ in fewer_cubes(cubes, 2)] == [0]
    # of "a, not b", "b, not c" and "c, not a" each is needed, but not what lies between two of them
    ring = [cube(1, 2, 3), cube(2, 4, 3), cube(4, 1, 3)]
    assert {one for one, _ in fewer_cubes([*ring, cube(1, 4, 3)], 3)} == set(ring)


SCHEMAS: list[dict[str, Any]] = [
    {"anyOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"]}],
     "dependencies": {"a": {"not": {"required": ["b"]}}, "c": {"not": {"required": ["d", "e", "f"]}}}},
    {"dependencies": {"a": {"not": {"required": ["b", "c", "d", "e"]}}, "f": ["a"]}},
    {"anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}], "not": {"required": ["d", "e"]}, "maxProperties": 3},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"]}], "minProperties": 2},
    {"not": {"anyOf": [{"required": ["a", "b", "c"]}, {"properties": {"d": {"const": 1}}, "required": ["d", "e"]}]}},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_presence(schema: dict[str, Any], order: str, closed: bool) -> None:
    """All sets of members, judged as ``jsonschema`` does."""
    schema = {"type": "object", "properties": {name: {"enum": [1, 2]} for name in NAMES}, **schema}
    if closed:
        schema["additionalProperties"] = False
    judge = jsonschema.Draft7Validator(schema)
    compiled = byte_compiler().compile_json_schema(schema, draft="draft7", property_order=order)
    rng = random.Random(3)
    seen = set()
    for size in range(len(NAMES) + 1):
        for names in itertools.combinations(NAMES, size):
            value = {name: rng.choice((1, 2)) for name in names}
            assert accepts(compiled, json.dumps(value)) == judge.is_valid(value), value
            seen.add(judge.is_valid(value))
    assert seen == {True, False}
