"""Trimming and minimising of flat tables against their definitions."""

from __future__ import annotations

import random

import pytest

from constrained.kernel.congruence import blocks
from constrained.kernel.dfa_tables import Table

DEAD = -1
Rows = tuple[tuple[int, ...], ...]


def some_table(draw: random.Random) -> tuple[Rows, frozenset[int]]:
    """At random; or a chain, whose states are told apart one after another, numbered from either end."""
    k, states = draw.randint(1, 3), draw.randint(1, 60)
    kind = draw.randrange(4)
    if kind < 2:
        rows = tuple(tuple(draw.randint(DEAD, states - 1) for _ in range(k)) for _ in range(states))
        ends = frozenset(state for state in range(states) if draw.random() < draw.choice((0.05, 0.3)))
    else:
        onward = 1 if kind == 2 else -1
        there = [(state + onward) % states for state in range(states)]
        if draw.random() < 0.5:
            there[states - 1 if kind == 2 else min(1, states - 1)] = DEAD
        rows = tuple(tuple(there[state] if letter == 0 else draw.choice((DEAD, there[state])) for letter in range(k))
                     for state in range(states))
        ends = frozenset((draw.randrange(states),))
    return rows, ends


def reached(rows: Rows) -> list[int]:
    """In the order in which states are met."""
    order = [0]
    for state in order:
        for to in rows[state]:
            if to != DEAD and to not in order:
                order.append(to)
    return order


def can_accept(rows: Rows, ends: frozenset[int]) -> set[int]:
    found = set(ends)
    while True:
        more = {state for state, row in enumerate(rows) if state not in found and found & set(row)}
        if not more:
            return found
        found |= more


def congruence(rows: Rows, ends: frozenset[int]) -> int:
    """How many kinds of states there are, the dead one among them."""
    full = (*rows, (DEAD,) * len(rows[0]))
    block = [state in ends for state in range(len(full))]
    count = len(set(block))
    while True:
        told = [(block[state], *[block[to] for to in row]) for state, row in enumerate(full)]
        if len(set(told)) == count:
            return count
        numbers = {one: number for number, one in enumerate(dict.fromkeys(told))}
        block = [numbers[one] for one in told]
        count = len(numbers)


@pytest.mark.parametrize("seed", range(200))
def test_trimming(seed: int) -> None:
    rows, ends = some_table(random.Random(seed))
    met, right = reached(rows), can_accept(rows, ends)
    kept = [state for state in met if state == 0 or state in right]
    place = {state: number for number, state in enumerate(kept)}
    table = Table(rows, len(rows[0]))
    changed, accepting = table.trim(ends)
    assert changed == (kept != list(range(len(rows))))
    assert accepting == {place[state] for state in ends if state in place}
    wanted = tuple(tuple(place.get(to, DEAD) for to in rows[state]) for state in kept)
    assert table.rows() == wanted
    if met == list(range(len(rows))):
        same = Table(rows, len(rows[0]))
        assert same.trim(ends, True) == (changed, accepting)
        assert same.rows() == wanted


@pytest.mark.parametrize("seed", range(200))
def test_the_coarsest_congruence(seed: int) -> None:
    rows, ends = some_table(random.Random(seed))
    table = Table(rows, len(rows[0]))
    _, ends = table.trim(ends)
    if ends:  # all can accept, and the dead one is a kind of its own
        assert blocks(table, ends) == congruence(table.rows(), ends) - 1


@pytest.mark.parametrize(("length", "states"), [(3, 8), (40, 82), (400, 802)])
def test_chains_that_differ_at_their_ends(length: int, states: int) -> None:
    # 0 leads to two chains; the last of one leads back to itself
    rows = [(1, length + 1), *[(state, state) for chain in (1, length + 1)
                               for state in range(chain + 1, chain + length)]]
    rows.insert(length, (DEAD, length))
    rows.append((DEAD, DEAD))
    ends = frozenset((length, 2 * length))
    for seed in range(5):
        place = list(range(len(rows)))
        random.Random(seed).shuffle(place)
        moved: list[tuple[int, ...]] = [()] * len(rows)
        for state, row in enumerate(rows):
            moved[place[state]] = tuple(to if to == DEAD else place[to] for to in row)
        table = Table(tuple(moved), 2)
        count = blocks(table, frozenset(place[state] for state in ends))
        assert count == states - 1 == congruence(tuple(moved), frozenset(place[state] for state in ends)) - 1


@pytest.mark.parametrize("seed", range(100))
def test_merging_leaves_one_state_of_each_kind(seed: int) -> None:
    rows, ends = some_table(random.Random(seed))
    table = Table(rows, len(rows[0]))
    _, ends = table.trim(ends)
    if not ends:
        return
    kinds = congruence(table.rows(), ends) - 1
    assert blocks(table, ends) == kinds
    table.merge()
    _, ends = table.trim(ends)
    assert table.states() == kinds
    assert congruence(table.rows(), ends) == kinds + 1
