"""``Marks`` finds what was put, and nothing else. Compiled it has no names for Python: whole documents try it there."""

import json
import random

import pytest

import constrained as cd
from constrained.frontends.json_schema import marks
from constrained.kernel import uncompiled_modules

MANY = 400


@pytest.mark.skipif(marks.__name__ not in uncompiled_modules(), reason="compiled, its methods are functions of C")
def test_what_was_put_is_found() -> None:
    table: object = marks.Marks.__new__(marks.Marks)
    table.begin()  # type: ignore[attr-defined]
    draw = random.Random(0)
    known: dict[int, int] = {}
    assert table.at(16) is None  # type: ignore[attr-defined]
    for i in range(MANY):
        number = draw.choice([draw.randrange(1, 1 << 62), 16 * draw.randrange(1, MANY), -draw.randrange(1, 1 << 40)])
        known[number] = i
        table.put(number, i)  # type: ignore[attr-defined]
    assert {number: table.at(number) for number in known} == known  # type: ignore[attr-defined]
    assert all(table.at(number) is None for number in range(1, 16 * MANY) if number not in known)  # type: ignore[attr-defined]


def test_many_places_of_one_document() -> None:
    """Equal objects and arrays are one rule, and others are not, however many there are."""
    of = {f"m{i}": {"type": "object", "properties": {f"p{i % (MANY // 2)}": {"type": "string"}},
                    "additionalProperties": False} for i in range(MANY)}
    lists = {f"l{i}": {"type": "array", "items": {"$ref": f"#/properties/m{i}"}} for i in range(MANY)}
    rules = cd.Grammar.from_json_schema(json.dumps({"properties": {**of, **lists}})).rules.rules
    places = [name for name in rules if name.startswith("#/properties/")]
    assert len(places) == MANY  # half as many of each
