"""One batch, a different grammar for each prompt: a model, a choice, a pattern, free text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

import constrained as cd


class Person(BaseModel):
    """A person."""

    name: Annotated[str, Field(max_length=20)]
    age: Annotated[int, Field(ge=0, le=150)]


def main(llm: cd.LLM | None = None) -> list[cd.Result[object]]:
    """Four answers, computed together."""
    llm = llm or cd.LLM()
    results = llm.generate_batch(
        ["Ada is 36 years old.", "Is water wet?", "Make up a phone number.", "Say hello."],
        [Person, Literal["yes", "no"], cd.Regex(r"\d{3}-\d{4}"), None],
        temperature=0.7, seed=[1, 2, 3, 4], max_tokens=40)
    for result in results:
        print(repr(result.output), f"({result.usage.forced_tokens} of {result.usage.output_tokens} tokens forced)")
    return results


if __name__ == "__main__":
    main()
