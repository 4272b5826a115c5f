"""The typed layer on SmolLM2: what it costs, what forced tokens save, and whether every value is valid.

    python benchmarks/typed.py [--cases overhead forced valid] [--prompts 240]

Prints one JSON line a case. The model is the built-in one (``$CONSTRAINED_SMOLLM2`` or the cache).

- ``overhead``: CPU time of the calling thread (prompt, events, result; the model runs in another thread) a token,
  against that of the whole process; once for ``generate``, once for ``stream`` with all its events.
- ``forced``: tokens a second of typed extraction from a new text each time, against as many tokens of free text: after
  the same prompt, and after the text alone (then only the typed call reads the form of the value). CPU seconds of the
  process, which other work on the machine leaves alone.
- ``valid``: values of 20 types (nested, recursive, unions, dates, decimals, enums ...) and of the models of the shared
  cases, under token limits from the least that a value of the type needs to plenty, sampled at temperature 1: how many
  are valid, how many were cut.
"""

from __future__ import annotations

import argparse
import datetime
import decimal
import enum
import json
import os
import statistics
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pydantic

import constrained as cd
from constrained.typed.errors import BudgetError


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Address(pydantic.BaseModel):
    street: str
    number: int
    country: Literal["Italy", "France", "Norway"]


class Person(pydantic.BaseModel):
    name: str
    age: Annotated[int, pydantic.Field(ge=0, le=150)]
    born: datetime.date | None = None
    home: Address


class Node(pydantic.BaseModel):
    label: str
    children: list[Node]


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Owner(pydantic.BaseModel):
    pet: Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]
    colors: list[Color]


class Invoice(pydantic.BaseModel):
    id: uuid.UUID
    total: Annotated[decimal.Decimal, pydantic.Field(max_digits=8, decimal_places=2)]
    due: datetime.datetime
    paid: bool


@dataclass
class Point:
    x: float
    y: float = 0.0


class Pair(NamedTuple):
    first: str
    second: int


TYPES: list[Any] = [
    Person, Node, Owner, Invoice, Point, Pair, Color, Address, list[Person], dict[str, int], str, int, float, bool,
    Literal["yes", "no", 3], datetime.date, datetime.timedelta, tuple[int, str, bool], int | str | None,
    set[Literal["a", "b", "c"]],
]
TEXTS = ["Ada Lovelace, 36, lives in Rome.", "A dog called Rex that can sit and roll over.", "Pay 120.50 by Friday!",
         "Two red houses and a green one.", "Once upon a time there was a cat with nine lives."]


def overhead(llm: cd.LLM) -> dict[str, Any]:
    """Share of the calling thread in the time of a token."""
    found: dict[str, Any] = {}
    for name in ("generate", "stream"):
        own, whole, tokens = 0.0, 0.0, 0
        for round_ in range(12):
            thread, process = time.thread_time(), time.process_time()
            if name == "generate":
                result = llm.generate(TEXTS[0], Person, max_tokens=100)
            else:
                stream = llm.stream(TEXTS[0], Person, max_tokens=100)
                for _ in stream:
                    pass
                result = stream.result
            if round_ >= 2:  # grammar and masks are warm
                own += time.thread_time() - thread
                whole += time.process_time() - process
                tokens += result.usage.output_tokens
        found[name] = {"own_us_a_token": round(own / tokens * 1e6, 1), "token_ms": round(whole / tokens * 1e3, 2),
                       "share": round(own / whole, 4)}
    return found


def forced(llm: cd.LLM) -> dict[str, Any]:
    """Typed extraction against free text of as many tokens. No prompt was seen before; its beginning may be cached."""
    names = ("Ada Lovelace", "Bob Moreau", "Carla Silva", "Dmitri Novak", "Elena Okafor", "Farid Jensen", "Grace Rossi",
             "Hugo Tanaka", "Ines Weber")
    cities = ("Rome", "Paris", "Oslo", "Nice", "Bergen", "Turin", "Milan", "Lyon", "Lille")
    speeds: dict[str, list[float]] = {"typed": [], "same_prompt": [], "text_alone": []}
    ratios: dict[str, list[float]] = {"same_prompt": [], "text_alone": []}
    shares = []
    for number, (name, city) in enumerate(zip(names, cities, strict=True)):
        text = f"{name}, {20 + 3 * number}, lives in {city}, number {number + 3} of the High Street."
        result, typed = _timed(llm, text, Person, max_tokens=100)
        tokens = result.usage.output_tokens
        shown = list(llm._call(text, Person)[0].messages or ())  # with the form of the value
        shown[-1] = {**shown[-1], "content": f"{shown[-1]['content']} "}  # a prompt of its own: not in the cache
        _, same = _timed(llm, shown, None, max_tokens=tokens, min_tokens=tokens)
        _, alone = _timed(llm, f"{text} ", None, max_tokens=tokens, min_tokens=tokens)
        if number:  # the first compiles the grammar and its masks
            for kind, seconds in zip(speeds, (typed, same, alone), strict=True):
                speeds[kind].append(tokens / seconds)
            ratios["same_prompt"].append(same / typed)
            ratios["text_alone"].append(alone / typed)
            shares.append(result.usage.forced_tokens / tokens)
    return {"tokens_a_cpu_second": {kind: round(statistics.median(found), 1) for kind, found in speeds.items()},
            "typed_against": {kind: round(statistics.median(found), 2) for kind, found in ratios.items()},
            "forced_share": round(statistics.median(shares), 2)}


def _timed(llm: cd.LLM, prompt: Any, kind: Any, **options: Any) -> tuple[Any, float]:
    began = time.process_time()
    return llm.generate(prompt, kind, **options), time.process_time() - began


def pydantic_cases() -> list[Any]:
    """The models of the shared cases (``$CONSTRAINED_SHARED``, default beside the repository), if they are here."""
    default = Path(__file__).resolve().parent.parent.parent / "shared"
    path = Path(os.environ.get("CONSTRAINED_SHARED", default)) / "data" / "cases" / "cases.jsonl"
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        case = json.loads(line)
        if case["kind"] == "pydantic":
            names: dict[str, Any] = {"__name__": case["id"]}
            exec(compile(case["input"], case["id"], "exec", dont_inherit=True), names)
            found.append(names["M"])
    return found


def least_tokens(llm: cd.LLM, kind: Any) -> int:
    """The fewest tokens that a value of the type is written with, by what a call with too few says."""
    for limit in (1, 2):
        try:
            llm.generate("x", kind, max_tokens=limit)
        except BudgetError as error:
            return error.needed
    return 2


def valid(llm: cd.LLM, prompts: int) -> dict[str, Any]:
    """Every value validated again by a fresh ``TypeAdapter``."""
    kinds = [*TYPES, *pydantic_cases()]
    counts = {"prompts": prompts, "valid": 0, "cut": 0, "refused_as_too_small": 0, "invalid": 0}
    wrong: list[str] = []
    least = [least_tokens(llm, kind) for kind in kinds]

    def one(number: int) -> tuple[str, str]:
        kind, needed = kinds[number % len(kinds)], least[number % len(kinds)]
        limit = max(needed, (120, 60, 30, needed)[number // len(kinds) % 4])
        try:
            result = llm.generate(TEXTS[number % len(TEXTS)], kind, max_tokens=limit, temperature=1.0, seed=number)
            if result.finish_reason != "stop":
                return "cut", f"{kind}: {result.text!r}"
            pydantic.TypeAdapter(kind).validate_json(result.text)
        except BudgetError as error:
            return "refused_as_too_small", f"{kind}: {error}"
        except (cd.ConstrainedError, pydantic.ValidationError) as error:
            return "invalid", f"{kind}: {str(error)[:300]}"
        return "valid", ""

    with ThreadPoolExecutor(8) as pool:
        for outcome, words in pool.map(one, range(prompts)):
            counts[outcome] += 1
            if words:
                wrong.append(words)
    return {"types": len(kinds), "least_tokens": [min(least), max(least)], **counts, "wrong": wrong[:5]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=["overhead", "forced", "valid"])
    parser.add_argument("--prompts", type=int, default=240)
    options = parser.parse_args()
    with cd.LLM(max_len=1024) as llm:
        for case in options.cases:
            found = {"overhead": overhead, "forced": forced}[case](llm) if case != "valid" else valid(
                llm, options.prompts)
            print(json.dumps({"case": case, **found}), flush=True)


if __name__ == "__main__":
    main()
