"""Word boundaries that are written out: the texts stay, automata go."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrained as cd
from constrained.errors import UnsatisfiableGrammarError
from constrained.frontends.regex import pattern_dfa, pattern_tree
from constrained.limits import Limits
from constrained.regex.boundaries import boundaries_written_out
from constrained.regex.determinise import determinise
from constrained.regex.dfa import Dfa
from constrained.regex.parse_ecma import parse_ecma
from constrained.regex.parse_python import parse_python
from constrained.regex.rewrite import has_assertions, search_form

TEXTS = ["".join(chars) for size in range(6) for chars in itertools.product("a1-", repeat=size)]

WRITTEN_OUT = [
    r"\bfoo\b", r"\ba+\b", r"a\b-", r"a\ba", r"a\Ba", r"a\B-", r"[a-]{1,3}\b[a-]*", r"^[a-]{1,3}\b[a-]*$", r"a?\b-?a",
    r"-*a*\b-*a*", r"(aa|1)\b", r"(?:a|1)+\b-", r"\Ba\B", r"\b", r"\B", r"^\b", r"^\B$", r"^\b$",
    r"(?:a-)?\b1", r"[^a]\b.", r"a{0}\b-",
]
LEFT = [r"\b[a-]{2,}\B", r"a\b|-\B1", r"\b\b", r"(?:a|-)\b(?:1|-)+a(?:a\b)?", r"(?:a\b)*-", r"(?=a)\b-?a"]


def accepts(dfa: Dfa, text: str) -> bool:
    return bool(dfa.accepts(text))


@pytest.mark.parametrize("pattern", [*WRITTEN_OUT, *LEFT])
def test_ecma_finds_what_re_finds(pattern: str) -> None:
    dfa = pattern_dfa(pattern, dialect="ecma")
    wanted = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
    # Python before 3.14 says that \B is nowhere in the empty text
    texts = [text for text in TEXTS if text or r"\B" not in pattern]
    assert [text for text in texts if accepts(dfa, text)] == [text for text in texts if wanted.search(text)]


@pytest.mark.parametrize("pattern", WRITTEN_OUT)
def test_no_assertion_is_left(pattern: str) -> None:
    assert not has_assertions(pattern_tree(pattern, dialect="ecma"))


PARTS = st.sampled_from(["a", "-", "a?", "-?", "[a-]", "[a-]*", "[a-]{1,2}", "a*", "-+", "(?:a|1)", "(?:a-)?", "a-",
                         r"\b", r"\B", r"\b", "(?:)", ".", ".*"])


@given(st.lists(PARTS, min_size=1, max_size=6), st.booleans())
def test_made_up_patterns(parts: list[str], search: bool) -> None:
    pattern = "".join(parts)
    if search:
        tree = search_form(parse_ecma(pattern, Limits()))
    else:
        tree = parse_python("(?a)" + pattern.replace(r"\B", r"\b"), Limits())
    one, two = determinise(tree, Limits(), pattern), determinise(boundaries_written_out(tree), Limits(), pattern)
    assert [text for text in TEXTS if accepts(one, text)] == [text for text in TEXTS if accepts(two, text)]


def test_a_boundary_behind_a_far_count_needs_no_automaton() -> None:
    # of many schemas and answers; its automaton had more than 20,000 states, of which the limit told after seconds
    pattern = (r"https?:\/\/(www\.)?[-a-zA-Z0-9@:%._\+~#=]{1,256}\.[a-zA-Z0-9()]{1,6}"
               r"\b([-a-zA-Z0-9()@:%_\+.~#?&//=]*)")
    tree = pattern_tree(pattern, dialect="ecma")
    assert not has_assertions(tree)
    info = cd.TokenizerInfo.from_bytes([bytes([b]) for b in range(256)] + [b"</s>"], stop_token_ids=256)
    found = cd.GrammarCompiler(info).compile_json_schema({"type": "string", "pattern": pattern})
    for text in ("https://example.com", "see http://www.a.b-c.org/x?y=z now", "http://a.b", "http://a.b()", "http://a.()",
                 "ftp://a.b", "http://.b", "http://" + "a" * 256 + ".de", "http://" + "a" * 257 + ".de", "http://a.((b",
                 "http://a.b(c", "http://a.((((((b"):
        state = found.advance(found.start_state, f'"{text}"'.encode())
        assert bool(state and found.is_complete(state)) == bool(re.search(pattern, text, re.ASCII)), text


def test_nothing_between_two_word_characters() -> None:
    with pytest.raises(UnsatisfiableGrammarError):
        cd.Grammar.from_regex(r"a\ba")
