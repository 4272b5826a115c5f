"""The trie of values and its sets against Python's, and what the reader takes back is gone."""

from __future__ import annotations

import json
import random

import pytest

from constrained.kernel.int_rows import IntRows
from constrained.kernel.value_reader import ValueReader
from constrained.kernel.value_trie import ValueTrie

VALUES = 1
END = 256


def test_rows_are_interned_and_taken_back() -> None:
    rows = IntRows(3)
    rng = random.Random(1)
    made = [(rng.randrange(50), rng.randrange(50), rng.randrange(2)) for _ in range(2000)]
    numbers: dict[tuple[int, ...], int] = {}
    for row in made:
        assert rows.number(*row) == numbers.setdefault(row, len(numbers) + 1)
    assert all(rows.values(number) == row for row, number in numbers.items())
    kept = len(numbers) // 3
    rows.forget(kept + 1)
    assert rows.count() == kept + 1
    for row, number in list(numbers.items())[:kept]:
        assert rows.number(*row) == number
    again = {row: rows.number(*row) for row in reversed(list(numbers)[kept:])}
    assert sorted(again.values()) == list(range(kept + 1, len(numbers) + 1))
    with pytest.raises(ValueError, match="3 ints"):
        rows.number(1, 2)
    with pytest.raises(IndexError):
        rows.values(rows.count())


def test_sets_hold_paths_and_equal_ones_are_one() -> None:
    rng = random.Random(2)
    trie = ValueTrie()
    words = sorted({"".join(rng.choice("abc") for _ in range(rng.randrange(6))) for _ in range(400)})
    ends = [trie.node(VALUES, [0x22, *map(ord, word), END]) for word in words]
    chosen = rng.sample(range(len(words)), len(words) // 2)
    one = two = 0
    for i in chosen:
        one = trie.united(one, ends[i])
    for i in reversed(chosen):
        two = trie.united(two, ends[i])
    assert one == two
    assert [i for i, end in enumerate(ends) if trie.holds(one, end)] == sorted(chosen)
    begun = {words[i][:k] for i in chosen for k in range(len(words[i]) + 1)}
    for word in words:
        for k in range(len(word) + 1):
            assert trie.holds(one, trie.node(VALUES, [0x22, *map(ord, word[:k])])) is (word[:k] in begun)
    assert not trie.holds(0, ends[0])


def test_what_is_taken_back_leaves_no_trace() -> None:
    trie = ValueTrie()
    rng = random.Random(3)
    held = 0
    for _ in range(50):
        before = trie.counts()
        known = sorted(trie.children(VALUES))
        tried = held
        for _ in range(20):
            tried = trie.united(tried, trie.node(VALUES, [rng.randrange(256) for _ in range(5)] + [END]))
        trie.take_back(*before)
        assert trie.counts() == before
        assert sorted(trie.children(VALUES)) == known
        held = trie.united(held, trie.node(VALUES, [rng.randrange(256) for _ in range(5)] + [END]))
    assert held


def test_a_reader_compares_by_value_and_can_be_taken_back() -> None:
    rng = random.Random(4)
    values = [0, 1, 12, "a", "ab", "\u00e9", "\U0001f600", True, None, [], [1], [[1], "a"], {}, {"a": 1},
              {"a": 1, "b": [2]}, {"b": {"a": 12}}, 1.5, 150]
    reader = ValueReader()
    state = reader.feed(reader.start, b"[")
    seen: list[object] = []
    for value in rng.sample(values, len(values)):
        marked = reader.mark()
        for other in values:
            after = reader.feed(state, spelled(rng, other) + b"]")
            assert after == (-1 if any(same(other, one) for one in seen) else 0), other
            reader.undo(marked)
        state = reader.feed(state, spelled(rng, value) + b" , ")
        assert state > 0
        seen.append(value)


def same(one: object, other: object) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def spelled(rng: random.Random, value: object) -> bytes:
    """One of many texts."""
    if isinstance(value, dict):
        members = list(value.items())
        rng.shuffle(members)
        return b"{" + b",".join(spelled(rng, name) + b" :" + spelled(rng, one) for name, one in members) + b"}"
    if isinstance(value, list):
        return b"[" + b" ,".join(spelled(rng, one) for one in value) + b"]"
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    if isinstance(value, int) and not isinstance(value, bool):
        text = rng.choice([text, text + ".0", text + "e0", text + "0e-1"] if value else ["0", "-0", "0.0", "0e7"])
    if value == 1.5:
        text = rng.choice(["1.5", "1.50", "15e-1", "0.15E1"])
    return text.replace("a", "\\u0061").encode() if isinstance(value, str) and rng.random() < 0.5 else text.encode()
