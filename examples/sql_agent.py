"""An agent with two tools over a small SQLite database, and a typed answer."""

from __future__ import annotations

import sqlite3
from typing import Literal

from pydantic import BaseModel

import constrained as cd

ROWS = [("Rome", "Italy", 2_748_000), ("Paris", "France", 2_103_000), ("Oslo", "Norway", 717_000)]


class Answer(BaseModel):
    """What the user wanted to know."""

    city: Literal["Rome", "Paris", "Oslo"]
    population: int


def database() -> sqlite3.Connection:
    """Cities in memory; tools run in threads of their own, one at a time here."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("CREATE TABLE city (name TEXT, country TEXT, population INTEGER)")
    connection.executemany("INSERT INTO city VALUES (?, ?, ?)", ROWS)
    return connection


def main(llm: cd.LLM | None = None) -> cd.AgentRun[Answer]:
    """Ask for the population of a city."""
    llm = llm or cd.LLM()
    connection = database()

    @llm.tool
    def population(city: Literal["Rome", "Paris", "Oslo"]) -> int:
        """Population of a city.

        Args:
            city: its name
        """
        (found,) = connection.execute("SELECT population FROM city WHERE name = ?", [city]).fetchone()
        return int(found)

    @llm.tool
    def cities() -> list[str]:
        """Names of all cities in the database."""
        return [name for (name,) in connection.execute("SELECT name FROM city")]

    agent = cd.Agent(llm, [population, cities], Answer, tool_choice=["population"], parallel_tool_calls=False,
                     max_steps=2, max_tokens=60)
    run = agent.run("How many people live in Oslo?")
    for step in run.steps:
        for result in step.results:
            print(f"{result.call.function.name}({result.call.function.arguments}) -> {result.content}")
    print(run.output, f"({run.usage.forced_tokens} of {run.usage.output_tokens} tokens were forced)")
    return run


if __name__ == "__main__":
    main()
