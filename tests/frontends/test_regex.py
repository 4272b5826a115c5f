"""``from_regex`` against ``re.fullmatch``, and the regex cases of the shared data."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from constrained.errors import ConstrainedError, GrammarLimitError, RegexError, UnsatisfiableGrammarError
from constrained.frontends.regex import byte_dfa, from_regex, pattern_dfa, pattern_tree
from constrained.grammar.ir import ByteDfa, CharClass, Choice, Literal, Repeat, RuleSet, Sequence, walk
from constrained.limits import Limits
from constrained.regex.dfa import intersection, of_lengths
from tests.oracles_regular import accepts, viable
from tests.regex.patterns import TooSlow, impatient, odd_texts, patterns
from tests.shared_data import require_shared, shared_dir


def dfas(rules: RuleSet) -> list[ByteDfa]:
    return [node for node in walk(rules.rules[rules.root]) if isinstance(node, ByteDfa)]


def shape(pattern: str, dialect: str = "python") -> str:
    """The root's kind, to see what became an automaton and what did not."""
    return type(from_regex(pattern, dialect=dialect).rules["root"]).__name__


# -- the language ---------------------------------------------------------------------------------------------------


@settings(max_examples=settings().max_examples * 4)
@given(patterns(), st.lists(odd_texts(), min_size=1, max_size=12))
@example("(?i)[k-s]", ["ſ", "K", "k"])
@example("a$", ["a\n", "a"])
@example(r"(?m)^a$\s^b$", ["a\nb"])
@example("(?:a|ab){2}+", ["aab", "aba"])
def test_the_language_is_that_of_fullmatch(pattern: str, texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compiled = re.compile(pattern)
        except re.error:
            assume(False)
            return
    try:
        rules = from_regex(pattern)
    except UnsatisfiableGrammarError:
        rules = None
    except RegexError as error:
        assert "rounds can be empty" in str(error)
        assume(False)
    for text in texts:
        try:
            with impatient():
                expected = compiled.fullmatch(text) is not None
        except TooSlow:
            continue
        found = rules is not None and accepts(rules, text)
        assert found == expected, (pattern, text)


@given(patterns(), odd_texts())
def test_matches_of_the_pattern_itself(pattern: str, text: str) -> None:
    """Accepted texts are rare among random ones: take what the pattern finds in one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = re.search(pattern, text)
        except re.error:
            assume(False)
            return
    assume(found is not None)
    assert found is not None
    part = found.group()
    assume(re.fullmatch(pattern, part) is not None)
    try:
        assert accepts(from_regex(pattern), part)
    except RegexError as error:
        assert "rounds can be empty" in str(error)


@given(patterns(), odd_texts())
def test_both_ways_to_an_automaton_agree(pattern: str, text: str) -> None:
    try:
        dfa = pattern_dfa(pattern)
        rules = from_regex(pattern)
    except ConstrainedError:
        assume(False)
        return
    assert dfa.accepts(text) == accepts(rules, text) == accepts(RuleSet({"root": byte_dfa(dfa)}, "root"), text)


# -- what becomes what -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pattern", "kind"), [
    ("abc", "Literal"), ("", "Literal"), ("[a-c]", "CharClass"), ("a|b|[x-z]", "CharClass"), ("ab|c", "Choice"),
    ("ab*", "Sequence"), ("a{1000000}", "Repeat"), ("^abc$", "Literal"), (r"\Aabc\Z", "Literal"),
    ("^a|b$", "CharClass"),
    ("(^ab|c$)", "Choice"), ("(?m)^ab$", "Literal"), ("a++b", "Sequence"), ("[a-z]*+", "Repeat"),
    ("(?>abc)", "Literal"),
    ("(?>a|b)c", "Sequence"), ("(?=)a", "Literal"), ("a(?!x)|b", "Choice"), (r"\bcat\b", "Literal"),
    (r"(?:a\b-?)+", "ByteDfa"),
    ("(?!x).*", "ByteDfa"), ("(?:$|a)*", "ByteDfa"), ("a?^b", "ByteDfa"), ("[a-z]{1,500}(?!x)[xy]", "Sequence"),
])  # fmt: skip
def test_kind_of_the_root(pattern: str, kind: str) -> None:
    assert shape(pattern) == kind


@pytest.mark.parametrize(("pattern", "kind"), [
    ("^abc$", "Literal"), ("^abc", "Sequence"), ("abc", "Sequence"), ("", "Repeat"), ("^a|b$", "Choice"),
    ("^(a|bc)$", "Choice"), ("^(|a|bc)$", "Choice"), ("(^a|,b)c($|;)", "Sequence"), ("^(?:[^,]|$)", "Choice"),
    ("^(?:(?:ab)?)$", "Repeat"), ("(^a)?b", "Sequence"), ("^(?!a)b", "ByteDfa"), ("^(?:a($|/))*$", "ByteDfa"),
])  # fmt: skip
def test_kind_of_the_root_in_ecma(pattern: str, kind: str) -> None:
    assert shape(pattern, "ecma") == kind


def test_counts_are_never_written_out() -> None:
    root = from_regex("[a-z]{1,100000}(?:xy){7}").rules["root"]
    assert isinstance(root, Sequence)
    first, second = root.items
    assert isinstance(first, Repeat) and (first.minimum, first.maximum) == (1, 100000)
    assert isinstance(first.body, CharClass) and isinstance(second, Repeat) and isinstance(second.body, Literal)


def test_a_counted_beginning_stays_outside() -> None:
    rules = from_regex("[a-z]{1,100000}(?![x-z])[w-z]")
    assert len(dfas(rules)[0].transitions) == 2
    assert accepts(rules, "abw") and not accepts(rules, "abx")
    assert shape("[a-z]{1,500}(?<!x)y") == "ByteDfa"  # the look-behind sees into it


def test_options_are_cut_apart() -> None:
    root = from_regex(r"abc|(?!xx)[xy]+|[0-9]{1,9999}").rules["root"]
    assert isinstance(root, Choice)
    assert sorted(type(option).__name__ for option in root.options) == ["ByteDfa", "Literal", "Repeat"]
    assert isinstance(from_regex("abc|a^b").rules["root"], Literal)


def test_typical_look_aheads_stay_small() -> None:
    password = from_regex(r"^(?=.*[A-Z])(?=.*\d)[A-Za-z\d]{8,64}$", dialect="ecma")
    assert len(dfas(password)[0].transitions) == 252
    mail = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
    assert len(dfas(from_regex(mail))[0].transitions) == 8


def test_automata_have_no_dead_ends() -> None:
    rules = from_regex(r"(?=.*é)(?!.*ab)[abé]{2,4}")
    (dfa,) = dfas(rules)
    living = set(dfa.accepting)
    while True:
        more = {state for state, row in enumerate(dfa.transitions) if any(target in living for *_, target in row)}
        if more <= living:
            break
        living |= more
    assert living == set(range(len(dfa.transitions)))
    assert viable(rules, b"\xc3") and not viable(rules, b"ab") and not viable(rules, b"aaaa")


def test_empty_languages() -> None:
    for pattern in ["a^b", "[^\\s\\S]", "(?!a)a", r"foo\bbar", "(?>a+)a", "a++a", r"\ud800", "(?=b)a|(?<=x)y", "a(?!)"]:
        with pytest.raises(UnsatisfiableGrammarError, match="no text matches"):
            from_regex(pattern)
    assert not pattern_dfa("a^b").accepting


def test_combining_with_lengths() -> None:
    dfa = intersection(pattern_dfa("^(ab)+$", dialect="ecma"), of_lengths(3, 5, Limits()), Limits())
    assert [n for n in range(9) if dfa.accepts("ab" * n)] == [2]


def test_unknown_dialect() -> None:
    with pytest.raises(ValueError, match="dialect"):
        from_regex("a", dialect="pcre")
    with pytest.raises(ValueError, match="dialect"):
        pattern_tree("a", dialect="")


def test_limits_are_handed_down() -> None:
    for pattern, limits, field in [
        ("aaaa", Limits(max_source_chars=3), "max_source_chars"),
        ("((a))", Limits(max_nesting=1), "max_nesting"),
        ("a{5}", Limits(max_repeat=4), "max_repeat"),
        ("(?=.{9}b).*", Limits(max_dfa_states=5), "max_dfa_states"),
    ]:
        for dialect in ("python", "ecma"):
            with pytest.raises(GrammarLimitError) as caught:
                from_regex(pattern, dialect=dialect, limits=limits)
            assert caught.value.limit == field


# -- shared data -------------------------------------------------------------------------------------------------


def load(name: str) -> list[dict[str, Any]]:
    directory = shared_dir()
    if directory is None:
        return []
    lines = (directory / "data" / name).read_text(encoding="utf-8").strip().split("\n")
    return [case for case in map(json.loads, lines) if case["kind"] == "regex"]


def values(case: dict[str, Any], key: str) -> list[str]:
    """The texts under ``key``; long ones are given as expressions of the shared suite's own small language."""
    listed = list(case.get(key, []))
    if f"{key}_gen" in case:
        listed += eval(case[f"{key}_gen"], {"__builtins__": {}}, {"range": range})
    return listed


CASES = load("cases/cases.jsonl")
HOSTILE = load("adversarial/adversarial.jsonl")


def test_the_shared_cases_are_here() -> None:
    require_shared()
    assert len(CASES) >= 9
    assert len(HOSTILE) >= 40


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    if case.get("invalid"):
        with pytest.raises(RegexError, match="position"):
            from_regex(case["input"])
        return
    rules = from_regex(case["input"])
    assert [text for text in case["accept"] if not accepts(rules, text)] == []
    assert [text for text in case["reject"] if accepts(rules, text)] == []


#: Larger than the plain oracle can take; the engine runs them.
TOO_LARGE_FOR_THE_ORACLE = {"rx-opt-1000"}


@pytest.mark.parametrize("case", HOSTILE, ids=[case["id"] for case in HOSTILE])
def test_hostile_case(case: dict[str, Any]) -> None:
    source = eval(case["generator"], {"__builtins__": {}}, {"range": range}) if "generator" in case else case["input"]
    try:
        rules = from_regex(source)
    except ConstrainedError as error:
        assert case["expect"] in ("error", "ok-or-error"), error
        assert len(str(error)) <= 2000
        assert type(error) is not ConstrainedError
        return
    assert case["expect"] in ("ok", "ok-or-error")
    if case["id"] in TOO_LARGE_FOR_THE_ORACLE:
        return
    assert [text[:50] for text in values(case, "accept") if not accepts(rules, text)] == []
    assert [text[:50] for text in values(case, "reject") if accepts(rules, text)] == []
