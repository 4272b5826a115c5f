"""Masks within automata beside a counter: those of the product written out, with tokens of many characters."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest

from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.errors import UnsatisfiableGrammarError
from constrained.grammar.counted import CountedDfa
from constrained.grammar.ir import ByteDfa, Choice, Expr, Literal, RuleSet, Sequence
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo
from tests.engine.test_counted import random_dfa
from tests.engine.worlds import sized


@lru_cache
def vocabulary() -> TokenizerInfo:
    """Runs of up to 60 characters, some behind the opening and some before the closing bracket."""
    rng = random.Random(5)
    tokens = [bytes((b,)) for b in range(256)]
    for _ in range(1_500):
        body = b"".join(rng.choices([b"a", b"b", b"ab", b"aa"], k=rng.choice([2, 4, 9, 30])))
        tokens.append(rng.choice([b"<", b"", b"", b""]) + body + rng.choice([b"!>", b"!", b"", b"", b"", b"", b""]))
    tokens += [b"a" * n for n in range(2, 61)] + [b"ab" * n for n in range(1, 31)]
    return TokenizerInfo.from_bytes([*dict.fromkeys(tokens), b"<e>"], stop_token_ids=[len(set(tokens))])


def compiled(body: Expr, limits: Limits | None = None) -> CompiledGrammar | None:
    rules = RuleSet({"root": Sequence((Literal(b"<"), body, Literal(b"!>")))}, "root")
    try:
        return compile_rules(rules, vocabulary(), limits or Limits())
    except UnsatisfiableGrammarError:
        return None


def bounds(rng: random.Random) -> tuple[int, int | None]:
    minimum = rng.choice([0, 0, 1, 5, 30, 90])
    return minimum, rng.choice([None, minimum + rng.randint(0, 6), minimum + rng.randint(20, 150)])


def counted(rng: random.Random) -> CountedDfa:
    inner, boundary = random_dfa(rng)
    return CountedDfa(inner, boundary, *bounds(rng))


def same_along(one: CompiledGrammar, two: CompiledGrammar, rng: random.Random, texts: int) -> None:
    """Random texts, mostly of long tokens, read by both."""
    for _ in range(texts):
        a, b = one.start_state, two.start_state
        for _ in range(60):
            allowed = one.allowed_ids(a)
            assert allowed == two.allowed_ids(b)
            assert len(one.shortest_completion(a)) == len(two.shortest_completion(b))
            assert one.is_complete(a) is two.is_complete(b)
            if one.is_complete(a):
                break
            token = rng.choice(sorted(allowed, key=lambda i: -len(vocabulary().token_bytes(i)))[: rng.choice([3, 300])])
            a, b = one.next_state(a, token), two.next_state(b, token)
            assert a and b


def written(node: CountedDfa) -> ByteDfa:
    return ByteDfa(node.transitions, node.accepting)


@pytest.mark.parametrize("seed", range(sized(60, 6)))
def test_masks_are_those_of_the_product_written_out(seed: int) -> None:
    rng = random.Random(seed)
    node = counted(rng)
    one, two = compiled(node), compiled(written(node))
    if one is None or two is None:
        assert one is two is None
        return
    same_along(one, two, rng, 4)


@pytest.mark.parametrize("seed", range(sized(40, 4)))
def test_two_automata_and_words_read_at_once(seed: int) -> None:
    rng = random.Random(100 + seed)
    nodes = [counted(rng), counted(rng)]
    words = [Literal(b"abab"), Literal(b"b" * 20), Sequence((Literal(b"a"), nodes[0], Literal(b"!")))]
    one = compiled(Choice((*nodes, *words)))
    two = compiled(
        Choice((*map(written, nodes), *words[:2], Sequence((Literal(b"a"), written(nodes[0]), Literal(b"!")))))
    )
    assert one is not None and two is not None
    same_along(one, two, rng, 4)


@pytest.mark.parametrize("behind", [b"a", b"ab", b"b"])
def test_what_follows_may_begin_as_the_automaton_goes_on(behind: bytes) -> None:
    rng = random.Random(len(behind))
    inner = ByteDfa((((97, 98, 0),),), frozenset((0,)))
    for minimum, maximum in ((0, 40), (3, None), (70, 75), (0, 200)):
        node = CountedDfa(inner, 1, minimum, maximum)
        one, two = compiled(Sequence((node, Literal(behind)))), compiled(Sequence((written(node), Literal(behind))))
        assert one is not None and two is not None
        same_along(one, two, rng, 4)


def test_counts_far_from_the_bounds_share_their_masks() -> None:
    inner = ByteDfa((((97, 97, 1), (98, 98, 0)), ((97, 97, 0),)), frozenset((0,)))
    found = compiled(CountedDfa(inner, 2, 0, sized(20_000, 1_000)))
    assert found is not None
    state = found.advance(found.start_state, b"<b")
    found.allowed_ids(state)
    _, _, _, masks, _ = found.automaton.counts()
    for _ in range(sized(500, 20)):
        state = found.advance(state, b"b")
        found.allowed_ids(state)
    assert found.automaton.counts()[3] == masks
    near = found.advance(state, b"b" * (sized(20_000, 1_000) - sized(500, 20) - 10))
    assert len(found.allowed_ids(near)) < len(found.allowed_ids(state))


def with_word(word: bytes, even: bool, goes_on: bool) -> ByteDfa:
    """Texts of a and b that hold a word; ``even``: of an even length only; not ``goes_on``: that end with the word."""
    n = len(word) + 1

    def after(state: int, byte: int) -> int:
        if state == n - 1 and goes_on:
            return state
        text = word[:state] + bytes((byte,))
        return next(k for k in range(min(len(text), n - 1), -1, -1) if text.endswith(word[:k]))

    rows = [tuple((byte, byte, after(state, byte)) for byte in b"ab") for state in range(n)]
    if not even:
        return ByteDfa(tuple(rows), frozenset((n - 1,)))
    both = [tuple((a, b, to + n * (1 - odd)) for a, b, to in row) for odd in (0, 1) for row in rows]
    return ByteDfa(tuple(both), frozenset((n - 1,)))


@pytest.mark.parametrize("seed", range(sized(60, 6)))
def test_a_word_is_far_and_texts_may_be_too_short(seed: int) -> None:
    rng = random.Random(seed)
    inner = with_word(bytes(rng.choices(b"ab", k=rng.randint(7, 14))), rng.random() < 0.3, rng.random() < 0.6)
    minimum = rng.choice([3, 10, 17, 40, 70, 90])
    node = CountedDfa(inner, len(inner.transitions), minimum, rng.choice([None, minimum + rng.randint(0, 90), 300]))
    one, two = compiled(node), compiled(written(node))
    if one is None or two is None:
        assert one is two is None  # an odd length of even ones
        return
    same_along(one, two, rng, 6)


def test_far_from_a_word_the_least_count_does_not_matter() -> None:
    found = compiled(CountedDfa(with_word(b"b" * 70, False, True), 71, 80, 400))  # no token is a word
    assert found is not None
    state = found.advance(found.start_state, b"<a")
    allowed = found.allowed_ids(state)
    _, _, _, masks, _ = found.automaton.counts()
    for _ in range(90):
        state = found.advance(state, b"a")
        assert found.allowed_ids(state) == allowed
    assert found.automaton.counts()[3] == masks


def test_a_text_goes_on_in_a_new_epoch() -> None:
    inner = ByteDfa((((97, 97, 1), (98, 98, 0)), ((97, 97, 0),)), frozenset((0,)))
    found = compiled(CountedDfa(inner, 2, 0, 2_000))
    assert found is not None
    state = found.advance(found.start_state, b"<" + b"baab" * 300)
    allowed, left = found.allowed_ids(state), found.shortest_completion(found.advance(state, b"a"))
    packed = found.automaton.packed(state)
    assert packed is not None
    found.automaton.new_epoch()
    state = found.automaton.unpacked(packed)
    assert found.allowed_ids(state) == allowed
    assert found.shortest_completion(found.advance(state, b"a")) == left
    assert not found.advance(state, b"b" * 801) and found.advance(state, b"b" * 800)


def test_a_product_of_any_size_is_compiled() -> None:
    inner = ByteDfa((((97, 97, 1), (98, 98, 0)), ((97, 97, 0),)), frozenset((0,)))
    top = sized(200_000, 10_000)
    found = compiled(CountedDfa(inner, 2, 0, top), Limits(max_positions=4_000))
    assert found is not None
    state = found.advance(found.start_state, b"<" + b"b" * (top - 1))
    assert found.is_complete(found.advance(state, b"b!>"))
    assert not found.advance(state, b"aa")
    assert found.shortest_completion(state) == b"!>"
