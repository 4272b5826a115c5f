"""Long literals are written apart: a grammar is what it is with each of them cut into short ones."""

from __future__ import annotations

import random
from functools import partial

import pytest

from constrained.engine.build import build_network
from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.engine.lowering import lower
from constrained.errors import GrammarLimitError, UnsatisfiableGrammarError
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
    TokenBudget,
    Unordered,
)
from constrained.kernel.nodes import share
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo
from tests.engine.test_annexes import same
from tests.engine.worlds import byte_vocabulary, sized

STEMS = (b"a", b"abcab", b"abcde", b"abcdef", b"bcabcabcabc" * 3, b"c" * 7)
DEAD = Sequence((Literal(b"no text"), Reference("dead")))


def cut(data: bytes) -> Expr:
    """Four bytes at a time: as many positions, none of them behind a door."""
    return Sequence(tuple([Literal(data[i:i + 4]) for i in range(0, len(data), 4)]))


def grammar(text: type[Literal] | partial[Expr], draw: random.Random) -> RuleSet:
    """Long literals everywhere, made by ``text``; some rules have no text and some call themselves."""
    names = [f"r{i}" for i in range(4)]

    def drawn(depth: int) -> Expr:
        kind = draw.randrange(8 if depth else 2)
        if kind == 0:
            return text(draw.choice(STEMS))
        if kind == 1:
            return Sequence((text(draw.choice(STEMS)), Reference(draw.choice(["dead", *names]))))
        parts = tuple([drawn(depth - 1) for _ in range(draw.randrange(1, 4))])
        if kind == 2:
            return Repeat(parts[0], draw.randrange(2), draw.choice((2, 30, None)))
        if kind == 3:
            return Unordered(tuple([Sequence((text(b"item %d" % i), part)) for i, part in enumerate(parts)]),
                             frozenset([0]) if draw.randrange(2) else frozenset(), text(b" and then "))
        if kind == 4:
            return Sequence((Repeat(CharClass(((97, 99), (200, 900))), 0, None), text(draw.choice(STEMS))))
        return Choice(parts) if kind == 5 else Sequence(parts)

    rules = {name: drawn(2) for name in names}
    return RuleSet({**rules, "dead": Sequence((text(b"nothing"), Reference("dead"))), "root": Choice((
        Sequence((text(b"the beginning"), Reference("r0"), text(b"the end"))), Reference("r1")))}, "root")


def texts(compiled: CompiledGrammar, draw: random.Random) -> list[bytes]:
    found = []
    for _ in range(sized(6, 2)):
        state, text = compiled.start_state, b""
        while len(text) < 60:
            allowed = [token for token in compiled.allowed_ids(state) if token < 256]
            if not allowed:
                break
            byte = bytes([draw.choice(allowed)])
            state, text = compiled.advance(state, byte), text + byte
        found.append(text)
    return found


@pytest.mark.parametrize("part", range(4))
def test_a_grammar_is_the_same_with_its_literals_cut(part: int) -> None:
    for seed in range(sized(60, 2)):
        apart, together = (grammar(text, random.Random(f"{part} {seed}")) for text in (partial(Literal), partial(cut)))
        try:
            one = compile_rules(apart, byte_vocabulary())
        except UnsatisfiableGrammarError:
            with pytest.raises(UnsatisfiableGrammarError):
                compile_rules(together, byte_vocabulary())
            continue
        two = compile_rules(together, byte_vocabulary())
        same(one, two, texts(two, random.Random(seed)))


def test_positions_count_wherever_they_are_written() -> None:
    rules = RuleSet({"root": Literal(b"0123456789" * 20)}, "root")
    assert lower(rules, Limits()).n_positions > 200
    assert build_network(rules, Limits(), lambda reference: frozenset()).size() < 20
    with pytest.raises(GrammarLimitError, match="max_positions"):
        lower(rules, Limits(max_positions=150))


POINT = ByteDfa((((33, 33, 1),), ()), frozenset([1]))
SMALL = ByteDfa((((97, 122, 0),),), frozenset([0]))
LONG = Literal(b"hello world")


@pytest.mark.parametrize(("root", "right", "wrong"), [
    (Choice((Sequence((Reference("root"), LONG)), LONG)), b"hello worldhello world", b"hello worldhello!"),
    (Sequence((LONG, NotFollowedBy(POINT), Repeat(CharClass(((32, 99),)), 0, 9))), b"hello world?!", b"hello world!"),
    (Sequence((TokenBudget(SMALL, 20), LONG)), b"abchello world", b"abchello?"),
])
def test_passes_that_look_into_everything_see_words(root: Expr, right: bytes, wrong: bytes) -> None:
    compiled = compile_rules(RuleSet({"root": root}, "root"), byte_vocabulary())
    state = compiled.advance(compiled.start_state, right)
    assert state and compiled.is_complete(state)
    assert not compiled.advance(compiled.start_state, wrong)


def test_a_word_that_no_token_can_spell_is_cut_out() -> None:
    info = TokenizerInfo.from_bytes([*[bytes([byte]) for byte in b"helo wrd"], b""], special_token_ids=[8],
                                    stop_token_ids=[8])
    compiled = compile_rules(RuleSet({"root": Choice((LONG, Literal(b"hello word"), Literal(b"hello you")))}, "root"),
                             info)
    state = compiled.advance(compiled.start_state, b"hello wor")
    assert compiled.forced_bytes(compiled.start_state) == b"hello wor"
    assert len(compiled.allowed_ids(state)) == 2


def test_many_words_in_a_row_that_lead_nowhere() -> None:
    row = Sequence(tuple([Literal(b"word %06d" % i) for i in range(sized(20_000, 50))] + [CharClass(())]))
    compiled = compile_rules(RuleSet({"root": Choice((row, Literal(b"the only text")))}, "root"), byte_vocabulary())
    assert compiled.forced_bytes(compiled.start_state) == b"the only text"


def test_bytes_of_a_shared_rule_with_a_door_are_told_apart() -> None:
    """The bytes of an image are collected after its program has numbered what is behind doors."""
    either = Choice((Sequence((CharClass(((97, 109),)), Literal(b"1"))),
                     Sequence((CharClass(((110, 122),)), Literal(b"2")))))
    words = Choice(tuple([Literal(b"%c" % (65 + i) * 30) for i in range(5)]))
    for last in (Literal(b"a long word"), words):
        body = Sequence((Literal(b"<"), Choice((either, Literal(b"!"))), last))  # the last is written first
        share(body)
        rules = RuleSet({"shared": body, "root": Repeat(Reference("shared"), 2, 70)}, "root")
        compiled = compile_rules(rules, byte_vocabulary())
        for text, right in [(b"<b1", True), (b"<b2", False), (b"<y2", True), (b"<y1", False)]:
            assert bool(compiled.advance(compiled.start_state, text)) is right
