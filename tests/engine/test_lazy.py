"""Automata that are built as they are met are what they are when written out: masks, ends, captures, epochs."""

from __future__ import annotations

import pickle
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import constrained as cd
from constrained.engine.captures import CaptureTracker
from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.errors import GrammarError
from constrained.grammar.flat import from_flat, to_flat
from constrained.grammar.ir import (
    ByteDfa,
    Capture,
    CharClass,
    Choice,
    Distinct,
    Expr,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
)
from constrained.grammar.lazy import LazyDfa, LazySource
from constrained.grammar.show import show
from constrained.limits import Limits
from tests.engine.worlds import byte_vocabulary, sized

BYTES = byte_vocabulary()
WORDS = cd.TokenizerInfo.from_bytes(
    [*(bytes((b,)) for b in range(256)), b"<e>", *(bytes(word, "ascii") for word in (
        "ab", "ba", "abc", "<a", "<ab", "a>", "b>!", "aa", "cab", ">!", "a>!", "ca>"))],
    stop_token_ids=[256], special_token_ids=[256])


@dataclass(frozen=True)
class Table:
    """An automaton of rows ``{byte: state}`` that names more bytes than it goes on with."""

    rows: tuple[tuple[tuple[int, int], ...], ...]
    ends: frozenset[int]
    alphabet: bytes = b"abc"

    def start(self) -> int:
        return 0

    def reads(self, state: int) -> tuple[tuple[int, int], ...]:
        return ((0x61, 0x63),) if self.rows[state] else ()

    def step(self, state: int, byte: int) -> int | None:
        return dict(self.rows[state]).get(byte)

    def accepts(self, state: int) -> bool:
        return state in self.ends

    def left(self, state: int) -> int:
        return self.distances[state]

    @cached_property
    def distances(self) -> dict[int, int]:
        found = dict.fromkeys(self.ends, 0)
        for depth in range(len(self.rows)):
            for state, row in enumerate(self.rows):
                if state not in found and any(found.get(to) == depth for _, to in row):
                    found[state] = depth + 1
        return found

    def written_out(self) -> ByteDfa:
        return ByteDfa(tuple(tuple((byte, byte, to) for byte, to in row) for row in self.rows), self.ends)


def table(rng: random.Random) -> Table:
    """A random automaton from all of whose states texts lead to an end. The first does not accept and read on."""
    while True:
        n = rng.randint(2, 7)
        rows = [{byte: rng.randrange(n) for byte in b"abc" if rng.random() < 0.6} for _ in range(n)]
        ends = frozenset(state for state in range(1, n) if rng.random() < 0.4)
        distances = Table(tuple(tuple(sorted(row.items())) for row in rows), ends).distances
        kept = tuple(tuple((byte, to) for byte, to in sorted(row.items()) if to in distances) for row in rows)
        if 0 in distances:
            return Table(kept, ends)


@dataclass(frozen=True)
class Multiples:
    """Numerals that are multiples of a number with too many remainders to be written down."""

    size: int
    alphabet: bytes = b"0123456789"

    def start(self) -> int:
        return -1

    def reads(self, state: int) -> tuple[tuple[int, int], ...]:
        return ((0x30, 0x39),)

    def step(self, state: int, byte: int) -> int:
        return (10 * max(state, 0) + byte - 0x30) % self.size

    def accepts(self, state: int) -> bool:
        return state == 0

    def left(self, state: int) -> int:
        if state <= 0:
            return -state
        digits = 0
        while -state * 10**digits % self.size >= 10**digits:
            digits += 1
        return digits


def same(one: CompiledGrammar, two: CompiledGrammar, rng: random.Random, steps: int) -> None:
    """The same masks along random walks; every shortest end is one."""
    a, b = one.start_state, two.start_state
    for _ in range(steps):
        allowed = one.allowed_ids(a)
        assert allowed == two.allowed_ids(b)
        assert one.forced_bytes(a) == two.forced_bytes(b)
        assert len(one.shortest_completion(a)) == len(two.shortest_completion(b))
        end = one.advance(a, one.shortest_completion(a))
        assert end and one.is_complete(end)
        assert all(0 < p < one.program.n_positions for thread in one.threads(a) for p in thread)
        assert set(one.rules_at(a)) <= {"root", "again"}
        going = [token for token in allowed if token != 256]
        if not going:
            break
        token = rng.choice(going)
        a, b = one.next_state(a, token), two.next_state(b, token)
        assert a and b


@pytest.mark.parametrize("seed", range(sized(40, 6)))
def test_what_is_met_is_what_is_written_out(seed: int) -> None:
    rng = random.Random(seed)
    sources = [table(rng), table(rng)]

    def rules(make: Any) -> RuleSet:
        first, second = map(make, sources)
        part: Expr = rng_of.choice([
            first, Choice((first, second)), Sequence((first, Literal(b"a"), second)), Repeat(first, 1, 3),
            Choice((first, Repeat(CharClass(((0x61, 0x63),)), 2, None))), Reference("again"),
        ])
        again = Choice((first, Sequence((Literal(b"a"), Reference("again"), Literal(b"b")))))
        return RuleSet({"root": Sequence((Literal(b"<"), part, Literal(b">!"))), "again": again}, "root")

    rng_of = random.Random(seed)
    lazy = rules(LazyDfa)
    rng_of = random.Random(seed)
    plain = rules(Table.written_out)
    for info in (BYTES, WORDS):
        one, two = compile_rules(lazy, info), compile_rules(plain, info)
        assert one.program.lazy and not two.program.lazy
        for _ in range(4):
            same(one, two, rng, 12)
        one.automaton.new_epoch()
        same(one, two, rng, 12)


def test_more_remainders_than_states() -> None:
    step = 123_456_789
    rules = RuleSet({"root": Sequence((Literal(b"<"), LazyDfa(Multiples(step)), Literal(b">")))}, "root")
    compiled = compile_rules(rules, BYTES)
    rng = random.Random(1)
    for _ in range(50):
        number = rng.randrange(10**rng.randint(1, 30))
        for value in (number, number * step):
            state = compiled.advance(compiled.start_state, b"<%d>" % value)
            assert (state != 0 and compiled.is_complete(state)) is (value % step == 0)
        text = b"<%d" % number
        whole = text + compiled.shortest_completion(compiled.advance(compiled.start_state, text))
        assert int(whole[1:-1]) % step == 0


def test_a_source_is_told_only_what_may_be_read() -> None:
    asked: list[tuple[int, int]] = []

    class Listening(Multiples):
        def step(self, state: int, byte: int) -> int:
            asked.append((state, byte))
            return super().step(state, byte)

    rules = RuleSet({"root": Sequence((LazyDfa(Listening(1_000_003)), Literal(b"!")))}, "root")
    compiled = compile_rules(rules, BYTES)
    state = compiled.advance(compiled.start_state, b"20000060")
    assert len(asked) == 8
    assert not compiled.advance(state, b"x") and compiled.advance(state, b"!")
    assert len(asked) == 8  # nobody asks twice, or for what is no digit
    compiled.advance(compiled.start_state, b"20000060")
    assert len(asked) == 8
    assert isinstance(Multiples(7), LazySource)


def test_an_epoch_forgets_what_was_met() -> None:
    rules = RuleSet({"root": Sequence((LazyDfa(Multiples(999_999_937)), Literal(b"!")))}, "root")
    compiled = compile_rules(rules, BYTES, Limits(max_automaton_bytes=1 << 20))
    matcher = cd.GrammarMatcher(compiled)
    rng = random.Random(2)
    for _ in range(3_000):
        assert matcher.accept_token(rng.randrange(0x30, 0x3A))
    assert compiled.automaton.counts()[0] > 1
    assert compiled.automaton.memory() < 16 << 20  # what 3,000 digits need for themselves, twice, and not 30 MB
    assert matcher.accept_string(compiled.shortest_completion(matcher._fresh()))
    assert matcher.is_completed()


def test_threads_share_what_was_met() -> None:
    """A source runs while the automaton is locked, and may be interrupted by a thread that waits for the lock."""
    compiled = compile_rules(RuleSet({"root": Sequence((LazyDfa(Multiples(1_000_003)), Literal(b"!")))}, "root"), WORDS)
    batch = np.zeros((4, (WORDS.vocab_size + 31) // 32), dtype=np.int32)

    def run(seed: int) -> int:
        rng = random.Random(seed)
        matchers = [cd.GrammarMatcher(compiled) for _ in range(4)]
        for _ in range(sized(60, 8)):
            for matcher in matchers:
                assert matcher.accept_token(rng.randrange(0x30, 0x3A))
            if seed % 2:
                cd.BatchGrammarMatcher(2).batch_fill_next_token_bitmask(matchers, batch.copy())
        return sum(matcher.accept_string(matcher.shortest_completion()) for matcher in matchers)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(run, range(8))) == [4] * 8
    finally:
        sys.setswitchinterval(before)


def test_captures_and_copies() -> None:
    number = Capture("number", LazyDfa(Multiples(1_000_003)))
    rules = RuleSet({"root": Repeat(Sequence((number, Literal(b";"))), 1, None)}, "root")
    tracker = CaptureTracker(rules)
    found = tracker.feed(b"2000006;1000003;")
    assert [(span.start, span.end) for span in found] == [(0, 7), (8, 15)]
    assert not tracker.feed(b"7;") and not tracker.alive
    again = pickle.loads(pickle.dumps(compile_rules(from_flat(to_flat(rules)), BYTES)))
    state = again.advance(again.start_state, b"1000003;")
    assert again.is_complete(state)
    assert "LazyDfa(Multiples(size=1000003" in show(rules)


def test_beside_what_must_not_come_twice() -> None:
    item = LazyDfa(Multiples(1_000_003))
    body = Sequence((Literal(b"["), item, Repeat(Sequence((Literal(b","), item)), 0, None), Literal(b"]")))
    compiled = compile_rules(RuleSet({"root": Distinct(body)}, "root"), BYTES)
    assert compiled.is_complete(compiled.advance(compiled.start_state, b"[1000003,2000006]"))
    assert not compiled.advance(compiled.start_state, b"[1000003,1000003]")
    assert not compiled.advance(compiled.start_state, b"[1000004,")


def test_what_cannot_stand_beside_it() -> None:
    lazy = LazyDfa(Multiples(1_000_003))
    guard = NotFollowedBy(ByteDfa((((0x61, 0x61, 1),), ()), frozenset((1,))))
    for rules in ({"root": Sequence((lazy, guard, Literal(b"!")))},
                  {"root": Choice((Sequence((Reference("root"), Literal(b"+"), lazy)), lazy))}):
        with pytest.raises(GrammarError, match="built as it is met"):
            compile_rules(RuleSet(rules, "root"), BYTES)
    no_seven = cd.TokenizerInfo.from_bytes([*(bytes((b,)) for b in range(256) if b != 0x37), b"<e>"],
                                           stop_token_ids=[255], special_token_ids=[255])
    with pytest.raises(GrammarError, match="cannot spell"):
        compile_rules(RuleSet({"root": lazy}, "root"), no_seven)
    letters = cd.TokenizerInfo.from_bytes([*(bytes((b,)) for b in b"0123456789!"), b"<e>"],
                                          stop_token_ids=[11], special_token_ids=[11])
    compiled = compile_rules(RuleSet({"root": Sequence((CharClass(((0x21, 0x7E),)), lazy))}, "root"), letters)
    assert compiled.is_complete(compiled.advance(compiled.start_state, b"!1000003"))
