"""Containers, unions, models, dataclasses, typed dicts and named tuples: names, members, tags, recursion."""

# ruff: noqa: UP007, UP045 - unions as users write them

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import ipaddress
import pathlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypeVar,
    Union,
)

import pydantic
import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, RootModel
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypeAliasType, TypedDict

import constrained as cd
from tests.frontends.python_types.judging import accepts, check_law, compiled, dumps

T = TypeVar("T")


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)
    q: int
    s: str = "a"


class Aliased(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")
    __pydantic_extra__: dict[str, int]
    foo_bar: int = Field(ge=1)
    baz: str = Field("x", validation_alias=AliasChoices("b", AliasPath("c", 0, "d")))
    inner: Inner
    opt: Optional[Inner] = None


class Closed(BaseModel):
    model_config = ConfigDict(populate_by_name=True, extra="forbid")
    a: int = Field(alias="A")
    b: str = Field("x", alias="B")


class Node(BaseModel):
    v: int
    kids: list[Node] = []


class First(BaseModel):
    kind: Literal["a"] = "a"
    x: int


class Second(BaseModel):
    kind: Literal["b", "c"]
    y: Optional[First] = None


class Third(BaseModel):
    kind: Literal["d"] = "d"
    sub: Annotated[Union[First, Second], Field(discriminator="kind")]


Tagged = Annotated[Union[First, Second, Third], Field(discriminator="kind")]


class BlackCat(BaseModel):
    pet: Literal["cat"]
    color: Literal["black"]
    n: str


class WhiteCat(BaseModel):
    pet: Literal["cat"]
    color: Literal["white"]
    w: int


class Dog(BaseModel):
    pet: Literal["dog"]


Pet = Annotated[Union[Annotated[Union[BlackCat, WhiteCat], Field(discriminator="color")], Dog],
                Field(discriminator="pet")]


class NamedTag(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    kind: Literal["a"] = Field("a", alias="Kind")


class OtherTag(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    kind: Literal["b"] = Field("b", alias="Kind")


class Letter(str, enum.Enum):  # noqa: UP042
    X = "x"
    Y = "y"
    Z = "z"


class SomeLetters(BaseModel):
    t: Literal[Letter.X, Letter.Y]
    a: int = 1


class PlainValues(BaseModel):
    model_config = ConfigDict(use_enum_values=True)
    t: Literal[Letter.Y]
    u: str = ""


class LastLetter(BaseModel):
    t: Literal[Letter.Z]


class Numbers(RootModel[list[int]]):
    pass


class Box(BaseModel, Generic[T]):
    v: T
    w: list[T] = []


class Typed(TypedDict, total=False):
    a: Required[int]
    b: Annotated[str, Field(alias="B")]


class Recursive(TypedDict):
    x: int
    r: NotRequired[Recursive]


Json = TypeAliasType("Json", "Union[int, list[Json], dict[str, Json]]")  # type: ignore[misc]


@dataclasses.dataclass
class Data:
    a: int
    b: str = "x"
    d: int = dataclasses.field(default=1, init=False)
    e: list[int] = dataclasses.field(default_factory=list, kw_only=True)
    once: dataclasses.InitVar[int] = 3


@pydantic_dataclass(config=ConfigDict(extra="forbid"))
class StrictData:
    a: int = Field(ge=1)
    b: Optional[StrictData] = None


class Row(NamedTuple):
    a: int
    b: str = "q"
    c: Optional[dt.date] = None


class Paths(BaseModel):
    x: int = Field(validation_alias=AliasPath("c", 1, "d"))
    y: int = Field(0, validation_alias=AliasPath("c", 1, "e"))
    z: str = Field(validation_alias=AliasPath("q", "r"))


class ClosedPath(BaseModel):
    model_config = ConfigDict(extra="forbid")
    x: int = Field(1, validation_alias=AliasPath("c", "d"))


class Settings(BaseModel):
    model_config = ConfigDict(str_to_lower=True, str_strip_whitespace=True, str_min_length=1, str_max_length=5,
                              frozen=True)
    a: str
    b: Annotated[str, Field(pattern="^[a-c]+$")] = "abc"


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    a: Optional[int] = None
    b: Optional[float] = None
    c: Optional[Decimal] = None
    d: Optional[dt.datetime] = None
    e: Optional[tuple[int, int]] = None
    f: Optional[set[int]] = None
    g: Optional[uuid.UUID] = None
    h: Optional[bytes] = None
    i: Optional[dict[int, Letter]] = None
    j: Optional[dt.timedelta] = None
    k: Optional[pathlib.Path] = None
    m: Optional[ipaddress.IPv4Address] = None
    n: Optional[Row] = None
    o: Optional[Data] = None
    p: Optional[dict[Decimal, int]] = None


UserId = NewType("UserId", int)

#: Type, texts accepted, texts rejected, values whose dumps are accepted.
TABLE: list[tuple[Any, list[str], list[str], list[Any]]] = [
    (list[int], ["[]", "[1, 2]"], ["[1.5]", '["1"]', "{}"], [[1]]),
    (Annotated[list[int], Field(min_length=1, max_length=3)], ["[1]", "[1,2,3]"], ["[]", "[1,2,3,4]"], [[1, 2]]),
    (tuple[int, str], ['[1,"a"]'], ["[1]", '[1,"a",2]', '["a",1]'], [(1, "a")]),
    (tuple[int, ...], ["[]", "[1,2]"], ['["a"]'], [(1, 2)]),
    (tuple[()], ["[]"], ["[1]"], [()]),
    (tuple, ['[1,"a"]'], ["{}"], [(1, [2])]),
    (set[int], ["[1]", "[1,1]"], ['["a"]'], [{1, 2}]),
    (Annotated[set[int], Field(min_length=1)], ["[1]"], ["[]"], [{1}]),
    (Annotated[frozenset[Literal["a", "b", "c"]], Field(min_length=2)], ['["a","b"]', '["c","a","b"]'],
     ['["a"]', '["a","a"]'], [frozenset("ab")]),
    (Annotated[set[int], Field(min_length=2)], ["[1,2]", "[3, 20, 100]"], ["[]", "[1]", "[7,7]"], [{1, 2}]),
    (Annotated[frozenset[str], Field(min_length=2, max_length=3)], ['["a","ab"]'], ['["a","a"]', '["a","b","c","d"]'],
     [frozenset(("a", "b"))]),
    (Annotated[dict[str, int], Field(min_length=2)], ['{"a":1,"b":2}'], ['{"a":1}', '{"a":1,"a":2}'],
     [{"a": 1, "b": 2}]),
    (set[list[int]], ["[]"], ["[[]]", "[[1]]"], []),
    (set[Any], ['[1, "a", null]'], ["[[1]]", "[{}]"], [{1}]),
    (set[tuple[int, str]], ['[[1,"a"]]'], ['[[1]]'], [{(1, "a")}]),
    (set[Settings], ['[{"a": "x"}]'], ['[{"a": ""}]'], [{Settings(a="x")}]),
    (set[First], ["[]"], ['[{"kind": "a", "x": 1}]'], []),
    (collections.deque[int], ["[1]"], ["1"], [collections.deque([1])]),
    (Sequence[int], ["[1]"], ['"a"'], [[1]]),
    (Annotated[Sequence[int], Field(min_length=1)], ["[1]"], ["[]"], [[1]]),
    (Iterable[int], ["[1]"], ['["a"]'], []),
    (dict[str, Any], ['{}', '{"a": [1, {"b": null}]}'], ["[]", "null"], [{"a": 1}]),
    (dict[int, int], ['{"1": 2, "-5": 0}'], ['{"a": 1}', '{"1.0": 1}', '{"01": 1}'], [{1: 1, 0: 2}]),
    (dict[float, int], ['{"1.5": 2}'], ['{"a": 1}', '{"nan": 1}'], [{1.0: 1, 1e22: 2, 1e-7: 3}]),
    (dict[bool, int], ['{"true": 1}'], ['{"yes": 1}'], [{True: 1}]),
    (dict[Letter, int], ['{"x": 1, "z": 2}', "{}"], ['{"q": 1}'], [{Letter.X: 1}]),
    (Annotated[dict[Letter, int], Field(min_length=2)], ['{"x": 1, "z": 2}'], ['{"x": 1}', "{}"], [{"x": 1, "y": 2}]),
    (dict[Decimal, int], ['{"1.50": 1}'], ['{"x": 1}'], [{Decimal("1E+5"): 1}]),
    (dict[dt.date, int], ['{"2020-01-01": 1}'], ['{"2020-02-30": 1}'], [{dt.date(2020, 1, 1): 1}]),
    (dict[uuid.UUID, int], [], ['{"a": 1}'], [{uuid.UUID(int=5): 1}]),
    (dict[Annotated[str, Field(pattern="^a+$")], int], ['{"aa": 1}'], ['{"b": 1}'], [{"a": 1}]),
    (dict[Annotated[int, Field(ge=1, le=20)], int], ['{"20": 1}'], ['{"21": 1}', '{"0": 1}'], [{3: 1}]),
    (dict[Optional[int], int], ['{"3": 1}'], ['{"null": 1}'], [{3: 1}]),
    (dict[tuple[int, int], int], ["{}"], ['{"1,2": 1}'], [{}]),
    (Annotated[dict[str, int], Field(min_length=1, max_length=2)], ['{"a": 1}'], ["{}", '{"a":1,"b":2,"c":3}'],
     [{"a": 1}]),
    (Mapping[str, int], ['{"a": 1}'], ["[]"], [{"a": 1}]),
    (collections.OrderedDict[str, int], ['{"a": 1}'], ["[]"], []),
    (collections.defaultdict[str, list[int]], ['{"a": [1]}'], ['{"a": 1}'], []),
    (collections.Counter[str], ['{"a": 1}'], ['{"a": "x"}'], [collections.Counter("aab")]),
    (Union[int, str, None], ["1", '"a"', "null"], ["1.5", "true"], [1, "a", None]),
    (Annotated[Optional[int], Field(ge=1)], ["1", "null"], ["0"], [None, 5]),
    (Annotated[Union[int, float], Field(gt=0)], ["1", "0.5"], ["0", "-1"], [1]),
    (Annotated[Union[str, list[int]], Field(min_length=2)], ['"ab"', "[1,2]"], ['"a"', "[1]"], ["ab"]),
    (UserId, ["1"], ['"1"'], [3]),
    (Aliased, ['{"fooBar": 1, "b": "x", "inner": {"q": 1}}', '{"foo_bar": 1, "baz": "x", "inner": {"q": 1}, "z": 3}'],
     ['{"fooBar": 1, "foo_bar": 1, "inner": {"q": 1}}', '{"fooBar": 1, "inner": {"q": 1}, "z": "x"}',
      '{"fooBar": 0, "inner": {"q": 1}}', '{"fooBar": 1, "inner": {"q": 1, "z": 1}}', '{"inner": {"q": 1}}'],
     [Aliased(foo_bar=1, inner=Inner(q=1)), Aliased(foo_bar=1, inner=Inner(q=1), zz=3)]),
    (Closed, ['{"A": 1}', '{"a": 1, "B": "y"}'], ['{"a": 1, "A": 1}', "{}", '{"a": 1, "z": 1}'], [Closed(a=1)]),
    (Node, ['{"v": 1, "kids": [{"v": 2}]}'], ['{"v": 1, "kids": [2]}', "{}"], [Node(v=1, kids=[Node(v=2)])]),
    (Tagged, ['{"kind": "a", "x": 1}', '{"kind": "c"}'], ['{"x": 1}', '{"kind": "e"}', '{"kind": "a"}',
              '{"kind": "b", "y": {"kind": "b", "x": 1}}', '{"kind": "d", "sub": {"x": 1}}'],
     [First(x=1), Second(kind="c"), Third(sub=First(x=2))]),
    (Pet, ['{"pet": "dog"}', '{"pet": "cat", "color": "white", "w": 1}'],
     ['{"pet": "cat", "color": "white", "n": "a"}'],
     [Dog(pet="dog"), BlackCat(pet="cat", color="black", n="x")]),
    (Annotated[Union[NamedTag, OtherTag], Field(discriminator="kind")], ['{"Kind": "a"}', '{"kind": "b"}'], ["{}"],
     [NamedTag(), OtherTag()]),
    (Annotated[Union[SomeLetters, LastLetter], Field(discriminator="t")], ['{"t": "y"}', '{"t": "z"}'], ['{"t": "q"}'],
     [SomeLetters(t=Letter.Y)]),
    (Union[First, Second], ['{"x": 1}', '{"kind": "b"}'], ["{}"], [First(x=1)]),
    (Numbers, ["[1]"], ["{}"], [Numbers([1])]),
    (Box[int], ['{"v": 1, "w": [2]}'], ['{"v": "a"}'], [Box[int](v=1)]),
    (Box[Box[str]], ['{"v": {"v": "a"}}'], ['{"v": {"v": 1}}'], []),
    (Typed, ['{"a": 1}', '{"a": 1, "B": "x"}'], ["{}", '{"a": 1, "B": 2}'], [{"a": 1, "b": "x"}]),
    (Recursive, ['{"x": 1, "r": {"x": 2}}'], ['{"x": 1, "r": {}}'], [{"x": 1, "r": {"x": 2}}]),
    (Json, ["1", '[1, {"a": [2]}]'], ['"a"', "[null]"], [[1, {"a": 2}]]),
    (Data, ['{"a": 1}', '{"a": 1, "e": [1]}'], ["{}", '{"a": "x"}'], [Data(1), Data(2, "y", e=[1])]),
    (StrictData, ['{"a": 1, "b": {"a": 2}}'], ['{"a": 0}', '{"a": 1, "z": 1}'], [StrictData(a=1, b=StrictData(a=2))]),
    (Row, ["[1]", '[1, "a", "2020-01-01"]'], ["[]", '[1, "a", null, 1]', '{"a": 1}'],
     [Row(1), Row(1, "a", dt.date.min)]),
    (Paths, ['{"c": [0, {"d": 1, "e": 2}], "q": {"r": "a"}}', '{"c": [0, {"d": 1}], "q": {"r": "a"}}'],
     ['{"c": [{"d": 1}], "q": {"r": "a"}}', '{"c": [0, {"d": 1}]}'], []),
    (ClosedPath, ["{}", '{"c": {"d": 1}}'], ['{"c": {}}', '{"c": 1}', '{"x": 1}'], []),
    (Settings, ['{"a": "é"}'], ['{"a": ""}', '{"a": "A"}', '{"a": " a"}', '{"a": "abcdef"}'], [Settings(a="x ")]),
    (Strict, ["{}"], ['{"a": 1.0}'], []),
    (PlainValues, ['{"t": "y"}', '{"t": "y", "u": "a"}'], ["{}", '{"t": "x"}'], [PlainValues(t=Letter.Y)]),
    (Annotated[dict[int, int], Field(min_length=2)], ['{"0": 1, "-1": 1}', '{"10": 0, "1": 0}'],
     ['{"0": 1, "-0": 1}', '{"1": 1}'], [{0: 1, -20: 2}]),
    (Annotated[dict[Annotated[int, Field(le=4, multiple_of=2)], int], Field(min_length=2)], ['{"0": 1, "4": 1}'],
     ['{"-0": 1, "0": 1}', '{"0": 1, "6": 1}'], [{0: 1, -20: 2}]),
]


@pytest.mark.parametrize("annotation, good, bad, values", TABLE,
                         ids=[str(row[0]).replace("typing.", "")[:50] for row in TABLE])
def test_type(annotation: Any, good: list[str], bad: list[str], values: list[Any]) -> None:
    adapter = pydantic.TypeAdapter(annotation)
    for order in ("schema", "any"):
        grammar = compiled(annotation, property_order=order)
        for text in good:
            assert accepts(grammar, text), text
            adapter.validate_json(text)
        for text in bad:
            assert not accepts(grammar, text), text
        for value in values:
            texts = list(dumps(adapter, value))
            assert texts, value
            for text in texts:
                assert accepts(grammar, text), text
        check_law(annotation, walks=25, property_order=order)


def test_members_of_a_frozen_model_in_a_set_must_be_hashable() -> None:
    model = pydantic.create_model("M", __config__=ConfigDict(frozen=True), a=(list[int], []), b=(int, 0))
    with pytest.raises(cd.UnsatisfiableSchemaError):
        compiled(Annotated[set[model], Field(min_length=1)])  # type: ignore[valid-type]


def test_a_name_that_two_fields_read_is_refused() -> None:
    model = pydantic.create_model("M", __config__=ConfigDict(populate_by_name=True),
                                  a=(int, Field(alias="b")), b=(int, Field(alias="a")))
    with pytest.raises(cd.UnsupportedSchemaError, match="'a'"):
        compiled(model)


def test_endless_types_are_unsatisfiable() -> None:
    class Endless(BaseModel):
        k: Endless

    Endless.model_rebuild(_types_namespace={"Endless": Endless})
    with pytest.raises(cd.UnsatisfiableSchemaError):
        compiled(Endless)


def test_deep_types_do_not_recurse() -> None:
    annotation: Any = int
    for _ in range(60):
        annotation = list[annotation]
    assert accepts(compiled(annotation), "[" * 60 + "1" + "]" * 60)


def test_validated_defaults_must_be_valid_to_be_left_out() -> None:
    class Checked(BaseModel):
        model_config = ConfigDict(validate_default=True)
        good: int = 1
        bad: int = "x"  # type: ignore[assignment]
        made: list[int] = Field(default_factory=list)
        called: int = Field(default_factory=lambda: 1 // 0)
        node: Optional[Node] = None

    grammar = compiled(Checked)
    assert accepts(grammar, '{"bad": 1, "called": 2}')
    assert not accepts(grammar, '{"bad": 1}') and not accepts(grammar, '{"called": 1}') and not accepts(grammar, "{}")
    check_law(Checked)
