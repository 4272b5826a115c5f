"""The case log: small cases from public bug reports, for what the engine and its text front ends do.

Kinds ``ebnf``, ``gbnf``, ``regex``, ``tokenizer``, and of ``api`` those about the engine. Texts are judged on the
Llama-3.1 vocabulary (on single bytes where kernels are uncompiled), whole and token by token.
"""

from __future__ import annotations

import json
import pickle
import random
import threading
from typing import Any

import numpy as np
import pytest

import constrained as cd
from constrained.vocabulary import TokenizerInfo
from tests.engine.real_vocabularies import real_vocabulary
from tests.engine.worlds import COMPILED, byte_vocabulary, row_ids
from tests.shared_data import shared_dir

KINDS = ("ebnf", "gbnf", "regex", "tokenizer")
JSON_STRING = r'root ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""'


def read_cases(*kinds: str) -> list[dict[str, Any]]:
    """Cases of the kinds; none without the shared data (then pytest skips the empty parameter sets)."""
    directory = shared_dir()
    if directory is None:
        return []
    with open(directory / "data" / "cases" / "cases.jsonl", encoding="utf-8") as file:
        return [case for case in map(json.loads, file) if case["kind"] in kinds]


def case_of(name: str) -> dict[str, Any]:
    found = [case for case in read_cases("api") if case["id"] == name]
    if not found:
        pytest.skip("the shared data are not here (set CONSTRAINED_SHARED)")
    return found[0]


def by_id(case: dict[str, Any]) -> str:
    return str(case["id"])


def vocabulary() -> TokenizerInfo:
    return real_vocabulary("llama3_1") if COMPILED else byte_vocabulary()


def compile_text(kind: str, text: str, info: TokenizerInfo) -> cd.CompiledGrammar:
    compiler = cd.GrammarCompiler(info)
    return compiler.compile_regex(text) if kind == "regex" else compiler.compile_grammar(text)


def is_text(grammar: cd.CompiledGrammar, text: str) -> bool:
    """Whether ``text`` is accepted as a whole; every way to write it must agree."""
    matcher = cd.GrammarMatcher(grammar)
    verdict = matcher.accept_string(text) and matcher.is_completed()
    info = grammar.tokenizer_info
    known = tokens_by_bytes(info)
    ids = info.encode(text) or [known.get(bytes((byte,)), [-1])[0] for byte in text.encode()]
    if -1 not in ids:
        matcher.reset()
        by_tokens = matcher.accept_tokens(ids) == len(ids) and matcher.accept_token(info.stop_token_ids[0])
        assert by_tokens == verdict, text
    return verdict


_by_bytes: dict[str, dict[bytes, list[int]]] = {}


def tokens_by_bytes(info: TokenizerInfo) -> dict[bytes, list[int]]:
    found = _by_bytes.get(info.fingerprint)
    if found is None:
        found = _by_bytes[info.fingerprint] = {}
        for i, data in enumerate(info.decoded_vocab):
            if data:
                found.setdefault(data, []).append(i)
    return found


@pytest.mark.parametrize("case", read_cases("ebnf", "gbnf", "regex"), ids=by_id)
def test_texts(case: dict[str, Any]) -> None:
    if case.get("invalid"):
        with pytest.raises(cd.ConstrainedError) as caught:
            compile_text(case["kind"], case["input"], vocabulary())
        if case["kind"] == "regex":
            assert isinstance(caught.value, cd.RegexError) and "position" in str(caught.value)
        else:
            assert isinstance(caught.value, cd.GrammarSyntaxError)
            assert caught.value.line == 1 and caught.value.column > 0
        return
    grammar = compile_text(case["kind"], case["input"], vocabulary())
    for text in case["accept"]:
        assert is_text(grammar, text), text
    for text in case["reject"]:
        assert not is_text(grammar, text), text


@pytest.mark.parametrize("case", read_cases("tokenizer"), ids=by_id)
def test_tokenizers(case: dict[str, Any]) -> None:
    given = case["input"]
    pieces = [piece.encode("latin-1") for piece in given["vocab"]]  # a character is a byte
    info = TokenizerInfo.from_bytes(pieces, stop_token_ids=given["eos"], special_token_ids=given.get("special", []),
                                    added_token_ids=given.get("added", []), vocab_size=given.get("logits_width"))
    constraint = given["constraint"]
    text = constraint["input"] if constraint["kind"] == "regex" else JSON_STRING
    kind = "regex" if constraint["kind"] == "regex" else "ebnf"
    if case["id"] == "tk-unspellable":
        with pytest.raises(cd.UnsatisfiableGrammarError, match="spell"):
            compile_text(kind, text, info)
        return
    grammar = compile_text(kind, text, info)
    for accepted in case["accept"]:
        assert is_text(grammar, accepted), accepted
    for rejected in case["reject"]:
        assert not is_text(grammar, rejected), rejected
    for ids in case["accept_ids"]:
        assert takes(grammar, ids), ids
    for ids in case["reject_ids"]:
        assert not takes(grammar, ids), ids


def takes(grammar: cd.CompiledGrammar, ids: list[int]) -> bool:
    """Whether ``ids`` is a whole answer, by masks and by ``accept_token``, which must agree."""
    matcher = cd.GrammarMatcher(grammar)
    row = np.zeros((1, (grammar.tokenizer_info.vocab_size + 31) // 32), dtype=np.int32)
    for i in ids:
        matcher.fill_next_token_bitmask(row)
        allowed = i in row_ids(row[0], grammar.tokenizer_info.vocab_size)
        assert matcher.accept_token(i) == allowed, (ids, i)
        if not allowed:
            return False
    return matcher.is_terminated()


# -- api --------------------------------------------------------------------------------------------------------


def test_batch_with_a_constraint_a_row() -> None:
    """api-batch-mixed: rows with different grammars, or none, in one call equal the rows one by one."""
    case = case_of("api-batch-mixed")
    info = vocabulary()
    compiler = cd.GrammarCompiler(info)
    texts = {"regex": case["input"]["items"][0]["constraint"]["input"], "integer": "-?(0|[1-9][0-9]*)"}
    matchers = [cd.GrammarMatcher(compiler.compile_regex(text)) for text in texts.values()]
    rows = np.full((3, (info.vocab_size + 31) // 32), -1, dtype=np.int32)
    rng = random.Random(0)
    for _ in range(5):
        cd.BatchGrammarMatcher().batch_fill_next_token_bitmask([*matchers, None], rows)
        assert (rows[2] == -1).all()
        tokens = []
        for row, matcher in zip(rows, matchers, strict=False):
            ids = row_ids(row, info.vocab_size)
            assert ids == matcher.allowed_token_ids()
            tokens.append(rng.choice([i for i in ids if i not in info.stop_token_ids]))
        assert cd.BatchGrammarMatcher().batch_accept_token(matchers, tokens) == [True, True]


def test_pickle_and_threads() -> None:
    """api-pickle-thread: compiled grammars are picklable and shared by threads; a matcher's fork is cheap."""
    case = case_of("api-pickle-thread")
    grammar = compile_text("regex", case["input"]["constraint"]["input"], vocabulary())
    wrong: list[str] = []

    def run(one: cd.CompiledGrammar) -> None:
        for text in case["accept"]:
            if not is_text(one, text):
                wrong.append(text)
        for text in case["reject"]:
            if is_text(one, text):
                wrong.append(text)

    copies = [grammar, pickle.loads(pickle.dumps(grammar))]
    threads = [threading.Thread(target=run, args=(copies[i % 2],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    matcher = cd.GrammarMatcher(grammar)
    assert matcher.fork().accept_string("aba") and matcher.num_steps == 0


def test_drafts_that_break_the_grammar() -> None:
    """api-speculative-rollback: a draft is cut at its first illegal token, and going back restores the state."""
    case = case_of("api-speculative-rollback")
    info = vocabulary()
    grammar = cd.GrammarCompiler(info).compile_grammar('root ::= "{" [^`]* "}"')
    ids = [i for piece in case["input"]["draft"] for i in (info.encode(piece) or list(piece.encode()))]
    matcher = cd.GrammarMatcher(grammar)
    start = matcher.state
    assert matcher.validate_tokens(ids) == 1 and matcher.state == start
    assert matcher.accept_tokens(ids) == 1
    rows = np.zeros((len(ids) + 1, (info.vocab_size + 31) // 32), dtype=np.int32)
    matcher.rollback()
    assert matcher.state == start
    legal = matcher.fill_draft_tree_bitmask(ids, list(range(-1, len(ids) - 1)), rows)
    assert legal == [True] + [False] * (len(ids) - 1)
    assert matcher.state == start and not rows[2:].any()


def test_triggers_inside_words() -> None:
    """api-trigger-inside-word: free text with a stop that words contain parts of never errors, at any cut."""
    case = case_of("api-trigger-inside-word")
    given = case["input"]
    grammar = cd.GrammarCompiler(vocabulary()).compile_grammar(
        f'root ::= AnyTextUntil("{given["trigger"]}", consume=false) ("{given["trigger"]}" [a-z]+ ">")?')
    assert is_text(grammar, given["text"])
    assert is_text(grammar, given["text"] + given["trigger"] + "f>")
    assert not is_text(grammar, given["text"] + given["trigger"])
