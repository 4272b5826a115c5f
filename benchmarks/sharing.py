"""How much of the work one state, mask or class trie serves: the numbers behind ``docs/decisions``.

    OMP_NUM_THREADS=1 python benchmarks/sharing.py [--documents 300] [--tokenizer llama3_1]

Reads tokenizers and JSON documents from the shared data (``$CONSTRAINED_SHARED``, default ``shared`` beside the
repository). Times are CPU time of this process, medians where repeated.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import constrained as cd
from constrained.engine.vocabulary_tables import trie_of
from constrained.grammars import builtin_names
from constrained.kernel import is_compiled
from constrained.kernel.class_trie import ClassTrie
from constrained.kernel.token_trie import TokenTrie

PATTERNS = {
    "JSON string body, bounded": r'"[^"\\]{0,100000}"',
    "identifier": r"[A-Za-z_][A-Za-z0-9_]*",
    "letters and digits": r"(\p{L}|\d){3,64}",
    "date": r"\d{4}-\d{2}-\d{2}",
}


def seconds(action: Callable[[], Any], repeats: int = 5) -> float:
    taken = []
    for _ in range(repeats):
        started = time.process_time()
        action()
        taken.append(time.process_time() - started)
    return statistics.median(taken)


def documents(shared: Path, count: int) -> list[str]:
    found: list[str] = []
    with gzip.open(shared / "data/maskbench/dev.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            found += [json.dumps(test["data"], ensure_ascii=False) for test in json.loads(line)["tests"]
                      if test["valid"]]
            if len(found) >= count:
                break
    return found[:count]


def report_states(info: cd.TokenizerInfo, texts: list[list[int]]) -> None:
    """One compiled JSON grammar over many different documents."""
    compiled = cd.GrammarCompiler(info).compile_grammar(cd.Grammar.builtin("json"))
    bitmask = cd.allocate_token_bitmask(1, info.vocab_size)
    seen: set[int] = set()
    steps = new = 0
    print("documents  steps     new places  kernel states  distinct masks  memory")
    mark = max(1, len(texts) // 6)
    started = time.process_time()
    total = 0
    for number, text in enumerate(texts, 1):
        matcher = cd.GrammarMatcher(compiled)
        total += len(text)
        for token in text:
            matcher.fill_next_token_bitmask(bitmask)
            steps += 1
            new += matcher.state not in seen
            seen.add(matcher.state)
            if not matcher.accept_token(token):
                sys.exit(f"the grammar refuses a token of document {number}")
        if number % mark == 0:
            _, states, _, masks, _ = compiled.automaton.counts()
            print(f"{number:9}  {steps:8}  {new:5} ({new / steps:.1%})  {states:13}  {masks:14}  "
                  f"{compiled.memory_size_bytes / 1e6:.1f} MB")
            steps = new = 0
    spent = time.process_time() - started
    print(f"{total} tokens, each masked and accepted, in {spent:.2f} s: {spent / total * 1e6:.1f} us a token")


def report_tries(info: cd.TokenizerInfo, trie: TokenTrie) -> None:
    took = seconds(lambda: TokenTrie(info.token_data, info.token_offsets))
    print(f"\nvocabulary trie: {trie.n_nodes} nodes for {info.vocab_size} ids, built in {took * 1e3:.0f} ms")
    print("region                     byte classes  class nodes  built in")
    for name, pattern in PATTERNS.items():
        program = cd.GrammarCompiler(info).compile_regex(pattern).program
        for region in filter(None, program.regions):
            made = ClassTrie(trie, region)
            took = seconds(lambda region=region: ClassTrie(trie, region))
            print(f"{name:26} {max(region) + 1:12}  {made.shape()[0]:11}  {took * 1e3:.1f} ms")


def report_compiling(info: cd.TokenizerInfo) -> None:
    print("\ngrammar          read ms  compile ms  first mask ms  positions  byte classes")
    bitmask = cd.allocate_token_bitmask(1, info.vocab_size)
    for name in builtin_names():
        grammar = cd.Grammar.builtin(name)
        read = seconds(lambda name=name: cd.Grammar.builtin(name))
        compiling = seconds(lambda g=grammar: cd.GrammarCompiler(info).compile_grammar(g))
        compiled = cd.GrammarCompiler(info).compile_grammar(grammar)
        first = seconds(lambda c=compiled: cd.GrammarMatcher(c).fill_next_token_bitmask(bitmask), 1)
        print(f"{name:16} {read * 1e3:7.2f}  {compiling * 1e3:10.2f}  {first * 1e3:13.2f}  "
              f"{compiled.program.n_positions:9}  {compiled.program.n_classes:12}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--tokenizer", default="llama3_1")
    options = parser.parse_args()
    shared = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (shared / "data").is_dir():
        sys.exit("the shared data are not here (set CONSTRAINED_SHARED)")
    info = cd.TokenizerInfo.from_huggingface(shared / "data/tokenizers" / options.tokenizer)
    print(f"{options.tokenizer}: {info.vocab_size} ids; kernels {'compiled' if is_compiled() else 'UNCOMPILED'}")
    tables = trie_of(info)  # held, as a server does that always has some grammar of the vocabulary
    report_states(info, [info.encode(text) or [] for text in documents(shared, options.documents)])
    report_tries(info, tables.trie)
    report_compiling(info)


if __name__ == "__main__":
    main()
