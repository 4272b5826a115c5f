"""``Grammar``: ways to make one, equality, combination, printing, analysis."""

from __future__ import annotations

import random

import pytest

import constrained as cd
from constrained.grammar import combinators as make
from constrained.grammars import builtin_names
from tests.engine.worlds import byte_vocabulary, compiled, sized, small_grammar
from tests.oracles import Recogniser


def texts(grammar: cd.Grammar, *candidates: str) -> list[str]:
    """Those of the candidates that the grammar accepts."""
    one = cd.GrammarCompiler(byte_vocabulary()).compile_grammar(grammar)
    return [text for text in candidates if (m := cd.GrammarMatcher(one)).accept_string(text) and m.is_completed()]


def test_sources_agree() -> None:
    words = ["", "a", "ab", "abb", "b", "abbb"]
    want = ["ab", "abb"]
    assert texts(cd.Grammar.from_regex("ab{1,2}"), *words) == want
    assert texts(cd.Grammar.from_ebnf('root ::= "a" "b"{1,2}'), *words) == want
    assert texts(cd.Grammar.from_ebnf(b'start ::= "a" "b"{1,2}', root="start"), *words) == want
    assert texts(cd.Grammar.of(make.sequence("a", make.repeat("b", 1, 2))), *words) == want
    assert texts(cd.Grammar.of({"x": make.sequence("a", make.repeat("b", 1, 2))}, root="x"), *words) == want
    assert texts(cd.Grammar.from_regex("b{1,2}$", dialect="ecma"), "ab", "abb", "a", "ba") == ["ab", "abb"]


def test_builtins_compile() -> None:
    for name in builtin_names():
        grammar = cd.Grammar.builtin(name)
        assert cd.GrammarCompiler(byte_vocabulary()).compile_grammar(grammar).start_state, name
    with pytest.raises(cd.ConstrainedError, match="nothing"):
        cd.Grammar.builtin("nothing")


def test_equality_is_by_rules() -> None:
    one = cd.Grammar.from_ebnf('root ::= "a" x\nx ::= [bc]')
    same = cd.Grammar.from_ebnf('root ::= "a"   x # same\nx ::= [b-c]\n')
    assert one == same and hash(one) == hash(same) and len({one, same}) == 1
    other = cd.Grammar.from_ebnf('root ::= "a" x\nx ::= [bd]')
    assert one != other and one != 'root ::= "a" x'
    assert repr(one) == "<Grammar root='root' rules=2>"


def test_combinations() -> None:
    """Rules of equal names in both parts stay apart."""
    one = cd.Grammar.from_ebnf('root ::= "(" x ")"\nx ::= "a" | root')
    two = cd.Grammar.from_ebnf('root ::= "[" x "]" root?\nx ::= "b"\nroot-2 ::= "c"\nx-2 ::= root-2')
    candidates = ["(a)", "[b]", "(a)[b]", "[b](a)", "((a))[b][b]", "(b)", "[a]", "(a)(a)", ""]
    assert texts(one + two, *candidates) == ["(a)[b]", "((a))[b][b]"]
    assert texts(one | two, *candidates) == ["(a)", "[b]"]
    assert texts(two + one, *candidates) == ["[b](a)"]
    assert texts((one | two) + (one | two), *candidates) == ["(a)[b]", "[b](a)", "((a))[b][b]", "(a)(a)"]
    with pytest.raises(cd.GrammarError, match="not with str"):
        one + "a"  # type: ignore[operator]


def test_random_combinations() -> None:
    for seed in range(sized(40, 8)):
        rng = random.Random(seed)
        one, two = cd.Grammar(small_grammar(rng)), cd.Grammar(small_grammar(rng))
        first, second = Recogniser(one.rules), Recogniser(two.rules)
        either, both = compiled((one | two).rules), compiled((one + two).rules)
        for _ in range(20):
            text = bytes(rng.choices(b"abc,", k=rng.randint(0, 4)))
            state = either.advance(either.start_state, text)
            want = first.accepts(text) or second.accepts(text)
            assert bool(state and either.is_complete(state)) == want, (seed, text)
            state = both.advance(both.start_state, text)
            want = any(first.accepts(text[:i]) and second.accepts(text[i:]) for i in range(len(text) + 1))
            assert bool(state and both.is_complete(state)) == want, (seed, text)


def test_printing_reads_back() -> None:
    for seed in range(sized(60, 15)):
        grammar = cd.Grammar(small_grammar(random.Random(seed)))
        again = cd.Grammar.from_ebnf(str(grammar))
        recogniser = Recogniser(grammar.rules)
        one = compiled(again.rules)
        rng = random.Random(seed)
        for _ in range(20):
            text = bytes(rng.choices(b"abc,", k=rng.randint(0, 5)))
            state = one.advance(one.start_state, text)
            assert bool(state and one.is_complete(state)) == recogniser.accepts(text), (seed, text)


def test_analysis() -> None:
    report = cd.Grammar.from_ebnf('root ::= x | "a"\nx ::= "b" x\ny ::= "c"?').analyse()
    assert set(report.unproductive) == {"x"} and "y" in report.unreachable and "y" in report.nullable
