"""Does the constraint help? Accuracy of a small model with and without it, on three tasks.

    python benchmarks/quality.py [--examples 60] [--model FILE] [--json FILE]

The tasks are made here from lists of names, cities and common nouns with a fixed seed: extraction (a sentence to name,
age and city), classification (a noun to one of three kinds) and tool calling (a request to one of four functions with
its arguments). Answers are greedy.

    free          the library's own prompt, no constraint; the text is read as kindly as possible: JSON anywhere in it,
                  else ``key: value`` lines, a label or a call wherever it first occurs, case and punctuation ignored
    constrained   the library's default: the form of the value in the prompt, the grammar in the mask
    behind        the same with the form behind the question instead of before it (where prompts do not begin alike)
    schema        the same with the whole JSON Schema in the prompt
    bare          the constraint alone, the prompt says nothing of the form

A row gives the share of right answers with its 95 % interval (Wilson 1927), and the share that could be read at all.
Two rows are told apart only where their intervals do not overlap.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

import constrained as cd
from constrained.frontends.python_types import type_schema

FIRST = ["Ada", "Bob", "Carla", "Dmitri", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Kiko", "Lena", "Marco",
         "Nadia", "Omar", "Paula", "Quentin", "Rosa", "Sven", "Tara"]
LAST = ["Moreau", "Silva", "Novak", "Okafor", "Jensen", "Rossi", "Tanaka", "Weber", "Lopez", "Dubois"]
CITY = ["London", "Paris", "Rome", "Oslo", "Lima", "Cairo", "Tokyo", "Berlin", "Madrid", "Vienna", "Dublin", "Athens",
        "Boston", "Quito", "Delhi"]
SENTENCES = [
    "{name} is {age} years old and lives in {city}.",
    "Meet {name} from {city}, who turned {age} last week.",
    "In {city} we talked to {name} ({age}).",
    "My name is {name}. I am {age} and my home is {city}.",
    "At the age of {age}, {name} moved to {city}.",
]
KINDS = {
    "animal": ["horse", "eagle", "salmon", "spider", "whale", "frog", "sheep", "bee", "wolf", "lizard", "rabbit",
               "shark", "owl", "camel", "ant", "goat", "duck", "tiger", "mouse", "dolphin"],
    "food": ["bread", "cheese", "soup", "pizza", "butter", "yogurt", "pasta", "cake", "omelette", "sausage",
               "pancake", "jam", "chocolate", "sandwich", "salad", "noodles", "porridge", "stew", "biscuit",
               "pudding"],
    "vehicle": ["car", "bicycle", "truck", "train", "ship", "helicopter", "bus", "motorcycle", "tram", "canoe",
               "scooter", "van", "tractor", "airplane", "ferry", "taxi", "submarine", "sledge", "rocket", "yacht"],
}
REQUESTS = [
    ("What is the weather like in {city}?", "get_weather", {"city": "{city}"}),
    ("Tell me the weather in {city} please.", "get_weather", {"city": "{city}"}),
    ("What time is it in {city} now?", "get_time", {"city": "{city}"}),
    ("Send an email to {first}.", "send_email", {"to": "{first}"}),
    ("Write an email to {first} for me.", "send_email", {"to": "{first}"}),
    ("What is {a} plus {b}?", "add", {"a": "{a}", "b": "{b}"}),
    ("Add {a} and {b}.", "add", {"a": "{a}", "b": "{b}"}),
]


class Person(BaseModel):
    """A person."""

    name: str = Field(max_length=60)
    age: int = Field(ge=0, le=150)
    city: str = Field(max_length=60)


Kind = Literal["animal", "food", "vehicle"]


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return city


def get_time(city: str) -> str:
    """Current local time in a city."""
    return city


def send_email(to: str) -> str:
    """Write an email to a person."""
    return to


def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


TOOLS = [get_weather, get_time, send_email, add]


@dataclass
class Score:
    """How often an answer could be read, and was right."""

    right: int = 0
    read: int = 0
    count: int = 0
    seconds: float = 0.0
    tokens: int = 0
    misses: list[str] = field(default_factory=list)

    def add(self, answer: Any, wanted: Any, text: str) -> None:
        self.count += 1
        self.read += answer is not None
        self.right += answer == wanted
        if answer != wanted:
            self.misses.append(f"wanted {wanted}, got {answer} from {text[:100]!r}")


def wilson(right: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z = 1.96
    share = right / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def plain(value: Any) -> str:
    """Letters and digits only, lower case."""
    return re.sub(r"[^a-z0-9]+", " ", str(value).lower()).strip()


def json_in(text: str) -> list[Any]:
    """Every JSON object or array that begins somewhere in a text, outermost first."""
    decoder = json.JSONDecoder(strict=False)
    found = []
    at = 0
    while at < len(text):
        if text[at] in "{[":
            try:
                value, at = decoder.raw_decode(text, at)
                found.append(value)
                continue
            except ValueError:
                pass
        at += 1
    return found


def kind_person(text: str) -> tuple[str, str, str] | None:
    """Name, age and city out of free text."""
    for value in json_in(text):
        for one in value if isinstance(value, list) else [value, *(value.values() if isinstance(value, dict) else [])]:
            if isinstance(one, dict):
                keys = {plain(key): item for key, item in one.items()}
                if {"name", "age", "city"} <= keys.keys():
                    return plain(keys["name"]), plain(keys["age"]), plain(keys["city"])
    fields = []
    for key in ("name", "age", "city"):
        match = re.search(rf"\b{key}\b[\"'*\s]*[:=][\"'*\s]*([^\n,\"}}*]+)", text, re.IGNORECASE)
        if match is None:
            return None
        fields.append(plain(match[1]))
    return fields[0], fields[1], fields[2]


def kind_label(text: str) -> str | None:
    """The label that is named first."""
    at = {label: text.lower().find(label) for label in KINDS}
    named = [label for label in at if at[label] >= 0]
    return min(named, key=lambda label: at[label]) if named else None


def kind_call(text: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """A call out of free text: JSON with a name and arguments, or ``f(a=1)``."""
    names = [tool.__name__ for tool in TOOLS]
    for value in json_in(text):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict) and one.get("name") in names:
                given = one.get("arguments", one.get("parameters", {}))
                if isinstance(given, dict):
                    return one["name"], tuple(sorted((key, plain(item)) for key, item in given.items()))
    match = re.search(rf"\b({'|'.join(names)})\s*\(([^)]*)\)", text)
    if match is None:
        return None
    pairs = re.findall(r"(\w+)\s*[=:]\s*([^,]+)", match[2])
    return match[1], tuple(sorted((key, plain(item)) for key, item in pairs))


Variant = Literal["free", "constrained", "behind", "schema", "bare"]


def constrained(llm: cd.LLM, prompt: str, kind: Any, variant: Variant, most: int) -> Any:
    """An answer under the constraint; the variant says what the prompt tells of it."""
    if variant == "behind":
        prompt += f"\n\n{instructions(kind)}"
    elif variant == "schema":
        prompt += f"\n\nAnswer only with JSON that fits this JSON Schema: {json.dumps(type_schema(kind))}"
    return llm.generate(prompt, kind, max_tokens=most, schema_in_prompt=variant == "constrained")


def extraction(llm: cd.LLM, rng: random.Random, variant: Variant, score: Score) -> None:
    who = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
    age, city = rng.randint(18, 90), rng.choice(CITY)
    sentence = rng.choice(SENTENCES).format(name=who, age=age, city=city)
    wanted = (plain(who), plain(age), plain(city))
    prompt = f"Extract the person from this text: {sentence}"
    if variant == "free":
        result = llm.generate(f"{instructions(Person)}\n\n{prompt}", max_tokens=120)
        score.add(kind_person(result.text), wanted, result.text)
    else:
        result = constrained(llm, prompt, Person, variant, 120)
        value = result.output
        score.add((plain(value.name), plain(value.age), plain(value.city)), wanted, result.text)
    score.tokens += result.usage.output_tokens


def classification(llm: cd.LLM, rng: random.Random, variant: Variant, score: Score) -> None:
    label = rng.choice(list(KINDS))
    prompt = f"Is a {rng.choice(KINDS[label])} an animal, a food or a vehicle?"
    if variant == "free":
        result = llm.generate(f"{instructions(Kind)}\n\n{prompt}", max_tokens=60)
        score.add(kind_label(result.text), label, result.text)
    else:
        result = constrained(llm, prompt, Kind, variant, 60)
        score.add(result.output, label, result.text)
    score.tokens += result.usage.output_tokens


def tool_calling(llm: cd.LLM, rng: random.Random, variant: Variant, score: Score) -> None:
    form, name, arguments = rng.choice(REQUESTS)
    values = {"city": rng.choice(CITY), "first": rng.choice(FIRST), "a": rng.randint(1, 99), "b": rng.randint(1, 99)}
    wanted = (name, tuple(sorted((key, plain(value.format(**values))) for key, value in arguments.items())))
    messages = [{"role": "user", "content": form.format(**values)}]
    if variant == "free":  # the same instructions and tools in its prompt, and no grammar
        text, tokens = free_call(llm, messages)
        score.add(kind_call(text), wanted, text)
        score.tokens += tokens
        return
    result = llm.chat(messages, tools=TOOLS, tool_choice="required", parallel_tool_calls=False, max_tokens=120)
    calls = result.message.tool_calls
    answer = None
    if calls:
        given = json.loads(calls[0].function.arguments)
        answer = (calls[0].function.name, tuple(sorted((key, plain(item)) for key, item in given.items())))
    score.add(answer, wanted, result.text or str(calls))
    score.tokens += result.usage.output_tokens


def free_call(llm: cd.LLM, messages: list[dict[str, Any]]) -> tuple[str, int]:
    """The prompt that a call with tools gets, answered without a grammar."""
    engine: Any = llm.engine
    call, _ = llm._call(messages, None, {"max_tokens": 120}, TOOLS, "required", False)
    ids = engine.prompt_ids(call)
    result = llm.generate(ids, raw=True, max_tokens=120)
    return result.text, result.usage.output_tokens


def instructions(kind: Any) -> str:
    from constrained.typed.output_type import output_type

    return output_type(kind).instructions or ""


TASKS: dict[str, tuple[Callable[[cd.LLM, random.Random, Variant, Score], None], tuple[Variant, ...]]] = {
    "extraction": (extraction, ("free", "constrained", "behind", "schema", "bare")),
    "classification": (classification, ("free", "constrained", "behind", "schema", "bare")),
    "tool calling": (tool_calling, ("free", "constrained")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=60)
    parser.add_argument("--model", default=None)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--misses", type=int, default=0, help="wrong answers to print for each row")
    options = parser.parse_args()
    scores: dict[str, dict[str, Any]] = {}
    with cd.LLM(options.model) as llm:
        print(f"{llm.engine.described}, {options.examples} examples a task, greedy\n")
        print("| task | variant | right | 95 % interval | readable | tokens | s |")
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
        for task in options.tasks:
            ask, variants = TASKS[task]
            for variant in variants:
                rng, score = random.Random(0), Score()
                began = time.perf_counter()
                for _ in range(options.examples):
                    ask(llm, rng, variant, score)
                score.seconds = time.perf_counter() - began
                low, high = wilson(score.right, score.count)
                print(f"| {task} | {variant} | {score.right / score.count:.0%} | {low:.0%} to {high:.0%} | "
                      f"{score.read / score.count:.0%} | {score.tokens / score.count:.1f} | "
                      f"{score.seconds / score.count:.2f} |", flush=True)
                for miss in score.misses[: options.misses]:
                    print(f"    {miss}")
                scores[f"{task}, {variant}"] = {"right": score.right, "read": score.read, "count": score.count,
                                                "interval": [low, high], "tokens": score.tokens}
    if options.json is not None:
        options.json.write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
