"""Dates and times as Python holds them and Pydantic writes them.

Years 1 to 9999, months with their days, hours to 23, seconds to 59: no year 0, no second 60, no 24:00. Fractions have
up to six digits, offsets are ``Z`` or whole minutes below 24 hours. The text of a date or time of day has a fixed
layout, so an order on values is one on texts: bounds are compared character by character.

Pydantic compares a datetime with a bound as it is written where one of the two has no offset; where both have one, by
the instant. In the second case texts are offered in UTC only, as ``Z``: one spelling for each instant.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from constrained.frontends.json_schema.strings import Language, StringShape
from constrained.frontends.python_types.languages import automaton

__all__ = ["date_shapes", "datetime_shapes", "fractions", "time_shapes"]

_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
DATE = (f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
        f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)")
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_FRACTION = r"(?:\.[0-9]{1,6})?"
_OFFSET = "(?:Z|[-+](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_ANY_OFFSET = f"{_OFFSET}?"


def date_shapes(schema: Mapping[str, Any]) -> list[StringShape]:
    """Dates within bounds."""
    shape = StringShape(languages=(automaton("date of Python", DATE),))
    for name, bound in _bounds(schema):
        if isinstance(bound, dt.datetime):
            bound = bound.date()
        shape = _narrowed(shape, _compared(bound.isoformat(), 0, name, ""))
    return [shape]


def time_shapes(schema: Mapping[str, Any]) -> list[StringShape]:
    """Times of day within bounds."""
    return _zoned(schema, "time of Python", "", lambda bound: bound.replace(microsecond=0, tzinfo=None).isoformat())


def datetime_shapes(schema: Mapping[str, Any]) -> list[StringShape]:
    """Datetimes within bounds."""
    return _zoned(schema, "datetime of Python", f"{DATE}T",
                  lambda bound: bound.replace(microsecond=0, tzinfo=None).isoformat())


def _zoned(schema: Mapping[str, Any], name: str, before: str, written: Callable[[Any], str]) -> list[StringShape]:
    zone = schema.get("tz_constraint")
    bounds = _bounds(schema)
    body = f"{before}{_CLOCK}{_FRACTION}"
    fixed = zone if isinstance(zone, int) else None
    aware = any(bound.tzinfo is not None for _, bound in bounds)
    kinds: list[tuple[str, bool]] = []
    if fixed is not None:
        kinds = [(_fixed(fixed), True)]
    elif zone == "naive":
        kinds = [("", False)]
    elif not aware:
        kinds = [(_OFFSET if zone == "aware" else _ANY_OFFSET, False)]
    else:
        kinds = [("Z", True)] if zone == "aware" else [("", False), ("Z", True)]
    shapes = []
    for offset, instant in kinds:
        shape = StringShape(languages=(automaton(f"{name} {offset}", body + offset),))
        for side, bound in bounds:
            if instant and bound.tzinfo is not None:
                at = bound.utcoffset()
                moved = dt.timedelta(seconds=fixed or 0)
                if isinstance(bound, dt.datetime) and at is not None:
                    try:
                        bound = bound.replace(tzinfo=None) - at + moved
                    except OverflowError:
                        bound = dt.datetime.min if at > moved else dt.datetime.max
            shape = _narrowed(shape, _compared(written(bound), bound.microsecond, side, offset))
        shapes.append(shape)
    return shapes


def _fixed(seconds: int) -> str:
    if seconds == 0:
        return r"(?:Z|[-+]00:00)"
    sign = "-" if seconds < 0 else r"\+"
    hours, rest = divmod(abs(seconds), 3600)
    return f"{sign}{hours:02d}:{rest // 60:02d}"


def _bounds(schema: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, schema[name]) for name in ("ge", "gt", "le", "lt") if schema.get(name) is not None]


def _narrowed(shape: StringShape, bound: Language) -> StringShape:
    found = shape.intersect(StringShape(languages=(bound,)))
    assert found is not None
    return found


def _compared(text: str, microsecond: int, side: str, offset: str) -> Language:
    """The texts, among those of one layout, on one side of ``text`` and its fraction."""
    above = side[0] == "g"
    options: list[str] = []
    for index, char in enumerate(text):
        if not char.isdigit():
            continue
        low, high = (int(char) + 1, 9) if above else (0, int(char) - 1)
        if low <= high:
            options.append(f"{text[:index]}[{low}-{high}](?s:.*)")
    options += [f"{text}{tail}{offset}" for tail in fractions(microsecond, above, side in ("ge", "le"))]
    return automaton(f"{side} {text}.{microsecond:06d} {offset}", "|".join(options))


def fractions(microsecond: int, above: bool, closed: bool) -> list[str]:
    """Fractions of a second, none included, on one side of a bound, as patterns of at most six digits."""
    digits = f"{microsecond:06d}"
    found: list[str] = []
    for index, char in enumerate(digits):
        low, high = (int(char) + 1, 9) if above else (0, int(char) - 1)
        if low <= high:
            rest = f"[0-9]{{0,{5 - index}}}" if index < 5 else ""
            found.append(rf"\.{digits[:index]}[{low}-{high}]{rest}")
    stripped = digits.rstrip("0")
    if above:
        if closed:  # the bound itself, with zeros behind or without
            found += _equal(stripped)
    else:
        # a text that ends early is less, unless nothing but zeros is cut off
        found += [rf"\.{digits[:length]}" for length in range(1, len(stripped))]
        if stripped:
            found.append("")
        if closed:
            found += _equal(stripped)
    return list(dict.fromkeys(found))


def _equal(stripped: str) -> list[str]:
    if not stripped:
        return ["", r"\.0{1,6}"]
    room = 6 - len(stripped)
    return [rf"\.{stripped}0{{0,{room}}}" if room else rf"\.{stripped}"]
