"""Products of several automata at once against what their parts say of each text."""

from __future__ import annotations

import itertools
import random

import pytest

from constrained.kernel.dfa_tables import Table, TooManyStates
from constrained.kernel.joint_products import JointProduct

DEAD = -1


def some_table(draw: random.Random, k: int) -> tuple[tuple[tuple[int, ...], ...], frozenset[int]]:
    states = draw.randint(1, 5)
    rows = tuple(tuple(draw.randint(DEAD, states - 1) for _ in range(k)) for _ in range(states))
    return rows, frozenset(state for state in range(states) if draw.random() < 0.5)


def accepts(rows: tuple[tuple[int, ...], ...], ends: frozenset[int], word: tuple[int, ...]) -> bool:
    state = 0
    for letter in word:
        state = rows[state][letter]
        if state == DEAD:
            return False
    return state in ends


@pytest.mark.parametrize("seed", range(60))
def test_a_product_says_what_its_parts_say(seed: int) -> None:
    draw = random.Random(seed)
    count, k, either = draw.randint(1, 4), draw.randint(1, 3), draw.random() < 0.4
    letters = [draw.randint(1, 3) for _ in range(count)]
    parts = [some_table(draw, width) for width in letters]
    refused = [draw.random() < 0.4 for _ in range(count)]
    homes = [[draw.randrange(width) for _ in range(k)] for width in letters]
    joint = JointProduct([Table(rows, width) for (rows, _), width in zip(parts, letters, strict=True)],
                         [ends for _, ends in parts], refused, either)
    table, ends = joint.run(homes, 10_000)
    rows = table.rows()
    for length in range(6):
        for word in itertools.product(range(k), repeat=length):
            told = [accepts(*part, tuple(home[letter] for letter in word)) != out
                    for part, home, out in zip(parts, homes, refused, strict=True)]
            assert accepts(rows, ends, word) == (any(told) if either else all(told)), word


def test_a_product_too_large_is_refused() -> None:
    rings = [Table(tuple(((state + 1) % size,) for state in range(size)), 1) for size in (7, 11, 13)]
    ends = [frozenset((0,))] * 3
    table, accepting = JointProduct(rings, ends, [False] * 3, False).run([[0]] * 3, 1001)
    assert (table.states(), accepting) == (1001, frozenset((0,)))
    with pytest.raises(TooManyStates):
        JointProduct(rings, ends, [False] * 3, False).run([[0]] * 3, 1000)


@pytest.mark.parametrize("seed", range(40))
def test_folding_leaves_the_language(seed: int) -> None:
    draw = random.Random(seed)
    k, states = draw.randint(1, 3), draw.randint(1, 40)
    rows = tuple(tuple(draw.randint(DEAD, states - 1) for _ in range(k)) for _ in range(states))
    if seed % 2:  # a tree of words, which folds up from its leaves
        rows = tuple(tuple(to if (to := state * k + letter + 1) < states else DEAD for letter in range(k))
                     for state in range(states))
    ends = frozenset(state for state in range(states) if draw.random() < 0.3)
    table = Table(rows, k)
    changed, kept = table.fold(ends)
    folded = table.rows()
    assert changed == (len(folded) < states) and max(kept, default=0) < len(folded)
    for length in range(7 if k < 3 else 6):
        for word in itertools.product(range(k), repeat=length):
            assert accepts(folded, kept, word) == accepts(rows, ends, word)
