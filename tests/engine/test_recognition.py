"""Acceptance and viable prefixes against the independent recogniser: every prefix, random and small worlds."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.engine.compiled import CompiledGrammar
from constrained.errors import UnsatisfiableGrammarError
from constrained.grammar.ir import AnyTextUntil, Repeat, RuleSet, Sequence
from tests.engine.worlds import LETTERS, compiled, describe, sized, small_grammar
from tests.oracles import ItemSet, Recogniser
from tests.strategies import rule_sets, texts

SLICES = 8
LONGEST_GRAMMAR_S = 2.0
"""The recogniser is cubic: a grammar that keeps it busy longer is left where it is, after whole states only."""


def both(rules: RuleSet) -> tuple[CompiledGrammar, Recogniser] | None:
    """The engine and the oracle on one grammar; None if both say that it has no text."""
    recogniser = Recogniser(rules)
    try:
        grammar = compiled(rules)
    except UnsatisfiableGrammarError:
        assert not recogniser.start().items, describe(rules)
        return None
    assert recogniser.start().items, describe(rules)
    return grammar, recogniser


def compare_state(grammar: CompiledGrammar, recogniser: Recogniser, state: int, items: ItemSet, text: bytes) -> None:
    """Whether the text may end, and the shortest way to its end."""
    assert grammar.is_complete(state) == recogniser.is_complete(items), text
    rest = grammar.shortest_completion(state)
    assert len(rest) == grammar.automaton.distance(state), (text, rest)
    after = grammar.advance(state, rest)
    assert after and grammar.is_complete(after), (text, rest)


def follow(grammar: CompiledGrammar, recogniser: Recogniser, text: bytes) -> None:
    """Compare at every prefix of ``text`` up to the first that cannot go on."""
    state, items = grammar.start_state, recogniser.start()
    for i, byte in enumerate(text):
        compare_state(grammar, recogniser, state, items, text[:i])
        state, items = grammar.next_state(state, byte), recogniser.read_byte(items, byte)
        assert bool(state) == bool(items.items), text[: i + 1]
        if not state:
            break
    else:
        compare_state(grammar, recogniser, state, items, text)


@given(st.data())
def test_random_grammars_and_texts(data: st.DataObject) -> None:
    rules = data.draw(rule_sets())
    pair = both(rules)
    if pair is None:
        return
    grammar, recogniser = pair
    for _ in range(3):
        follow(grammar, recogniser, data.draw(texts(rules)))


@pytest.mark.parametrize("stops", [(b"ab",), (b"ab", b"bc"), (b"aa", b"b")])
def test_counted_text_up_to_a_stop(stops: tuple[bytes, ...]) -> None:
    """Loops in which every set of bytes that tells apart is of one byte or all bytes."""
    once = AnyTextUntil(stops, consume=True)
    pair = both(RuleSet({"root": Sequence((Repeat(once, 2, 3), once))}, "root"))
    assert pair is not None
    for text in (b"ababab", b"xabbcaabab", b"abcabcabc", b"aabaabaabaab", b"aaaaaaaaaa"):
        follow(*pair, text)


@pytest.mark.parametrize("part", range(SLICES))
def test_small_worlds(part: int) -> None:
    """All strings over ``LETTERS`` up to length 4-6, of many small grammars."""
    for seed in range(part, sized(160, 40), SLICES):
        rng = random.Random(seed)
        rules = small_grammar(rng)
        pair = both(rules)
        if pair is None:
            continue
        grammar, recogniser = pair
        longest = rng.choice([4, 5, 6])
        end = time.monotonic() + LONGEST_GRAMMAR_S
        layer = [(b"", grammar.start_state, recogniser.start())]
        where = f"seed {seed}\n{describe(rules)}"
        while layer and time.monotonic() < end:
            after: list[tuple[bytes, int, ItemSet]] = []
            for text, state, items in layer:
                if time.monotonic() > end:
                    break
                try:
                    compare_state(grammar, recogniser, state, items, text)
                except AssertionError as error:
                    raise AssertionError(f"{error} in {where}") from error
                if len(text) == longest:
                    continue
                for byte in LETTERS:
                    longer = text + bytes((byte,))
                    there, beyond = grammar.next_state(state, byte), recogniser.read_byte(items, byte)
                    assert bool(there) == bool(beyond.items), f"{longer!r} in {where}"
                    if there:
                        after.append((longer, there, beyond))
            layer = after if len(after) <= 400 else rng.sample(after, 400)
