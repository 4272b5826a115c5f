"""How much of JSON Schema is right: MaskBench and the JSON-Schema-Test-Suite through the engine.

    python benchmarks/conformance.py [maskbench suite formats] [--order any schema] [--drafts draft7]

Every schema is compiled and every instance, as ``json.dumps(x, ensure_ascii=False)`` writes it, is read byte by byte
by the compiled grammar: the verdict is the engine's, not a validator's. A schema is *right* when all its instances are
judged right, *refused* when compiling raises a typed error with a reason, else *wrong*. Schemas of the sample without
instances get 20 by random walks over the mask, which must validate under ``jsonschema``, and 20 changed ones, which
must be judged as ``jsonschema`` judges them (``format`` is left to the suite's own tests: ``jsonschema`` knows few).
The shared data are looked for beside the repository, or in the directory that CONSTRAINED_SHARED names.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import constrained as cd

DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")

#: MaskBench: "invalid" instances that are valid as written.
VALID_AFTER_ALL = {"Github_hard---o65883": 2, "Github_hard---o71307": 1, "Github_medium---o44926": 1}

#: Groups of the test suite that are not run, with the reason.
EXCLUDED: dict[str, str] = {}

#: Valid strings that are not offered, by format, as a pattern with the reason: see ``formats.RESTRICTED``.
WITHHELD: dict[str, tuple[str, str]] = {}


@dataclass
class Verdict:
    """What became of one schema."""

    name: str
    refused: str = ""
    false_accepts: list[str] = field(default_factory=list)
    false_rejects: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    judged: int = 0
    order_only: int = 0

    @property
    def outcome(self) -> str:
        """``right``, ``refused``, ``withheld`` (of a format some valid strings are not offered) or ``wrong``."""
        if self.false_accepts or self.false_rejects:
            return "wrong"
        if self.withheld:
            return "withheld"
        return "refused" if self.refused else "right"


@lru_cache(maxsize=1)
def byte_compiler() -> cd.GrammarCompiler:
    """A compiler for a vocabulary of single bytes and a stop token."""
    pieces = [bytes([value]) for value in range(256)] + [b""]
    info = cd.TokenizerInfo.from_bytes(pieces, special_token_ids=[256], stop_token_ids=[256])
    return cd.GrammarCompiler(info, cache_limit_bytes=0)


def accepts(grammar: cd.CompiledGrammar, text: str) -> bool:
    """Whether the whole text is in the grammar."""
    state = grammar.advance(grammar.start_state, text.encode("utf-8", "surrogatepass"))
    return bool(state) and grammar.is_complete(state)


def reason(error: cd.ConstrainedError) -> str:
    """An error's first line without places and names, to be counted."""
    text = str(error).split("\n", 1)[0]
    if text.startswith("at '"):
        text = text.split("': ", 1)[-1]
    return f"{type(error).__name__}: {text[:110]}"


def judge(name: str, schema: Any, instances: list[tuple[Any, bool]], *, property_order: str = "any",
          **options: Any) -> Verdict:
    """Compile a schema and judge its instances: ``(value, whether it is valid)``."""
    found = Verdict(name)
    compiler = byte_compiler()
    text = json.dumps(schema)
    try:
        grammar = compiler.compile_json_schema(text, property_order=property_order, **options)
    except cd.UnsatisfiableSchemaError:
        found.false_rejects += [json.dumps(value)[:200] for value, valid in instances if valid]
        return found
    except cd.ConstrainedError as error:
        found.refused = reason(error)
        return found
    free: cd.CompiledGrammar | None = None
    for value, valid in instances:
        canonical = json.dumps(value, ensure_ascii=False)
        if accepts(grammar, canonical) == valid:
            continue
        if not valid:
            found.false_accepts.append(canonical[:200])
            continue
        if property_order == "schema":
            free = free or compiler.compile_json_schema(text, property_order="any", **options)
            if accepts(free, canonical):
                found.order_only += 1
                continue
        found.false_rejects.append(canonical[:200])
    return found


def shared_dir() -> Path:
    """The shared data; ends the program with a plain message where there are none."""
    path = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (path / "data").is_dir():
        sys.exit("the shared data are not here (set CONSTRAINED_SHARED)")
    return path


def maskbench_schemas(shared: Path) -> Iterator[tuple[str, Any, list[tuple[Any, bool]]]]:
    """The schemas of the MaskBench sample: name, schema, instances."""
    with gzip.open(shared / "data" / "maskbench" / "dev.jsonl.gz") as lines:
        for line in lines:
            one = json.loads(line)
            yield one["name"], one["schema"], [(test["data"], test["valid"]) for test in one["tests"]]


def judge_maskbench(name: str, schema: Any, instances: list[tuple[Any, bool]], order: str,
                    walks: int = 0) -> Verdict:
    """One schema of the sample, with what is known of it. ``walks``: how many if it has no instances."""
    found = judge(name, schema, instances, property_order=order)
    if walks and not instances and not found.refused:
        judge_walks(found, schema, order, walks)
    if len(found.false_accepts) <= VALID_AFTER_ALL.get(name, 0):
        found.false_accepts = []
    return found


def suite_groups(shared: Path, draft: str, *,
                 formats: bool = False) -> Iterator[tuple[str, Any, list[tuple[Any, bool]]]]:
    """The groups of the test suite: required ones, or ``optional/format``."""
    folder = shared / "data" / "json-schema-test-suite" / "tests" / draft
    for path in sorted((folder / "optional" / "format" if formats else folder).glob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            name = f"{draft}/{path.stem}: {group['description']}"
            yield name, group["schema"], [(test["data"], test["valid"]) for test in group["tests"]]


@lru_cache(maxsize=8)
def remotes(shared: Path, draft: str) -> Any:
    """The suite's remote documents and the metaschemas as a registry."""
    from jsonschema_specifications import REGISTRY
    from referencing import Resource, jsonschema

    specifications = {
        "draft4": jsonschema.DRAFT4, "draft6": jsonschema.DRAFT6, "draft7": jsonschema.DRAFT7,
        "draft2019-09": jsonschema.DRAFT201909, "draft2020-12": jsonschema.DRAFT202012,
    }
    folder = shared / "data" / "json-schema-test-suite" / "remotes"
    registry = REGISTRY
    for path in sorted(folder.rglob("*.json")):
        place = path.relative_to(folder)
        first = place.parts[0]
        other = first.startswith("draft") and first != draft and (draft == "draft4" or first not in specifications)
        if first == "v1" or other:
            continue  # a draft that this one cannot refer to
        default = specifications.get(place.parts[0], specifications[draft])
        resource = Resource.from_contents(json.loads(path.read_text("utf-8")), default_specification=default)
        registry = registry.with_resource(f"http://localhost:1234/{place.as_posix()}", resource)
    return registry


def judge_group(shared: Path, draft: str, name: str, schema: Any, instances: list[tuple[Any, bool]], *,
                formats: bool = False) -> Verdict:
    """One group of the test suite."""
    found = judge(name, schema, instances, draft=None if _named(schema) else draft, assert_formats=formats,
                  registry=remotes(shared, draft))
    found.judged = len(instances)
    if formats and isinstance(schema, dict) and schema.get("format") in WITHHELD:
        pattern, _ = WITHHELD[schema["format"]]
        found.withheld = [text for text in found.false_rejects if re.search(pattern, json.loads(text))]
        found.false_rejects = [text for text in found.false_rejects if text not in found.withheld]
    return found


def _named(schema: Any) -> bool:
    return isinstance(schema, dict) and "$schema" in schema


def walk(grammar: cd.CompiledGrammar, rng: random.Random, most: int = 120) -> str:
    """A text by a random walk over the mask, and the shortest way to an end after ``most`` bytes."""
    state = grammar.start_state
    text = bytearray()
    for _ in range(most):
        allowed = grammar.allowed_ids(state)
        assert allowed, f"an empty mask after {bytes(text)!r}"
        if grammar.is_complete(state) and rng.random() < 0.3:
            break
        plain = [byte for byte in allowed if 32 < byte < 127 and byte != 92]  # few spaces and escapes: further down
        byte = rng.choice(plain if plain and rng.random() < 0.9 else [byte for byte in allowed if byte < 256] or [256])
        if byte == 256:
            break
        state = grammar.advance(state, bytes([byte]))
        text.append(byte)
    if not grammar.is_complete(state):
        text += grammar.shortest_completion(state)
    return text.decode("utf-8", "surrogatepass")


def exact_json(text: str) -> Any:
    """The value of a JSON text with exact numbers: what a validator needs that takes integers and decimals."""
    def number(digits: str) -> Decimal | int:
        value = Decimal(digits)
        return int(value) if value == value.to_integral_value() else value

    return json.loads(text, parse_float=number)


def judge_walks(found: Verdict, schema: Any, order: str, walks: int) -> None:
    """Random walks over the mask must validate, and changed ones be judged as the oracle judges them."""
    import jsonschema

    try:
        grammar = byte_compiler().compile_json_schema(json.dumps(schema), property_order=order, assert_formats=False)
    except cd.UnsatisfiableSchemaError:
        return  # nothing to walk
    oracle = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(
        exact_json(json.dumps(schema)))
    rng = random.Random(found.name)
    with localcontext(Context(prec=2000)):  # the oracle divides decimals
        for _ in range(walks):
            text = walk(grammar, rng)
            value = exact_json(text)
            if not oracle.is_valid(value):
                found.false_accepts.append(text[:200])
            other = changed(value, rng)
            canonical = written(other)
            if re.search(r"\d{401}", canonical):
                continue  # over max_number_digits, the documented cap
            accepted, valid = accepts(grammar, canonical), oracle.is_valid(other)
            if accepted and not valid:
                found.false_accepts.append(canonical[:200])
            elif valid and not accepted:
                if order == "schema":
                    found.order_only += 1
                else:
                    found.false_rejects.append(canonical[:200])


def changed(value: Any, rng: random.Random) -> Any:
    """A value with one thing in it replaced, taken away or added."""
    copy = exact_json(written(value))
    places: list[tuple[Any, Any]] = []
    stack = [copy]
    while stack:
        part = stack.pop()
        inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, item in inside:
            places.append((part, key))
            stack.append(item)
    simple = [None, True, 0, -1, 2, Decimal("1.5"), "", "a", "2020-01-01", [], {}]
    if not places:
        return rng.choice(simple)
    part, key = rng.choice(places)
    what = rng.randrange(4)
    if what == 0:
        del part[key]
    elif what == 1 and isinstance(part, dict):
        part[rng.choice(["a", "x-y", "name"])] = rng.choice(simple)
    elif what == 1:
        part.append(part[key])
    elif what == 2 and isinstance(part[key], (int, Decimal)) and not isinstance(part[key], bool):
        part[key] += rng.choice([-1, 1, 100])
    elif what == 2 and isinstance(part[key], str):
        part[key] += rng.choice(["a", "1", " "])
    else:
        part[key] = rng.choice(simple)
    return copy


def written(value: Any) -> str:
    """``json.dumps`` of a value with decimals."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, Decimal):
        return str(value) if value.adjusted() < 300 and "E" not in str(value) else format(value, "f")
    return json.dumps(value, ensure_ascii=False)


def report(title: str, verdicts: list[Verdict], *, most: int = 30) -> None:
    """One table line and what was not right."""
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    order = sum(verdict.order_only for verdict in verdicts)
    n = max(len(verdicts), 1)
    print(f"| {title} | {len(verdicts)} | {outcomes['right']} ({100 * outcomes['right'] / n:.1f} %) | "
          f"{outcomes['refused']} ({100 * outcomes['refused'] / n:.1f} %) | {outcomes['wrong']} | {order} |")
    for verdict in [v for v in verdicts if v.outcome == "wrong"][:most]:
        print(f"    WRONG {verdict.name}: accepts {verdict.false_accepts[:2]} rejects {verdict.false_rejects[:2]}")
    withheld = [text for verdict in verdicts for text in verdict.withheld]
    if withheld:
        judged = sum(verdict.judged for verdict in verdicts)
        print(f"    withheld: {len(withheld)} valid strings, {100 * len(withheld) / judged:.1f} % of {judged} tests, "
              f"in {outcomes['withheld']} groups: {', '.join(withheld[:2])} ...")
    for text, count in Counter(v.refused for v in verdicts if v.outcome == "refused").most_common(most):
        print(f"    {count:4} {text}   [{next(v.name for v in verdicts if v.refused == text)}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["maskbench", "suite", "formats"])
    parser.add_argument("--order", nargs="*", default=["any", "schema"])
    parser.add_argument("--drafts", nargs="*", default=list(DRAFTS))
    args = parser.parse_args()
    shared = shared_dir()
    print("| what | schemas | right | refused | wrong | rejected for key order only |")
    print("|---|---|---|---|---|---|")
    if "maskbench" in args.parts:
        for order in args.order:
            report(f"MaskBench sample, property_order={order!r}",
                   [judge_maskbench(*one, order, walks=20) for one in maskbench_schemas(shared)])
    for part, formats in (("suite", False), ("formats", True)):
        if part in args.parts:
            for draft in args.drafts:
                report(f"{draft} {'optional/format' if formats else 'required'}",
                       [judge_group(shared, draft, *group, formats=formats)
                        for group in suite_groups(shared, draft, formats=formats) if group[0] not in EXCLUDED])


if __name__ == "__main__":
    main()
