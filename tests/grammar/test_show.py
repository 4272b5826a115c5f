from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.frontends.ebnf import from_ebnf
from constrained.grammar import combinators as make
from constrained.grammar.combinators import ExprLike
from constrained.grammar.ir import Choice, Expr, Literal, RuleSet, TokenReference
from constrained.grammar.show import rule_names, show
from tests.oracles import Recogniser
from tests.strategies import FEWER, rule_sets, texts


@FEWER
@given(st.data())
def test_a_printed_grammar_has_the_same_language(data: st.DataObject) -> None:
    grammar = data.draw(rule_sets())
    printed = show(grammar)
    again = from_ebnf(printed)
    first, second = Recogniser(grammar), Recogniser(again)
    for _ in range(4):
        text = data.draw(texts(grammar))
        assert first.accepts(text) == second.accepts(text), printed
        assert first.is_viable_prefix(text) == second.is_viable_prefix(text), printed


@given(rule_sets())
def test_printing_what_was_read_is_a_fixed_point(grammar: RuleSet) -> None:
    once = show(from_ebnf(show(grammar)))
    assert show(from_ebnf(once)) == once


@pytest.mark.parametrize(
    ("expr", "printed"),
    [
        (make.literal("a\"\\\n\x00é\u200b"), r'"a\"\\\n\x00é\u200b"'),
        (make.literal(b"\xff\xfe\""), r'Bytes("\xff\xfe\"")'),
        (make.char_class("a-z0"), "[0a-z]"),
        (make.char_class("-^\\]"), r"[\-\]\^]"),
        (make.char_class("a-z", negated=True), "[^a-z]"),
        (make.char_class(""), "[]"),
        (make.any_char(), "."),
        (make.nothing(), "[]"),
        (make.empty(), '""'),
        (make.repeat("ab", 2, 3), '"ab"{2,3}'),
        (make.repeat("ab", 2), '"ab"{2,}'),
        (make.repeat("ab", 2, 2), '"ab"{2}'),
        (make.repeat(make.repeat("ab", 2, 2), 3, 3), '("ab"{2}){3}'),
        (make.optional(make.choice("a", "b")), '("a" | "b")?'),
        (make.sequence(make.choice("a", "b"), "c"), '("a" | "b") "c"'),
        (make.token(7), "<[7]>"),
        (make.token("<|eot|>", exclude=True), "!<|eot|>"),
        (make.token("[INST]"), 'Token("[INST]")'),
        (make.token(1, "<a>", exclude=True), 'ExcludeToken(1, "<a>")'),
        (TokenReference((), True), "ExcludeToken()"),
        (make.any_text_until("</a>", "\n"), r'AnyTextUntil("</a>", "\n")'),
        (make.any_text_until("x", consume=False), 'AnyTextUntil("x", consume=false)'),
        (make.any_text_until(consume=False), "AnyTextUntil(consume=false)"),
    ],
)
def test_each_node(expr: Expr, printed: str) -> None:
    grammar = make.rule_set(make.choice("!", make.sequence(expr, "?")) if printed == "[]" else expr)
    text = show(grammar)
    assert printed in text
    assert show(from_ebnf(text)) == text


def test_names_that_the_notation_cannot_write() -> None:
    rules: dict[str, ExprLike] = {"#/$defs/a b": make.reference("ü"), "ü": make.literal("x"), "_": make.literal("y")}
    grammar = make.rule_set(rules, "#/$defs/a b")
    names = rule_names(grammar)
    assert len(set(names.values())) == 3
    assert names["_"] == "_"
    again = from_ebnf(show(grammar), root=names[grammar.root])
    assert Recogniser(again).accepts(b"x")


def test_shared_expressions_are_printed_once() -> None:
    expr: Expr = Choice((Literal(b"a"), Literal(b"")))
    for _ in range(60):
        expr = make.sequence(expr, "b", expr)
    text = show(make.rule_set(expr))
    assert len(text) < 4000
    assert Recogniser(from_ebnf(text)).is_viable_prefix(b"aba")


def test_long_alternatives_go_below_each_other() -> None:
    text = show(make.rule_set(make.choice(*(f"option number {i}" for i in range(20)))))
    assert text.count("\n") == 21
    assert all(len(line) < 100 for line in text.splitlines())


def test_deep_trees_do_not_recurse() -> None:
    expr: Expr = make.literal("a")
    for _ in range(50_000):
        expr = Choice((make.sequence("(", expr, ")"), Literal(b"b")))
    assert len(show(make.rule_set(expr))) > 50_000
