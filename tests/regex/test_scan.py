"""The first match of several patterns, against ``re`` itself: which pattern, and how much of the text."""

from __future__ import annotations

import random
import re

import pytest

from constrained.errors import GrammarLimitError, RegexError
from constrained.limits import Limits
from constrained.regex.charset import Ranges, contains
from constrained.regex.dfa import DEAD
from constrained.regex.parse_python import parse_python
from constrained.regex.scan import Forbidden, ScanDfa, scan


def letter(classes: tuple[Ranges, ...], char: str) -> int:
    return next(i for i, ranges in enumerate(classes) if contains(ranges, ord(char)))


def is_met(debt: Forbidden, rest: str) -> bool:
    state = 0
    for char in rest:
        state = debt.rows[state][letter(debt.classes, char)]
        if state == DEAD:
            return True
        if state in debt.accepting:
            return False
    return state not in debt.at_end


def matches(automaton: ScanDfa, text: str) -> set[tuple[int, int]]:
    """(pattern, length) of all matches whose debts the rest of the text meets: at most one, if all is right."""
    found = set()
    state = 0
    for at in range(len(text) + 1):
        found |= {(index, at) for index, debt in automaton.ends[state] if is_met(automaton.debts[debt], text[at:])}
        if at < len(text):
            state = automaton.rows[state][letter(automaton.classes, text[at])]
            if state == DEAD:
                break
    return found


def pattern(rng: random.Random, depth: int = 0) -> str:
    what = rng.random()
    if depth > 3 or what < 0.35:
        return rng.choice(["a", "b", "c", "[ab]", "[^a]", "ab", "."])
    if what < 0.55:
        return pattern(rng, depth + 1) + pattern(rng, depth + 1)
    if what < 0.7:
        return f"(?:{pattern(rng, depth + 1)}|{pattern(rng, depth + 1)})"
    if what < 0.88:
        return f"(?:{pattern(rng, depth + 1)}){rng.choice(['*', '+', '?', '*?', '+?', '??', '{1,2}', '{1,2}?'])}"
    if what < 0.91:
        return pattern(rng, depth + 1) + f"(?!{pattern(rng, depth + 1)})"
    if what < 0.94:
        return f"a(?<!{rng.choice('ab')})" + pattern(rng, depth + 1)
    if what < 0.96:
        return f"(?>{pattern(rng, depth + 1)})"
    return pattern(rng, depth + 1) + rng.choice([f"(?={pattern(rng, depth + 1)})", "$", r"\b", r"\Z"])


@pytest.mark.parametrize("seed", range(6))
def test_random_patterns(seed: int) -> None:
    rng = random.Random(seed)
    compared = 0
    for _ in range(60):
        patterns = [rng.choice("abc") + pattern(rng) for _ in range(rng.randint(1, 3))]
        try:
            automaton = scan([parse_python(one) for one in patterns], Limits())
        except RegexError:
            continue  # a repetition whose rounds can be empty
        whole = re.compile("|".join(f"(?P<p{i}>{one})" for i, one in enumerate(patterns)))
        for _ in range(15):
            text = "".join(rng.choice("aabbc\n") for _ in range(rng.randint(0, 7)))
            found = whole.match(text)
            expected = set() if found is None else {(int((found.lastgroup or "p0")[1:]), found.end())}
            assert matches(automaton, text) == expected, (patterns, text)
            compared += 1
    assert compared > 400


def test_what_is_refused() -> None:
    with pytest.raises(RegexError, match="rounds can be empty"):
        scan([parse_python("(?:a?)*b")], Limits())
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        scan([parse_python("(?:a|b)*a(?:a|b){12}")], Limits(max_dfa_states=500))
