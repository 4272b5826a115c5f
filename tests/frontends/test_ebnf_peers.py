"""The same notation, read by XGrammar: what it reads is read here, with the same language."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from constrained.errors import ConstrainedError, UnsatisfiableGrammarError
from constrained.frontends.ebnf import from_ebnf
from constrained.grammars import builtin_examples, builtin_names, builtin_text
from tests.oracles import Recogniser

xgrammar = pytest.importorskip("xgrammar")

PIECES = ["x", '"a"', '"b"', "[ab]", "[^a]", "(", ")", "(", ")", "|", "|", "*", "+", "?", "{2}", "{1,2}", "{0,}", '""',
          r'"a\x62"', r"[a\-c]", "[-b]", "x", "\n", "# c\n", "r.s", "[]", "[^]", "()", r'"\u0061"', "{1, -1}"]
WORDS = ["".join(word) for n in (1, 2, 3) for word in itertools.product("ab-c", repeat=n)]
PRINTED = [
    lambda: xgrammar.Grammar.builtin_json_grammar(),
    lambda: xgrammar.Grammar.from_json_schema('{"properties": {"a": {"type": "string", "maxLength": 3}}}'),
    lambda: xgrammar.Grammar.from_regex("a{2,5}.*[^x]"),
]


def xgrammar_accepts(compiled: Any, text: str) -> bool:
    matcher = xgrammar.GrammarMatcher(compiled, terminate_without_stop_token=True)
    return bool(matcher.accept_string(text) and matcher.is_terminated())


@pytest.fixture(scope="module")
def compiler() -> Any:
    return xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([b"<s>", b"a"], stop_token_ids=[0]))


def test_what_xgrammar_reads_is_read_the_same(compiler: Any) -> None:
    rng = random.Random(0)
    both = 0
    for _ in range(400):
        body = " ".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 9)))
        text = f'root ::= {body}\nx ::= "a" | "b" x\nr.s ::= "c"\n'
        try:
            theirs = xgrammar.Grammar.from_ebnf(text)
        except RuntimeError:
            continue
        try:
            ours = from_ebnf(text)
        except UnsatisfiableGrammarError:
            compiled = compiler.compile_grammar(theirs)
            assert not any(xgrammar_accepts(compiled, word) for word in WORDS), text
            continue
        except ConstrainedError as error:
            raise AssertionError(f"{text!r}: {error}") from error
        both += 1
        compiled, recogniser = compiler.compile_grammar(theirs), Recogniser(ours)
        for word in WORDS:
            assert xgrammar_accepts(compiled, word) == recogniser.accepts(word.encode()), (text, word)
    assert both > 50


@pytest.mark.parametrize("make", PRINTED)
def test_what_xgrammar_prints_is_read(make: Any, compiler: Any) -> None:
    theirs = make()
    compiled, recogniser = compiler.compile_grammar(theirs), Recogniser(from_ebnf(str(theirs)))
    words = ['{"a": "xyz"}', '{"a":"wxyz"}', "{}", '[1, {"b": null}]', "aaay", "aax", '{"a": "\\n"}', "[01]", "aa\ny"]
    for word in words:
        assert xgrammar_accepts(compiled, word) == recogniser.accepts(word.encode()), word


@pytest.mark.parametrize("name", builtin_names())
def test_the_grammars_that_ship_mean_the_same_to_xgrammar(name: str, compiler: Any) -> None:
    compiled = compiler.compile_grammar(xgrammar.Grammar.from_ebnf(builtin_text(name)))
    accepts, rejects = builtin_examples(name)
    assert [text for text in accepts if text and not xgrammar_accepts(compiled, text)] == []
    # A NUL ends a text for XGrammar.
    assert [text for text in rejects if text and "\0" not in text and xgrammar_accepts(compiled, text)] == []
