"""Structural tags with 10, 100 and 500 functions: compile + first mask, and masks in free text, against the peers.

    OMP_NUM_THREADS=1 python benchmarks/structural_tags.py [--vocabulary qwen3] [--repeats 5] [--functions 10 100 500]

Each engine gets the same functions as one structural tag in its own form: a dict for this library, JSON for XGrammar
(one thread, no cache), ``StructTag.to_grammar`` for llguidance (text triggers). The vocabulary's own tables are there
from the start. "compile + first mask" is wall and processor time, the least of the repeats (XGrammar with 500 functions
runs once). Masks in free text: ``docs/design.md`` token by token through a fresh grammar, so first visits are in it; a
token's time is the least of the repeats, each of which begins with a fresh grammar. A second table has this library
alone: the same prose within a think section, with and without a budget in tokens, before an end of one token and one of
several; there every token is a new state.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import llguidance
import numpy as np
from measure import machine
from peers import Llguidance, Ours, Refused, XGrammar, load_vocabulary

import constrained as cd
from constrained.toolcalls import ToolSpec, get_format

PROSE = Path(__file__).resolve().parents[1] / "docs" / "design.md"
"""Free text of some thousand tokens, with signs of all kinds in it."""


def tokenizer_file(name: str) -> Path:
    """The ``tokenizer.json`` of a folder of the shared data; ends the program with a plain message without it."""
    shared = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    path = shared / "data" / "tokenizers" / name / "tokenizer.json"
    if not path.is_file():
        sys.exit("the shared data are not here (set CONSTRAINED_SHARED)")
    return path


def functions(count: int) -> list[ToolSpec]:
    """Functions with one to five parameters of the usual kinds, seed 0."""
    rng = random.Random(0)
    found = []
    for i in range(count):
        kinds: list[dict[str, Any]] = [
            {"type": "string"}, {"type": "integer"}, {"type": "boolean"},
            {"type": "string", "enum": ["a", "b", f"c{i}"]}, {"type": "array", "items": {"type": "string"}}]
        properties = {f"p{i}_{j}": rng.choice(kinds) for j in range(rng.randint(1, 5))}
        found.append(ToolSpec(f"function_{i}", None, {
            "type": "object", "properties": properties, "required": list(properties)[:2],
            "additionalProperties": False}))
    return found


class OursByTag(Ours):
    """``compile`` takes a structural tag."""

    def compile(self, source: Any) -> cd.CompiledGrammar:
        return cd.GrammarCompiler(self.vocabulary.info, cache_limit_bytes=0).compile_structural_tag(source)


def sources(tools: list[ToolSpec]) -> dict[str, Any]:
    """What each engine compiles."""
    tag = get_format("qwen3").structural_tag(tools)
    text = json.dumps(tag)
    struct_tags = [llguidance.StructTag(trigger=one["begin"][: len("<tool_call>")], begin=one["begin"],
                                        grammar=one["content"]["json_schema"], end=one["end"])
                   for one in tag["format"]["tags"]]
    return {
        "constrained": tag,
        "llguidance": llguidance.StructTag.to_grammar(struct_tags, assume_special=False),
        "XGrammar": lambda compiler: compiler.compile_structural_tag(text),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--vocabulary", default="qwen3")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--engines", nargs="+", default=["constrained", "llguidance", "XGrammar"])
    parser.add_argument("--functions", type=int, nargs="+", default=[10, 100, 500])
    arguments = parser.parse_args()
    vocabulary = load_vocabulary(tokenizer_file(arguments.vocabulary))
    engines: dict[str, Any] = {"constrained": OursByTag(vocabulary), "llguidance": Llguidance(vocabulary),
                               "XGrammar": XGrammar(vocabulary)}
    engines = {name: engine for name, engine in engines.items() if name in arguments.engines}
    ids = vocabulary.encode(PROSE.read_text(encoding="utf-8"))
    print(machine())
    print(", ".join(f"{name} {engine.version()}" for name, engine in engines.items()),
          f"vocabulary {arguments.vocabulary}, {len(ids)} tokens of free text")
    warm = sources(functions(1))
    for name, engine in engines.items():
        _first(engine, warm[name])
    print("\n| functions | engine | compile + first mask, ms | CPU ms | free text: mean us | p50 | p99 | max |\n"
          "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for count in arguments.functions:
        source = sources(functions(count))
        for name, engine in engines.items():
            walls, cpus, tokens = [], [], []
            try:
                for _ in range(1 if name == "XGrammar" and count > 100 else arguments.repeats):
                    wall, cpu, compiled = _first(engine, source[name])
                    walls.append(wall)
                    cpus.append(cpu)
                    tokens.append(_masks(engine, compiled, ids))
            except Refused as error:
                print(f"| {count} | {name} | refused: {str(error)[:60]} | | | | | |")
                continue
            times = np.min(np.stack(tokens), axis=0) / 1e3
            print(f"| {count} | {name} | {min(walls):.1f} | {min(cpus):.1f} | {times.mean():.2f} | "
                  f"{np.percentile(times, 50):.2f} | {np.percentile(times, 99):.2f} | {times.max():.2f} |", flush=True)


    if "constrained" in engines:
        _within_budgets(engines["constrained"], ids, arguments.repeats)


def _within_budgets(engine: Any, ids: list[int], repeats: int) -> None:
    print("\n| think section | mean us | p50 | p99 | max |\n| --- | ---: | ---: | ---: | ---: |")
    for end in ("</think>", "\n</thinking>\n"):
        for most in (None, 100_000):
            content = {"type": "any_text"} if most is None else {"type": "any_text", "max_tokens": most}
            tag = {"type": "tag", "begin": "", "content": content, "end": end}
            times = np.min(np.stack([_masks(engine, engine.compile(tag), ids) for _ in range(repeats)]), axis=0) / 1e3
            print(f"| {end!r}, {'no budget' if most is None else f'max_tokens {most}'} | {times.mean():.2f} | "
                  f"{np.percentile(times, 50):.2f} | {np.percentile(times, 99):.2f} | {times.max():.2f} |", flush=True)


def _first(engine: Any, source: Any) -> tuple[float, float, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    compiled = engine.compile(source)
    fill, _ = engine.begin(compiled)
    fill()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3, compiled


def _masks(engine: Any, compiled: Any, ids: list[int]) -> Any:
    fill, accept = engine.begin(compiled)
    times = np.zeros(len(ids))
    for i, token in enumerate(ids):
        begin = time.perf_counter_ns()
        fill()
        times[i] = time.perf_counter_ns() - begin
        if not accept(token):
            raise Refused(f"token {i} of the prose")
    return times


if __name__ == "__main__":
    main()
