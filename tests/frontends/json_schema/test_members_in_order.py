"""Members in the order of their declaration: every choice of optional ones, and each member written down once."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from constrained.engine.lowering import lower
from constrained.frontends.json_schema.compile import from_json_schema
from constrained.limits import Limits
from tests import oracles

NAMES = "abc"


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


@pytest.mark.parametrize("rest", [False, True])
def test_positions_grow_with_the_members(rest: bool) -> None:
    def positions(count: int) -> int:
        properties = {f"name_{i:04}": {"type": ["string", "integer"][i % 2]} for i in range(count)}
        schema = {"type": "object", "properties": properties, "additionalProperties": rest}
        return lower(from_json_schema(schema), Limits()).n_positions

    few, more, many = positions(100), positions(200), positions(400)
    assert many - more < 2.1 * (more - few)
    assert (many - more) / 200 < 40  # a name of nine characters, what is around it, and two trees of names at most
