"""Schemas at the limits of size: the first mask, and what later masks cost far into long texts.

    OMP_NUM_THREADS=1 python benchmarks/limit_cases.py [--vocabulary llama3_1] [--only NAME ...] [--repeats 3]

"first mask" is compile from text + matcher + the mask of the empty prefix, the least of the repeats (wall); the
vocabulary's own tables are there from the start. Then a long text is walked token by token, mask and accept, once with
a fresh matcher: "early" is the mean of steps 200 to 1,200 and "late" that of the last 1,000, in CPU time. A step is
mask + accept. The slowest steps are those of the walk from a fresh grammar, so first visits are in them; each step
counts with the least of the repeats, which drops what a busy machine adds. "MB" is what the automaton holds at the end.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine
from peers import Vocabulary, load_vocabulary

import constrained as cd


@dataclass
class Case:
    """A schema, texts of it that are written one after another, and its bar in ms to the first mask (None: none)."""

    schema: Callable[[random.Random], Any]
    texts: Callable[[random.Random, Any], list[str]]
    bar: float | None = None
    options: dict[str, Any] | None = None


WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau".split()


def _name(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 3)))


def _optionals(rng: random.Random) -> Any:
    kinds: list[Any] = [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}]
    return {
        "type": "object",
        "properties": {f"property_{i}": rng.choice(kinds) for i in range(5_000)},
        "additionalProperties": False,
    }


def _all_optionals(shuffled: bool) -> Callable[[random.Random, Any], list[str]]:
    def text(rng: random.Random, schema: Any) -> list[str]:
        members = list(schema["properties"].items())
        if shuffled:
            rng.shuffle(members)
        made = {"string": lambda: _name(rng), "integer": lambda: rng.randint(0, 10**6), "boolean": lambda: True}
        return [json.dumps({key: made[kind["type"]]() for key, kind in members})]

    return text


def _characters(count: int, beyond: bool = False) -> Callable[[random.Random, Any], list[str]]:
    def text(rng: random.Random, schema: Any) -> list[str]:
        out: list[str] = []
        length = 0
        while length < count:
            word = rng.choice(WORDS) + rng.choice([" ", " ", " ", ", ", ". ", "\n"])
            if beyond and rng.random() < 0.2:
                word = "".join(rng.choices("äöüßé中文字漢😀", k=4)) + " "
            out.append(word)
            length += len(word)
        return [json.dumps("".join(out)[:count], ensure_ascii=False)]

    return text


def _items(count: int, make: Callable[[random.Random, int], Any]) -> Callable[[random.Random, Any], list[str]]:
    def text(rng: random.Random, schema: Any) -> list[str]:
        return [json.dumps([make(rng, i) for i in range(count)], ensure_ascii=False)]

    return text


def _record(rng: random.Random, i: int) -> Any:
    return {"id": i, "name": _name(rng), "tags": rng.sample(WORDS, 2)}


_RECORD = {
    "type": "object",
    "required": ["id", "name"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}


def _tools(rng: random.Random) -> Any:
    kinds: list[Any] = [
        {"type": "string"},
        {"type": "integer"},
        {"type": "boolean"},
        {"type": "number"},
        {"enum": ["low", "high"]},
        {"type": "array", "items": {"type": "string"}},
    ]
    found = []
    for i in range(500):
        properties = {f"{rng.choice(WORDS)}_{i}_{j}": rng.choice(kinds) for j in range(rng.randint(1, 6))}
        found.append(
            {
                "type": "object",
                "required": ["name", "arguments"],
                "additionalProperties": False,
                "properties": {
                    "name": {"const": f"{rng.choice(WORDS)}_{i}"},
                    "arguments": {
                        "type": "object",
                        "properties": properties,
                        "required": list(properties)[:2],
                        "additionalProperties": False,
                    },
                },
            }
        )
    return {"anyOf": found}


def _calls(rng: random.Random, schema: Any) -> list[str]:
    def value(kind: Any) -> Any:
        return (
            kind["enum"][0]
            if "enum" in kind
            else {"string": _name(rng), "integer": 12, "boolean": True, "number": 1.5, "array": [_name(rng)]}[
                kind["type"]
            ]
        )

    texts = []
    for one in rng.sample(schema["anyOf"], 200):
        arguments = one["properties"]["arguments"]["properties"]
        texts.append(
            json.dumps(
                {
                    "name": one["properties"]["name"]["const"],
                    "arguments": {key: value(kind) for key, kind in arguments.items()},
                }
            )
        )
    return texts


def _random_strings(rng: random.Random) -> Any:
    return {"enum": ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=18)) for _ in range(100_000)]}


def _paths(rng: random.Random) -> Any:
    found = {
        "/usr/share/constrained/" + "/".join(rng.choices(WORDS, k=4)) + f"/{rng.randint(0, 99_999)}.json"
        for _ in range(100_500)
    }
    return {"enum": sorted(found)[:100_000]}


def _numbered(rng: random.Random) -> Any:
    return {"enum": ["https://example.com/catalogue/items/by/number/" + f"{i:06}" for i in range(100_000)]}


def _some_of_enum(rng: random.Random, schema: Any) -> list[str]:
    return [json.dumps(one) for one in rng.sample(schema["enum"], 500)]


def _unique(items: Any) -> Callable[[random.Random], Any]:
    return lambda rng: {"type": "array", "uniqueItems": True, "items": items}


CASES: dict[str, Case] = {
    "5,000 optional properties, any order": Case(_optionals, _all_optionals(True), 50, {"property_order": "any"}),
    "5,000 optional properties, order of the schema": Case(_optionals, _all_optionals(False), 50),
    "maxLength 1,000,000": Case(lambda rng: {"type": "string", "maxLength": 1_000_000}, _characters(900_000), 50),
    "maxLength 1,000,000, not only ASCII": Case(
        lambda rng: {"type": "string", "maxLength": 1_000_000}, _characters(300_000, True), 50
    ),
    "minLength 100,000, maxLength 200,000": Case(
        lambda rng: {"type": "string", "minLength": 100_000, "maxLength": 200_000}, _characters(199_990), None
    ),
    "a pattern and maxLength 100,000": Case(
        lambda rng: {"type": "string", "maxLength": 100_000, "pattern": r"^[a-z]+([ ,.\n]+[a-z]+)*[ ,.\n]*$"},
        _characters(90_000),
        None,
    ),
    "a sought word and maxLength 20,000": Case(
        lambda rng: {"type": "string", "maxLength": 20_000, "pattern": "kappa|lambda"}, _characters(19_990), None
    ),
    "two sought characters and maxLength 20,000": Case(
        lambda rng: {"type": "string", "maxLength": 20_000, "allOf": [{"pattern": "\\."}, {"pattern": "[,;]"}]},
        _characters(19_990),
        None,
    ),
    "maxItems 100,000, objects": Case(
        lambda rng: {"type": "array", "maxItems": 100_000, "items": _RECORD}, _items(50_000, _record), 50
    ),
    "minItems 60,000, maxItems 100,000, strings": Case(
        lambda rng: {"type": "array", "minItems": 60_000, "maxItems": 100_000, "items": {"type": "string"}},
        _items(70_000, lambda rng, i: _name(rng)),
        50,
    ),
    "maxProperties 100,000": Case(
        lambda rng: {"type": "object", "maxProperties": 100_000, "additionalProperties": {"type": "integer"}},
        lambda rng, schema: [json.dumps({f"{_name(rng)} {i}": i for i in range(50_000)})],
        None,
    ),
    "500 tools in one union": Case(_tools, _calls, 30),
    "enum of 100,000 random strings": Case(_random_strings, _some_of_enum, 250),
    "enum of 100,000 paths": Case(_paths, _some_of_enum, 250),
    "enum of 100,000 addresses that end in numbers": Case(_numbered, _some_of_enum, 250),
    "uniqueItems, strings": Case(_unique({"type": "string"}), _items(50_000, lambda rng, i: f"{_name(rng)} {i}")),
    "uniqueItems, strings with one long beginning": Case(
        _unique({"type": "string"}), _items(50_000, lambda rng, i: f"https://example.com/by/number/{i * 7919 % 99991}")
    ),
    "uniqueItems, objects": Case(_unique(_RECORD), _items(50_000, _record)),
    "uniqueItems, integers": Case(_unique({"type": "integer"}), _items(50_000, lambda rng, i: i * 7919 % 999_983)),
    "uniqueItems, numbers": Case(
        _unique({"type": "number"}), _items(50_000, lambda rng, i: (i * 7919 % 999_983) / 100)
    ),
    "uniqueItems, anything": Case(
        lambda rng: {"type": "array", "uniqueItems": True},
        _items(50_000, lambda rng, i: rng.choice([i, _name(rng) + str(i), [i, True], {"a": i, "b": _name(rng)}])),
    ),
    "uniqueItems, all of an enum of 5,000": Case(
        lambda rng: {
            "type": "array",
            "uniqueItems": True,
            "items": {"enum": [f"{_name(rng)} {i}" for i in range(5_000)]},
        },
        lambda rng, schema: [json.dumps(rng.sample(schema["items"]["enum"], 5_000))],
    ),
}


@dataclass
class Run:
    """What one run of a case took: ms to the first mask, CPU us a step, MB at the end."""

    first: float
    steps: np.ndarray
    megabytes: float


def run(case: Case, vocabulary: Vocabulary) -> Run:
    """Compile, and walk the texts."""
    rng = random.Random(0)
    schema = case.schema(rng)
    texts = [vocabulary.encode(text) for text in case.texts(rng, schema)]
    source = json.dumps(schema)
    bitmask = np.zeros((1, vocabulary.words), dtype=np.int32)
    gc.collect()
    begin = time.perf_counter()
    compiler = cd.GrammarCompiler(vocabulary.info, cache_limit_bytes=0)
    compiled = compiler.compile_json_schema(source, **(case.options or {}))
    cd.GrammarMatcher(compiled).fill_next_token_bitmask(bitmask, 0)
    first = (time.perf_counter() - begin) * 1e3
    clock = time.thread_time_ns
    steps: list[int] = []
    for ids in texts:
        matcher = cd.GrammarMatcher(compiled)
        for number, token in enumerate(ids):
            before = clock()
            matcher.fill_next_token_bitmask(bitmask, 0)
            taken = matcher.accept_token(token)
            steps.append(clock() - before)
            if not taken:
                raise SystemExit(
                    f"token {number} of {len(ids)} was not accepted: {vocabulary.info.token_bytes(token)!r}"
                )
        if not matcher.is_completed():
            raise SystemExit("a text is not complete")
    return Run(first, np.asarray(steps) / 1e3, compiled.automaton.memory() / 1e6)


def main() -> None:
    """See the module docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", default="llama3_1")
    parser.add_argument("--only", nargs="*", help="cases with one of these words in their name")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    shared = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    path = shared / "data" / "tokenizers" / options.vocabulary / "tokenizer.json"
    if not path.is_file():
        sys.exit("the shared data are not here (set CONSTRAINED_SHARED)")
    vocabulary = load_vocabulary(path)
    for schema in ({"type": "string"}, {"uniqueItems": True}):  # the vocabulary's own tables
        compiled = cd.GrammarCompiler(vocabulary.info).compile_json_schema(schema)
        cd.GrammarMatcher(compiled).fill_next_token_bitmask(np.zeros((1, vocabulary.words), dtype=np.int32), 0)
    print(machine())
    print()
    print("| case | first mask, ms (bar) | tokens | early, us | late, us | p50 | p99.9 | max | over 1 ms | MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, case in CASES.items():
        if options.only and not any(word in name for word in options.only):
            continue
        try:
            runs = [run(case, vocabulary) for _ in range(options.repeats)]
        except cd.ConstrainedError as error:
            print(f"| {name} | refused: {str(error).splitlines()[0]} | | | | | | | | |", flush=True)
            continue
        steps = np.min([one.steps for one in runs], axis=0)
        early, late = steps[200:1200].mean(), steps[-1000:].mean()
        bar = "" if case.bar is None else f" ({case.bar:g})"
        print(
            f"| {name} | {min(one.first for one in runs):.1f}{bar} | {len(steps):,} | {early:.1f} | {late:.1f} | "
            f"{np.median(steps):.1f} | {np.percentile(steps, 99.9):.0f} | {steps.max():,.0f} | "
            f"{int((steps > 1000).sum())} | {runs[0].megabytes:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
