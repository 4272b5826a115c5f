"""Classes of bytes, against the sets that each byte is in, looked up one by one."""

from __future__ import annotations

import random

import pytest

from constrained.engine.lowering import lower
from constrained.grammar.ir import CharClass, Choice, Expr, Literal, Repeat, RuleSet, Sequence
from constrained.limits import Limits
from tests.engine.worlds import sized


def drawn_set(draw: random.Random) -> frozenset[int]:
    """ASCII characters in a few runs; the runs of several sets often end at the same places."""
    found: set[int] = set()
    for _ in range(draw.randrange(1, 5)):
        first = draw.randrange(0, 120, draw.choice((1, 4, 16)))
        found.update(range(first, min(first + draw.choice((1, 4, 16, 40)), 128)))
    return frozenset(found)


def char_class(members: frozenset[int]) -> CharClass:
    ranges: list[tuple[int, int]] = []
    for byte in sorted(members):
        if ranges and ranges[-1][1] == byte - 1:
            ranges[-1] = (ranges[-1][0], byte)
        else:
            ranges.append((byte, byte))
    return CharClass(tuple(ranges))


def numbered(keys: list[object]) -> list[int]:
    """A number for each key, the first one 0."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


@pytest.mark.parametrize("most", [1, 2, 5, 31, 32, 33, 100])
def test_bytes_are_alike_that_are_in_the_same_sets(most: int) -> None:
    draw = random.Random(most)
    for _ in range(sized(20, 2)):
        sets = [drawn_set(draw) for _ in range(most)]
        alone = draw.sample(range(128), draw.randrange(6))
        parts: list[Expr] = [Sequence((char_class(one), char_class(sets[0]))) for one in sets]
        parts += [Literal(bytes((byte,))) for byte in alone]
        # one after the other, so that each set leads from a position of its own
        program = lower(RuleSet({"root": Sequence(tuple(parts))}, "root"), Limits())
        expected = numbered([byte if byte in alone else tuple(byte in one for one in sets) for byte in range(256)])
        assert list(program.byte_class) == expected
        assert program.n_classes == len(set(expected))


def test_bytes_that_part_at_one_place_are_told_apart_one_by_one() -> None:
    words = [bytes((first, second)) for first in b"QXaz" for second in b"019"]
    letters = frozenset(range(0x41, 0x5B)) | frozenset(range(0x61, 0x7B))
    rules = RuleSet(
        {"root": Sequence((Choice(tuple(map(Literal, words))), Repeat(char_class(letters), 1, None)))}, "root"
    )
    program = lower(rules, Limits())
    expected = numbered([byte if byte in b"QXaz" else (byte in b"019", byte in letters) for byte in range(256)])
    assert list(program.byte_class) == expected
    assert len(set(program.regions)) == 2  # none, and that of the letters


def test_bytes_that_lead_to_one_place_stay_together() -> None:
    either = Choice((Literal(b"e"), Literal(b"E"), CharClass(((0x30, 0x32),))))
    program = lower(RuleSet({"root": Sequence((either, CharClass(((0x31, 0x31),))))}, "root"), Limits())
    classes = list(program.byte_class)
    assert classes[ord("e")] == classes[ord("E")] == classes[ord("0")] == classes[ord("2")]
    assert len({classes[ord("e")], classes[ord("1")], classes[ord("x")]}) == 3
