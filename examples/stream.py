"""A value while it is written: members appear when they can no longer change, list elements when they are whole."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

import constrained as cd


class Recipe(BaseModel):
    """A recipe."""

    title: Annotated[str, Field(max_length=40)]
    minutes: Annotated[int, Field(ge=1, le=240)]
    ingredients: Annotated[list[Annotated[str, Field(max_length=30)]], Field(min_length=2, max_length=4)]


def main(llm: cd.LLM | None = None) -> list[Any]:
    """Print every stage; returns them."""
    llm = llm or cd.LLM()
    stages = []
    with llm.stream("A recipe for pancakes.", Recipe, max_tokens=100) as stream:
        for event in stream:
            if event.type == "output.partial":
                stages.append(event.partial.to_python())
                print(event.partial)
    print(stream.result.output)
    return stages


if __name__ == "__main__":
    main()
