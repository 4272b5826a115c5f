"""``constrained bench``: what a constraint costs on this machine with a tokenizer: compiling, first masks, known masks.

Texts are random walks over the mask (equal each time), so that any schema, pattern or grammar can be measured. Times
are wall time of this process; peers are compared by the scripts in ``benchmarks/``, not here.
"""

from __future__ import annotations

import random
import statistics
import time
from typing import Any

import numpy as np
from rich.console import Console

from constrained.api.compiler import GrammarCompiler
from constrained.api.grammar import Grammar
from constrained.engine.compiled import CompiledGrammar
from constrained.engine.matcher import GrammarMatcher
from constrained.vocabulary import TokenizerInfo

__all__ = ["bench"]

LONGEST = 600
"""Bytes after which a walk takes the shortest way out."""


def bench(console: Console, grammar: Grammar, info: TokenizerInfo, *, texts: int) -> int:
    """Measure and print."""
    began = time.perf_counter()
    compiled = GrammarCompiler(info, cache_limit_bytes=0).compile_grammar(grammar)
    GrammarMatcher(compiled).fill_next_token_bitmask(np.zeros((1, -(-info.vocab_size // 32)), np.int32))
    cold = time.perf_counter() - began
    fresh = []
    for _ in range(5):
        began = time.perf_counter()
        again = GrammarCompiler(info, cache_limit_bytes=0).compile_grammar(grammar)
        compiling = time.perf_counter() - began
        GrammarMatcher(again).fill_next_token_bitmask(np.zeros((1, -(-info.vocab_size // 32)), np.int32))
        fresh.append((compiling, time.perf_counter() - began))
    walks = [_walk(compiled, random.Random(seed)) for seed in range(texts)]
    tokens = sum(map(len, walks))
    other = GrammarCompiler(info, cache_limit_bytes=0).compile_grammar(grammar)
    first, known = _timed(other, walks), _timed(other, walks)
    console.print(f"{'compile + first mask, tables of the vocabulary included':<58}{cold * 1e3:9.2f} ms")
    console.print(f"{'compile, tables known':<58}{statistics.median(c for c, _ in fresh) * 1e3:9.2f} ms")
    console.print(f"{'compile + first mask, tables known':<58}{statistics.median(m for _, m in fresh) * 1e3:9.2f} ms")
    _row(console, f"mask + accept a token, first pass over {tokens:,} tokens", first)
    _row(console, "mask + accept a token, second pass", known)
    held = other.memory_size_bytes / 1e6
    console.print(f"{'memory of the grammar after both':<58}{held:9.2f} MB")
    return 0


def _row(console: Console, name: str, times: list[float]) -> None:
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    console.print(f"{name:<58}{statistics.fmean(times) * 1e6:9.2f} us mean, {statistics.median(times) * 1e6:.2f} p50, "
                  f"{p99 * 1e6:.1f} p99", soft_wrap=True)


def _walk(compiled: CompiledGrammar, rng: random.Random) -> list[int]:
    matcher = GrammarMatcher(compiled)
    stops = set(compiled.tokenizer_info.stop_token_ids)
    found: list[int] = []
    size = 0
    while size < LONGEST:
        allowed: list[Any] = matcher.allowed_token_ids()
        token = rng.choice(allowed)
        if token in stops or (matcher.is_completed() and rng.random() < 0.2):
            return found
        matcher.accept_token(token)
        found.append(token)
        size += max(1, len(compiled.tokenizer_info.token_bytes(token)))
    return found


def _timed(compiled: CompiledGrammar, walks: list[list[int]]) -> list[float]:
    bitmask = np.zeros((1, -(-compiled.tokenizer_info.vocab_size // 32)), np.int32)
    times = []
    for walk in walks:
        matcher = GrammarMatcher(compiled)
        for token in walk:
            began = time.perf_counter()
            matcher.fill_next_token_bitmask(bitmask)
            matcher.accept_token(token)
            times.append(time.perf_counter() - began)
    return times or [0.0]
