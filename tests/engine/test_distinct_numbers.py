"""Numbers that must differ, of hundreds of digits and in all spellings: by value, and no step into a dead end."""

from __future__ import annotations

import json
from typing import Any

import pytest

import constrained as cd
from tests.engine.test_distinct import COMPILER, INFO, STOP, accepts

NUMBERS: dict[str, Any] = {"type": "array", "uniqueItems": True, "items": {"type": "number"}}
INTEGERS: dict[str, Any] = {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}
ZEROS = "0" * 70


@pytest.mark.parametrize(("one", "other", "equal"), [
    ("1" + ZEROS, "1e70", True), ("1" + ZEROS, "10e70", False), ("1" + "0" * 63, "1e63", True),
    ("1" + "0" * 64, "0.1e65", True), ("-1" + "0" * 63, "-1e63", True), ("-1" + "0" * 63, "1e63", False),
    ("1" * 80, "1" * 80 + ".0", True), ("1" * 80, "1" * 79 + "2", False), ("1" * 64, "1" * 64 + "." + ZEROS, True),
    (f"0.{ZEROS}1", "1e-71", True), (f"0.{ZEROS}1", f"0.{ZEROS}10", True), (f"0.{ZEROS}1", f"0.{ZEROS}01", False),
    ("1." + ZEROS, "1", True), (f"1.{ZEROS}1", "1", False), (f"0.{ZEROS}", "-0", True), (f"-0.{ZEROS}", "0e5", True),
    ("-0.5", "-0.50", True), ("-0.5", "0.5", False), ("10", "1.0", False), ("10.0", "1e1", True),
])
def test_long_numbers_are_compared_by_value(one: str, other: str, equal: bool) -> None:
    grammar = COMPILER.compile_json_schema(NUMBERS)
    for first, second in ((one, other), (other, one)):
        assert accepts(grammar, f"[{first},{second}]") is not equal
        assert accepts(grammar, f"[7,{first},{second}]") is not equal


@pytest.mark.parametrize("schema", [NUMBERS, INTEGERS], ids=["numbers", "integers"])
@pytest.mark.parametrize("text", [
    "[", "[0,", "[0,-", "[0,5,", "[0, ", "[5,0", "[12,1", "[12,12", "[1,120,12", "[1,1", "[10,1", "[1,10,100,1",
    "[1,2,3,4,5,6,7,8,9,", "[100,10,1,0,", "[-1,-", "[61,6", "[[", '["', "[0,0.", "[1,1.", "[1,10,1e",
])
def test_masks_where_digits_may_follow_for_long(schema: dict[str, Any], text: str) -> None:
    grammar = COMPILER.compile_json_schema(schema)
    state = grammar.advance(grammar.start_state, text.encode())
    if not state:
        return
    steps = [i for i in range(INFO.vocab_size) if i != STOP and grammar.next_state(state, i)]
    assert grammar.allowed_ids(state) == steps + [STOP] * grammar.is_complete(state)
    assert steps
    for token in steps:
        after = grammar.next_state(state, token)
        begun = text.encode() + INFO.token_bytes(token)
        items = json.loads(begun + grammar.shortest_completion(after))
        assert len(set(items)) == len(items), begun


def allowed_bytes(grammar: cd.CompiledGrammar, text: str) -> bytes:
    state = grammar.advance(grammar.start_state, text.encode())
    return bytes(i for i in grammar.allowed_ids(state) if i < 256)


def test_what_is_dead_in_one_array_is_not_in_another() -> None:
    """Zero and minus zero have no other value among integers; that is remembered for as long as zero was seen."""
    grammar = COMPILER.compile_json_schema({"type": "array", "items": INTEGERS})
    for _ in range(2):
        for text in ("[[0,", "[[0,5,", "[[5,0,", "[[1],[0,", "[[0],[5,0,7,"):
            assert b"0"[0] not in allowed_bytes(grammar, text)
            assert b"-"[0] in allowed_bytes(grammar, text)
            assert b"0"[0] not in allowed_bytes(grammar, text + "-")
        for text in ("[[", "[[5,", "[[0],[", "[[0],[5,", "[[0,5],[7,6,"):
            assert b"0"[0] in allowed_bytes(grammar, text)
            assert b"0"[0] in allowed_bytes(grammar, text + "-")
        for text in ("[[3,3", "[[0],[3,3"):
            assert b","[0] not in allowed_bytes(grammar, text)
            assert b"1"[0] in allowed_bytes(grammar, text)
            assert b"."[0] in allowed_bytes(grammar, text)  # 3.0e1 is new


@pytest.mark.parametrize("items", [
    {"type": "integer", "multipleOf": 3}, {"type": "number", "multipleOf": 1.2}, {"type": "number", "multipleOf": 12}])
def test_zeros_without_end_are_not_searched(items: dict[str, Any]) -> None:
    """Digits of multiples are not capped: behind ``12.`` there are zeros without end, and all of them spell 12."""
    grammar = COMPILER.compile_json_schema({"type": "array", "uniqueItems": True, "items": items},
                                           limits=cd.Limits(max_distinct_search=1_000))
    assert b"." not in allowed_bytes(grammar, "[12,12" if items["multipleOf"] != 1.2 else "[12,12.0")
    assert b"0" in allowed_bytes(grammar, "[12,12")
    assert b"." in allowed_bytes(grammar, "[24,12")
    assert b"0" in allowed_bytes(grammar, "[24,12.0")
    assert accepts(grammar, "[24,12.0]") and not accepts(grammar, "[12,12.0]")
