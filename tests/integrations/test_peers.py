"""XGrammar and llguidance behind the matcher's interface: their masks against all texts, and against this engine's."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import constrained as cd
from constrained.errors import BitmaskError, ConstrainedError, GrammarError
from tests.integrations.test_outlines_core import INFO, STOPS, TOKENS, all_texts

BACKENDS = ["xgrammar", "llguidance"]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    return str(request.param)


def allowed(matcher: Any) -> set[int]:
    bitmask = np.full((2, 2), -1, dtype=np.int32)
    assert matcher.fill_next_token_bitmask(bitmask, 1)
    assert (bitmask[0] == -1).all()
    return set(np.flatnonzero(np.unpackbits(bitmask[1].view(np.uint8), bitorder="little")).tolist())


PATTERNS = ["a|ab", "(a|ab)(c|bc)?", "a{1,3}b?", "(ab|a){0,3}", "a??b", "[ab]{2}c|[bc]{1,3}", "(a?b?c?)", ".{1,2}",
            "é{1,2}"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_mask_of_a_small_language(backend: str, pattern: str) -> None:
    alphabet, longest = ("abcé\n", 4) if set(pattern) & set("é.^") else ("abc", 6)
    texts = {text.encode() for text in all_texts(alphabet, longest) if re.fullmatch(pattern, text)}
    compiled: Any = cd.GrammarCompiler(INFO, backend=backend).compile_regex(pattern)
    # where one text is forced llguidance allows only the tokens that it would write it with
    narrow = backend == "llguidance" and pattern == "é{1,2}"
    work = [(b"", compiled.new_matcher())]
    limit = 200
    while work and limit:
        limit -= 1
        prefix, here = work.pop()
        expected = {i for i, data in enumerate(TOKENS) if data and any(t.startswith(prefix + data) for t in texts)}
        if prefix in texts:
            expected.update(STOPS)
        assert here.is_completed() is (prefix in texts), prefix
        if narrow:
            assert set() < allowed(here) <= expected, prefix
            expected = allowed(here)
        assert allowed(here) == expected, prefix
        for token_id in range(-2, 45):
            after = here.fork()
            if not narrow:
                assert after.accept_token(token_id) is (token_id in expected), (prefix, token_id)
            else:
                after.accept_token(token_id)
            if token_id in expected and token_id not in STOPS:
                work.append((prefix + TOKENS[token_id], after))


def test_laws_of_the_matcher(backend: str) -> None:
    matcher: Any = cd.GrammarCompiler(INFO, backend=backend).compile_regex("a{1,3}b").new_matcher()
    start = allowed(matcher)
    assert matcher.accept_tokens([3, 3, 4, STOPS[1], 3]) == 4
    assert matcher.is_terminated() and allowed(matcher) == set(STOPS)
    matcher.rollback(1)
    assert not matcher.is_terminated() and matcher.is_completed()
    assert not matcher.accept_token(3)
    matcher.rollback(2)
    assert matcher.validate_tokens([3, 4, 4]) == 2
    assert matcher.accept_tokens([3, 4]) == 2
    matcher.reset()
    assert allowed(matcher) == start
    with pytest.raises(ConstrainedError):
        matcher.rollback(1)
    with pytest.raises(BitmaskError):
        matcher.fill_next_token_bitmask(np.zeros((1, 3), dtype=np.int32))


def test_a_recursive_grammar_on_xgrammar() -> None:
    pytest.importorskip("xgrammar")
    compiled: Any = cd.GrammarCompiler(INFO, backend="xgrammar").compile_grammar('root ::= "a" root "b" | "c"')
    matcher = compiled.new_matcher()
    assert matcher.accept_tokens([3, 3, 5, 4, 4, 1]) == 6
    assert matcher.is_terminated()


@pytest.mark.parametrize(("name", "text"), [
    ("xgrammar", 'root ::= AnyTextUntil("a")'), ("xgrammar", 'root ::= Bytes("\\xff")'), ("xgrammar", "root ::= <[3]>"),
    ("llguidance", 'root ::= "a" root "b" | "c"'), ("llguidance", "root ::= <[3]>"),
])
def test_refused(name: str, text: str) -> None:
    pytest.importorskip(name)
    with pytest.raises(GrammarError):
        cd.GrammarCompiler(INFO, backend=name).compile_grammar(text)
