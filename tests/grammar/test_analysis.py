from __future__ import annotations

import pytest
from hypothesis import given

from constrained.errors import UnsatisfiableGrammarError
from constrained.frontends.ebnf import from_ebnf
from constrained.grammar import combinators as make
from constrained.grammar.analysis import analyse, require_productive
from constrained.grammar.ir import AnyTextUntil, ByteDfa, Choice, Expr, Literal, Reference, Repeat, RuleSet, Sequence
from tests.oracles import Recogniser
from tests.strategies import rule_sets

GRAMMAR = r"""
root ::= a b? | dead
a    ::= "x" | a a
b    ::= c*
c    ::= [^\x00-\U0010FFFF]
dead ::= "(" dead ")"
lost ::= a lost2
lost2 ::= ""
"""


def test_report_and_warnings() -> None:
    report = analyse(from_ebnf(GRAMMAR))
    assert report.unproductive == ("c", "dead")
    assert report.unreachable == ("lost", "lost2")
    assert report.nullable == ("b", "lost2")
    warnings = report.warnings()
    assert len(warnings) == 4
    assert "'dead' can never be completed" in warnings[1]
    assert "'lost' is never used" in warnings[2]


@given(rule_sets())
def test_the_same_as_the_oracle(grammar: RuleSet) -> None:
    recogniser = Recogniser(grammar)
    report = analyse(grammar)
    assert {name for name in grammar.rules if name not in recogniser.productive} == set(report.unproductive)
    assert {name for name in grammar.rules if name in recogniser.nullable} == set(report.nullable)


@pytest.mark.parametrize(
    ("expr", "productive", "nullable"),
    [
        (Sequence(()), True, True),
        (Choice(()), False, False),
        (Repeat(Choice(()), 0, 3), True, True),
        (Repeat(Choice(()), 1, 3), False, False),
        (Repeat(Literal(b""), 5, 5), True, True),
        (make.char_class(""), False, False),
        (make.token(3), True, False),
        (AnyTextUntil((b"x",), True), True, False),
        (AnyTextUntil((b"x",), False), True, True),
        (ByteDfa((((97, 97, 1),), ()), frozenset({1})), True, False),
        (ByteDfa((((97, 97, 1),), ()), frozenset({0})), True, True),
        (ByteDfa((((97, 97, 0),), ()), frozenset({1})), False, False),
    ],
)
def test_each_node(expr: Expr, productive: bool, nullable: bool) -> None:
    report = analyse(RuleSet({"root": expr}, "root"))
    assert (report.unproductive == ()) == productive
    assert (report.nullable == ("root",)) == nullable


def test_an_unproductive_root_is_refused_and_named() -> None:
    grammar = make.rule_set({"root": make.sequence("a", make.reference("x")), "x": make.reference("root"),
                             "other": make.reference("other")})
    with pytest.raises(UnsatisfiableGrammarError) as caught:
        require_productive(grammar)
    assert "'root', 'x'" in str(caught.value)
    assert "other" not in str(caught.value)


def test_chains_of_rules_and_deep_trees_are_linear() -> None:
    count = 100_000
    rules: dict[str, Expr] = {f"r{i}": Reference(f"r{i + 1}") for i in range(count)}
    rules[f"r{count}"] = Literal(b"")
    deep: Expr = Literal(b"")
    for _ in range(count):
        deep = Sequence((deep,))
    rules["deep"] = deep
    report = analyse(RuleSet(rules, "r0"))
    assert report.unreachable == ("deep",)
    assert report.unproductive == ()
    assert len(report.nullable) == count + 2
