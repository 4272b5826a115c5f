"""Masks over a vocabulary large enough for the walks of four subtrees in turn, class tries and regions.

The smaller vocabularies of other tests never get there. Each mask is compared with reading every token byte by byte.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import constrained as cd
from constrained.kernel import is_compiled

pytestmark = pytest.mark.skipif(not is_compiled(), reason="40,000 tokens take too long uncompiled")

LETTERS = b"aaabbcdefghijklmnop-q1"


@pytest.fixture(scope="module", params=["short first", "long first"])
def info(request: pytest.FixtureRequest) -> cd.TokenizerInfo:
    rng = random.Random(5)
    found = {bytes([b]) for b in range(256)} | {b"\xc3\xa9", b"a\xc3\xa9b", b"\xa9x", b"\xe6\xbc"}
    while len(found) < 40_000:
        found.add(bytes(rng.choices(LETTERS, k=rng.randrange(2, 8))))
    tokens = sorted(found, key=lambda token: (len(token), token), reverse=request.param == "long first")
    tokens.append(b"")
    return cd.TokenizerInfo.from_bytes(tokens, stop_token_ids=[len(tokens) - 1])


@pytest.mark.parametrize(("grammar", "texts"), [
    ("root ::= ([a-p] [a-p])*", [b"", b"a", b"abba"]),  # no region: the plain trie, in turns
    ("root ::= ([a-p] [a-p] | [b-q-] \"1\")* \"!\"", [b"", b"b", b"q1"]),
    ("root ::= \"<\" ([a-z] | [0-9-] | \"é\")* \">\" [a-p]*", [b"", b"<", b"<a", b"<a>", b"<\xc3"]),
    ("root ::= [a-z0-9-]{0,9} [a-z] \"x\"?", [b"", b"a", b"abcdefgh", b"abcdefghi"]),
    ("root ::= \"<\" ([a-z]{2,5} [a-c]+ \"-\")+ [a-z0-9]{2,}", [b"<", b"<a", b"<abc", b"<abc-", b"<abc-d"]),
    ("root ::= ([a-z] [^x]{3,7} | [a-f-]{0,40})* \"1\"", [b"", b"a", b"ab\xc3", b"a-"]),
    # places everywhere where what is below goes on: a class, a literal, another rule, nothing at all
    ('root ::= pairs "!"\npairs ::= ([a-p] [a-p])*', [b"", b"a", b"ab"]),
    ('root ::= (pairs "q1" | "q" pairs "-q" [a-f])*\npairs ::= ([a-p] [a-p])+', [b"", b"a", b"ab", b"q", b"qab"]),
    ('root ::= pairs | "1" pairs "b" pairs "q"?\npairs ::= ([a-p] [a-h])*', [b"", b"1", b"1a", b"1abb"]),
    # names of other kinds behind their first letters: below these a loop of their own, which ends otherwise
    ('root ::= "<" ("a" body "1" [a-c]* | ([^a1] body)? "1" [d-f]*)\nbody ::= [^1]*', [b"<", b"<a", b"<b", b"<a1"]),
    ('root ::= "<" ("a" body "1" [a-c]* | "ab" body "1" "q"+ | "bad" "1" "a" | ([^a1] body)? "1" [d-f]*)*'
     '\nbody ::= [^1]*', [b"<", b"<a", b"<ab", b"<b", b"<bad", b"<ab1"]),
])
def test_masks(info: cd.TokenizerInfo, grammar: str, texts: list[bytes]) -> None:
    check_masks(info, cd.GrammarCompiler(info).compile_grammar(grammar), texts)


@pytest.mark.parametrize("classes", [
    "[acegik] | [bdfh-]", "[ab] | [c-o] [d-q]", "[^acegi\"] [acegi]*",
    "[b-e]{3,9}", "([1b-e]{4} \"-\")+", "[abcdgikmo1-]{2,30}", "[b-e] | [^b-e\"] [q1]?",
])
def test_a_partition_that_is_new(info: cd.TokenizerInfo, classes: str) -> None:
    """The trie is walked, or its few nodes are listed that can be read; with wide counts it gets a trie of classes."""
    compiler = cd.GrammarCompiler(info, cache_limit_bytes=0)
    for name in "abcdef":
        compiled = compiler.compile_grammar(f'root ::= "{name}" body "\\""\nbody ::= ({classes})*')
        check_masks(info, compiled, [name.encode(), f"{name}bcd".encode()])


@pytest.mark.parametrize(("schema", "texts"), [
    ({"format": "regex"}, [b'"', b'"^[', b'"^[a-', b'"(a|b', b'"a{2']),
    ({"pattern": "[A-e]", "minLength": 3, "maxLength": 40}, [b'"', b'"no', b'"nobody', b'"' + b"n" * 38]),
    ({"pattern": "[A-e]", "minLength": 3, "maxLength": 40_000}, [b'"', b'"no', b'"nobody']),
    ({"pattern": "abcdefgh-.*q", "minLength": 20, "maxLength": 400}, [b'"n', b'"abcdefgh', b'"abcdefgh-', b'"no12']),
], ids=str)
def test_strings_of_many_states(info: cd.TokenizerInfo, schema: dict[str, Any], texts: list[bytes]) -> None:
    check_masks(info, cd.GrammarCompiler(info).compile_json_schema({"type": "string", **schema}), texts)


def check_masks(info: cd.TokenizerInfo, compiled: cd.CompiledGrammar, texts: list[bytes]) -> None:
    for text in texts:
        state = compiled.advance(compiled.start_state, text)
        assert state
        expected = [i for i in range(info.vocab_size - 1) if compiled.advance(state, info.token_bytes(i))]
        if compiled.is_complete(state):
            expected.append(info.vocab_size - 1)
        assert compiled.allowed_ids(state) == expected


def test_tables_are_shared(info: cd.TokenizerInfo) -> None:
    """A second grammar with the same loop needs no table that the first did not."""
    compiler = cd.GrammarCompiler(info, cache_limit_bytes=0)
    first, second = (compiler.compile_grammar(f'root ::= "{name}" ([a-z] | [0-9])* "!"') for name in ("one", "two"))
    trie = first.tables.trie
    first.allowed_ids(first.advance(first.start_state, b"one"))
    held = trie.memory()
    second.allowed_ids(second.advance(second.start_state, b"two"))
    assert second.tables.trie is trie and trie.memory() == held
