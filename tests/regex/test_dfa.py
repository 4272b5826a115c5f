"""Boolean operations on automata against the same operations on verdicts."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.errors import GrammarLimitError
from constrained.limits import Limits
from constrained.regex import parse_python
from constrained.regex.charset import ANY
from constrained.regex.determinise import determinise
from constrained.regex.dfa import (
    DEAD,
    Dfa,
    any_text,
    complement,
    intersection,
    is_empty,
    minimise,
    of_lengths,
    of_texts,
    topological_order,
    trimmed,
    union,
)
from tests.regex.patterns import small_texts

LIMITS = Limits()
TEXTS = [*small_texts(4, 2), "é", "aé", "漢b", "😀"]
PATTERNS = ["", "a*", "[ab]+", "(?:ab|é)*",
            ".", "a.b", "(?!ab).*", "[^a]*", "b{2,3}", ".*a", "(?=.*b)a.*", "a|", "漢?b"]
SOME = st.sampled_from(PATTERNS)


def automaton(pattern: str) -> Dfa:
    return determinise(parse_python(pattern), LIMITS)


def language(dfa: Dfa) -> set[str]:
    return {text for text in TEXTS if dfa.accepts(text)}


def matches(pattern: str) -> set[str]:
    return {text for text in TEXTS if re.fullmatch(pattern, text)}


@given(SOME, SOME)
def test_operations(left: str, right: str) -> None:
    a, b = automaton(left), automaton(right)
    assert language(a) == matches(left)
    assert language(intersection(a, b, LIMITS)) == matches(left) & matches(right)
    assert language(union(a, b, LIMITS)) == matches(left) | matches(right)
    assert language(complement(a)) == set(TEXTS) - matches(left)
    assert is_empty(intersection(a, complement(a), LIMITS))
    assert len(minimise(union(a, complement(a), LIMITS)).rows) == 1


@given(SOME, SOME)
def test_least_automata_of_one_language_are_equal_in_size(left: str, right: str) -> None:
    a, b = automaton(left), automaton(right)
    once = minimise(union(a, b, LIMITS))
    other = minimise(complement(intersection(complement(b), complement(a), LIMITS)))
    assert (len(once.rows), len(once.classes)) == (len(other.rows), len(other.classes))
    assert language(once) == language(other)


@pytest.mark.parametrize(("pattern", "states", "classes"), [
    ("a", 2, 2), ("[ab]*", 1, 2), ("(?:a|b|c)(?:a|b|c)", 3, 2), ("a*b|a*c", 2, 3), ("(?:aa)*|a(?:aa)*", 1, 2),
    (r"(?s:.*)", 1, 1),
    ("(?:a|b)*a(?:a|b){3}", 16, 3), ("(?=a)b", 1, 1),
])  # fmt: skip
def test_least_sizes(pattern: str, states: int, classes: int) -> None:
    least = minimise(automaton(pattern))
    assert (len(least.rows), len(least.classes)) == (states, classes)


def test_bytes_are_those_of_the_encoded_text() -> None:
    for pattern in PATTERNS:
        dfa = minimise(automaton(pattern))
        rows, accepting = dfa.to_bytes()
        for text in TEXTS:
            state = 0
            for byte in text.encode():
                state = next((target for low, high, target in rows[state] if low <= byte <= high), DEAD)
                if state == DEAD:
                    break
            assert (state in accepting) == (text in matches(pattern)), (pattern, text)
        for row in rows:
            assert all(0 <= low <= high <= 255 and 0 <= target < len(rows) for low, high, target in row)
            assert all(a[1] < b[0] for a, b in itertools.pairwise(row))
        assert all(rows[state] or state in accepting for state in range(1, len(rows))), "no dead ends"


def test_lengths() -> None:
    for low, high in [(0, None), (0, 0), (2, 3), (3, None), (1, 1)]:
        dfa = of_lengths(low, high, LIMITS)
        assert language(dfa) == {text for text in TEXTS if low <= len(text) and (high is None or len(text) <= high)}
    assert language(any_text()) == set(TEXTS)
    assert is_empty(of_lengths(3, 2, LIMITS))


def test_pattern_with_lengths_that_do_not_fit_is_empty() -> None:
    sevens = automaton("(?:.{7})*")
    assert is_empty(intersection(sevens, of_lengths(8, 13, LIMITS), LIMITS))
    assert not is_empty(intersection(sevens, of_lengths(8, 14, LIMITS), LIMITS))


def test_finite_languages() -> None:
    for finite in (of_texts(["a", "ab", "cab"]), of_lengths(0, 5, Limits())):
        assert topological_order(finite) is not None
    for endless in (of_lengths(2, None, Limits()), any_text()):
        assert topological_order(endless) is None


def test_trimming_keeps_a_start() -> None:
    nothing = trimmed(Dfa((ANY,), ((1,), (1,)), frozenset()))
    assert nothing.rows == ((DEAD,),) and not nothing.accepting and is_empty(nothing)
    assert is_empty(minimise(nothing))
    assert minimise(complement(nothing)).rows == ((0,),)
    assert nothing.to_bytes() == (((),), frozenset())


def test_products_are_bounded() -> None:
    a, b = automaton("(?:a{5})*"), automaton("(?:a{7})*")
    assert len(intersection(a, b, Limits(max_dfa_states=35)).rows) == 35
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        intersection(a, b, Limits(max_dfa_states=34))
    assert len(of_lengths(9, 9, Limits(max_dfa_states=10)).rows) == 10
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        of_lengths(10, 10, Limits(max_dfa_states=10))


def test_states_over_bytes_are_bounded() -> None:
    dfa = automaton(r"\w{9}")
    states = len(dfa.to_bytes()[0])
    assert states > 8 * 100
    dfa.to_bytes(limits=Limits(max_dfa_states=-(-states // 8)))
    with pytest.raises(GrammarLimitError, match="over bytes"):
        dfa.to_bytes(limits=Limits(max_dfa_states=states // 8 - 1))
