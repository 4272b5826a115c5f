"""``TokenBudget`` against its definition: every token of small vocabularies, along random texts of random grammars.

The reference is a plain nondeterministic automaton over bytes: within a text with a budget its states carry how many
tokens have something of it, and whether the token that is being read has; when the budget is used up, a byte must lead
nearer to the text's end.
"""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest

import constrained as cd
from constrained.engine.text_until import text_until
from constrained.frontends.ebnf import from_ebnf
from constrained.grammar import combinators as make
from constrained.grammar.ir import (
    AnyTextUntil,
    ByteDfa,
    Choice,
    Distinct,
    Expr,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    TokenBudget,
)
from constrained.grammar.show import show

END = AnyTextUntil((b"</t>",))


def vocabulary(texts: list[bytes]) -> cd.TokenizerInfo:
    return cd.TokenizerInfo.from_bytes([*texts, b"<end>"], stop_token_ids=[len(texts)], special_token_ids=[len(texts)])


class Threads:
    """Live states after some tokens; see the module docstring."""

    def __init__(self, expr: Expr) -> None:
        self.edges: list[list[tuple[int, int, int]]] = []
        self.epsilon: list[list[int]] = []
        self.texts: list[list[tuple[Any, list[int], int, int]]] = []  # at a place: (dfa, distances, budget, behind)
        start, end = self.place(), self.place()
        self.spell(expr, start, end)
        self.end = end
        self.live = self.closed({(start,)})

    def place(self) -> int:
        self.edges.append([])
        self.epsilon.append([])
        self.texts.append([])
        return len(self.edges) - 1

    def spell(self, expr: Expr, start: int, end: int) -> None:
        if isinstance(expr, Literal):
            for number, byte in enumerate(expr.data):
                to = end if number == len(expr.data) - 1 else self.place()
                self.edges[start].append((byte, byte, to))
                start = to
            if not expr.data:
                self.epsilon[start].append(end)
        elif isinstance(expr, Sequence):
            for number, item in enumerate(expr.items):
                to = end if number == len(expr.items) - 1 else self.place()
                self.spell(item, start, to)
                start = to
        elif isinstance(expr, Choice):
            for option in expr.options:
                here = self.place()
                self.epsilon[start].append(here)
                self.spell(option, here, end)
        elif isinstance(expr, Repeat):
            assert (expr.minimum, expr.maximum) == (0, None)
            here = self.place()
            self.epsilon[start].append(here)
            self.epsilon[here].append(end)
            self.spell(expr.body, here, here)
        else:
            assert isinstance(expr, TokenBudget)
            text = expr.text
            dfa = spelled(text if isinstance(text, ByteDfa) else text_until(text.stops, text.consume, text.excludes,
                                                                            None))
            here = self.place()
            self.epsilon[start].append(here)
            self.texts[here].append((dfa, distances(dfa), expr.maximum, end))

    def closed(self, states: set[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
        stack, seen = list(states), set(states)
        while stack:
            state = stack.pop()
            found: list[tuple[Any, ...]] = []
            if len(state) == 1:
                found += [(to,) for to in self.epsilon[state[0]]]
                found += [(state[0], number, 0, 0, False) for number in range(len(self.texts[state[0]]))]
            else:
                place, number, at, _, _ = state
                dfa, _, _, behind = self.texts[place][number]
                if at in dfa.accepting:
                    found.append((behind,))
            for one in found:
                if one not in seen:
                    seen.add(one)
                    stack.append(one)
        return seen

    def after(self, token: bytes) -> set[tuple[Any, ...]]:
        live = self.live
        for byte in token:
            found: set[tuple[Any, ...]] = set()
            for state in live:
                if len(state) == 1:
                    found |= {(to,) for lo, hi, to in self.edges[state[0]] if lo <= byte <= hi}
                    continue
                place, number, at, count, _ = state
                dfa, left, most, _ = self.texts[place][number]
                for lo, hi, to in dfa.transitions[at]:
                    if lo <= byte <= hi and left[to] >= 0 and (count < most or left[to] < left[at]):
                        found.add((place, number, to, count, True))
            live = self.closed(found)
        counted = set()
        for state in live:
            if len(state) > 1:
                place, number, at, count, touched = state
                state = (place, number, at, min(count + touched, self.texts[place][number][2]), False)
            counted.add(state)
        return counted


def spelled(dfa: ByteDfa) -> ByteDfa:
    """With the bytes that the vocabularies have."""
    rows = [tuple((byte, byte, to) for lo, hi, to in row for byte in range(lo, hi + 1) if byte in BYTES)
            for row in dfa.transitions]
    return ByteDfa(tuple(rows), dfa.accepting)


def distances(dfa: ByteDfa) -> list[int]:
    left = [-1] * len(dfa.transitions)
    waiting = deque(dfa.accepting)
    for state in dfa.accepting:
        left[state] = 0
    while waiting:
        state = waiting.popleft()
        for other, row in enumerate(dfa.transitions):
            if left[other] < 0 and any(to == state for _, _, to in row):
                left[other] = left[state] + 1
                waiting.append(other)
    return left


def check(expr: Expr, texts: list[bytes], rng: random.Random, steps: int = 25) -> int:
    """Walk at random, comparing masks and steps; how many budgets were seen used up."""
    info = vocabulary(texts)
    rules = from_ebnf(show(RuleSet({"root": expr}, "root")))  # printed and read again
    matcher = cd.GrammarMatcher(cd.GrammarCompiler(info).compile_grammar(cd.Grammar(rules)))
    reference = Threads(expr)
    used_up = 0
    for _ in range(steps):
        allowed = matcher.allowed_token_ids()
        wanted = [i for i, text in enumerate(texts) if reference.after(text)]
        assert [i for i in allowed if i < len(texts)] == wanted
        assert matcher.is_completed() == ((reference.end,) in reference.live)
        used_up += any(len(s) > 1 and s[3] == reference.texts[s[0]][s[1]][2] for s in reference.live)
        if not wanted:
            break
        token = rng.choice(wanted)
        assert matcher.accept_token(token)
        reference.live = reference.after(texts[token])
    return used_up


PIECES = [b"a", b"b", b"<", b"/", b"t", b">", b"\xc3", b"\xa9", b"ab", b"</", b"t>", b"</t>", b"a</", b"t>b", b"ba<",
          b">a", b"</t></t>", b"\xa9a", b"aab", b"bb<"]


BYTES = {piece[0] for piece in PIECES[:8]}


def random_text(rng: random.Random) -> AnyTextUntil | ByteDfa:
    if rng.random() < 0.6:
        stops = tuple(rng.sample([b"</t>", b"b", b"aab", b"ab", b"\xc3\xa9", b"bb"], rng.randint(1, 2)))
        stops = tuple(s for s in stops if not any(o != s and o in s for o in stops))
        return AnyTextUntil(stops, rng.random() < 0.7, tuple(rng.sample([b"ba", b"<b"], rng.randint(0, 1))))
    while True:
        size = rng.randint(2, 5)
        rows = []
        for _ in range(size):
            letters = sorted(rng.sample([97, 98, 60], rng.randint(1, 3)))
            rows.append(tuple((letter, letter, rng.randrange(size)) for letter in letters))
        dfa = ByteDfa(tuple(rows), frozenset(rng.sample(range(size), rng.randint(1, 2))))
        if distances(dfa)[0] >= 0:
            return dfa


def random_grammar(rng: random.Random, depth: int) -> Expr:
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return TokenBudget(random_text(rng), rng.randint(1, 3)) if rng.random() < 0.6 else Literal(
            rng.choice([b"a", b"b", b"ab", b"</t>", b"<a"]))
    if kind < 0.7:
        return Sequence(tuple(random_grammar(rng, depth - 1) for _ in range(rng.randint(2, 3))))
    if kind < 0.9:
        return Choice(tuple(random_grammar(rng, depth - 1) for _ in range(2)))
    return Repeat(Sequence((Literal(b"a"), random_grammar(rng, depth - 1))), 0, None)


@pytest.mark.parametrize("seed", range(10))
def test_random_grammars(seed: int) -> None:
    rng = random.Random(seed)
    seen = 0
    for _ in range(12):
        expr = random_grammar(rng, 2)
        for _ in range(3):
            seen += check(expr, sorted(rng.sample(PIECES[8:], 7)) + PIECES[:8], rng)
    assert seen > 20


def matcher_of(expr: Expr, texts: list[bytes]) -> cd.GrammarMatcher:
    return cd.GrammarMatcher(cd.GrammarCompiler(vocabulary(texts)).compile_grammar(
        cd.Grammar(RuleSet({"root": expr}, "root"))))


def accept(matcher: cd.GrammarMatcher, texts: list[bytes], *tokens: bytes) -> list[bool]:
    return [matcher.accept_token(texts.index(token)) for token in tokens]


def test_the_end_is_written_exactly_when_the_budget_is_used_up() -> None:
    texts = PIECES
    matcher = matcher_of(Sequence((TokenBudget(END, 3), Literal(b"b"))), texts)
    assert accept(matcher, texts, b"a", b"b", b"ba<") == [True] * 3
    assert [texts[i] for i in matcher.allowed_token_ids()] == [b"/"]
    assert matcher.find_jump_forward_string() == "/t>b"
    assert accept(matcher, texts, b"a", b"/", b"t>b") == [False, True, True]
    assert matcher.is_completed()
    # a character that has been begun is completed first
    matcher.reset()
    assert accept(matcher, texts, b"a", b"b", b"\xc3") == [True] * 3
    assert [texts[i] for i in matcher.allowed_token_ids()] == [b"\xa9"]
    assert accept(matcher, texts, b"\xa9", b"a", b"</t>", b"b") == [True, False, True, True]


def test_rollback_and_forks_take_the_count_along() -> None:
    texts = PIECES
    matcher = matcher_of(TokenBudget(END, 2), texts)
    assert accept(matcher, texts, b"a", b"a", b"a") == [True, True, False]
    other = matcher.fork()
    matcher.rollback(1)
    assert accept(matcher, texts, b"b", b"b") == [True, False]
    assert accept(other, texts, b"a", b"</t>") == [False, True]


def test_text_given_as_a_string_counts_as_one_token() -> None:
    texts = PIECES
    matcher = matcher_of(TokenBudget(END, 2), texts)
    assert matcher.accept_string("abab") and matcher.accept_string("ab")
    assert not matcher.accept_string("a") and matcher.accept_string("</t>")


def test_a_second_text_begins_at_zero() -> None:
    texts = PIECES
    one = Sequence((TokenBudget(END, 2), Literal(b"b")))
    matcher = matcher_of(Repeat(one, 0, None), texts)
    for _ in range(3):
        assert accept(matcher, texts, b"a", b"a", b"a", b"</t>", b"b") == [True, True, False, True, True]


def test_left_recursion_keeps_the_budget() -> None:
    texts = PIECES
    matcher = matcher_of(Choice((Sequence((Reference("root"), TokenBudget(END, 1))), Literal(b"a"))), texts)
    assert accept(matcher, texts, b"a", b"b", b"b", b"</t>", b"b", b"b") == [True, True, False, True, True, False]


def test_large_budgets_on_wide_text() -> None:
    texts = PIECES
    matcher = matcher_of(TokenBudget(END, 5000), texts)
    for _ in range(5000):
        assert matcher.accept_token(0)
    assert not matcher.accept_token(0)
    assert matcher.accept_token(texts.index(b"</t>"))


def test_what_is_refused() -> None:
    with pytest.raises(cd.GrammarError, match="NotFollowedBy"):
        matcher_of(Sequence((TokenBudget(END, 2), Literal(b"a"),
                             NotFollowedBy(ByteDfa((((97, 97, 1),), ()), frozenset([1]))))), PIECES)
    for wrong in (0, -1, True, 1.5, 1 << 28):
        with pytest.raises(cd.GrammarError, match="token budget is an int"):
            make.token_budget(END, wrong)  # type: ignore[arg-type]
    with pytest.raises(cd.GrammarError, match="is for AnyTextUntil"):
        make.token_budget(Literal(b"a"), 1)  # type: ignore[arg-type]
    for text in ('root ::= TokenBudget("a")', 'root ::= TokenBudget(maximum=0, "a")',
                 "root ::= TokenBudget(maximum=1)"):
        with pytest.raises(cd.GrammarSyntaxError):
            from_ebnf(text)


def test_beside_arrays_of_different_items() -> None:
    texts = [bytes([byte]) for byte in range(256)] + [b"ab", b"</t>", b'["']
    item = make.sequence('"', make.repeat(make.char_class("ab"), 0), '"')
    array = Distinct(make.sequence("[", item, make.repeat(make.sequence(",", item), 0), "]"))
    matcher = matcher_of(Sequence((TokenBudget(END, 2), array)), texts)
    assert accept(matcher, texts, b"a", b"ab", b"ab", b"</t>", b'["', b"a", b'"', b",", b'"', b"a") == [
        True, True, False, *[True] * 7]
    assert accept(matcher, texts, b'"', b"b", b'"', b"]") == [False, True, True, True]
    assert matcher.is_completed()
    matcher.reset()
    assert matcher.accept_string("aba") and matcher.accept_string("b") and not matcher.accept_string("a")
