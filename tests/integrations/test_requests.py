"""Requests in the words of vLLM and SGLang, compiled."""

from __future__ import annotations

import pytest

import constrained as cd
from constrained.integrations.requests import compile_request

INFO = cd.TokenizerInfo.from_bytes([bytes((b,)) for b in range(256)] + [b"<e>"], stop_token_ids=[256],
                                   special_token_ids=[256])
COMPILER = cd.GrammarCompiler(INFO)


def accepts(compiled: cd.CompiledGrammar, text: str) -> bool:
    matcher = cd.GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


@pytest.mark.parametrize(("kind", "spec", "good", "bad"), [
    ("json", '{"type": "object", "properties": {"a": {"type": "integer"}}}', '{"a": 1}', '{"a": "x"}'),
    ("json", "true", "[1, null]", "[1,"),
    ("json_object", "", '{"x": [1]}', "[1]"),
    ("regex", r"\d{3}-[a-z]+", "038-ab", "38-ab"),
    ("grammar", 'root ::= "a" b\nb ::= "b"+', "abb", "a"),
    ("grammar", '# root ::= x\nroot ::= "=" | "a"', "=", "b"),
    ("choice", '["yes", "no", "yes \\"and\\" no"]', 'yes "and" no', "maybe"),
])
def test_kinds(kind: str, spec: str, good: str, bad: str) -> None:
    compiled = compile_request(COMPILER, kind, spec)
    assert accepts(compiled, good)
    assert not accepts(compiled, bad)


def test_json_on_one_line() -> None:
    compiled = compile_request(COMPILER, "json_object", "", any_whitespace=False)
    assert accepts(compiled, '{"a": [1, 2]}')
    assert not accepts(compiled, '{"a":[1, 2]}')


@pytest.mark.parametrize(("kind", "spec", "message"), [
    ("json", '{"type": "strin"}', "type"),
    ("json", "{", "JSON"),
    ("regex", "(", "group"),
    ("grammar", 'root ::= "a', "line 1"),
    ("choice", "[]", "choices are a list of texts"),
    ("choice", "[1]", "choices are a list of texts"),
    ("choice", "yes", "no JSON"),
    ("guided_json", "{}", "unknown kind"),
])
def test_refused(kind: str, spec: str, message: str) -> None:
    with pytest.raises(cd.ConstrainedError, match=message):
        compile_request(COMPILER, kind, spec)
