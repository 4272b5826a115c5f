"""Measurements of this engine alone: the trie walk, first visits by kind, rows in one call, memory.

Each function returns the Markdown that ``engine.py`` prints.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import numpy as np
from peers import Vocabulary

import constrained as cd
from constrained.engine import vocabulary_tables
from constrained.engine.compiled import CompiledGrammar
from constrained.engine.lowering import lower
from constrained.grammars import builtin_names, builtin_text
from constrained.kernel.token_automaton import TokenAutomaton

__all__ = ["batch", "first_visits", "fresh", "known_states", "memory", "trie_walk"]

STRING_BODIES = r"""
root ::= "a" body "\"" | "b" body "\"x"
body ::= ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9A-Fa-f]{4}))*
"""
"""The body of a JSON string twice, so that two states have the same walk and different masks."""


# ---- the trie walk -------------------------------------------------------------------------------------


def trie_walk(vocabulary: Vocabulary, runs: int = 400) -> str:
    """A mask of the JSON string body found by walking the whole trie: the grammar's regions are taken away.

    The budget for masks is one byte, so that asking for two states in turn builds each mask anew. The time is that of
    the whole call: walk, hash, store and copy.
    """
    compiled = cd.GrammarCompiler(vocabulary.info, cache_limit_bytes=0).compile_grammar(STRING_BODIES)
    plain = lower(compiled.rules, compiled.limits, unspellable=vocabulary.info.unspellable_bytes)
    plain.drop_regions()
    trie = compiled.tables.trie
    automaton = TokenAutomaton(plain, 1000, trie, vocabulary.info.stop_token_ids, 1, 1 << 40)
    states = [automaton.advance(automaton.start(), data) for data in (b"a", b"b")]
    row = np.zeros((2, vocabulary.words), np.int32)
    for i, state in enumerate(states):
        automaton.fill(state, row, i)
        expected = np.zeros((1, vocabulary.words), np.int32)
        compiled.fill(compiled.advance(compiled.start_state, (b"a", b"b")[i]), expected, 0)
        assert (row[i] == expected[0]).all()
    visited = _visited(automaton, trie, states[0])
    address = row.ctypes.data
    times = []
    for i in range(runs):
        begin = time.perf_counter_ns()
        automaton.fill_at(states[i & 1], address)
        times.append(time.perf_counter_ns() - begin)
    least, middle = min(times), float(np.median(times))
    return (f"| nodes in the trie | visited | least us | median us | least ns a node | median ns a node |\n"
            f"| --- | --- | --- | --- | --- | --- |\n"
            f"| {trie.shape()[0]} | {visited} | {least / 1e3:.0f} | {middle / 1e3:.0f} | {least / visited:.2f} "
            f"| {middle / visited:.2f} |")


def _visited(automaton: TokenAutomaton, trie: Any, state: int) -> int:
    """Trie nodes that a walk looks at: those whose parent can be read."""
    word, end, _ = trie.nodes()
    path = [state] + [0] * 4096
    n, visited = 1, 0
    while n < len(word):
        depth = word[n] >> 8
        visited += 1
        path[depth] = automaton.advance(path[depth - 1], bytes([word[n] & 255]))
        n = n + 1 if path[depth] else end[n]
    return visited


# ---- a fresh grammar -----------------------------------------------------------------------------------


def fresh(vocabulary: Vocabulary, runs: int = 50) -> str:
    """From EBNF text to the first mask of a grammar nobody has seen, with the tables of the vocabulary there.

    In thread CPU time: these are milliseconds, and a busy machine stops in the middle of many of them.
    """
    lines = ["| grammar | text to `Grammar`, ms | compile ms | first mask ms | compile + first mask ms | least ms |",
             "| --- | --- | --- | --- | --- | --- |"]
    compiler = cd.GrammarCompiler(vocabulary.info, cache_limit_bytes=0)
    row = np.zeros((1, vocabulary.words), np.int32)
    clock = time.thread_time_ns
    keep = []
    for name in ("json", "sql-select", "arithmetic", "url"):
        times = []
        text = builtin_text(name)
        gc.collect()
        gc.disable()
        for run in range(runs + 1):
            begin = clock()
            grammar = cd.Grammar.from_ebnf(text)
            read = clock()
            compiled = compiler.compile_grammar(grammar)
            done = clock()
            cd.GrammarMatcher(compiled).fill_next_token_bitmask(row)
            end = clock()
            if run == 0:  # makes the vocabulary's tables
                keep.append(compiled)
            else:
                times.append((read - begin, done - read, end - done, end - read))
        gc.enable()
        middle = np.median(np.array(times), axis=0) / 1e6
        lines.append(f"| {name} | {middle[0]:.2f} | {middle[1]:.2f} | {middle[2]:.2f} | {middle[3]:.2f} "
                     f"| {min(t[3] for t in times) / 1e6:.2f} |")
    return "\n".join(lines)


# ---- known states --------------------------------------------------------------------------------------


def known_states(vocabulary: Vocabulary, texts: Sequence[list[int]], repeats: int) -> str:
    """The two calls of a step alone, every state known: least of the repeats for each token, then the median."""
    compiled = cd.GrammarCompiler(vocabulary.info, cache_limit_bytes=0).compile_grammar(cd.Grammar.builtin("json"))
    row = np.zeros((1, vocabulary.words), np.int32)
    address = row.ctypes.data
    clock = time.perf_counter_ns
    runs: list[list[tuple[int, int, int, int, int]]] = []
    for _ in range(repeats + 1):  # the first makes the states
        found = []
        for ids in texts:
            matcher = cd.GrammarMatcher(compiled)
            matcher.fill_next_token_bitmask(row)  # the bitmask is looked at once
            fill_at, next_state, fill, accept = (compiled.fill_at, compiled.next_state, matcher.fill_next_token_bitmask,
                                                 matcher.accept_token)
            for token in ids:
                state = matcher.state
                a = clock()
                fill(row, 0)
                b = clock()
                fill_at(state, address)
                c = clock()
                next_state(state, token)
                d = clock()
                clock()
                f = clock()
                accept(token)
                found.append((b - a, c - b, clock() - f, d - c, f - d))
        runs.append(found)
    p50 = np.median(np.min(np.array(runs[1:]), axis=0), axis=0) / 1e3
    return ("| `fill_next_token_bitmask` us | `CompiledGrammar.fill_at` us | `accept_token` us | `next_state` us "
            "| of each, the clock us |\n| --- | --- | --- | --- | --- |\n"
            f"| {p50[0]:.2f} | {p50[1]:.2f} | {p50[2]:.2f} | {p50[3]:.2f} | {p50[4] / 2:.2f} |")


# ---- first visits --------------------------------------------------------------------------------------

KINDS = ("known", "first visit", "class trie built")


def first_visits(vocabulary: Vocabulary, grammars: dict[str, tuple[Any, Sequence[list[int]]]], repeats: int) -> str:
    """Masks of one grammar after the other on tables made anew, by what the mask needed.

    Of each token the least time of all repeats counts: a build of milliseconds seldom runs undisturbed.
    """
    lines = ["| grammar | kind | masks | p50 us | p99 us | max us | accept, p50 us |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    found: dict[str, list[tuple[list[int], list[int], list[int]]]] = {name: [] for name in grammars}
    compiler = cd.GrammarCompiler(vocabulary.info, cache_limit_bytes=0)
    row = np.zeros((1, vocabulary.words), np.int32)
    for _ in range(repeats):
        vocabulary_tables._known.pop(vocabulary.info.fingerprint, None)
        keep = []
        for name, (make, texts) in grammars.items():
            compiled = compiler.compile_grammar(make())
            keep.append(compiled)
            found[name].append(_visit(compiled, texts, row))
    for name, runs in found.items():
        kinds = np.array(runs[0][0])
        masks = np.min(np.array([run[1] for run in runs]), axis=0) / 1e3
        accepts = np.min(np.array([run[2] for run in runs]), axis=0) / 1e3
        for kind, label in enumerate(KINDS):
            times = masks[kinds == kind]
            if len(times):
                p50, p99 = np.percentile(times, [50, 99])
                lines.append(f"| {name} | {label} | {len(times)} | {p50:.2f} | {p99:.1f} | {times.max():.0f} "
                             f"| {np.median(accepts[kinds == kind]):.2f} |")
    return "\n".join(lines)


def _visit(compiled: CompiledGrammar, texts: Sequence[list[int]],
           row: np.ndarray) -> tuple[list[int], list[int], list[int]]:
    """The kind of each mask, and nanoseconds of each fill and accept."""
    kinds: list[int] = []
    fills: list[int] = []
    accepts: list[int] = []
    trie = compiled.tables.trie
    clock = time.perf_counter_ns
    held = trie.memory()
    for ids in texts:
        matcher = cd.GrammarMatcher(compiled)
        for token in ids:
            known = compiled.automaton.known(matcher.state)
            begin = clock()
            matcher.fill_next_token_bitmask(row)
            done = clock()
            assert matcher.accept_token(token)
            accepts.append(clock() - done)
            fills.append(done - begin)
            now = trie.memory()
            kinds.append(0 if known else 1 if now == held else 2)
            held = now
    return kinds, fills, accepts


# ---- rows in one call ----------------------------------------------------------------------------------

HASHED = bytes(2_000_000)


def batch(vocabulary: Vocabulary, rows: int = 64, runs: int = 101) -> str:
    """One call for rows of different grammars: each a shipped grammar behind a number of its own.

    The threads are pinned to two cores: a scheduler leaves tasks of two milliseconds where they were woken. What two
    threads can gain on the machine at that moment is shown by hashing, which holds no lock at all. Where other
    processes use the cores too, CPU time tells what two free cores would give: the work of one thread against that
    of the busier of two.
    """
    compiler = cd.GrammarCompiler(vocabulary.info, cache_limit_bytes=0)
    names = builtin_names()
    grammars = [cd.Grammar.from_ebnf(f'root ::= "{i}: "') + cd.Grammar.builtin(names[i % len(names)])
                for i in range(rows)]
    bitmask = np.zeros((rows, vocabulary.words), np.int32)

    def unseen() -> list[cd.GrammarMatcher]:
        matchers = [cd.GrammarMatcher(compiler.compile_grammar(grammar)) for grammar in grammars]
        for i, matcher in enumerate(matchers):
            assert matcher.accept_string(f"{i}: ")
        return matchers

    batches = {threads: cd.BatchGrammarMatcher(threads) for threads in (1, 2)}
    times: dict[int, list[float]] = {1: [], 2: []}
    for one in batches.values():  # class tries and threads are made
        one.batch_fill_next_token_bitmask(unseen(), bitmask)
    pool = ThreadPoolExecutor(1)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1 and batches[2]._pool is not None:
        for other in (pool, batches[2]._pool):
            other.submit(os.sched_setaffinity, 0, {cores[1]}).result()
        os.sched_setaffinity(0, {cores[0]})  # this thread
    hashes: dict[int, list[float]] = {1: [], 2: []}
    cpu: dict[int, list[float]] = {1: [], 2: []}
    helper = batches[2]._pool
    assert helper is not None
    clock = time.thread_time_ns
    for _ in range(runs):
        for threads in hashes:
            begin = time.perf_counter_ns()
            second = pool.submit(sha256, HASHED) if threads == 2 else None
            sha256(HASHED)
            second.result() if second else sha256(HASHED)
            hashes[threads].append((time.perf_counter_ns() - begin) / 1e3)
        for threads, one in batches.items():
            matchers = unseen()
            there = helper.submit(clock).result()
            here = clock()
            begin = time.perf_counter_ns()
            one.batch_fill_next_token_bitmask(matchers, bitmask)
            times[threads].append((time.perf_counter_ns() - begin) / 1e3)
            cpu[threads].append(max(clock() - here, helper.submit(clock).result() - there))
    known = []
    copies = []
    source = bitmask.copy()
    for _ in range(500):
        begin = time.perf_counter_ns()
        batches[1].batch_fill_next_token_bitmask(matchers, bitmask)
        done = time.perf_counter_ns()
        np.copyto(bitmask, source)
        copies.append((time.perf_counter_ns() - done) / 1e3)
        known.append((done - begin) / 1e3)
    os.sched_setaffinity(0, set(cores))
    gains = [float(np.median(np.array(t[1]) / np.array(t[2]))) for t in (times, hashes)]
    most = [min(t[1]) / min(t[2]) for t in (times, hashes)]
    return (f"| {rows} rows, one call | least us | median us |\n| --- | --- | --- |\n"
            f"| all states known | {min(known):.1f} | {np.median(known):.1f} |\n"
            f"| copying as many bytes (numpy) | {min(copies):.1f} | {np.median(copies):.1f} |\n"
            f"| all first visits, one thread | {min(times[1]):.0f} | {np.median(times[1]):.0f} |\n"
            f"| all first visits, two threads | {min(times[2]):.0f} | {np.median(times[2]):.0f} |\n\n"
            f"Two threads are {gains[0]:.2f} times as fast (median of {runs} interleaved pairs), {most[0]:.2f} times "
            f"by the least of each. Hashing in two threads: {gains[1]:.2f} and {most[1]:.2f} times. By CPU time, one "
            f"thread needs {float(np.median(np.array(cpu[1]) / np.array(cpu[2]))):.2f} times what the busier of two "
            f"needs.")


# ---- memory --------------------------------------------------------------------------------------------

COUNTING = 'root ::= "[" item ("," item){0,9999} "]"\nitem ::= [a-z]{1,40} | [0-9]{1,30} | "(" root ")"\n'


def memory(vocabulary: Vocabulary, texts: int = 10_000) -> str:
    """What the tables of the vocabulary take, and how a process grows over many different texts."""
    vocabulary_tables._known.pop(vocabulary.info.fingerprint, None)
    gc.collect()
    before = _resident()
    compiler = cd.GrammarCompiler(vocabulary.info, cache_limit_bytes=0)
    keep = compiler.compile_grammar(cd.Grammar.builtin("json"))
    built = _resident()
    row = np.zeros((1, vocabulary.words), np.int32)
    lines = [f"The trie takes {keep.tables.trie.memory() / 1e6:.1f} MB by its own count; the process grew "
             f"{(built - before) / 1e6:.1f} MB when the first grammar was compiled.\n",
             f"| grammar | peak growth, first {texts // 10} texts MB "
             f"| further growth of the peak, other {texts * 9 // 10} texts MB | growth between the ends MB | tokens "
             "| epochs | states | grammar's own count MB |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, compiled, make in (
        ("json", keep, _json_text),
        ("counting", compiler.compile_grammar(COUNTING), _counted_text),
    ):
        rng = random.Random(0)
        tokens = 0
        start = _resident()
        peak = early = tenth = start
        for at in range(texts):
            ids = vocabulary.encode(make(rng))
            tokens += len(ids)
            matcher = cd.GrammarMatcher(compiled)
            for token in ids:
                matcher.fill_next_token_bitmask(row)
                assert matcher.accept_token(token)
            if (at + 1) % (texts // 200) == 0:
                peak = max(peak, _resident())
            if at + 1 == texts // 10:
                early = peak
                tenth = _resident()
        end = _resident()
        epochs, states, *_ = compiled.automaton.counts()
        lines.append(f"| {name} | {(early - start) / 1e6:.2f} | {(peak - early) / 1e6:.2f} | {(end - tenth) / 1e6:.2f} "
                     f"| {tokens} | {epochs} | {states} "
                     f"| {compiled.memory_size_bytes / 1e6:.1f} |")
    lines.append(f"\nTables of the vocabulary at the end: {keep.tables.trie.memory() / 1e6:.1f} MB.")
    return "\n".join(lines)


def _resident() -> int:
    """Resident bytes, after unused memory was given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


WORDS = ["alpha", "beta", "gamma", "delta", "größe", "名前", "price", "created_at", "x", "items", "Zürich", "a b",
         "ok?", "\n"]


def _json_text(rng: random.Random) -> str:
    def value(depth: int) -> Any:
        kind = rng.randrange(8 if depth < 5 else 5)
        if kind == 0:
            return rng.choice([True, False, None])
        if kind == 1:
            return rng.randrange(-10**rng.randrange(1, 12), 10**rng.randrange(1, 12))
        if kind == 2:
            return rng.random() * 10**rng.randrange(-20, 20)
        if kind <= 4:
            ends = ["", " ", str(rng.randrange(1000))]
            return "".join(rng.choice(WORDS) + rng.choice(ends) for _ in range(rng.randrange(6)))
        if kind == 5:
            return [value(depth + 1) for _ in range(rng.randrange(8))]
        return {rng.choice(WORDS) + str(rng.randrange(1000)): value(depth + 1) for _ in range(rng.randrange(8))}

    return json.dumps({"id": rng.randrange(10**9), "data": value(1)}, ensure_ascii=rng.random() < 0.5)


def _counted_text(rng: random.Random) -> str:
    def items(depth: int) -> str:
        parts = []
        for _ in range(rng.randrange(1, 120 if depth == 0 else 6)):
            kind = rng.randrange(8)
            if kind == 0 and depth < 3:
                parts.append(f"({items(depth + 1)})")
            elif kind < 4:
                parts.append("".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randrange(1, 41))))
            else:
                parts.append(str(rng.randrange(1, 10**rng.randrange(1, 30))))
        return f"[{','.join(parts)}]"

    return items(0)
