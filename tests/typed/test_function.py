# ruff: noqa: E402 - imports follow pytest.importorskip
"""``@llm.fn``: what is a typed function, what it sends, and every mistake told where the decorator stands."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

pydantic = pytest.importorskip("pydantic")

from constrained.typed.docstring_prompt import DocstringPrompt
from constrained.typed.errors import AnnotationError, OutputError, PromptError, TruncatedError
from constrained.typed.function import TypedFunction
from constrained.typed.llm import LLM
from constrained.typed.types import Choice, Regex


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


def test_a_function(tiny: LLM) -> None:
    @tiny.fn
    def mood(text: str, style: str = "plain") -> Mood:
        """The mood of {text!r}, {style:>7}, {{really}}."""

    assert isinstance(mood, TypedFunction) and mood.__name__ == "mood" and "mood of" in (mood.__doc__ or "")
    assert mood("ok") in Mood
    assert mood.prompt("ok") == "The mood of 'ok',   plain, {really}."
    assert mood.result("ok").usage.output_tokens > 0
    assert mood.batch(["a", ("b", "x"), {"text": "c"}])[0] in Mood
    assert asyncio.run(mood.acall("ok")) in Mood
    assert asyncio.run(mood.abatch(["a", "b"]))[1] in Mood
    assert [event.type for event in mood.stream("ok")][-1] == "output.done"
    assert mood.coverage.exact
    assert repr(mood).startswith("<typed function mood(text")
    with pytest.raises(TypeError):
        mood()  # type: ignore[call-arg]


def test_options(tiny: LLM) -> None:
    @tiny.fn(temperature=1.0, seed=1)
    def words(topic: str) -> Annotated[str, Regex("[a-z]{20}")]:
        """Words."""

    assert words("x") == words("x") != words.options(seed=2)("x")
    assert words.options(max_tokens=3, budget="cut").result("x").finish_reason == "length"
    with pytest.raises(TruncatedError):
        words.options(max_tokens=3, budget="cut")("x")
    with pytest.raises(ValueError, match="no sampling parameter"):
        words.options(tempo=3)


def test_parameters_that_the_docstring_does_not_name_follow_it(tiny: LLM) -> None:
    @dataclass
    class Point:
        x: int

    @tiny.fn
    def f(a: Any, b: Any, c: Any = None) -> int:
        """Compare with {b}."""

    assert f.prompt(Point(1), [Point(2)], Mood.GOOD) == 'Compare with [{"x": 2}].\n\na: {"x": 1}\nc: good'
    model = pydantic.create_model("M", q=(int, 3))()
    assert f.prompt(model, {"k": "é"}, 1.5) == 'Compare with {"k": "é"}.\n\na: {"q":3}\nc: 1.5'


def test_async_functions(tiny: LLM) -> None:
    @tiny.fn
    async def pick(text: str) -> Literal["a", "b"]:
        """Pick for {text}."""

    async def run() -> list[Any]:
        return list(await asyncio.gather(pick("x"), pick("y")))  # type: ignore[arg-type]

    assert set(asyncio.run(run())) <= {"a", "b"}


def test_values_as_annotations(tiny: LLM) -> None:
    def written(text: str) -> Choice("a", "b"):  # type: ignore[valid-type]
        """Choose."""

    assert tiny.fn(written)("x") in ("a", "b")  # the annotation is text here
    written.__annotations__["return"] = Regex("[0-9]{2}")
    assert re.fullmatch("[0-9]{2}", tiny.fn(written)("x"))


def test_local_classes(tiny: LLM) -> None:
    class Local(pydantic.BaseModel):
        flag: bool

    @tiny.fn
    def f(x: str) -> list[Local]:
        """{x}"""

    assert all(isinstance(one, Local) for one in f("x"))


def test_methods(tiny: LLM) -> None:
    class Desk:
        def __init__(self, name: str) -> None:
            self.name = name

        @tiny.fn
        def triage(self, text: str, hint: str = "none") -> Mood:
            """{self.name} reads: {text}"""

    desk = Desk("Support")
    assert desk.triage("ok") in Mood and desk.triage.options(seed=1)("ok") in Mood
    assert desk.triage.prompt("ok") == "Support reads: ok\n\nhint: none"
    assert Desk.triage.prompt(desk, "ok") == desk.triage.prompt("ok")


def test_retries(tiny: LLM) -> None:
    class Never(pydantic.BaseModel):
        flag: bool

        @pydantic.model_validator(mode="after")
        def never(self) -> Never:
            raise ValueError("no")

    @tiny.fn(retries=1)
    def f(x: str) -> Never:
        """{x}"""

    with pytest.raises(OutputError, match="Value error, no"):
        f("x")
    results = f.batch_results(["a", "b"])
    assert [result.usage.requests for result in results] == [2, 2]
    with pytest.raises(OutputError):
        f.batch(["a"])


WRONG = {
    "def f(x): '{x}'": (AnnotationError, "no return type"),
    "def f(x) -> None: '{x}'": (AnnotationError, "returns None"),
    "def f(x) -> 'Missing': '{x}'": (AnnotationError, "'Missing'"),
    "def f(x) -> object: '{x}'": (AnnotationError, "JsonSchema"),
    "def f(x) -> {'type': 'object'}: '{x}'": (AnnotationError, "JsonSchema"),
    "def f(x) -> ['a']: '{x}'": (AnnotationError, "Choice"),
    "def f(x) -> 'no such thing': '{x}'": (AnnotationError, "is no type"),
    "def f(x) -> int: pass": (PromptError, "docstring"),
    "def f(x) -> int: ' '": (PromptError, "docstring"),
    "def f(x) -> int: '{y}'": (PromptError, "{y}, which is no parameter"),
    "def f(x) -> int: '{}'": (PromptError, "no parameter"),
    "def f(x) -> int: '{x:{y}}'": (PromptError, "no parameter"),
    "def f(x) -> int: '{x.__class__}'": (PromptError, "private"),
    "def f(x) -> int: '{x[_a]}'": (PromptError, "private"),
    "def f(x) -> int: '{'": (PromptError, "{{ and }}"),
    "def f(x) -> int: '{\"a\": 1}'": (PromptError, "{{ and }}"),
}


@pytest.mark.parametrize("source", WRONG)
def test_mistakes_are_found_when_the_decorator_runs(tiny: LLM, source: str) -> None:
    kind, words = WRONG[source]
    names: dict[str, Any] = {}
    exec(source, names)
    with pytest.raises(kind, match=re.escape(words)):
        tiny.fn(names["f"])


def test_what_is_no_function(tiny: LLM) -> None:
    with pytest.raises(PromptError, match="decorates a function"):
        tiny.fn(int)
    with pytest.raises(PromptError, match="raw"):
        tiny.fn(raw=True)(test_what_is_no_function)


def test_placeholders_that_a_value_does_not_have() -> None:
    prompt = DocstringPrompt("f", "{x.size} {x[key]}", ["x"])
    with pytest.raises(PromptError, match="no attribute"):
        prompt.render({"x": 3})
