"""``CountedDfa``: what the kernel writes, what its rows say and what its definition says are one language."""

from __future__ import annotations

import itertools
import random

import pytest

from benchmarks.conformance import byte_compiler
from constrained.engine.compiled import compile_rules
from constrained.errors import GrammarLimitError, UnsatisfiableGrammarError
from constrained.grammar.counted import CountedDfa
from constrained.grammar.ir import ByteDfa, Literal, RuleSet, Sequence
from constrained.limits import Limits

A, B = ord("a"), ord("b")


def random_dfa(rng: random.Random) -> tuple[ByteDfa, int]:
    """An automaton over a and b, and how many of its states end a character."""
    n = rng.randint(1, 5)
    rows = []
    for _ in range(n):
        row = []
        if rng.random() < 0.8:
            row.append((A, A, rng.randrange(n)))
        if rng.random() < 0.8:
            row.append((B, B, rng.randrange(n)))
        rows.append(tuple(row))
    return ByteDfa(tuple(rows), frozenset(rng.sample(range(n), rng.randint(1, n)))), rng.randint(1, n)


def accepts(node: ByteDfa, text: bytes) -> bool:
    state = 0
    for byte in text:
        found = [to for first, last, to in node.transitions[state] if first <= byte <= last]
        if not found:
            return False
        state = found[0]
    return state in node.accepting


def defined(node: CountedDfa, text: bytes) -> bool:
    state = count = 0
    for byte in text:
        found = [to for first, last, to in node.inner.transitions[state] if first <= byte <= last]
        if not found:
            return False
        state = found[0]
        count += state < node.boundary
    return state in node.inner.accepting and node.minimum <= count and (node.maximum is None or count <= node.maximum)


@pytest.mark.parametrize("seed", range(60))
def test_three_ways_to_say_it(seed: int) -> None:
    rng = random.Random(seed)
    inner, boundary = random_dfa(rng)
    minimum = rng.randint(0, 3)
    node = CountedDfa(inner, boundary, minimum, rng.choice([None, minimum, minimum + rng.randint(0, 3)]))
    texts = [bytes(t) for n in range(7) for t in itertools.product((A, B), repeat=n)]
    wanted = [text for text in texts if defined(node, text)]
    assert wanted == [text for text in texts if accepts(node, text)]
    rules = RuleSet({"root": Sequence((Literal(b"<"), node, Literal(b">")))}, "root")
    try:
        compiled = compile_rules(rules, byte_compiler().tokenizer_info)
    except UnsatisfiableGrammarError:
        assert not wanted
        return
    found = [text for text in texts if (state := compiled.advance(compiled.start_state, b"<" + text + b">"))
             and compiled.is_complete(state)]
    assert wanted == found


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_product_written_out(seed: int) -> None:
    """Counted, in an annex, and written out as an automaton: the same masks and shortest ends after every text."""
    rng = random.Random(seed)
    inner, boundary = random_dfa(rng)
    minimum = rng.randint(0, 3)
    node = CountedDfa(inner, boundary, minimum, rng.choice([None, minimum + rng.randint(0, 5)]))
    both = []
    for body in (node, ByteDfa(node.transitions, node.accepting)):
        rules = RuleSet({"root": Sequence((Literal(b"<"), body, Literal(b"!>")))}, "root")
        try:
            both.append(compile_rules(rules, byte_compiler().tokenizer_info))
        except UnsatisfiableGrammarError:
            both.append(None)
    one, two = both
    if one is None or two is None:
        assert one is two is None
        return
    waiting = [(one.advance(one.start_state, b"<"), two.advance(two.start_state, b"<"))]
    for _ in range(7):
        assert all((a == 0) is (b == 0) for a, b in waiting)
        waiting = [pair for pair in waiting if pair[0]]
        for a, b in waiting:
            assert one.allowed_ids(a) == two.allowed_ids(b)
            assert len(one.shortest_completion(a)) == len(two.shortest_completion(b))
        waiting = [(one.advance(a, byte), two.advance(b, byte)) for a, b in waiting for byte in (b"a", b"b")]


def test_more_counts_below_the_least_than_positions_are_refused() -> None:
    inner = ByteDfa((((A, A, 0),),), frozenset([0]))
    rules = RuleSet({"root": Sequence((Literal(b"<"), CountedDfa(inner, 1, 5_000, None)))}, "root")
    with pytest.raises(GrammarLimitError, match="max_positions"):
        compile_rules(rules, byte_compiler().tokenizer_info, Limits(max_positions=4_000))


def test_counts_take_memory_and_64_are_a_position() -> None:
    inner = ByteDfa((((A, A, 0),),), frozenset([0]))
    for top, fits in ((64 * 3_900, True), (64 * 4_000, False)):
        rules = RuleSet({"root": Sequence((Literal(b"<"), CountedDfa(inner, 1, 0, top)))}, "root")
        if fits:
            compile_rules(rules, byte_compiler().tokenizer_info, Limits(max_positions=4_000))
        else:
            with pytest.raises(GrammarLimitError, match="max_positions"):
                compile_rules(rules, byte_compiler().tokenizer_info, Limits(max_positions=4_000))
