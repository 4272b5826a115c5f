"""Free text up to a stop, with exclusions and a bound on characters: against plain search, and in the notation."""

from __future__ import annotations

import itertools

import pytest

import constrained as cd
from constrained.engine.text_until import text_until
from constrained.grammar import combinators as make


def accepts(transitions: tuple[tuple[tuple[int, int, int], ...], ...], accepting: frozenset[int], data: bytes) -> bool:
    state = 0
    for byte in data:
        for lo, hi, to in transitions[state]:
            if lo <= byte <= hi:
                state = to
                break
        else:
            return False
    return state in accepting


@pytest.mark.parametrize(("stops", "excludes", "most"), [
    (("ab",), (), None), (("ab", "b"), (), None), (("aa",), ("b",), None), (("ab",), ("ba",), None),
    ((), ("ab", "ba"), None),
    (("ab",), (), 3), ((), ("aa",), 2), (("é",), ("aé",), 3), (("ab",), ("bab",), 4),
])
def test_against_search(stops: tuple[str, ...], excludes: tuple[str, ...], most: int | None) -> None:
    for consume in (True, False):
        if consume and not stops:
            continue
        dfa = text_until(tuple(map(str.encode, stops)), consume, tuple(map(str.encode, excludes)), most)
        for length in range(6):
            for letters in itertools.product("abé", repeat=length):
                text = "".join(letters)
                fits = most is None or len(text) <= most
                ends = [end for end in range(1, length + 1) if any(text[:end].endswith(stop) for stop in stops)]
                if consume:
                    first = bool(ends) and ends[0] == length
                    out = any(one in text[:-1] for one in excludes)  # a stop wins over what ends with it
                    expected = fits and first and not out
                else:
                    expected = fits and not ends and not any(one in text for one in excludes)
                assert accepts(dfa.transitions, dfa.accepting, text.encode()) == expected, (text, consume)


def test_in_the_notation() -> None:
    grammar = cd.Grammar.of({"root": make.sequence(
        make.any_text_until("ab", excludes=["x", '"'], max_chars=9),
        make.capture("a b", make.any_text_until(consume=False)),
        make.capture("c", make.reference("word"))), "word": make.char_class("a-z")})
    text = str(grammar)
    assert 'excludes=("x", "\\"")' in text and "max_chars=9" in text and 'Capture("c", "word")' in text
    assert str(cd.Grammar.from_ebnf(text)) == text
    for wrong in ('AnyTextUntil("a", excludes="b")', 'AnyTextUntil("a", max_chars="b")', 'Capture("a")',
                  "Capture(1, 2)"):
        with pytest.raises(cd.GrammarSyntaxError):
            cd.Grammar.from_ebnf(f"root ::= {wrong}")
    with pytest.raises(cd.GrammarError):
        make.any_text_until("a", max_chars=-1)
