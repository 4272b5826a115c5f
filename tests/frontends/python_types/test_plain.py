"""Types take the direct pass of JSON Schema where their words say all of them; either way they mean the same."""

# ruff: noqa: UP007, UP045 - parts are values here

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

import constrained as cd
from constrained.frontends.json_schema import mixed
from constrained.frontends.json_schema.compile import build
from constrained.frontends.json_schema.given import Given
from constrained.frontends.python_types.translate import translated
from constrained.grammar.ir import RuleSet
from constrained.limits import Limits
from tests.frontends.python_types.annotations import annotations
from tests.frontends.same_rules import difference


class Address(BaseModel):
    street: str
    city: Annotated[str, Field(max_length=40)]
    country: Literal["us", "de"] = "us"


class Person(BaseModel):
    name: str
    age: int = Field(ge=0, le=150)
    score: float
    email: Optional[str] = None
    active: bool = True
    tags: list[str] = []
    address: Address
    friends: list[Person] = []
    counts: dict[str, int] = {}


class Renamed(BaseModel):
    model_config = ConfigDict(extra="allow")
    first: int = Field(alias="First")
    second: str = Field(default="", validation_alias=AliasChoices("second", "2nd"))


class Tree(BaseModel):
    value: Union[int, str]
    children: list[Tree] = []


def outcome(annotation: Any, direct: bool, **options: Any) -> RuleSet | tuple[type, str]:
    try:
        return cd.Grammar.from_type(annotation, **options).rules if direct else build(annotation, **options)[0]
    except cd.ConstrainedError as error:
        return type(error), str(error)


def check(annotation: Any, **options: Any) -> None:
    other, one = outcome(annotation, False, **options), outcome(annotation, True, **options)
    if isinstance(one, RuleSet) and isinstance(other, RuleSet):
        assert difference(one, other) is None
    else:
        assert one == other


@given(annotations, st.sampled_from([
    {}, {"property_order": "any"}, {"strict_mode": True}, {"any_whitespace": False},
    {"any_whitespace": False, "indent": 1}, {"max_number_digits": 20, "string_escapes": "canonical"}]))
@settings(max_examples=40, deadline=None)
def test_the_same_rules(annotation: Any, options: dict[str, Any]) -> None:
    check(annotation, **options)


@pytest.mark.parametrize("annotation", [Person, Renamed, Tree, list[Renamed], dict[str, Renamed]])
def test_models(annotation: Any) -> None:
    for order in ("schema", "any"):
        check(annotation, property_order=order)
        check(annotation, property_order=order, strict_mode=True)


def test_words_that_say_all_need_no_algebra(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("the algebra was asked")

    monkeypatch.setattr(mixed.Host, "slow", refuse)
    check(Person)
    check(Tree)


def test_words_that_say_too_little_keep_their_meaning() -> None:
    class Model(BaseModel):
        below: Annotated[float, Field(lt=0.3)]
        coded: Annotated[str, Field(pattern="^a$")]
        one: Literal[1, True]
        plain: int

    schema, _ = translated(Model, Limits(), "error", 400)
    given = {name for name, one in schema["properties"].items() if type(one) is Given}
    assert given == {"below", "coded", "one"}
    assert type(schema) is dict and type(schema["properties"]["plain"]) is dict
