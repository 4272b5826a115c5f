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
    "a key that begins another": {"properties": {"name": {"type": "string"}, "namespace": {}, "a": {}}},
    "not that first letter": {"patternProperties": {"^[^na]": {"type": "integer"}}, "additionalProperties": False},
    "no word first": {"patternProperties": {"^[^a-zA-Z_]": {"type": "null"}}, "properties": {"name": {}}},
    "a letter somewhere, bounded": {"patternProperties": {"[a-z]{1,2}": {}}, "propertyNames": {"maxLength": 9}},
    "required keys": {"properties": {"a": {}, "b": {}, "cc": {}}, "required": ["b", "cc"], "minProperties": 3},
}
VALUES = {
    "numbers": {"type": "number"},
    "integers of few digits": {"type": "integer", "minimum": -99, "maximum": 12345},
    "digits in a string": {"type": "string", "pattern": "^[0-9]{2,7}(-[0-9a-f]{4})*$"},
    "an unanchored word": {"type": "string", "pattern": "[a-z][a-z0-9]*"},
    "a dot": {"type": "string", "pattern": "a.\\s[A-Z]"},
    "one of": {"enum": ["a", "ab", "b: c", "\\", "x\ty", "größe", 1.5, [1, {"a": 2}]]},
    "not one of": {"type": "string", "not": {"enum": ["a", "ab", "no"]}},
    "words beside a length": {"type": "string", "pattern": "^(?:\\S+\\s+){0,49}\\S+$", "maxLength": 500},
    "words near a length": {"type": "string", "pattern": "^(?:\\S+\\s+){0,9}\\S+$", "minLength": 3, "maxLength": 7},
    "letters beside a length": {"type": "string", "pattern": "^[a-z]+(-[a-m0-9]+)*[A-Z]?$", "minLength": 20,
                                "maxLength": 600},
}
STARTS = ["", " ", "\n  \t", "1", "12", "-", "1.", "0", '"', '"a', '"ab', '"1', '"12-', '"12-a', '"x', '"a\u2028',
          '"no', " " * 60, " " * 64, "[1", "[1, {", '"\\\\', '"gr']
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


@pytest.mark.parametrize("name", VALUES)
def test_values_from_their_beginning(name: str) -> None:
    """Literals, whitespace and digits are read by tables of their own; each mask is the one that stepping gives."""
    info = real_vocabulary(REAL[0])
    schema = {"type": "array", "items": VALUES[name]}
    compiled = cd.GrammarCompiler(info).compile_json_schema(schema, property_order="any")
    reached = 0
    for start in STARTS:
        state = compiled.advance(compiled.start_state, f"[{start}".encode())
        if state:
            assert compiled.allowed_ids(state) == stepped_mask(compiled, state), start
            reached += 1
    assert reached > 4


@pytest.mark.parametrize("vocabulary", REAL)
def test_what_follows_a_key_is_found_once_for_all_keys(vocabulary: str) -> None:
    """The colon, the whitespace and the value behind another key of the same type need no rows of their own."""
    info = real_vocabulary(vocabulary)
    keys = [f"{word}{i}" for i in range(3) for word in ("alpha", "beta", "gamma")]
    schema: dict[str, Any] = {"type": "object", "properties": {key: {"type": "string"} for key in keys},
                              "additionalProperties": False}
    compiled = cd.GrammarCompiler(info).compile_json_schema(schema, property_order="any")
    new = []
    for key in keys:
        state = compiled.advance(compiled.start_state, ('{"' + key).encode())
        rows = compiled.automaton.counts()[2]
        ids = compiled.allowed_ids(state)
        new.append(compiled.automaton.counts()[2] - rows)
        assert ids == stepped_mask(compiled, state)
        assert len(ids) > 3
    assert max(new[1:]) <= 2, new


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
