"""``CountedDfa``: what the kernel writes, what its rows say and what its definition says are one language."""

from __future__ import annotations

import itertools
import random

import pytest

from benchmarks.conformance import byte_compiler
from constrained.engine.compiled import compile_rules
from constrained.engine.lowering import lower
from constrained.errors import GrammarLimitError, UnsatisfiableGrammarError
from constrained.grammar.counted import CountedDfa
from constrained.grammar.ir import ByteDfa, Literal, RuleSet, Sequence
from constrained.kernel.program import FAR
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
def test_the_shortest_ends_are_those_of_the_product_written_out(seed: int) -> None:
    """A counted block is measured layer by layer, an automaton state by state: where both say a length, it is one."""
    rng = random.Random(seed)
    inner, boundary = random_dfa(rng)
    minimum = rng.randint(0, 3)
    node = CountedDfa(inner, boundary, minimum, minimum + rng.randint(0, 5))
    programs = []
    for body in (node, ByteDfa(node.transitions, node.accepting)):
        rules = RuleSet({"root": Sequence((Literal(b"<"), body, Literal(b"!>")))}, "root")
        try:
            programs.append(lower(rules, Limits()))
        except UnsatisfiableGrammarError:
            programs.append(None)
    one, two = programs
    if one is None or two is None:
        assert one is two is None
        return
    assert one.n_positions == two.n_positions
    known = [p for p in range(one.n_positions) if one.position_min[p] < FAR]
    assert known and [one.position_min[p] for p in known] == [two.position_min[p] for p in known]
    pairs = set(zip(one.byte_class, two.byte_class, strict=True))  # at least as fine: dead bytes of blocks count
    assert len(pairs) == one.n_classes


def test_a_large_product_is_refused() -> None:
    inner = ByteDfa((((A, A, 0),),), frozenset([0]))
    rules = RuleSet({"root": Sequence((Literal(b"<"), CountedDfa(inner, 1, 0, 5_000)))}, "root")
    with pytest.raises(GrammarLimitError, match="max_positions"):
        compile_rules(rules, byte_compiler().tokenizer_info, Limits(max_positions=4_000))
