"""The JSON values of ``Literal`` and ``Enum``: what is written for each member and read back as it."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from constrained.frontends.json_schema.denotation import Denotation
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.strings import StringShape

__all__ = ["finite_denotation", "finite_values", "key_texts"]


def finite_values(schema: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """The values of a core schema of type ``literal`` or ``enum``, and the members that have none."""
    values: dict[tuple[type, Any], Any] = {}
    left: list[Any] = []
    for member in schema["members"] if schema["type"] == "enum" else schema["expected"]:
        value = member.value if isinstance(member, enum.Enum) else member
        if schema["type"] == "literal" and isinstance(member, enum.Enum) and not isinstance(member, (str, int)):
            left.append(member)  # a Literal compares the member itself with what JSON holds
            continue
        if isinstance(value, str):
            value = str.__str__(value)
        elif isinstance(value, float) and math.isfinite(value):
            value = Decimal(repr(float(value)))
        elif isinstance(value, int) and not isinstance(value, bool):
            value = int(value)
        elif not isinstance(value, bool) and value is not None:
            left.append(member)
            continue
        if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
            left.append(member)
            continue
        values.setdefault((type(value), value), value)
    return list(values.values()), left


def finite_denotation(values: list[Any]) -> Denotation:
    """Just these values; whole numbers in digits."""
    whole = [value for value in values if type(value) is int]
    broken = [value for value in values if isinstance(value, Decimal)]
    texts = [value for value in values if isinstance(value, str)]
    shapes = [NumberShape(True, values=NumberShape.of_values(whole).values)] if whole else []
    shapes += [NumberShape.of_values(broken)] if broken else []
    booleans = sum({2 if value else 1 for value in values if isinstance(value, bool)})
    return Denotation(None in values, booleans, tuple(shapes), (StringShape.of_values(texts),) if texts else (), (), ())


def key_texts(schema: Mapping[str, Any]) -> list[str]:
    """The members as names of an object: strings, and numbers where the type reads them from text."""
    numeric = schema["type"] == "enum" and schema.get("sub_type") in ("int", "float")
    found: list[str] = []
    for value in finite_values(schema)[0]:
        if isinstance(value, str):
            found.append(value)
        elif numeric and isinstance(value, int) and not isinstance(value, bool):
            found.append(str(value))
        elif numeric and isinstance(value, Decimal):
            found.append(repr(float(value)))
    return found
