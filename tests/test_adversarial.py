"""Hostile and extreme inputs: the verdict, every probe, and (nightly) time and memory within twice the limits.

Kinds ``ebnf``, ``gbnf``, ``regex`` and ``tokenizer``; the fields are described in the design page on limits. A case is
met when nothing hangs or crashes, the verdict is as expected, the error is typed and short, and every probe is right.
Nightly each case also runs in a process of its own, where its time and memory are measured.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import constrained as cd
from constrained.errors import MAX_MESSAGE
from constrained.vocabulary import TokenizerInfo
from tests.engine.worlds import COMPILED, NIGHTLY, byte_vocabulary, row_ids
from tests.shared_data import shared_dir

KINDS = ("ebnf", "gbnf", "regex", "tokenizer")
SLOW_UNCOMPILED = {"tk-vocab-1m", "rx-alt-50k", "rx-literal-2mb", "g-literal-1mb", "rx-literal-100k"}
MASKS = 40
"""Masks asked for along a walk, evenly spread; nightly it is every one."""


def read_cases() -> list[dict[str, Any]]:
    directory = shared_dir()
    if directory is None:
        return []
    with open(directory / "data" / "adversarial" / "adversarial.jsonl", encoding="utf-8") as file:
        return [case for case in map(json.loads, file) if case["kind"] in KINDS]


def vocabulary() -> TokenizerInfo:
    """Llama-3.1's, or single bytes where kernels are uncompiled."""
    if not COMPILED:
        return byte_vocabulary()
    from tests.engine.real_vocabularies import real_vocabulary

    return real_vocabulary("llama3_1")


def expand(case: dict[str, Any], name: str) -> Any:
    """The field ``name``, or what the Python expression in ``name_gen`` (or ``generator``) makes."""
    source = case.get("generator" if name == "input" else f"{name}_gen")
    value = case.get(name)
    if source is None:
        return value
    made = eval(source, {"json": json})
    return [*(value or []), *made] if isinstance(made, list) else made


def compile_case(case: dict[str, Any], text: str) -> cd.CompiledGrammar:
    if case["kind"] == "tokenizer":
        given = json.loads(text)
        pieces = [piece.encode("latin-1") for piece in given["vocab"]]  # a character is a byte
        info = TokenizerInfo.from_bytes(pieces, stop_token_ids=given["eos"], special_token_ids=given["special"],
                                        vocab_size=given.get("vocab_size"))
        return cd.GrammarCompiler(info).compile_regex(given["regex"])
    compiler = cd.GrammarCompiler(vocabulary())
    return compiler.compile_regex(text) if case["kind"] == "regex" else compiler.compile_grammar(text)


def accepts(grammar: cd.CompiledGrammar, text: str) -> bool:
    matcher = cd.GrammarMatcher(grammar)
    return matcher.accept_string(text) and matcher.is_completed()


def mask(matcher: cd.GrammarMatcher) -> list[int]:
    """The mask; never empty."""
    size = matcher.compiled.tokenizer_info.vocab_size
    row = np.zeros((1, (size + 31) // 32), dtype=np.int32)
    matcher.fill_next_token_bitmask(row)
    assert row.any(), "an empty mask"
    return row_ids(row[0], size)


def walk(grammar: cd.CompiledGrammar, text: str, masks: int) -> Iterator[float]:
    """Step through ``text``, asking for masks; yields the seconds of each mask."""
    matcher = cd.GrammarMatcher(grammar)
    size = grammar.tokenizer_info.vocab_size
    row = np.zeros((1, (size + 31) // 32), dtype=np.int32)
    data = text.encode()
    every = max(len(data) // masks, 1)
    for i in range(len(data)):
        if i % every == 0:
            begin = time.perf_counter()
            matcher.fill_next_token_bitmask(row)
            yield time.perf_counter() - begin
            assert row.any(), i
        assert matcher.accept_string(data[i : i + 1]), i


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    if not COMPILED and case["id"] in SLOW_UNCOMPILED:
        pytest.skip("takes too long uncompiled")
    try:
        grammar = compile_case(case, expand(case, "input"))
    except cd.ConstrainedError as error:
        assert case["expect"] != "ok", error
        assert len(str(error)) <= MAX_MESSAGE
        return
    assert case["expect"] != "error", "accepted"
    matcher = cd.GrammarMatcher(grammar)
    allowed = mask(matcher)
    info = grammar.tokenizer_info
    if case.get("forbid_special"):
        probe = matcher.fork()
        for byte in expand(case, "accept")[0].encode():
            assert not set(mask(probe)) & (info.special_token_ids - set(info.stop_token_ids))
            assert probe.accept_string(bytes((byte,)))
    for text in expand(case, "accept") or []:
        assert accepts(grammar, text), text[:50]
    for text in expand(case, "reject") or []:
        assert not accepts(grammar, text), text[:50]
    for text in expand(case, "dead_prefix") or []:
        assert not matcher.fork().accept_string(text), text
        assert not any(info.token_bytes(i).startswith(text.encode()) for i in allowed)
    assert set(case.get("want_allowed", [])) <= set(allowed)
    assert not set(case.get("want_banned", [])) & set(allowed)
    for token in case.get("consume", []):
        assert not matcher.accept_token(token) and matcher.num_steps == 0
    text = expand(case, "walk")
    if text is not None:
        for _ in walk(grammar, text if COMPILED else text[:60], MASKS if COMPILED else 4):
            pass


# -- time and memory --------------------------------------------------------------------------------------------


def measure(name: str) -> None:
    """Run one case alone and print what it cost: milliseconds of compiling and the first mask, the slowest mask in
    milliseconds, and megabytes over what the process held before."""
    case = next(case for case in read_cases() if case["id"] == name)
    text = expand(case, "input")
    steps = expand(case, "walk")
    warm = compile_case({"kind": "ebnf"}, 'root ::= "a"')
    mask(cd.GrammarMatcher(warm))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    worst = 0.0
    try:
        grammar = compile_case(case, text)
        matcher = cd.GrammarMatcher(grammar)
        matcher.fill_next_token_bitmask(np.zeros((1, (grammar.tokenizer_info.vocab_size + 31) // 32), dtype=np.int32))
        spent = time.perf_counter() - begin
        if steps is not None:
            worst = max(walk(grammar, steps, 1 << 30))
    except cd.ConstrainedError:
        spent = time.perf_counter() - begin
    held = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps({"ms": spent * 1e3, "mask_ms": worst * 1e3, "mb": held}))


@pytest.mark.skipif(not (NIGHTLY and COMPILED), reason="measured nightly, with compiled kernels")
@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case["id"])
def test_time_and_memory(case: dict[str, Any]) -> None:
    root = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-c", f"from tests.test_adversarial import measure; measure({case['id']!r})"]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=False,
                         env={**os.environ, "PYTHONPATH": str(root)})
    assert run.returncode == 0, run.stderr[-2000:]
    cost = json.loads(run.stdout)
    assert cost["ms"] <= 2 * case["limit_ms"], cost
    assert cost["mb"] <= 2 * case["limit_mb"], cost
    assert cost["mask_ms"] <= 2 * case.get("limit_mask_ms", 50), cost
