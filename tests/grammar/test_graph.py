"""``Graph``: the engine, the oracle (over its rules), its printed form and its flat form are one language."""

from __future__ import annotations

import itertools
import random

import pytest

import constrained as cd
from constrained.errors import UnsatisfiableGrammarError
from constrained.frontends.ebnf import from_ebnf
from constrained.grammar.analysis import analyse
from constrained.grammar.flat import from_flat, to_flat
from constrained.grammar.ir import Capture, Choice, Expr, Graph, Literal, Reference, RuleSet, Sequence
from constrained.grammar.show import rule_names, show
from constrained.grammar.unfolded import unfolded
from tests.oracles import Recogniser

TEXTS = [bytes(text) for n in range(7) for text in itertools.product(b"ab", repeat=n)]


def engine(rules: RuleSet) -> cd.CompiledGrammar:
    info = cd.TokenizerInfo.from_bytes([*(bytes([i]) for i in range(256)), b"</s>"], stop_token_ids=256)
    return cd.GrammarCompiler(info).compile_grammar(cd.Grammar(rules))


def random_rules(rng: random.Random) -> RuleSet:
    """Graphs in graphs: edges read letters, short words, nothing, each other's rules."""
    def edge() -> Expr:
        return rng.choice([Literal(b"a"), Literal(b"b"), Literal(b"ab"), Literal(b""), Reference("x"),
                           Sequence((Literal(b"a"), Reference("root"), Literal(b"b")))])

    def graph() -> Graph:
        n = rng.randint(1, 4)
        rows = tuple([tuple([(edge(), rng.randrange(n)) for _ in range(rng.randint(0, 3))]) for _ in range(n)])
        return Graph(rows, frozenset(rng.sample(range(n), rng.randint(1, n))))

    return RuleSet({"root": Choice((graph(), graph())), "x": Sequence((Literal(b"a"), graph()))}, "root")


@pytest.mark.parametrize("seed", range(60))
def test_all_forms_are_one_language(seed: int) -> None:
    rules = random_rules(random.Random(seed))
    expected = {text for text in TEXTS if Recogniser(rules).accepts(text)}
    printed = show(rules)
    assert "Graph" not in printed
    forms = [from_flat(to_flat(rules))]
    try:
        forms.append(from_ebnf(printed, root=rule_names(rules)["root"]))
        compiled = engine(rules)
    except UnsatisfiableGrammarError:
        assert not expected
        return
    for other in forms:
        recogniser = Recogniser(other)
        assert {text for text in TEXTS if recogniser.accepts(text)} == expected
    found = set()
    for text in TEXTS:
        state = compiled.advance(compiled.start_state, text)
        if state and compiled.is_complete(state):
            found.add(text)
    assert found == expected


def test_what_is_said_of_rules_counts_its_states() -> None:
    never = Graph((((Literal(b"a"), 1),), ()), frozenset())
    empty = Graph((((Literal(b"a"), 0),),), frozenset((0,)))
    report = analyse(RuleSet({"root": Choice((Reference("empty"), Reference("never"))), "never": never,
                              "empty": empty}, "root"))
    assert report.unproductive == ("never",)
    assert report.nullable == ("root", "empty")


def test_rules_without_graphs_stay_what_they_are() -> None:
    rules = RuleSet({"root": Literal(b"a")}, "root")
    assert unfolded(rules) is rules


def test_captures_see_through_it() -> None:
    word = Capture("word", Graph((((Literal(b"a"), 0), (Literal(b"b"), 1)), ()), frozenset((1,))))
    compiled = engine(RuleSet({"root": Sequence((Literal(b"<"), word, Literal(b">")))}, "root"))
    matcher = cd.GrammarMatcher(compiled)
    for byte in b"<aab>":
        assert matcher.accept_token(byte)
    assert [(one.name, one.start, one.end) for one in matcher.captures()] == [("word", 1, 4)]
