"""Typed extraction from a JSONL of documents with Ray Data: one decoder for each worker, resumable.

    python examples/ray_batch.py documents.jsonl people.jsonl --workers 2

Each line of the input is ``{"id": ..., "text": ...}``; each line of the output ``{"id": ..., "output": {...}}`` with a
valid ``Person``, or ``{"id": ..., "error": "..."}``. Lines are written as they come, so a run that was cut off goes on
where it stopped: documents whose id is in the output are left out. A worker is an actor that loads the model once and
answers a batch of documents at a time; on a cluster they are spread over its machines, and nothing else changes.

Needs ``pip install 'constrained[demo,ray]'``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field


class Person(BaseModel):
    """What is extracted from each document."""

    name: str = Field(max_length=60)
    age: int | None = Field(None, ge=0, le=150)
    city: str | None = Field(None, max_length=60)


class Extractor:
    """An actor: its model is loaded once, in the worker's own process."""

    def __init__(self, threads: int = 1) -> None:
        import torch

        from constrained import LLM

        torch.set_num_threads(threads)
        self.llm = LLM(progress=False, max_len=2048)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        prompts = [f"Extract the person from this text: {text}" for text in batch["text"]]
        lines = []
        for key, result in zip(batch["id"], self.llm.generate_batch(prompts, Person, max_tokens=160), strict=True):
            row: dict[str, Any] = {"id": str(key)}
            try:
                row["output"] = result.output.model_dump(mode="json")
            except ValueError as error:  # one document must not end the run
                row["error"] = str(error)
            lines.append(json.dumps(row, ensure_ascii=False))
        return {"line": lines}


def documents(source: Path, finished: set[str]) -> Iterator[dict[str, str]]:
    """The documents that are not in ``finished``. Raises ``ValueError`` for a line that is none."""
    with source.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                key, text = str(row["id"]), row["text"]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{source}, line {number}: no document with an id and a text ({error})") from None
            if key not in finished:
                yield {"id": key, "text": text}


def read_finished(target: Path) -> set[str]:
    """The ids in the output of an earlier run. A last line that was cut off is removed."""
    if not target.exists():
        return set()
    content = target.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        target.write_bytes(whole)
    return {json.loads(line)["id"] for line in whole.decode("utf-8").splitlines() if line.strip()}


def run(source: Path, target: Path, *, workers: int, batch_size: int) -> tuple[int, int]:
    """Extract all; returns how many documents were done before and how many now."""
    import ray

    finished = read_finished(target)
    waiting = list(documents(source, finished))
    if not waiting:
        return len(finished), 0
    data = ray.data.from_items(waiting, override_num_blocks=max(1, -(-len(waiting) // batch_size)))
    pool = ray.data.ActorPoolStrategy(size=workers)
    lines = data.map_batches(Extractor, batch_size=batch_size, compute=pool, num_cpus=1)
    count = 0
    with target.open("a", encoding="utf-8") as out:
        for row in lines.iter_rows():
            out.write(row["line"] + "\n")
            out.flush()
            count += 1
            print(f"\r{len(finished) + count} of {len(finished) + len(waiting)} documents", end="", file=sys.stderr)
    print(file=sys.stderr)
    return len(finished), count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8)
    options = parser.parse_args()
    before, now = run(options.source, options.target, workers=options.workers, batch_size=options.batch_size)
    print(f"{now} documents extracted, {before} were done before: {options.target}")


if __name__ == "__main__":
    main()
