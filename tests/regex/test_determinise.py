"""Assertions against ``re.fullmatch``: all small patterns on all small texts, and hand-picked hard ones."""

from __future__ import annotations

import os
import random
import re
import warnings
from collections.abc import Callable

import pytest

from constrained.errors import GrammarLimitError, RegexError
from constrained.limits import Limits
from constrained.regex import parse_python
from constrained.regex.charset import contains
from constrained.regex.determinise import determinise
from constrained.regex.dfa import Dfa, minimise
from constrained.regex.rewrite import simplify
from tests.regex.patterns import TooSlow, small_patterns, small_texts, verdicts

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")
TEXTS = small_texts()
LIMITS = Limits()


def runner(dfa: Dfa) -> Callable[[str], bool]:
    """A quick membership test for texts over a, b and newline."""
    column = {char: next(i for i, ranges in enumerate(dfa.classes) if contains(ranges, ord(char))) for char in "ab\n"}

    def accepts(text: str) -> bool:
        state = 0
        for char in text:
            state = dfa.rows[state][column[char]]
            if state < 0:
                return False
        return state in dfa.accepting

    return accepts


def compare(pattern: str, texts: list[str] = TEXTS) -> str:
    """Checks one pattern in three forms; says how it went."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = verdicts(pattern, texts)
        except re.error:
            with pytest.raises(RegexError):
                parse_python(pattern, LIMITS)
            return "invalid"
        except TooSlow:
            return "slow oracle"
    tree = parse_python(pattern, LIMITS)
    try:
        plain = determinise(simplify(tree), LIMITS, pattern)
        raw = determinise(tree, LIMITS, pattern)
    except RegexError as error:
        assert "rounds can be empty" in str(error)
        assert re.search(r"\(\?>|[*+?}]\+", pattern), "only atomic groups are refused"
        return "refused"
    for form in (plain, raw, minimise(plain)):
        accepts = runner(form)
        for text, wanted in zip(texts, expected, strict=True):
            assert accepts(text) == wanted, (pattern, text, wanted)
    return "compared"


def test_small_world() -> None:
    outcomes = [compare(pattern) for size in (1, 2, 3) for pattern in small_patterns(size)]
    assert outcomes.count("compared") > 2000
    assert outcomes.count("slow oracle") == 0


@pytest.mark.skipif(not NIGHTLY, reason="the nightly profile: set CONSTRAINED_NIGHTLY=1")
def test_larger_world() -> None:
    texts = small_texts(6, 4)
    chosen = random.Random(0)
    for pattern in small_patterns(4):
        compare(pattern, texts)
    everything = [list(small_patterns(size)) for size in (1, 2, 3)]
    for _ in range(30_000):
        left, right = (chosen.choice(chosen.choice(everything)) for _ in range(2))
        form = chosen.choice(["{}{}", "(?:{}|{})", "(?:{}{})*", "(?>{}){}", "(?:{})+{}", "(?={}){}", "{}(?<!{})"])
        compare(form.format(left, right), texts)


@pytest.mark.parametrize("pattern", [
    r"(?=.*a)(?=.*b).{2,4}", r"(?:(?=a.*b).)*b", r"((?!ab).)*", r"a(?<=a)b", r"(?>a|ab)(?:b|$)", r"(?:a|ab){2}+",
    r"(?:ab|a){2,}+b", r"(?>a(?=b)|ab)b*", r"a(?<=\ba)b*", r"a(?<=a(?=b))b", r"(?<=(?!ab)a)b?", r"(?!(?!a)b)..",
    r"(?:a(?<!a(?=bb))b?)*", r"(?>(?>a|ab)(?:b|)|a)b?", r"a*?(?>b*?)a", r"(?m)a$\nb?", r"(?m)^a\n^b", r"a$\n?",
    r"(?:\b|a)+b", r"(?=(?:a|(?=b)b)*$)[ab]{3}", r"(?>(?=(a|ab)b)a*)b", r"(?<!(?<!a)b)b*", r"(?>a+(?!b)|a)b",
    r"(?:(?>a*b|a)(?=b|$))*b?", r"(?=(?>a|ab)b)\w*", r"(?!(?>a|ab)$)[ab]*", r"(?>(?>a|b)+?)b", r"(?>a{1,2}){2}b",
])  # fmt: skip
def test_hard_patterns(pattern: str) -> None:
    assert compare(pattern, small_texts(7, 4)) == "compared"


def test_states_are_bounded() -> None:
    tree = parse_python(r"(?=.*a.{5}$)(?=.*b.{4}$).*")
    enough = len(determinise(tree, LIMITS).rows)
    with pytest.raises(GrammarLimitError, match="max_dfa_states") as caught:
        determinise(tree, Limits(max_dfa_states=enough // 2))
    assert caught.value.limit == "max_dfa_states"


def test_limit_on_states_is_exact() -> None:
    tree = parse_python(r"a{10}(?!b)")  # eleven states live, and the one in which a b was read is none
    states = len(determinise(tree, LIMITS).rows)
    determinise(tree, Limits(max_dfa_states=states))
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        determinise(tree, Limits(max_dfa_states=states - 1))


def test_written_out_counts_are_bounded() -> None:
    tree = parse_python(r"(?:(?:a{1,100}){1,100}){1,100}(?=b).")
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        determinise(tree, LIMITS)


def test_steps_are_bounded_too() -> None:
    for pattern in ["(?=a)" * 10_000 + "a", "(?:" + "(?!ab)|" * 3_000 + "a)*"]:
        with pytest.raises(GrammarLimitError, match="max_dfa_states"):
            determinise(parse_python(pattern), Limits(max_dfa_states=2_000))


def test_nested_assertions_have_a_bound() -> None:
    def nested(depth: int) -> str:
        return "(?=a" * depth + ")" * depth + "a*"

    assert determinise(parse_python(nested(32)), LIMITS).accepting
    with pytest.raises(RegexError, match="inside one another") as caught:
        determinise(parse_python(nested(33)), LIMITS, nested(33))
    assert caught.value.position == 4 * 32


def test_refused_atomic_group_names_its_place() -> None:
    pattern = "ab(?>(?:a?b?)*)b"
    with pytest.raises(RegexError, match="rounds can be empty") as caught:
        determinise(parse_python(pattern), LIMITS, pattern)
    assert caught.value.position == 2


@pytest.mark.parametrize("pattern", [
    r"(?!a|ba)[ab]*", r"(?!(?:a|bb)$)[ab]+", r"(?=a)(?!ab)(?=.*b$)[ab\n]*", r"(?!.*bb)(?=.{2,3}$)[^\n]*", r"(?!)a*",
    r"(?=)a*", r"(?=b)a*", r"(?!a*)b", r"(?=(?!a))[ab]*", r"(?!a$)(?:a|b|)",
])  # fmt: skip
def test_look_aheads_at_the_start(pattern: str) -> None:
    assert compare(pattern, small_texts(6, 4)) == "compared"
