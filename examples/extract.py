"""Typed extraction: texts in, Pydantic models out."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

import constrained as cd

TEXTS = [
    "Ada Lovelace, a mathematician, was born in London on 10 December 1815.",
    "The chemist Marie Curie was born in Warsaw on 7 November 1867.",
]


class Person(BaseModel):
    """One person of a text."""

    name: Annotated[str, Field(max_length=40)]
    profession: Literal["mathematician", "chemist", "physicist", "writer"]
    born: datetime.date
    birthplace: Annotated[str, Field(max_length=40)]


def main(llm: cd.LLM | None = None) -> list[Person]:
    """Extract one person from each text."""
    llm = llm or cd.LLM()

    @llm.fn(max_tokens=100)
    def extract(text: str) -> Person:
        """Who is this about? {text}"""

    people = extract.batch(TEXTS)
    for person in people:
        print(repr(person))
    return people


if __name__ == "__main__":
    main()
