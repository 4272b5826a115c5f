"""Random annotations for the law: scalars with constraints, containers, unions, models, dataclasses, typed dicts."""

# ruff: noqa: UP007, UP045 - parts are values here, and some of them know no "|"

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import pathlib
import typing
import uuid
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union

import pydantic
import typing_extensions
from hypothesis import strategies as st
from pydantic import ConfigDict, Field, StringConstraints

__all__ = ["annotations"]


class Colour(enum.Enum):
    RED = "red"
    ONE = 1
    NONE = None


class Rank(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Letter(str, enum.Enum):  # noqa: UP042
    A = "a"
    QUOTE = '"\\é'


PLAIN: list[Any] = [
    int, float, bool, str, bytes, type(None), decimal.Decimal, dt.date, dt.datetime, dt.time, dt.timedelta, uuid.UUID,
    pathlib.Path, ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Interface, fractions.Fraction, complex,
    Colour, Rank, Letter, Literal["x", "y"], Literal[1, 2, "z", None, True], Literal[Letter.A], pydantic.AwareDatetime,
    pydantic.NaiveDatetime, pydantic.UUID4, pydantic.FiniteFloat, pydantic.JsonValue, Any,
]
small = st.integers(-12, 12)
instants = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))


@st.composite
def constrained_number(draw: st.DrawFn) -> Any:
    """Numbers with bounds that leave something."""
    base = draw(st.sampled_from([int, float, decimal.Decimal]))
    low, size = draw(small), draw(st.integers(1, 30))
    scale = draw(st.sampled_from([1, 10, 1000])) if base is not int else 1

    def bound(value: int) -> Any:
        return value if base is int else base(value) / scale

    given: dict[str, Any] = {}
    if draw(st.booleans()):
        given[draw(st.sampled_from(["ge", "gt"]))] = bound(low)
    if draw(st.booleans()):
        given[draw(st.sampled_from(["le", "lt"]))] = bound(low + size + 2)
    if base is int and size > 12 and draw(st.booleans()):
        given["multiple_of"] = draw(st.integers(1, 12))
    if base is decimal.Decimal and draw(st.booleans()):
        given["max_digits"] = draw(st.integers(3, 8))
        given["decimal_places"] = draw(st.integers(0, 2))
    return Annotated[base, Field(**given)]


@st.composite
def constrained_text(draw: st.DrawFn) -> Any:
    least = draw(st.integers(0, 3))
    most = draw(st.none() | st.integers(least, 6))
    if draw(st.integers(0, 3)) == 0:
        return Annotated[bytes, Field(min_length=least, max_length=most)]
    pattern = draw(st.sampled_from([None, None, "^[a-c]+$", r"^\w", r"\d", "(?i)^ab?", "^[^x]*$"]))
    if pattern is not None:
        least, most = 0, None
    return Annotated[str, StringConstraints(
        min_length=least, max_length=most, pattern=pattern, strip_whitespace=draw(st.booleans()),
        to_lower=draw(st.integers(0, 3)) == 0)]


@st.composite
def constrained_time(draw: st.DrawFn) -> Any:
    moment = draw(instants)
    side = draw(st.sampled_from(["ge", "gt", "le", "lt"]))
    kind = draw(st.sampled_from(["date", "datetime", "aware", "time"]))
    if kind == "date":
        return Annotated[dt.date, Field(**{side: moment.date()})]
    if kind == "time":
        return Annotated[dt.time, Field(**{side: dt.time(12, 30, draw(st.integers(0, 59)), moment.microsecond)})]
    if kind == "aware":
        moment = moment.replace(tzinfo=dt.timezone(dt.timedelta(minutes=draw(st.integers(-1439, 1439)))))
    return Annotated[dt.datetime, Field(**{side: moment})]


scalars = st.sampled_from(PLAIN) | constrained_number() | constrained_text() | constrained_time()
keys = st.sampled_from([str, int, float, Letter, Rank, Literal["k", "l"], dt.date, uuid.UUID, decimal.Decimal])
items = st.sampled_from([int, str, bool, Letter, Rank, dt.date, Optional[int], tuple[int, str], float])
names = st.sampled_from(["a", "b", "long_name", "kind", "é", "x-y"])
fields = st.sampled_from(["a", "b", "c", "long_name"])


@st.composite
def models(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    chosen = draw(st.lists(fields, max_size=4, unique=True))
    aliases = draw(st.lists(st.sampled_from(["p", "q", "r-s", "T", "ü"]), min_size=4, max_size=4, unique=True))
    parts: dict[str, Any] = {}
    for name, alias in zip(chosen, aliases, strict=False):
        annotation = draw(inner)
        given: dict[str, Any] = {}
        if draw(st.integers(0, 2)) == 0:
            given["alias"] = alias
        elif draw(st.integers(0, 3)) == 0:
            given["validation_alias"] = pydantic.AliasChoices(alias, pydantic.AliasPath("deep", 1))
        elif draw(st.integers(0, 4)) == 0:
            given["validation_alias"] = pydantic.AliasPath(alias, "v")
        if draw(st.booleans()):
            annotation, given["default"] = Optional[annotation], None
        parts[name] = (annotation, Field(**given))
    config = ConfigDict(extra=draw(st.sampled_from(["ignore", "forbid", "allow"])),
                        populate_by_name=draw(st.booleans()), strict=draw(st.booleans()),
                        frozen=draw(st.booleans()))
    return pydantic.create_model("Model", __config__=config, **parts)


@st.composite
def records(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    """Typed dicts, dataclasses and named tuples."""
    chosen = draw(st.lists(fields, min_size=1, max_size=3, unique=True))
    parts = [(name, draw(inner)) for name in chosen]
    kind = draw(st.sampled_from(["dict", "dataclass", "tuple"]))
    if kind == "dict":
        return typing_extensions.TypedDict("Record", {  # type: ignore[operator]
            name: typing_extensions.NotRequired[part] if draw(st.booleans()) else part for name, part in parts})
    if kind == "tuple":
        return NamedTuple("Row", parts)  # type: ignore[misc]
    optional = draw(st.booleans())
    return dataclasses.make_dataclass("Data", [
        (name, Optional[part], dataclasses.field(default=None)) if optional else (name, part) for name, part in parts])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    counts = st.tuples(st.integers(0, 2), st.none() | st.integers(2, 4))
    return st.one_of(
        st.builds(lambda part: list[part], inner),
        st.builds(lambda part, n: Annotated[list[part], Field(min_length=n[0], max_length=n[1])], inner, counts),
        st.builds(lambda part: tuple[part, ...], inner),
        st.builds(lambda part, other: tuple[part, other], inner, inner),
        st.builds(lambda part: Optional[part], inner),
        st.builds(lambda part, other: Union[part, other], inner, inner),
        st.builds(lambda key, part: dict[key, part], keys, inner),
        st.builds(lambda part: collections.deque[part], inner),
        st.builds(lambda part: typing.Sequence[part], inner),
        st.builds(lambda part, n: Annotated[set[part], Field(min_length=n)], items, st.integers(0, 1)),
        st.builds(lambda part: frozenset[part], items),
        models(inner), models(inner), records(inner),
    )


annotations = st.recursive(scalars, containers, max_leaves=6)
