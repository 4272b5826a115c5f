"""Lark grammars: this engine and llguidance on the same grammar, one process, one run.

    OMP_NUM_THREADS=1 python benchmarks/lark_grammars.py [sql python] [--repeats 3] [--texts 100]

``sql``: the grammar of the tests (``tests/frontends/lark/grammars/sql.lark``) over random derivations of itself (seed
0). ``python``: lark's Python grammar over files of Python's standard library that lark parses, drawn with seed 0.
llguidance has no indentation; its refusal is printed.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.resources
import random
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import lark as lark_package
import llguidance
from engine import shared_dir, show
from lark.indenter import PythonIndenter
from measure import Contestant, machine, race
from peers import Llguidance, Ours, OursByState, Vocabulary, load_vocabulary

import constrained as cd

SQL = Path(__file__).resolve().parents[1] / "tests/frontends/lark/grammars/sql.lark"
WORDS = {
    "NAME": ["a", "b1", "users", "order_id", "total", "t", "Customer", '"full name"'],
    "STRING": ["'x'", "'it''s'", "''", "'2024-01-31'"],
    "INT": ["1", "10", "250"],
    "NUMBER": ["0", "3.14", "42", "6e23"],
    "COMPARE": ["=", "<>", "<=", ">", "<"],
}
BUDGET = 60
"""Tokens after which a derivation takes the shortest way to its end."""


def derivation(made: Any, rng: random.Random) -> str:
    """A random text of a grammar without empty rules: symbols are written with one space between any two."""
    rules: dict[str, list[Any]] = {}
    for rule in made.rules:
        rules.setdefault(rule.origin.name, []).append(rule.expansion)
    least = dict.fromkeys(rules, 1 << 30)
    changed = True
    while changed:
        changed = False
        for name, options in rules.items():
            size = min(sum(1 if s.is_term else least[s.name] for s in one) for one in options)
            if size < least[name]:
                least[name], changed = size, True
    texts = {one.name: one.pattern.value for one in made.terminals}
    out: list[str] = []
    stack: list[Any] = [next(s for one in made.rules for s in [one.origin] if s.name == "start")]
    while stack:
        symbol = stack.pop()
        if symbol.is_term:
            out.append(rng.choice(WORDS[symbol.name]) if symbol.name in WORDS else texts[symbol.name])
            continue
        options = rules[symbol.name]
        if len(out) + len(stack) > BUDGET:
            options = [min(options, key=lambda one: sum(1 if s.is_term else least[s.name] for s in one))]
        stack.extend(reversed(rng.choice(options)))
    return " ".join(out)


def sql_texts(count: int) -> list[str]:
    """Derivations that lark's own parser takes."""
    made = lark_package.Lark(SQL.read_text(encoding="utf-8"), parser="lalr", maybe_placeholders=False)
    rng = random.Random(0)
    found: list[str] = []
    while len(found) < count:
        text = derivation(made, rng)
        try:
            made.parse(text)
        except lark_package.exceptions.LarkError:
            continue
        found.append(text)
    return found


def python_texts(count: int, text: str) -> list[str]:
    """Files of the standard library of at most 12 kB that lark parses, in an order drawn with seed 0."""
    made = lark_package.Lark(text, parser="lalr", start="file_input", postlex=PythonIndenter(),
                             maybe_placeholders=False)
    found: list[str] = []
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))
    random.Random(0).shuffle(paths)
    for path in paths:
        if len(found) == count:
            break
        if path.stat().st_size > 12_000 or "site-packages" in path.parts or not path.stat().st_size:
            continue
        try:
            source = path.read_text(encoding="utf-8")
            made.parse(source)
        except (UnicodeDecodeError, lark_package.exceptions.LarkError, IndexError):
            continue
        found.append(source)
    return found


def run(title: str, vocabulary: Vocabulary, grammar: cd.Grammar, peer: str, texts: list[str], repeats: int,
        by_state: bool = True) -> None:
    ids = [vocabulary.encode(text) for text in texts]
    contestants = [
        Contestant("constrained", Ours(vocabulary), grammar, seconds=600),
        *([Contestant("constrained, state level", OursByState(vocabulary), grammar)] if by_state else []),
        Contestant("llguidance, the same file", Llguidance(vocabulary), llguidance.LLMatcher.grammar_from_lark(peer)),
    ]
    results = race(contestants, ids, repeats)
    show(title, ids, results)
    for result in results:
        if result.refused:
            print(f"{result.label}: {result.refused.strip()[:300]}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["sql", "python"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--texts", type=int, default=100)
    parser.add_argument("--columns", type=int, default=cd.Limits().max_indentation, help="Limits.max_indentation")
    options = parser.parse_args()
    unknown = set(options.parts) - {"sql", "python"}
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; there are sql and python")
    vocabulary = load_vocabulary(shared_dir() / "data/tokenizers/llama3_1/tokenizer.json", 128_256)
    print(f"{datetime.date.today()}; {machine()}; lark {lark_package.__version__}\n", flush=True)
    if "sql" in options.parts:
        text = SQL.read_text(encoding="utf-8")
        begin = time.perf_counter()
        grammar = cd.Grammar.from_lark(text)
        print(f"sql: from_lark {time.perf_counter() - begin:.2f} s, {len(grammar.rules.rules)} rules\n", flush=True)
        run("SQL", vocabulary, grammar, text, sql_texts(options.texts), options.repeats)
    if "python" in options.parts:
        text = (importlib.resources.files("lark") / "grammars/python.lark").read_text(encoding="utf-8")
        begin = time.perf_counter()
        grammar = cd.Grammar.from_lark(text, start="file_input", postlex=PythonIndenter(),
                                       limits=cd.Limits(max_indentation=options.columns))
        print(f"python: from_lark {time.perf_counter() - begin:.2f} s, {len(grammar.rules.rules)} rules\n", flush=True)
        texts = python_texts(options.texts, text)
        run("Python", vocabulary, grammar, text.replace("file_input:", "start:", 1), texts, options.repeats, False)


if __name__ == "__main__":
    sys.exit(main())
