"""First visits of places that look alike below different stacks: keys beside declared ones, other sets of written keys.

The masks are held against stepping every token alone; that the second visit is cheap is held by counting what the
automaton has built, since rows appear only where a mask or a step had to be worked out byte by byte.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import constrained as cd
from tests.engine.real_vocabularies import REAL, real_vocabulary
from tests.engine.worlds import stepped_mask

KEYS = {
    "some keys": {"properties": {"name": {"type": "string"}, "names": {"type": "integer"}, "id": {}}},
    "keys of several bytes": {"properties": {"größe": {"type": "number"}, "日本": {}, "a\"b": {}, "": {}}},
    "patterns": {"properties": {"ab": {"type": "null"}}, "patternProperties": {"^[a-z]+$": {"type": "boolean"}}},
    "any text": {"patternProperties": {".*": {"type": "string"}}},
    "a word somewhere": {"patternProperties": {"\\w": {"type": "string"}}},
    "required keys": {"properties": {"a": {}, "b": {}, "cc": {}}, "required": ["b", "cc"], "minProperties": 3},
}
PREFIXES = ['{"', '{"n', '{"name', '{"name": "x", "', '{"id": [1], "names": 2, "', '{"a', '{"a", ', '{"größ', '{"ab',
            '{"ab": null, "', '{"a": {}, "b": 1, "', '{"日', '{"b": 1, "cc": 2, ', '{"x y', '{"']


@pytest.mark.parametrize("vocabulary", REAL)
@pytest.mark.parametrize("name", KEYS)
def test_keys_beside_declared_ones(vocabulary: str, name: str) -> None:
    info = real_vocabulary(vocabulary)
    compiled = cd.GrammarCompiler(info).compile_json_schema({"type": "object", **KEYS[name]}, property_order="any")
    rng = random.Random(name + vocabulary)
    reached = 0
    for prefix in PREFIXES:
        state = compiled.advance(compiled.start_state, prefix.encode())
        if state:
            assert compiled.allowed_ids(state) == stepped_mask(compiled, state), prefix
            reached += 1
            # and a few tokens on, through states that only tokens reach
            for _ in range(2):
                ids = [i for i in compiled.allowed_ids(state) if i not in info.stop_token_ids]
                after = compiled.next_state(state, rng.choice(ids)) if ids else 0
                state = after or state
            assert compiled.allowed_ids(state) == stepped_mask(compiled, state), prefix
    assert reached > 4


def written(keys: list[str]) -> bytes:
    return json.dumps(dict.fromkeys(keys, 1), ensure_ascii=False)[:-1].encode() + b', "'


@pytest.mark.parametrize("vocabulary", REAL)
def test_another_set_of_written_keys_needs_no_new_rows(vocabulary: str) -> None:
    """What can follow in a key does not depend on which others are written, but for those themselves."""
    info = real_vocabulary(vocabulary)
    keys = [f"{word}{i}" for i in range(4) for word in ("alpha", "beta", "gamma")]
    schema: dict[str, Any] = {"type": "object", "properties": {key: {"type": "integer"} for key in keys},
                              "additionalProperties": False}
    compiled = cd.GrammarCompiler(info).compile_json_schema(schema, property_order="any")
    first = compiled.advance(compiled.start_state, written(keys[:1]))
    ids = compiled.allowed_ids(first)
    other = compiled.advance(compiled.start_state, written(keys[::3]))
    again = compiled.advance(compiled.start_state, written(keys[::3][::-1]))
    assert again == other, "the order in which keys were written is felt"
    rows = compiled.automaton.counts()[2]
    found = compiled.allowed_ids(other)
    assert compiled.automaton.counts()[2] == rows
    assert found != ids
    assert found == stepped_mask(compiled, other)
    assert ids == stepped_mask(compiled, first)
