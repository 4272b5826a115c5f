"""MaskBench: JSON schemas with their instances, each engine from the schema's text to every mask.

    OMP_NUM_THREADS=1 python benchmarks/maskbench.py                     # everything: about ten minutes
    OMP_NUM_THREADS=1 python benchmarks/maskbench.py --limit 100         # every ninth schema
    OMP_NUM_THREADS=1 python benchmarks/maskbench.py --engines constrained llguidance --orders any --slowest 20
    OMP_NUM_THREADS=1 python benchmarks/maskbench.py --clock cpu         # on a busy machine

For each schema each engine, in random order, compiles it afresh from text (one compiler an engine, caches of whole
grammars off), makes a matcher and computes the mask of the empty text: *first mask*. Then the instances, written as
``json.dumps(x, ensure_ascii=False)`` does and tokenized, are replayed: the mask before each token, and the token.
A text ends at the first token that is refused; all times until then count. What an engine refuses to compile is
counted, and its time until the refusal left out.

XGrammar runs in a process of its own (same machine, same run), since some of its compilations take minutes: that
process is ended after ``--patience`` seconds for one schema, the schema counted as too slow.

Each property order is a run of its own, with all engines, in a process of its own. In one process the second
compilation of a schema would find its patterns in our process-wide caches, and our code in the processor's: with both
orders in turns a first mask took two thirds of what it takes behind another engine.

``--clock cpu`` takes the thread's processor time for each step instead of the wall's, which on a busy machine holds
the time slices of others; it adds about 0.5 us to each token.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import random
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import llguidance
import numpy as np
from conformance import maskbench_schemas, shared_dir
from measure import machine, progress
from peers import Engine, Llguidance, Ours, Refused, Vocabulary, XGrammar, load_vocabulary

import constrained as cd

VOCABULARY = "llama3_1"
CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.thread_time_ns}


@dataclass
class Times:
    """What one engine did; microseconds."""

    label: str
    tokens: dict[str, np.ndarray] = field(default_factory=dict)  # by schema
    first: dict[str, float] = field(default_factory=dict)
    first_cpu: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    hung: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)


class OursSchema(Ours):
    """``compile`` takes a schema's text."""

    def __init__(self, vocabulary: Vocabulary, order: str) -> None:
        super().__init__(vocabulary)
        self.order = order
        self.compiler = cd.GrammarCompiler(vocabulary.info, cache_limit_bytes=0)

    def compile(self, source: str) -> cd.CompiledGrammar:
        try:
            return self.compiler.compile_json_schema(source, property_order=self.order)
        except cd.ConstrainedError as error:
            raise Refused(str(error)) from None


class LlguidanceSchema(Llguidance):
    """``compile`` takes a schema's text."""

    def compile(self, source: str) -> Any:
        try:
            return super().compile(llguidance.LLMatcher.grammar_from_json_schema(source))
        except ValueError as error:
            raise Refused(str(error)) from None


class XGrammarSchema(XGrammar):
    """``compile`` takes a schema's text."""

    def compile(self, source: str) -> Any:
        return super().compile(lambda compiler: compiler.compile_json_schema(source, strict_mode=False))


def one_schema(engine: Engine, text: str, instances: list[tuple[list[int], bool]],
               clock: Callable[[], int]) -> tuple[float, float, list[float], int, int]:
    """(first mask, its CPU time, times of all tokens, valid ones rejected, invalid ones accepted)."""
    cpu = time.thread_time_ns()
    begin = clock()
    compiled = engine.compile(text)
    fill, _ = engine.begin(compiled)
    fill()
    first = clock() - begin
    cpu = time.thread_time_ns() - cpu
    taken: list[float] = []
    rejected = accepted = 0
    for ids, valid in instances:
        fill, accept = engine.begin(compiled)
        ok = True
        for token in ids:
            before = clock()
            fill()
            ok = accept(token)
            after = clock()
            taken.append((after - before) / 1e3)
            if not ok:
                break
        stops = engine.vocabulary.info.stop_token_ids
        if ok:  # the text must be allowed to end here
            fill()
            ok = any((int(engine.buffer[0, stop >> 5]) >> (stop & 31)) & 1 for stop in stops)
        rejected += valid and not ok
        accepted += ok and not valid
        if not ok and engine.name == "llguidance":
            compiled = engine.compile(text)  # its matcher never leaves its error state
    return first / 1e3, cpu / 1e3, taken, rejected, accepted


def xgrammar_worker(path: Path, clock: str, pipe: Connection) -> None:
    """Serves schemas until the pipe closes."""
    engine = XGrammarSchema(load_vocabulary(path))
    engine.compile('{"type": "object"}')
    gc.collect()
    gc.freeze()
    pipe.send("ready")
    while True:
        try:
            text, instances = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(one_schema(engine, text, instances, CLOCKS[clock]))
        except Refused as error:
            pipe.send(str(error))


class Apart:
    """XGrammar in its own process, started again when it is ended."""

    def __init__(self, path: Path, patience: float, clock: str) -> None:
        self.path = path
        self.clock = clock
        self.patience = patience
        self.context = multiprocessing.get_context("spawn")
        self.process: Any = None

    def run(self, text: str, instances: list[tuple[list[int], bool]]) -> Any:
        """What ``one_schema`` gives, the text of a refusal, or None if it took too long."""
        if self.process is None:
            self.pipe, other = self.context.Pipe()
            self.process = self.context.Process(
                target=xgrammar_worker, args=(self.path, self.clock, other), daemon=True)
            self.process.start()
            other.close()
            self.pipe.recv()  # loading its vocabulary is no schema's time
        self.pipe.send((text, instances))
        try:
            if self.pipe.poll(self.patience):
                return self.pipe.recv()
        except EOFError:
            pass
        self.process.kill()
        self.process.join()
        self.process = None
        return None


def run(vocabulary: Vocabulary, schemas: list[tuple[str, Any, list[tuple[Any, bool]]]], names: list[str],
        order: str, patience: float, clock: str) -> list[Times]:
    """All engines over all schemas."""
    engines: list[tuple[Times, Any]] = []
    if "constrained" in names:
        engines.append((Times(f"constrained, order {order!r}"), OursSchema(vocabulary, order)))
    if "llguidance" in names:
        engines.append((Times("llguidance"), LlguidanceSchema(vocabulary)))
    if "xgrammar" in names:
        engines.append((Times("XGrammar"), Apart(vocabulary.path, patience, clock)))
    warm = json.dumps({"type": "object", "properties": {"warm": {"type": "string"}}})
    for _, engine in engines:  # what belongs to the vocabulary is there from the start
        if isinstance(engine, Apart):
            engine.run(warm, [])
        else:
            one_schema(engine, warm, [(vocabulary.encode('{"warm": "up"}'), True)], CLOCKS[clock])
    rng = random.Random(0)
    gc.collect()
    gc.freeze()
    for name, schema, tests in progress(schemas, "schemas"):
        text = json.dumps(schema)
        instances = [(vocabulary.encode(json.dumps(value, ensure_ascii=False)), valid) for value, valid in tests]
        for times, engine in rng.sample(engines, len(engines)):
            try:
                found = engine.run(text, instances) if isinstance(engine, Apart) else one_schema(
                    engine, text, instances, CLOCKS[clock])
            except Refused as error:
                times.refused[name] = str(error)
                continue
            if found is None:
                times.hung.append(name)
                continue
            if isinstance(found, str):
                times.refused[name] = found
                continue
            times.first[name], times.first_cpu[name], taken, rejected, accepted = found
            times.tokens[name] = np.array(taken)
            if rejected:
                times.rejected.append(name)
            if accepted:
                times.accepted.append(name)
    return [times for times, _ in engines]


def sample(limit: int) -> list[tuple[str, Any, list[tuple[Any, bool]]]]:
    """The schemas with their instances; about ``limit`` of them, spread over the sample, or all."""
    schemas = list(maskbench_schemas(shared_dir()))
    return schemas[:: max(1, len(schemas) // limit)] if limit else schemas


def run_alone(limit: int, names: list[str], order: str, patience: float, clock: str) -> list[Times]:
    """``run`` in a process that has done nothing else."""
    vocabulary = load_vocabulary(shared_dir() / "data" / "tokenizers" / VOCABULARY / "tokenizer.json", 128256)
    return run(vocabulary, sample(limit), names, order, patience, clock)


def percentiles(values: np.ndarray) -> str:
    """Cells of a table: mean, p50, p99, p99.9, largest."""
    if not len(values):
        return " |" * 5
    p50, p99, p999 = np.percentile(values, [50, 99, 99.9])
    return f"{values.mean():,.1f} | {p50:,.2f} | {p99:,.0f} | {p999:,.0f} | {values.max():,.0f} |"


def token_table(found: list[Times], names: set[str] | None) -> None:
    """Mask and accept over the schemas ``names`` (None: all that the engine compiles)."""
    print("| engine | mean | p50 | p99 | p99.9 | max | tokens | schemas |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for one in found:
        taken = [tokens for name, tokens in one.tokens.items() if names is None or name in names]
        values = np.concatenate(taken) if taken else np.zeros(0)
        print(f"| {one.label} | {percentiles(values)} {len(values):,} | {len(taken)} |")


def report(found: list[Times], slowest: int) -> None:
    """Markdown tables of both times, and what was not taken."""
    common = set.intersection(*(set(one.first) for one in found)) if found else set()
    print("Mask and accept, microseconds a token:\n")
    token_table(found, None)
    print(f"\nThe same over the {len(common)} schemas that all of them compile:\n")
    token_table(found, common)
    print("\nFirst mask (schema text to the mask of the empty text), microseconds:\n")
    print("| engine | mean | p50 | p99 | p99.9 | max | CPU mean | over 50 ms | refused | too slow "
          "| rejects a valid instance | accepts an invalid one |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for one in found:
        first = np.array(list(one.first.values()))
        cpu = np.mean(list(one.first_cpu.values())) if one.first_cpu else 0.0
        print(f"| {one.label} | {percentiles(first)} {cpu:,.1f} | {int((first > 50_000).sum())} | {len(one.refused)} "
              f"| {len(one.hung)} | {len(one.rejected)} | {len(one.accepted)} |")
    print(f"\nThe same over the {len(common)} schemas that all of them compile:\n")
    print("| engine | mean | p50 | p99 | p99.9 | max | CPU mean |\n| --- | --- | --- | --- | --- | --- | --- |")
    for one in found:
        if common:
            print(f"| {one.label} | {percentiles(np.array([one.first[name] for name in common]))} "
                  f"{np.mean([one.first_cpu[name] for name in common]):,.1f} |")
    for one in found[:1]:
        if slowest:
            print(f"\nSlowest first masks of {one.label}:\n")
            for name, value in sorted(one.first.items(), key=lambda item: -item[1])[:slowest]:
                print(f"- {value / 1e3:.1f} ms {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=0, help="only about so many schemas, spread over the sample")
    parser.add_argument("--engines", nargs="*", default=["constrained", "llguidance", "xgrammar"])
    parser.add_argument("--orders", nargs="*", default=["any", "schema"])
    parser.add_argument("--patience", type=float, default=60.0)
    parser.add_argument("--slowest", type=int, default=0)
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    args = parser.parse_args()
    print(f"{machine()}\n\n{len(sample(args.limit))} schemas, vocabulary {VOCABULARY}, clock: {args.clock}; "
          + ", ".join(f"{kind.name} {kind.version(None)}" for kind in (Ours, Llguidance, XGrammar)))
    for order in args.orders:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            found = pool.submit(run_alone, args.limit, args.engines, order, args.patience, args.clock).result()
        print(f"\n## Order {order!r}\n")
        report(found, args.slowest)


if __name__ == "__main__":
    main()
