"""Automata over classes written over bytes: after the bytes of a character, the state that its class leads to."""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import Any

import pytest

from constrained.kernel import is_compiled
from constrained.kernel.byte_trie import SPELLINGS, UTF8, ByteTrie
from constrained.kernel.dfa_tables import Table, TooManyStates
from constrained.kernel.spelling import Spelling
from constrained.regex.charset import Ranges, contains
from constrained.regex.partition import partition_of
from constrained.regex.unicode import unicode_property
from constrained.regex.utf8 import utf8_spelling

SETS: list[Ranges] = [((0x30, 0x39),), ((0x20, 0x7E),), ((0xE9, 0xE9),), ((0x800, 0xD7FF), (0xE000, 0x10FFFF)),
                      ((0x22, 0x22), (0x5C, 0x5C), (0x0A, 0x0A)), ((0x1F600, 0x1F64F),), ((0x10000, 0x10FFFF),)]
LETTERS = unicode_property("Lu")
assert LETTERS is not None


def rows_of(rng: random.Random, classes: int, states: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(rng.choice([-1, *range(states)]) for _ in range(classes)) for _ in range(states))


def after(rows: tuple[tuple[tuple[int, int, int], ...], ...], state: int, data: bytes) -> int:
    for byte in data:
        state = next((to for low, high, to in rows[state] if low <= byte <= high), -1)
        if state < 0:
            return -1
    return state


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("escapes", ["", "any", "canonical"])
def test_characters_lead_where_their_class_does(seed: int, escapes: str) -> None:
    rng = random.Random(seed)
    sets = rng.sample(SETS, rng.randint(1, 4))
    if seed % 8 == 0:
        sets.append(LETTERS)
    classes = partition_of(sets).classes
    states = rng.randint(1, 9)
    table = rows_of(rng, len(classes), states)
    trie = ByteTrie(classes, SPELLINGS[escapes] if escapes else UTF8)
    block = Spelling(trie).block(Table(table, len(classes)), frozenset((0,)), 1 << 20)
    rows = block.rows()
    assert block.states() == len(rows)
    for row in rows:
        assert all(0 <= low <= high <= 255 and 0 <= to < len(rows) for low, high, to in row)
        assert all(a[1] < b[0] and (a[1] + 1 < b[0] or a[2] != b[2]) for a, b in itertools.pairwise(row))
    tails = rows[states:]
    assert all(tails) and len(set(tails)) == len(tails), "one state for what goes on alike, and none for nothing"
    codes = [rng.choice([rng.randrange(0x80), rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)])
             for _ in range(60)] + [first for ranges in classes for first, _ in ranges[:20]]
    for code in codes:
        (home,) = [index for index, ranges in enumerate(classes) if contains(ranges, code)]
        state = rng.randrange(states)
        char = chr(code)
        texts = [char.encode()]
        if escapes:
            texts = [json.dumps(char, ensure_ascii=flag)[1:-1].encode() for flag in (False, True)]
            if escapes == "any":
                texts.append(re.sub(r"(?<=u)....", lambda found: found[0].upper(), json.dumps(char)[1:-1]).encode())
        for text in texts:
            assert after(rows, state, text) == table[state][home], (code, text)


def test_more_states_than_allowed() -> None:
    classes = partition_of([LETTERS]).classes
    spelling = utf8_spelling(classes)
    table = Table(((0, 1), (1, -1)), 2)
    states = spelling.block(table, frozenset((1,)), 1 << 20).states()
    assert states > 100
    assert spelling.block(table, frozenset((1,)), states).states() == states
    with pytest.raises(TooManyStates):
        spelling.block(table, frozenset((1,)), states - 1)
    assert spelling.block(table, frozenset((1,)), states).states() == states, "it can be used again"


@pytest.mark.skipif(is_compiled(), reason="the distances are the kernels' own")
@pytest.mark.parametrize("seed", range(20))
def test_distances_are_those_of_any_block(seed: int) -> None:
    rng = random.Random(seed)
    classes = partition_of(rng.sample(SETS, rng.randint(1, 4))).classes
    table = Table(rows_of(rng, len(classes), states := rng.randint(1, 9)), len(classes))
    final = frozenset((rng.randrange(states),))
    block: Any = Spelling(ByteTrie(classes, SPELLINGS["any"])).block(table, final, 1 << 20)
    found = block.away[: block.n], block.ends
    block.measure()
    assert found == (block.away[: block.n], block.ends)
