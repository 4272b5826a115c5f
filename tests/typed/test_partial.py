"""Partial objects: certain, monotone, and in the end the value itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.typed.partial import MISSING, Partial, PartialJson

VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
                      | st.text(), lambda inner: st.lists(inner, max_size=4)
                      | st.dictionaries(st.text(max_size=4), inner, max_size=4), max_leaves=12)


def grown(before: Any, after: Any) -> bool:
    """Whether ``after`` says everything that ``before`` says."""
    if before is MISSING:
        return True
    if isinstance(before, dict):
        return isinstance(after, dict) and all(k in after and grown(v, after[k]) for k, v in before.items())
    if isinstance(before, list):
        return isinstance(after, list) and after[: len(before)] == before
    return type(before) is type(after) and before == after


@given(VALUES, st.booleans(), st.integers(1, 5))
def test_snapshots_grow_into_the_value(value: Any, ascii_only: bool, size: int) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1 if size == 1 else None)
    scanner = PartialJson()
    before: Any = MISSING
    for start in range(0, len(text), size):
        held = json.dumps(before) if before is not MISSING else None
        changed = scanner.feed(text[start : start + size])
        after = scanner.snapshot
        assert grown(before, after)
        assert grown(after, value)
        assert changed or after == before or after is before
        if held is not None:
            assert json.dumps(before) == held  # a snapshot is not changed by what comes later
        before = after
    scanner.finish()
    assert scanner.done and scanner.snapshot == json.loads(text)


@pytest.mark.parametrize(("text", "wanted"), [
    ("1", MISSING), ("12 ", 12), ('"a', MISSING), ('"a"', "a"), ('"a\\"', MISSING), ("tru", MISSING), ("true", True),
    ("[1", []), ("[1,", [1]), ("[1.5e3]", [1500.0]), ('{"a', {}), ('{"a": 1', {}), ('{"a": 1}', {"a": 1}),
    ('{"a": {"b": 1, "c"', {"a": {"b": 1}}), ('{"a": [{"b": 1, "c"', {"a": []}), ('[{"b": 1}, {', [{"b": 1}]),
    ('{"a": [[1, 2], [3', {"a": [[1, 2]]}), ("nul", MISSING), ("null", None), ("{", {}), ("", MISSING),
    ('{"a": "x", "b": "y', {"a": "x"}), ("-", MISSING), ('"\\ud83d\\ude00"', "\U0001f600"),
])
def test_what_is_certain(text: str, wanted: Any) -> None:
    scanner = PartialJson()
    scanner.feed(text)
    assert scanner.snapshot == wanted


@given(st.text(alphabet='{}[]",:0-1etrufalsn\\ '))
def test_text_that_is_no_json_never_raises(text: str) -> None:
    scanner = PartialJson()
    scanner.feed(text)
    scanner.finish()
    try:
        value = json.loads(text)
    except ValueError:
        return
    assert scanner.snapshot == value or len(str(value)) != len(text)  # names that occur twice, blanks


def test_deep_nesting_needs_no_recursion() -> None:
    scanner = PartialJson()
    for _ in range(50_000):
        scanner.feed('{"a":')
    scanner.feed("1" + "}" * 50_000)
    assert scanner.done


def test_a_view_of_what_is_there() -> None:
    partial: Partial[Any] = Partial({"name": "Ada", "home": {"city": "London"}, "tags": [1]})
    assert (partial.name, partial.age, partial.home.city, partial.home.street) == ("Ada", None, "London", None)
    assert partial["name"] == "Ada" and "tags" in partial and list(partial) == ["name", "home", "tags"]
    assert partial == {"name": "Ada", "home": {"city": "London"}, "tags": [1]} and len(partial) == 3
    assert repr(Partial("x", True)) == "Partial('x')" and repr(Partial()) == "Partial(MISSING, ...)"
    with pytest.raises(KeyError):
        partial["age"]
    with pytest.raises(AttributeError):
        partial.name = "Bob"  # type: ignore[misc]
