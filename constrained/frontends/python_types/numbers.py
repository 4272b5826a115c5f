"""Whole numbers and floats as Python reads them.

An ``int`` is written in digits: no point, no exponent, and at most 4,300 digits, Python's own bound. A ``float`` is a
double: a text counts as the double next to it, so a bound is moved to the text of a double that is within it
(``lt=0.3`` lets no digits through that round to 0.3). Rounding keeps order, hence: a text between the shortest
spellings of two doubles is a double between them, and the shortest spelling of every double within is between them.
Multiples of a float are decimal multiples of its shortest spelling, as far as Pydantic takes each of them
(``_largest_multiple``); other doubles within its tolerance are not offered.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from constrained.frontends.json_schema.numbers import ANY_INTEGER, ANY_NUMBER, NumberShape

__all__ = ["MAX_DIGITS", "float_shape", "integer_shape", "keywords"]

MAX_DIGITS = 4300
"""Digits of an int that Python converts (``sys.get_int_max_str_digits``), and Pydantic's JSON reader."""

_NAMES = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum",
          "multiple_of": "multipleOf", "min_length": "minLength", "max_length": "maxLength"}


def keywords(schema: Mapping[str, Any], kind: str | list[str], **more: Any) -> dict[str, Any]:
    """A constrained scalar in the words of JSON Schema, for readers."""
    found: dict[str, Any] = {"type": kind, **more}
    for name, keyword in _NAMES.items():
        value = schema.get(name)
        if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and math.isfinite(value):
            found[keyword] = value
    return found


def integer_shape(schema: Mapping[str, Any]) -> NumberShape | None:
    """The integers of a core schema of type ``int``; None where there is none."""
    found: NumberShape | None = ANY_INTEGER
    for name in ("ge", "gt", "le", "lt"):
        bound = schema.get(name)
        if bound is not None and found is not None:
            found = found.intersect(_side(Decimal(int(bound)), name))
    step = schema.get("multiple_of")
    if step is not None and found is not None:
        found = found.intersect(NumberShape.of_multiples(abs(int(step))))
    return found


def float_shape(schema: Mapping[str, Any], *, finite: bool) -> NumberShape | None:
    """The numbers that are read as a double of a core schema of type ``float``; None where there is none."""
    found: NumberShape | None = NumberShape.from_format("double") if finite else ANY_NUMBER
    for name in ("ge", "gt", "le", "lt"):
        bound = schema.get(name)
        if bound is None or found is None:
            continue
        value = float(bound)
        if math.isnan(value):
            return None
        if name == "gt":
            value = math.nextafter(value, math.inf)
        elif name == "lt":
            value = math.nextafter(value, -math.inf)
        if math.isinf(value):
            if (value > 0) == (name in ("ge", "gt")):
                return None  # only infinity itself is left, which JSON does not write
            continue
        found = found.intersect(_side(Decimal(repr(value)), "ge" if name[0] == "g" else "le"))
    step = schema.get("multiple_of")
    if step is not None and found is not None:
        found = found.intersect(NumberShape.of_multiples(abs(Decimal(repr(float(step))))))
        most = _largest_multiple(abs(float(step)))
        found = None if found is None else found.intersect(NumberShape.of_bounds(-most, most))
    return found


def _largest_multiple(step: float) -> Decimal:
    """Up to where doubles of the multiples of ``step`` pass.

    The core divides doubles and lets a remainder of 1e-9 pass. The double of a multiple that has none of its own is
    off by 2**-53 of it, and so are as many steps. Multiples of what a double holds exactly have doubles up to 2**53
    times its last place; of a power of two, all do whose quotient is finite.
    """
    if Decimal(step) != Decimal(repr(step)):
        return Decimal(4_000_000)
    whole, parts = step.as_integer_ratio()
    last = (whole & -whole).bit_length() - parts.bit_length()
    if whole & (whole - 1) == 0:
        return Decimal(10) ** int(math.log10(sys.float_info.max) + min(math.log10(step), 0))
    return Decimal(min(int(math.ldexp(1, max(min(53 + last, 60), 0))), 10**16 - 1))


def _side(bound: Decimal, name: str) -> NumberShape:
    if name[0] == "g":
        return NumberShape.of_bounds(bound, None, lower_open=name == "gt")
    return NumberShape.of_bounds(None, bound, upper_open=name == "lt")
