"""Times of mask + accept for each token, engines interleaved text by text, and the tables made of them.

A run begins with freshly compiled grammars and goes once through all texts, so first visits are in it. Runs are
repeated. Every repeat does the same work at the same token, so a token's time is its median over the repeats:
that drops what a busy machine adds to single tokens and keeps what the engine does there. Percentiles and the mean
are taken over these medians. "CPU" is the thread's processor time a token over whole texts, the median over repeats:
it contains the loop and its two clock reads (given below the table), but no waiting.
"""

from __future__ import annotations

import gc
import os
import platform
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from peers import Engine, Refused
from rich.console import Console
from rich.progress import Progress

__all__ = ["Contestant", "Result", "clock_cost", "machine", "progress", "race", "table"]

T = TypeVar("T")


def progress(items: Sequence[T], label: str) -> Iterator[T]:
    """``items`` with a bar on stderr, drawn between them: a thread that draws would be in the times."""
    with Progress(console=Console(stderr=True), auto_refresh=False) as bar:
        task = bar.add_task(label, total=len(items))
        for item in items:
            yield item
            bar.update(task, advance=1, refresh=True)


@dataclass
class Contestant:
    """An engine with one way to write the grammar. One that needs more than ``seconds`` stops there, and runs once."""

    label: str
    engine: Engine
    source: Any
    seconds: float = 30.0


@dataclass
class Result:
    """What was measured of one contestant; times in microseconds."""

    label: str
    refused: str = ""
    compile_ms: list[float] = field(default_factory=list)
    first_ms: list[float] = field(default_factory=list)
    tokens: list[np.ndarray] = field(default_factory=list)  # one array a repeat
    cpu: list[float] = field(default_factory=list)
    rejected: int = 0
    texts: int = 0
    stopped: bool = False

    def times(self) -> np.ndarray:
        """Each token's median over the repeats."""
        common = min(map(len, self.tokens))  # one that was stopped in a later repeat has fewer there
        return np.median(np.stack([times[:common] for times in self.tokens]), axis=0)


def race(contestants: Sequence[Contestant], texts: Sequence[list[int]], repeats: int,
         again: Callable[[], None] = lambda: None) -> list[Result]:
    """Drive all contestants through all texts, ``repeats`` times from fresh grammars."""
    results = [Result(c.label) for c in contestants]
    order = list(range(len(contestants)))
    rng = random.Random(0)
    gc.collect()
    gc.disable()
    try:
        for repeat in range(repeats):
            again()
            compiled: list[Any] = [None] * len(order)
            for i, one in enumerate(contestants):
                if results[i].refused or results[i].stopped:
                    continue
                try:
                    begin = time.perf_counter_ns()
                    compiled[i] = one.engine.compile(one.source)
                    done = time.perf_counter_ns()
                    one.engine.begin(compiled[i])[0]()
                    end = time.perf_counter_ns()
                except Refused as error:
                    results[i].refused = str(error) or "refused"
                    continue
                results[i].compile_ms.append((done - begin) / 1e6)
                results[i].first_ms.append((end - begin) / 1e6)
                # the texts see a fresh grammar too: the first mask must not be known already
                compiled[i] = one.engine.compile(one.source)
            taken: list[list[float]] = [[] for _ in order]
            cpu = [0] * len(order)
            wall = [0] * len(order)
            rejected = [0] * len(order)
            for at, ids in enumerate(progress(texts, f"run {repeat + 1} of {repeats}")):
                rng.shuffle(order)
                for i in order:
                    if compiled[i] is None or results[i].stopped:
                        continue
                    fill, accept = contestants[i].engine.begin(compiled[i])
                    begin = time.perf_counter_ns()
                    spent, ok = _replay(fill, accept, ids, taken[i], contestants[i].seconds - wall[i] / 1e9)
                    wall[i] += time.perf_counter_ns() - begin
                    cpu[i] += spent
                    results[i].texts = at + 1
                    if wall[i] > contestants[i].seconds * 1e9:
                        results[i].stopped = True
                    if not ok:
                        rejected[i] += 1
                        compiled[i] = _after_failure(contestants[i], compiled[i])
            for i, result in enumerate(results):
                if compiled[i] is not None:
                    result.tokens.append(np.array(taken[i]) / 1e3)
                    result.cpu.append(cpu[i] / 1e3 / max(1, len(taken[i])))
                    result.rejected = rejected[i]
            gc.collect()
    finally:
        gc.enable()
    return results


def _after_failure(one: Contestant, compiled: Any) -> Any:
    """An llguidance matcher never leaves its error state."""
    return one.engine.compile(one.source) if one.engine.name == "llguidance" else compiled


def _replay(fill: Callable[[], Any], accept: Callable[[int], bool], ids: Sequence[int],
            out: list[float], seconds: float = 1e9) -> tuple[int, bool]:
    """One text: nanoseconds of each mask + accept are appended to ``out``; (thread CPU time, all accepted).

    A token that ends after ``seconds`` is the last.
    """
    clock = time.perf_counter_ns
    ok = True
    begin = time.thread_time_ns()
    last = clock() + int(seconds * 1e9)
    for token in ids:
        before = clock()
        fill()
        ok = accept(token)
        after = clock()
        out.append(after - before)
        if not ok or after > last:
            break
    spent = time.thread_time_ns() - begin
    if not ok:  # keep the repeats aligned: what is left of the text counts as nothing
        del out[len(out) - 1:]
    return spent, ok


def clock_cost() -> float:
    """Microseconds of an empty measurement."""
    out: list[float] = []
    for _ in range(50):
        _replay(lambda: None, lambda token: True, range(200), out)
    return float(np.median(out)) / 1e3


def table(results: Sequence[Result]) -> str:
    """A Markdown table; all times in microseconds but for the first columns."""
    lines = ["| engine | compile ms | compile + first mask ms | mean us | p50 | p99 | p99.9 | max | CPU us a token "
             "| tokens |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for r in results:
        if r.refused:
            lines.append(f"| {r.label} | refused: {' '.join(r.refused.split())[:160]} |  |  |  |  |  |  |  |  |")
            continue
        t = r.times()
        p50, p99, p999 = np.percentile(t, [50, 99, 99.9])
        note = f", {r.rejected} of {r.texts} texts refused" if r.rejected else ""
        note += f", stopped in text {r.texts}" if r.stopped else ""
        compiled = f"{np.median(r.compile_ms):.2f} | {np.median(r.first_ms):.2f}"
        lines.append(f"| {r.label} | {compiled} | {t.mean():.2f} "
                     f"| {p50:.2f} | {p99:.1f} | {p999:.1f} | {t.max():.0f} | {np.median(r.cpu):.2f} "
                     f"| {len(t)}{note} |")
    return "\n".join(lines)


def machine() -> str:
    """Processor, cores, load and Python, for the head of a report."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, load {load}, {platform.system()}, Python {platform.python_version()}"
