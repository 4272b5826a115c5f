"""JSON Lines in, JSON Lines out: every line is extracted into a model. A run that was cut off goes on where it was."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

import constrained as cd

BATCH = 8


class Product(BaseModel):
    """A product on offer."""

    name: Annotated[str, Field(max_length=30)]
    price: Annotated[float, Field(ge=0, le=10_000)]
    used: bool


def main(source: Path, target: Path, llm: cd.LLM | None = None) -> int:
    """Extract ``text`` of each line of ``source``, append to ``target``; how many lines were new."""
    llm = llm or cd.LLM()

    @llm.fn(max_tokens=60)
    def extract(text: str) -> Product:
        """What is offered here? {text}"""

    done = len(target.read_text(encoding="utf-8").splitlines()) if target.exists() else 0
    lines = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()][done:]
    with target.open("a", encoding="utf-8") as out:
        for start in range(0, len(lines), BATCH):
            chunk = lines[start : start + BATCH]
            for line, product in zip(chunk, extract.batch([one["text"] for one in chunk]), strict=True):
                out.write(json.dumps({"id": line["id"], **product.model_dump()}) + "\n")
            out.flush()
    return len(lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
