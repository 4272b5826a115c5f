"""Eight threads on one compiled grammar give what one gives, also while masks are dropped and epochs begin."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import constrained as cd
from constrained.engine.compiled import CompiledGrammar
from tests.engine.worlds import COMPILED, row_ids, sized, wide_vocabulary

INFO = wide_vocabulary(1, 2000 if COMPILED else 100)
WORDS = (INFO.vocab_size + 31) // 32
GRAMMARS = {
    "json": cd.Grammar.builtin("json"),
    "counted": cd.Grammar.from_ebnf('root ::= ([^"]{0,300} "\\"" [a-z]{2,9}? ","?)* | "[" root "]" root'),
}
LIMITS = {
    "default": cd.Limits(),
    "masks dropped": cd.Limits(max_mask_bytes=3 * 4 * WORDS),
    "epochs": cd.Limits(max_states=300),
}


@pytest.fixture(autouse=True)
def quick_switches() -> Iterator[None]:
    """Threads take turns some hundred times more often than they normally do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(jobs: list[Callable[[], object]]) -> list[object]:
    """The jobs' results, each run in a thread of its own at the same time; the first exception is raised."""
    results: list[object] = [None] * len(jobs)
    failed: list[BaseException] = []

    def run(i: int) -> None:
        try:
            results[i] = jobs[i]()
        except BaseException as error:  # shown by the test
            failed.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return results


def generate(grammar: CompiledGrammar, seed: int, steps: int) -> list[object]:
    """A random generation, by seed, with everything that it was told on its way."""
    rng = random.Random(seed)
    matcher = cd.GrammarMatcher(grammar)
    row = np.zeros((1, WORDS), dtype=np.int32)
    seen: list[object] = []
    for _ in range(steps):
        matcher.fill_next_token_bitmask(row)
        ids = row_ids(row[0], INFO.vocab_size)
        assert matcher.allowed_token_ids() == ids
        assert matcher.allowed_token_count() == len(ids)
        seen.append((hash(tuple(ids)), matcher.is_completed(), matcher.distance_to_end()))
        if rng.random() < 0.1:
            seen += [matcher.shortest_completion(), matcher.find_jump_forward_string(), matcher.compute_ff_tokens()]
        if rng.random() < 0.1 and matcher.num_steps:
            matcher.rollback(rng.randint(1, min(3, matcher.num_steps)))
            continue
        token = rng.choice(ids)
        assert matcher.validate_tokens([token]) == 1 and matcher.accept_token(token)
        if matcher.is_terminated() or matcher.num_steps > 60:
            matcher.reset()
    return seen


def generate_in_batch(grammar: CompiledGrammar, seed: int, steps: int, threads: int) -> list[object]:
    """Four rows in batch calls; what was told does not depend on how they are called."""
    rng = random.Random(seed)
    batch = cd.BatchGrammarMatcher(threads)
    matchers = [cd.GrammarMatcher(grammar) for _ in range(4)]
    rows = np.zeros((4, WORDS), dtype=np.int32)
    seen: list[object] = []
    for _ in range(steps):
        batch.batch_fill_next_token_bitmask(matchers, rows)
        masks = [row_ids(row, INFO.vocab_size) for row in rows]
        seen.append(hash(tuple(map(tuple, masks))))
        tokens = [rng.choice(ids) for ids in masks]
        assert batch.batch_accept_token(matchers, tokens) == [True] * 4
        for matcher in matchers:
            if matcher.is_terminated() or matcher.num_steps > 60:
                matcher.reset()
    return seen


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("name", GRAMMARS)
def test_eight_threads(name: str, limits: str) -> None:
    steps = 200 if COMPILED else 4

    def compile_new() -> CompiledGrammar:
        return cd.GrammarCompiler(INFO, cache_limit_bytes=0, limits=LIMITS[limits]).compile_grammar(GRAMMARS[name])

    def jobs(grammar: CompiledGrammar) -> list[Callable[[], object]]:
        return [*(lambda seed=seed: generate(grammar, seed, steps) for seed in range(6)),
                lambda: generate_in_batch(grammar, 6, steps, 1), lambda: generate_in_batch(grammar, 7, steps, 2)]

    one = compile_new()
    want = [job() for job in jobs(one)]
    for _ in range(sized(2, 1)):
        assert in_threads(jobs(compile_new())) == want


def test_one_compiler_for_all() -> None:
    """Threads that compile the same grammars get equal ones, and the cache holds each once."""
    compiler = cd.GrammarCompiler(INFO)
    texts = [f'root ::= "{i}" root | "a"' for i in range(4)]

    def compile_all() -> list[int]:
        found = [compiler.compile_grammar(text) for text in texts]
        return [len(one.allowed_ids(one.start_state)) for one in found]

    assert len({tuple(found) for found in in_threads([compile_all] * 8)}) == 1  # type: ignore[arg-type]
    assert compiler.compile_grammar(texts[0]) is compiler.compile_grammar(texts[0])


def test_class_tries_are_shared_safely() -> None:
    """Different grammars with one byte partition, first masks at the same time: they share the vocabulary's tables."""
    texts = [f'root ::= "{i}" [^a"]* "a"' for i in range(8)]

    def first_masks(text: str) -> list[list[int]]:
        grammar = cd.GrammarCompiler(INFO, cache_limit_bytes=0).compile_grammar(text)
        state = grammar.advance(grammar.start_state, text[10:11].encode())
        return [grammar.allowed_ids(grammar.start_state), grammar.allowed_ids(state)]

    want = [first_masks(text) for text in texts]
    assert in_threads([lambda text=text: first_masks(text) for text in texts]) == want
