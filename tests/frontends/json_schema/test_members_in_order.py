"""Members in the order of their declaration: every choice of optional ones, and each member written down once."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

import constrained as cd
from constrained.engine.lowering import lower
from constrained.frontends.json_schema.compile import from_json_schema
from constrained.limits import Limits
from constrained.testing.walks import byte_vocabulary, random_text
from tests import oracles
from tests.engine.worlds import COMPILED, sized

NAMES = "abc"
INFO = byte_vocabulary()


def texts() -> list[tuple[list[str], str]]:
    """Up to four members out of the declared ones and an undeclared one, in every order."""
    return [(list(names), "{" + ", ".join(f'"{name}": 1' for name in names) + "}")
            for count in range(5) for names in itertools.permutations((*NAMES, "z"), count)]


def expected(names: list[str], required: set[str], rest: Any) -> bool:
    declared = [name for name in names if name != "z"]
    if declared != sorted(declared) or not required <= set(declared):
        return False
    return "z" not in names or (rest is not False and names[-1] == "z")


@pytest.mark.parametrize("rest", [False, True, {"type": "integer"}])
@pytest.mark.parametrize("needed", range(8))
def test_any_choice_in_order(needed: int, rest: Any) -> None:
    required = {name for i, name in enumerate(NAMES) if needed >> i & 1}
    rules = from_json_schema({
        "type": "object", "properties": {name: {"type": "integer"} for name in NAMES}, "required": sorted(required),
        "additionalProperties": rest})
    for names, text in texts():
        assert oracles.accepts(rules, text.encode()) is expected(names, required, rest), text


@pytest.mark.parametrize("indent", [None, 2])
def test_no_members_at_all(indent: int | None) -> None:
    layout: dict[str, Any] = {"any_whitespace": False, "indent": indent}
    closed = from_json_schema({"type": "object", "properties": {"a": False}, "additionalProperties": False}, **layout)
    open_ = from_json_schema({"type": "object", "properties": {"a": False}, "additionalProperties": {"type": "null"}},
                             **layout)
    text = b'{"z": null, "y": null}' if indent is None else b'{\n  "z": null,\n  "y": null\n}'
    assert [oracles.accepts(rules, b"{}") for rules in (closed, open_)] == [True, True]
    assert [oracles.accepts(rules, text) for rules in (closed, open_)] == [False, True]


@pytest.mark.parametrize("first", [40, 150])
@pytest.mark.parametrize("rest", [False, True])
def test_positions_grow_with_the_members(rest: bool, first: int) -> None:
    def positions(count: int) -> int:
        properties = {f"name_{i:04}": {"type": ["string", "integer"][i % 2]} for i in range(count)}
        schema = {"type": "object", "properties": properties, "additionalProperties": rest}
        return lower(from_json_schema(schema), Limits()).n_positions

    few, more, many = positions(first), positions(2 * first), positions(3 * first)
    assert many - more < 1.1 * (more - few)
    assert (many - more) / first < 40  # a name of nine characters, what is around it, and two trees of names at most


@pytest.mark.parametrize("seed", range(4))
def test_many_members_and_counts(seed: int) -> None:
    """Runs of optional members so long that they are a group, and counts too large for states: against jsonschema."""
    rng = random.Random(seed)
    names = [f"m{i}" for i in range(rng.choice([150, 300]))]
    required = sorted(rng.sample(names, rng.choice([0, 1, 3])), key=names.index)
    schema: dict[str, Any] = {
        "type": "object", "properties": {name: {"enum": [i, f"{i}"]} for i, name in enumerate(names)},
        "required": required, "additionalProperties": rng.choice([False, {"type": "null"}])}
    if seed % 2:
        # undeclared names may be written twice, so more than one of them must not be needed
        schema["minProperties"] = rng.choice([len(required), len(required) + 1] if seed == 3 else [2, 140])
        schema["maxProperties"] = rng.choice([145, 100_000])
        if schema["minProperties"] == 140:
            schema["additionalProperties"] = False
    valid = jsonschema.Draft202012Validator(schema).is_valid
    compiled = cd.GrammarCompiler(INFO).compile_json_schema(schema)
    seen = set()
    for trial in range(sized(150, 16)):
        many = schema.get("minProperties", 0) if trial % 2 else rng.choice([0, 1, 2, 5, 20])
        kept = set(rng.sample(names, min(len(names), many + rng.choice([0, 0, 1])))) | set(required)
        if rng.random() < 0.2 and required:
            kept.discard(rng.choice(required))
        order = [name for name in names if name in kept]
        value: dict[str, Any] = {name: rng.choice([names.index(name), name[1:]]) for name in order}
        for _ in range(rng.choice([0, 0, 1])):
            value["zz"] = rng.choice([None, None, 1])
        items = list(value.items())
        swapped = len(order) > 1 and rng.random() < 0.25
        if swapped:
            i = rng.randrange(len(order) - 1)
            items[i], items[i + 1] = items[i + 1], items[i]
        elif rng.random() < 0.1 and items:
            items[-1] = (items[-1][0], "wrong")
        text = json.dumps(dict(items))
        good = valid(json.loads(text)) and not swapped
        state = compiled.advance(compiled.start_state, text.encode())
        assert bool(state and compiled.is_complete(state)) is good, text
        seen.add(good)
    assert True in seen and (False in seen or not COMPILED)
    for _ in range(sized(4, 1)):
        text = random_text(compiled, rng, longest=300).decode()
        value = json.loads(text)
        assert valid(value), text
        declared = [names.index(name) for name in value if name in schema["properties"]]
        assert declared == sorted(declared)


def test_more_counted_members_than_states() -> None:
    """Each count is a number in a register, and what is near its bound is told."""
    schema = {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 5_000,
              "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "required": ["b"]}
    compiled = cd.GrammarCompiler(INFO).compile_json_schema(schema)
    for count, good in ((4_997, True), (4_998, True), (4_999, False)):
        text = json.dumps({"a": None, "b": None, **{f"n{i}": i for i in range(count)}})
        state = compiled.advance(compiled.start_state, text.encode())
        assert bool(state and compiled.is_complete(state)) is good, count
