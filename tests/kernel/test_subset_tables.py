"""The subset construction against a simulation of the program, all places at once."""

from __future__ import annotations

import itertools
import random

import pytest

from constrained.kernel.dfa_tables import TooManyStates
from constrained.kernel.plain_programs import PlainProgram
from constrained.kernel.subset_tables import Subsets, TooMuchWork
from constrained.regex.dfa import live_part

CLASSES = 3
#: (set, next place), or (-1, choices).
Op = tuple[int, int | list[int]]


def some_program(rng: random.Random) -> tuple[list[Op], list[int]]:
    places = rng.randint(2, 9)
    masks = rng.sample(range(1, 1 << CLASSES), rng.randint(1, 4))
    ops: list[Op] = [(-1, [])]
    for _ in range(places):
        if rng.random() < 0.4:
            ops.append((-1, rng.sample(range(places + 1), rng.randint(0, 3))))
        else:
            ops.append((rng.randrange(len(masks)), rng.randint(0, places)))
    return ops, masks


def subsets(ops: list[Op], masks: list[int]) -> Subsets:
    program = PlainProgram(len(ops))
    chars = [((mask, mask),) for mask in masks]
    numbers = {ranges: index for index, ranges in enumerate(chars)}
    for read, to in ops[1:]:
        if isinstance(to, int):
            program.read(chars[read], to)
        else:
            program.choose(to)
    program.classify([masks[numbers[ranges]] for ranges in program.sets], CLASSES)
    return Subsets(program)


def closed(ops: list[Op], places: set[int]) -> set[int]:
    waiting = list(places)
    while waiting:
        read, targets = ops[waiting.pop()]
        if read < 0:
            assert isinstance(targets, list)
            waiting += [to for to in targets if to not in places]
            places.update(targets)
    return {place for place in places if place == 0 or ops[place][0] >= 0}


def step(ops: list[Op], masks: list[int], places: set[int], letter: int) -> set[int]:
    after = {ops[place][1] for place in places if place and masks[ops[place][0]] >> letter & 1}
    return closed(ops, {to for to in after if isinstance(to, int)})


def explored(ops: list[Op], masks: list[int]) -> dict[frozenset[int], list[frozenset[int]]]:
    """The sets of places that texts lead to, each with those behind every letter; the first is the start."""
    start = frozenset(closed(ops, {1}))
    found: dict[frozenset[int], list[frozenset[int]]] = {}
    waiting = [start]
    while waiting:
        places = waiting.pop()
        if places not in found:
            found[places] = [frozenset(step(ops, masks, set(places), letter)) for letter in range(CLASSES)]
            waiting += [after for after in found[places] if after]
    return found


@pytest.mark.parametrize("seed", range(200))
def test_the_texts(seed: int) -> None:
    ops, masks = some_program(random.Random(seed))
    table, ends = subsets(ops, masks).run(1, 1_000, 100_000)
    dfa = live_part(table, (), ends)
    for size in range(6):
        for text in itertools.product(range(CLASSES), repeat=size):
            places, state = closed(ops, {1}), 0
            for letter in text:
                places = step(ops, masks, places, letter)
                state = dfa.rows[state][letter] if state >= 0 else -1
            assert (state in dfa.accepting) == (0 in places), text


@pytest.mark.parametrize("seed", range(60))
def test_the_limits(seed: int) -> None:
    """A state for each set of places that texts lead to, and the work is the places in them."""
    ops, masks = some_program(random.Random(seed))
    found = explored(ops, masks)
    states, work = len(found), sum(len(places - {0}) for places in found)
    subsets(ops, masks).run(1, states, work)
    if states > 1:
        with pytest.raises(TooManyStates):
            subsets(ops, masks).run(1, states - 1, 100_000)
    if work:
        with pytest.raises(TooMuchWork):
            subsets(ops, masks).run(1, 1_000, work - 1)
