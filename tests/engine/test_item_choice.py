"""Groups of many items, which are read together until one is told: against the same group with an empty condition.

A ``NotFollowedBy`` in the grammar makes the engine read each item by itself, so a grammar with one that nothing meets
is the oracle: same masks, same ends, shortest texts of the same length.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.grammar.ir import (
    ByteDfa,
    CharClass,
    Choice,
    Expr,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    Unordered,
)
from constrained.vocabulary import TokenizerInfo
from tests.engine.worlds import sized

LETTERS = b'abcd,;:"{}12'
PIECES = [bytes((byte,)) for byte in LETTERS]
_RNG = random.Random(7)
LONGER = sorted(
    {
        bytes(_RNG.choices(b"abc", k=_RNG.randint(2, 4))) + _RNG.choice([b"", b",", b":1", b":1,", b";", b'"'])
        for _ in range(120)
    }
    | {b",a", b"1,", b':"', b'",', b"{a", b"},", b"ab:12,ab", b"c,b", b"d,d"}
)
INFO = TokenizerInfo.from_bytes(
    [*PIECES, *LONGER, b""], special_token_ids=[len(PIECES) + len(LONGER)], stop_token_ids=[len(PIECES) + len(LONGER)]
)
_NEVER = NotFollowedBy(ByteDfa((((0x7A, 0x7A, 1),), ()), frozenset((1,))))


def both(rules: dict[str, Expr]) -> tuple[CompiledGrammar, CompiledGrammar]:
    """The grammar, and the same with a condition that always holds."""
    oracle = {**rules, "root": Reference("all"), "all": Sequence((rules["root"], _NEVER))}
    return compile_rules(RuleSet(rules, "root"), INFO), compile_rules(RuleSet(oracle, "root"), INFO)


def walk_both(rules: dict[str, Expr], seed: int, steps: int = 60) -> int:
    """Walk over the masks of both, comparing; returns how many tokens were taken."""
    one, other = both(rules)
    rng = random.Random(seed)
    here, there = one.start_state, other.start_state
    for taken in range(steps):
        ids = one.allowed_ids(here)
        assert ids == other.allowed_ids(there)
        assert ids, "a dead end"
        stop = INFO.stop_token_ids[0]
        assert ids == [i for i in range(INFO.vocab_size - 1) if one.next_state(here, i)] + (
            [stop] if one.is_complete(here) else []
        )
        rest = one.shortest_completion(here)
        assert len(rest) == len(other.shortest_completion(there)) == one.automaton.distance(here)
        assert one.is_complete(one.advance(here, rest)) and other.is_complete(other.advance(there, rest))
        assert one.forced_bytes(here) == other.forced_bytes(there)
        ways = [i for i in ids if i != stop]
        if not ways:
            return taken
        token = rng.choice(ways)
        here, there = one.next_state(here, token), other.next_state(there, token)
    return steps


def words(rng: random.Random, count: int, letters: bytes = b"abc") -> list[bytes]:
    found: dict[bytes, None] = {}
    while len(found) < count:
        found[bytes(rng.choices(letters, k=rng.randint(1, 5)))] = None
    return list(found)


VALUES: list[Expr] = [
    Literal(b":1"),
    Literal(b":"),
    Sequence((Literal(b":"), Repeat(CharClass(((0x31, 0x32),)), 1, 3))),
    Sequence((Literal(b':"'), Reference("text"))),
    Sequence((Repeat(CharClass(((0x22, 0x22),)), 0, 64), Literal(b":1"))),
    Choice((Literal(b":1"), Literal(b":12"), Literal(b":a"))),
]
TEXT: Expr = Sequence((Repeat(CharClass(((0x61, 0x64),)), 0, None), Literal(b'"')))


@st.composite
def groups(draw: st.DrawFn, literal: bool) -> Unordered:
    rng = random.Random(draw(st.integers(0, 10**6)))
    keys = words(rng, draw(st.integers(64, 75)))
    items: list[Expr] = [Literal(key) if literal else Sequence((Literal(key), rng.choice(VALUES))) for key in keys]
    required = frozenset(rng.sample(range(len(items)), draw(st.integers(0, 3))))
    free = draw(st.sampled_from([None, Literal(b"d"), Sequence((Literal(b"d"), Reference("text")))]))
    minimum = draw(st.sampled_from([0, 1, 2, 5]))
    maximum = draw(st.sampled_from([None, None, 3, 6, 64]))
    separator = draw(st.sampled_from([b",", b";,", b""]))
    if not separator:  # a text has many readings then
        required, minimum, maximum = frozenset(), 1, 2
    return Unordered(tuple(items), required, Literal(separator), free, minimum, maximum, draw(st.booleans()))


def _fits(group: Unordered) -> bool:
    least = max(group.minimum, len(group.required))
    return group.maximum is None or group.maximum >= least


@settings(max_examples=sized(25, 4))
@given(groups(literal=True), st.integers(0, 10**6))
def test_items_that_are_literals(group: Unordered, seed: int) -> None:
    if _fits(group):
        walk_both({"root": Sequence((group, Literal(b"}"))), "text": TEXT}, seed, sized(25, 12))


@settings(max_examples=sized(25, 4))
@given(groups(literal=False), st.integers(0, 10**6))
def test_items_with_values(group: Unordered, seed: int) -> None:
    if _fits(group):
        walk_both({"root": Sequence((Literal(b"{"), group, Literal(b"}"))), "text": TEXT}, seed, sized(25, 12))


@settings(max_examples=sized(12, 2))
@given(groups(literal=False), groups(literal=False), st.integers(0, 10**6))
def test_groups_with_items_in_common(one: Unordered, other: Unordered, seed: int) -> None:
    """Two readings of one text, whose tails are united; some items are called from elsewhere, too."""
    shared = Unordered((*other.items[:40], *one.items[:30]), frozenset((1,)), one.separator, None, 0, None)
    few = Unordered(one.items[:5], frozenset(), one.separator, None, 1, None)
    rules: dict[str, Expr] = {
        "text": TEXT,
        "root": Choice(
            (
                Sequence((one, Literal(b"}"))),
                Sequence((shared, Literal(b";"))),
                Sequence((few, Literal(b"}}"))),
                Sequence((one.items[2], Literal(b"{"))),
            )
        ),
    }
    if _fits(one):
        walk_both(rules, seed, sized(25, 12))


def test_groups_within_groups() -> None:
    rng = random.Random(3)
    items: list[Expr] = [
        Sequence((Literal(key + b":"), Choice((Literal(b"1"), Reference("object"))))) for key in words(rng, 70)
    ]
    rules: dict[str, Expr] = {
        "root": Reference("object"),
        "object": Sequence((Literal(b"{"), Reference("members"), Literal(b"}"))),
        "members": Unordered(tuple(items), frozenset((0, 1)), Literal(b","), None, 3, 5),
    }
    assert max(walk_both(rules, seed, 60) for seed in range(sized(6, 2))) > 20


def test_all_items_in_many_orders() -> None:
    rng = random.Random(5)
    keys = [b"a" * k + b":" for k in range(1, 40)] + [b"b" * k + b"1" for k in range(1, 40)]
    group = Unordered(tuple(map(Literal, keys)), frozenset(range(0, 78, 2)), Literal(b","), None, 70, None)
    one, other = both({"root": Sequence((group, Literal(b";")))})
    for _ in range(sized(3, 1)):
        rng.shuffle(keys)
        here, there = one.start_state, other.start_state
        for number, key in enumerate(keys):
            piece = key if number == 0 else b"," + key
            for byte in piece:
                here, there = one.advance(here, bytes((byte,))), other.advance(there, bytes((byte,)))
                assert one.allowed_ids(here) == other.allowed_ids(there)
        assert one.shortest_completion(here) == b";"
        assert not one.advance(here, b"," + keys[0])


def test_a_rule_that_stands_for_two_items() -> None:
    items: list[Expr] = [Literal(key) for key in words(random.Random(9), 70)]
    items[4] = items[3]
    walk_both({"root": Sequence((Unordered(tuple(items), frozenset(), Literal(b","), None, 1, 4), Literal(b";")))}, 1)


def test_states_are_carried_into_a_new_epoch() -> None:
    keys = [key + b"{" for key in words(random.Random(11), 80)]
    group = Unordered(tuple(map(Literal, keys)), frozenset(), Literal(b","), None, 1, None)
    compiled = compile_rules(RuleSet({"root": Sequence((group, Literal(b";")))}, "root"), INFO)
    state = compiled.advance(compiled.start_state, keys[0] + b"," + keys[1] + b"," + keys[2][:1])
    packed = compiled.automaton.packed(state)
    expected = compiled.allowed_ids(state)
    compiled.automaton.new_epoch()
    again = compiled.automaton.unpacked(packed)
    assert compiled.allowed_ids(again) == expected
    assert not compiled.advance(compiled.automaton.unpacked(packed), keys[2][1:] + b"," + keys[2])
    assert compiled.advance(again, keys[2][1:] + b"," + keys[3])


@pytest.mark.parametrize("maximum", [2, 30_000])
def test_counts_far_from_a_bound(maximum: int) -> None:
    keys = [key + b":" for key in words(random.Random(13), 70)]
    group = Unordered(tuple(map(Literal, keys)), frozenset((2,)), Literal(b","), Literal(b"d"), 1, maximum)
    rules = RuleSet({"root": Sequence((group, Literal(b";")))}, "root")
    compiled = compile_rules(rules, INFO)
    count = min(maximum - 1, 3_000)
    state = compiled.advance(compiled.start_state, b"d," * count + keys[2])
    assert compiled.is_complete(compiled.advance(state, b";"))
    assert bool(compiled.advance(state, b",d")) == (maximum > 2)
