"""SQL under a grammar of just the queries that are wanted, executed at once: it always parses, and it only reads."""

from __future__ import annotations

import sqlite3
from typing import Any

import constrained as cd

CITIES = """
CREATE TABLE city (name TEXT, country TEXT, population INTEGER);
INSERT INTO city VALUES ('Rome', 'Italy', 2748000), ('Paris', 'France', 2103000), ('Oslo', 'Norway', 717000);
"""

QUERIES = r'''
root   ::= "SELECT " what " FROM city" where? order? ";"
what   ::= "*" | column (", " column)* | "COUNT(*)" | "MAX(population)" | "SUM(population)"
where  ::= " WHERE " test (" AND " test)?
test   ::= "population " ("<" | ">") " " [1-9] [0-9]{0,7} | ("name" | "country") " = '" [A-Za-z ]{1,20} "'"
order  ::= " ORDER BY " column (" DESC")? " LIMIT " [1-9]
column ::= "name" | "country" | "population"
'''


def main(llm: cd.LLM | None = None) -> list[tuple[Any, ...]]:
    """Let the model write a query, and run it."""
    llm = llm or cd.LLM()

    @llm.fn(max_tokens=40)
    def query(question: str) -> cd.EBNF(QUERIES):  # type: ignore[valid-type]
        """The table city has the columns name, country and population. Write one SQL query that answers: {question}"""

    sql = query("What is the name of the city with the largest population?")
    cities = sqlite3.connect(":memory:")
    cities.executescript(CITIES)
    rows = cities.execute(sql).fetchall()
    print(sql)
    print(rows)
    return rows


if __name__ == "__main__":
    main()
