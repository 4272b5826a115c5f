"""The engine against llguidance and XGrammar: one process, one run, interleaved.

    OMP_NUM_THREADS=1 python benchmarks/engine.py [trie fresh json sql bounded batch memory] [--repeats 7] [--quick]

Prints the tables of ``docs/benchmarks.md``. The shared data are looked for beside the repository, or in the
directory that CONSTRAINED_SHARED names; without them the parts that need them are skipped.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
from pathlib import Path
from typing import Any

from measure import Contestant, Result, clock_cost, machine, race, table
from parts import batch, first_visits, fresh, known_states, memory, trie_walk
from peers import Engine, Llguidance, Ours, OursByState, Vocabulary, XGrammar, load_vocabulary
from workloads import BOUNDED, Workload, bounded, json_texts, json_workload, sql_texts, sql_workload

from constrained.kernel import is_compiled

PARTS = ("trie", "fresh", "json", "sql", "bounded", "batch", "memory")


def shared_dir() -> Path:
    """The shared data; ends the program with a plain message where there are none."""
    path = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (path / "data").is_dir():
        sys.exit("the shared data are not here (set CONSTRAINED_SHARED)")
    return path


def contestants(vocabulary: Vocabulary, work: Workload, *, by_state: bool = True) -> list[Contestant]:
    """All engines with all their ways to write the grammar."""
    found = [Contestant("constrained", Ours(vocabulary), work.ours)]
    if by_state:
        found.append(Contestant("constrained, state level", OursByState(vocabulary), work.ours))
    peers: list[tuple[Engine, dict[str, Any]]] = [
        (Llguidance(vocabulary), work.llguidance), (XGrammar(vocabulary), work.xgrammar)]
    for engine, sources in peers:
        for name, source in sources.items():
            found.append(Contestant(f"{engine.name}, {name}", engine, source))
    return found


def summary(results: list[Result]) -> str:
    """Our mean against the better peer's, over the texts that all took."""
    ours = results[0]
    full = [r for r in results[2:] if not (r.refused or r.rejected or r.stopped)]
    if not full:
        return "No peer took all texts."
    best = min(full, key=lambda r: r.times().mean())
    quick = min(full, key=lambda r: float(sorted(r.cpu)[len(r.cpu) // 2]))
    cpu = sorted(quick.cpu)[len(quick.cpu) // 2] / sorted(ours.cpu)[len(ours.cpu) // 2]
    return (f"The better peer ({best.label}) takes {best.times().mean() / ours.times().mean():.1f} times our mean; "
            f"in CPU time {cpu:.1f} times ({quick.label}).")


def show(title: str, texts: list[list[int]], results: list[Result]) -> None:
    """Print one race."""
    print(f"## {title}: {len(texts)} texts, {sum(map(len, texts))} tokens\n\n{table(results)}\n\n{summary(results)}\n",
          flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="fewer texts and three repeats: a look, not a measurement")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    repeats = 3 if options.quick else options.repeats
    share = 10 if options.quick else 1
    shared = shared_dir()
    vocabulary = load_vocabulary(shared / "data/tokenizers/llama3_1/tokenizer.json", 128_256)
    engines: list[Engine] = [Ours(vocabulary), Llguidance(vocabulary), XGrammar(vocabulary)]
    warm = engines[0].compile(json_workload().ours)  # keeps the vocabulary's trie and the tables of JSON strings
    fill, accept = engines[0].begin(warm)
    for token in vocabulary.encode('{"name": 1.5'):
        fill()
        accept(token)
    print(f"{datetime.date.today()}; {machine()}; kernels compiled: {is_compiled()}; "
          + ", ".join(f"{e.name} {e.version()}" for e in engines))
    print(f"Llama-3.1 vocabulary, {vocabulary.info.vocab_size} ids; {repeats} repeats; an empty measurement takes "
          f"{clock_cost():.2f} us and is in every figure.\n")
    if "trie" in options.parts:
        print(f"## Walk of the whole trie, body of a JSON string\n\n{trie_walk(vocabulary)}\n", flush=True)
    if "fresh" in options.parts:
        print(f"## A fresh grammar\n\n{fresh(vocabulary)}\n", flush=True)
    if "json" in options.parts:
        texts = [vocabulary.encode(text) for text in json_texts(shared, 300 // share)]
        show("JSON", texts, race(contestants(vocabulary, json_workload()), texts, repeats))
        print(f"## JSON, known states, p50\n\n{known_states(vocabulary, texts, repeats)}\n", flush=True)
    if "sql" in options.parts:
        texts = [vocabulary.encode(text) for text in sql_texts(100 // share)]
        show("SQL", texts, race(contestants(vocabulary, sql_workload()), texts, repeats))
    if "bounded" in options.parts:
        visits = {}
        for name in BOUNDED:
            work, made = bounded(name, shared)
            texts = [vocabulary.encode(text) for text in made]
            show(f"Regex, {name}", texts, race(contestants(vocabulary, work), texts, repeats))
            visits[name] = work.ours, texts
        print(f"## First visits by kind\n\n{first_visits(vocabulary, visits, repeats)}\n", flush=True)
    if "batch" in options.parts:
        print(f"## Rows of different grammars\n\n{batch(vocabulary)}\n", flush=True)
    if "memory" in options.parts:
        print(f"## Memory\n\n{memory(vocabulary, 10_000 // share)}\n", flush=True)


if __name__ == "__main__":
    main()
