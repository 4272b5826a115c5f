"""What cannot be enforced: refused with the place, the reason and what to write instead, or listed by ``coverage``."""

# ruff: noqa: UP007, UP045

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, Optional, Union

import pydantic
import pytest
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

import constrained as cd
from constrained.errors import MAX_MESSAGE
from tests.frontends.python_types.judging import accepts, compiled


class Plain(enum.Enum):
    A = "a"


class Odd(enum.Enum):
    A = (1, 2)


@dataclasses.dataclass
class Inside:
    a: int
    b: list[dict[str, bytearray]]


class Dictionary(TypedDict):
    x: Optional[bytearray]


class Arbitrary(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    a: bytearray


def function(a: int) -> int:
    return a


#: Type, what the message says, the pointer.
REFUSED: list[tuple[Any, str, str]] = [
    (Callable[[int], int], "Callable.*Literal of names", ""),
    (type[int], r"type\[\.\.\.\]", ""),
    (Inside(1, []), "is no type", ""),
    (Arbitrary, "bytearray", "/properties/a"),
    (Inside, "bytearray", "/properties/b/items/additionalProperties"),
    (Dictionary, "bytearray", "/properties/x/anyOf/0"),
    (function, "function", ""),
    (re.Pattern, "regular expression.*use str", ""),
    (pydantic.Json[int], "Json.*inside", ""),
    (pydantic.FilePath, "file system.*pathlib.Path", ""),
    (pydantic.PastDate, "moment of validation", ""),
    (pydantic.FutureDatetime, "moment of validation", ""),
    (pydantic.ImportString, "imports", ""),
    (pydantic.Base64Str, "use str", ""),
    (Literal[Plain.A], r"class Name\(str, Enum\)", ""),
    (Literal[b"x"], "b'x'", ""),
    (list[Odd], r"\(1, 2\)", "/items"),
    (dict[complex, int], "keys of the type complex", ""),
    (Annotated[Union[int, str], Field(gt=0)], "gt on int or str.*each member", ""),
    (Annotated[Union[int, float], Field(multiple_of=2)], "multiple_of", ""),
    (Annotated[set[float], Field(min_length=2)], "different items", ""),
    (Annotated[frozenset[Literal["a", 1, True]], Field(min_length=2)], "different items", ""),
    (Annotated[dict[float, int], Field(min_length=2)], "different keys of float", ""),
    (Annotated[Optional[dict[uuid.UUID, int]], Field(min_length=2)], "different keys of uuid", "/anyOf/0"),
    (pydantic.create_model("Hex", __config__=pydantic.ConfigDict(val_json_bytes="hex"), a=(pydantic.Base64Bytes, ...)),
     "inside of val_json_bytes", "/properties/a"),
    (Annotated[Fraction, Field(gt=0)], "fraction|gt on", ""),
    (Annotated[str, Field(pattern=r"^[a-z&&[^b]]$")], "operator on classes", ""),
    (Annotated[str, Field(pattern=re.compile(r"(a)\1"))], "back-reference", ""),
    (Annotated[Decimal, Field(gt=Decimal("Infinity"))], "bound of Infinity", ""),
]


@pytest.mark.parametrize("annotation, said, pointer", REFUSED,
                         ids=[re.sub(r" at 0x\w+", "", str(row[0]))[:50] for row in REFUSED])
def test_refused(annotation: Any, said: str, pointer: str) -> None:
    with pytest.raises(cd.UnsupportedSchemaError) as caught:
        compiled(annotation)
    assert re.search(said, str(caught.value), re.DOTALL), caught.value
    assert caught.value.pointer == pointer
    assert len(str(caught.value)) <= MAX_MESSAGE and "0x" not in str(caught.value)
    assert caught.value.hint


def test_refused_inside_a_model_and_left_out() -> None:
    model = pydantic.create_model("M", a=(int, ...), when=(pydantic.PastDate, ...))
    with pytest.raises(cd.UnsupportedSchemaError) as caught:
        compiled(model)
    assert caught.value.pointer == "/properties/when"
    with pytest.warns(UserWarning, match="moment of validation"):
        grammar = compiled(model, unsupported="warn")
    assert accepts(grammar, '{"a": 1, "when": [2]}')
    compiled(model, unsupported="ignore")
    (entry,) = cd.coverage(model).relaxed
    assert entry.pointer == "/properties/when" and "moment" in entry.reason


@pytest.mark.parametrize("annotation", [object(), list["Undefined"], 5 + 3j])  # type: ignore[name-defined] # noqa: F821
def test_no_types(annotation: Any) -> None:
    with pytest.raises(cd.SchemaError) as caught:
        cd.Grammar.from_type(annotation)
    assert "0x" not in str(caught.value)


def test_validators_are_listed_each_with_its_place() -> None:
    class Checked(BaseModel):
        a: int
        b: Annotated[int, pydantic.AfterValidator(lambda x: x)] = 1
        c: Annotated[int, pydantic.PlainValidator(lambda x: x)] = 1
        d: Annotated[int, pydantic.BeforeValidator(lambda x: x, json_schema_input_type=str)] = 1
        e: Annotated[int, pydantic.WrapValidator(lambda x, handler: handler(x))] = 1

        @pydantic.field_validator("a")
        @classmethod
        def after(cls, value: int) -> int:
            return value

        @pydantic.field_validator("a", mode="before")
        @classmethod
        def before(cls, value: Any) -> Any:
            return value

        @pydantic.model_validator(mode="before")
        @classmethod
        def whole(cls, value: Any) -> Any:
            return value

        @pydantic.model_validator(mode="after")
        def done(self) -> Checked:
            return self

        def model_post_init(self, context: Any) -> None:
            pass

    listed = [(entry.pointer, next(name for name in ("after", "before", "whole", "done", "model_post_init", "lambda")
                                   if f".{name}" in entry.reason or f"<{name}>" in entry.reason))
              for entry in cd.coverage(Checked).relaxed]
    assert sorted(listed) == sorted([
        ("", "whole"), ("", "done"), ("", "model_post_init"), ("/properties/a", "after"), ("/properties/a", "before"),
        ("/properties/b", "lambda"), ("/properties/c", "lambda"), ("/properties/d", "lambda"),
        ("/properties/e", "lambda")])
    grammar = compiled(Checked)  # what the validators are given is enforced
    assert accepts(grammar, '{"a": 1, "b": 2, "c": {"x": []}, "d": "text", "e": 3}')
    assert not accepts(grammar, '{"a": 1, "d": 4}') and not accepts(grammar, '{"a": 1, "b": "2"}')


def test_hooks_of_classes_are_listed() -> None:
    @dataclasses.dataclass
    class Hooked:
        a: int

        def __post_init__(self) -> None:
            pass

    class Made(BaseModel):
        a: int

        def __init__(self, **given: Any) -> None:
            super().__init__(**given)

    class Private(BaseModel):
        _x: int = 1
        a: int = 1

    assert [entry.reason.split()[0].rsplit(".", 1)[-1] for entry in cd.coverage(Hooked).relaxed] == ["__post_init__"]
    assert [entry.reason.split()[0].rsplit(".", 1)[-1] for entry in cd.coverage(Made).relaxed] == ["__init__"]
    assert cd.coverage(Private).exact


def test_a_callable_discriminator_is_listed() -> None:
    class A(BaseModel):
        x: int

    class B(BaseModel):
        y: int

    union = Annotated[Union[Annotated[A, pydantic.Tag("a")], Annotated[B, pydantic.Tag("b")]],
                      pydantic.Discriminator(lambda value: "a")]
    (entry,) = cd.coverage(union).relaxed
    assert "discriminator" in entry.reason
    assert accepts(compiled(union), '{"y": 1}')


def test_what_asks_for_more_than_is_there() -> None:
    for annotation in (Annotated[int, Field(gt=3, lt=4)], Annotated[float, Field(gt=1, lt=0)],
                       Annotated[str, Field(min_length=3, max_length=2)], Annotated[Decimal, Field(gt=2, lt=1)],
                       Annotated[dict[tuple[int, int], int], Field(min_length=1)],
                       Annotated[dt.date, Field(gt=dt.date.max)]):
        with pytest.raises(cd.UnsatisfiableSchemaError):
            compiled(annotation)


def test_networks_of_ipv6() -> None:
    with pytest.raises(cd.UnsupportedSchemaError, match="IPv6Interface"):
        compiled(ipaddress.IPv6Network)


def test_paths_need_no_file() -> None:
    assert accepts(compiled(pathlib.Path), '"no/such/file"')


@pytest.mark.parametrize("value", ["{}", "[]", "1"])
def test_a_text_of_json_is_no_type(value: str) -> None:
    with pytest.raises(cd.UnsupportedSchemaError, match="is no"):
        cd.Grammar.from_type(value)
