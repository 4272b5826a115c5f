# ruff: noqa: E402 - imports follow pytest.importorskip
"""Tools from functions: their schemas, what cannot be one, and the calls that a model makes of them."""

from __future__ import annotations

import asyncio
import json
import re
import time
from typing import Annotated, Any, Literal

import pytest

pydantic = pytest.importorskip("pydantic")

from constrained.typed.errors import ToolError, TruncatedError
from constrained.typed.llm import LLM
from constrained.typed.results import FunctionCall, ToolCall, Truncated
from constrained.typed.tools import Tool, as_content, as_tools, tool
from tests.typed.models import needs_kernels
from tests.typed.tiny import tiny_model


class Place(pydantic.BaseModel):
    lat: float
    lon: float


@tool
def weather(city: str, unit: Literal["C", "F"] = "C", *, days: Annotated[int, pydantic.Field(ge=1, le=7)] = 1) -> str:
    """Weather of a city.

    Args:
        city: its name
        days: how many
    """
    return f"{city}: 21 {unit}, {days} days"


@tool(name="find", timeout=2)
def find_place(place: Place, tags: list[str], _hidden: bool = False, /) -> dict[str, Any]:
    """Find a place."""
    return {"lat": place.lat, "tags": tags, "hidden": _hidden}


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("id", FunctionCall(name, json.dumps(arguments)))


def test_the_schema_of_a_signature() -> None:
    assert isinstance(weather, Tool) and weather("Rome") == "Rome: 21 C, 1 days"
    function = weather.to_dict()["function"]
    assert (function["name"], function["description"]) == ("weather", "Weather of a city.")
    members = function["parameters"]["properties"]
    assert list(members) == ["city", "unit", "days"] and function["parameters"]["required"] == ["city"]
    assert members["city"] == {"type": "string", "description": "its name"}
    assert members["unit"]["enum"] == ["C", "F"] and members["unit"]["default"] == "C"
    assert (members["days"]["minimum"], members["days"]["maximum"]) == (1, 7)
    assert find_place.name == "find" and "place" in find_place.parameters["properties"]


def test_running_a_call() -> None:
    result = asyncio.run(weather.run(call("weather", city="Rome", days=2)))
    assert (result.content, result.error) == ("Rome: 21 C, 2 days", None)
    result = asyncio.run(find_place.run(call("find", place={"lat": 1, "lon": 2}, tags=["a"], _hidden=True)))
    assert json.loads(result.content) == {"lat": 1.0, "tags": ["a"], "hidden": True}
    assert result.to_dict() == {"role": "tool", "tool_call_id": "id", "name": "find", "content": result.content}


def test_what_goes_wrong_is_the_result() -> None:
    @tool
    def broken(x: int) -> int:
        """Breaks."""
        raise KeyError("no such row")

    @tool(timeout=0.05)
    def hangs(x: int) -> int:
        time.sleep(5)
        return x

    @tool(timeout=0.05)
    async def sleeps(x: int) -> int:
        await asyncio.sleep(5)
        return x

    @tool
    def slow_inside(x: int) -> int:
        raise TimeoutError("the database")

    assert asyncio.run(broken.run(call("broken", x=1))).content == "Error: KeyError: 'no such row'"
    for one in (hangs, sleeps):
        started = time.monotonic()
        result = asyncio.run(one.run(call(one.name, x=1)))
        assert "longer than 0.05 seconds" in result.content and isinstance(result.error, TimeoutError)
        assert time.monotonic() - started < 3
    assert asyncio.run(slow_inside.run(call("slow_inside", x=1))).content == "Error: TimeoutError: the database"
    wrong = asyncio.run(weather.run(call("weather", city="Rome", days=9)))
    assert wrong.content.startswith("Error: the arguments do not fit: days:") and isinstance(wrong.error, ToolError)


def test_values_as_content() -> None:
    assert [as_content(v) for v in ("a", None, 3)] == ["a", "null", "3"]
    assert as_content([Place(lat=1, lon=2)]) == '[{"lat":1.0,"lon":2.0}]'
    assert "object" in as_content(object())


WRONG = {
    "def f(x): 'd'": "the parameter x of f has no type",
    "def f(*xs: int): 'd'": "takes *xs",
    "def f(**xs: int): 'd'": "takes **xs",
    "def f(x: 'Missing'): 'd'": "'Missing'",
    "def f(x: int):\n  '''d\n\n  Args:\n    y: no\n  '''": "describes y, which is no parameter",
    "import threading\ndef f(x: threading.Lock): 'd'": "the parameters of f",
    "f = lambda x: x": "a tool cannot be called '<lambda>'",
    "f = int": "is no tool",
    "f = 3": "is no tool",
}


@pytest.mark.parametrize("source", WRONG)
def test_what_cannot_be_a_tool(source: str) -> None:
    names: dict[str, Any] = {}
    exec(source, names)
    with pytest.raises(ToolError, match=re.escape(WRONG[source])):
        tool(names["f"])


def test_clashes_and_choices(tiny: LLM) -> None:
    with pytest.raises(ToolError, match="two tools are called 'weather'"):
        tiny.chat("x", tools=[weather, weather.to_dict()])
    with pytest.raises(ToolError, match="this is no tool"):
        as_tools([{"type": "function"}])
    with pytest.raises(ToolError, match="must be JSON"):
        as_tools([{"type": "function", "function": {"name": "f", "parameters": {1, 2}}}])
    with pytest.raises(ToolError, match="tools are a list"):
        tiny.chat("x", tools="weather")
    for choice in ("sometimes", {"type": "function", "function": {"name": "other"}}, ["other"], 3, {"type": "x"}):
        with pytest.raises(ToolError):
            tiny.chat("x", tools=[weather], tool_choice=choice)
    with pytest.raises(ToolError, match="needs a tool"):
        tiny.chat("x", tool_choice="required")
    with pytest.raises(ToolError, match="seconds"):
        tool(timeout=0)(test_values_as_content)


def test_methods_and_callables() -> None:
    class Box:
        def __init__(self) -> None:
            self.size = 3

        def grow(self, by: int) -> int:
            """Grow."""
            self.size += by
            return self.size

        def __call__(self, by: int) -> int:
            """Shrink."""
            return self.size - by

    box = Box()
    assert asyncio.run(tool(box.grow).run(call("grow", by=2))).value == 5
    assert asyncio.run(tool(box, name="shrink").run(call("shrink", by=2))).value == 3


CHOICES: list[Any] = ["required", {"type": "function", "function": {"name": "find"}}, ["weather"]]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_calls_always_fit(tiny: LLM, choice: Any) -> None:
    for seed in range(3):
        result = tiny.chat("x", tools=[weather, find_place], tool_choice=choice, temperature=1.0, seed=seed,
                           max_tokens=400, parallel_tool_calls=False)
        assert result.finish_reason == "tool_calls" and result.output is None
        (one,) = result.message.tool_calls  # type: ignore[union-attr]
        made = {"weather": weather, "find": find_place}[one.function.name]
        made.arguments(one.function.arguments)
        assert choice == "required" or one.function.name == (choice[0] if isinstance(choice, list) else "find")
        assert result.usage.forced_tokens > 5 and len(one.id) == 9


@pytest.mark.parametrize("name", ["json", "hermes", "qwen3_coder", "llama3_pythonic", "mistral_v3", "deepseek_v3",
                                  "functiongemma", "command_r", "harmony", "phi4"])
def test_every_shape_of_calls(name: str) -> None:
    needs_kernels()
    with LLM(tiny_model(), tool_format=name, max_len=2048) as llm:
        for kind, choice in ((None, "required"), (bool, "required"), (bool, "auto")):
            result = llm.chat("x", kind, tools=[weather, find_place], tool_choice=choice, temperature=1.0, seed=3,
                              max_tokens=200, parallel_tool_calls=False)
            assert choice == "auto" or result.finish_reason == "tool_calls"
            if result.finish_reason != "tool_calls":
                assert isinstance(result.output, bool)
            for one in result.message.tool_calls:  # type: ignore[union-attr]
                {"weather": weather, "find": find_place}[one.function.name].arguments(one.function.arguments)


def test_a_value_or_calls(tiny: LLM) -> None:
    kinds = set()
    for seed in range(12):
        result = tiny.chat("x", int, tools=[weather], temperature=3.0, seed=seed, max_tokens=200,
                           parallel_tool_calls=False)
        kinds.add(result.finish_reason)
        assert result.finish_reason == "tool_calls" or isinstance(result.output, int)
    assert "stop" in kinds


def test_streamed_arguments(tiny: LLM) -> None:
    stream = tiny.stream("x", tools=[weather], tool_choice="required", temperature=1.0, seed=1, max_tokens=300,
                         parallel_tool_calls=False)
    events = list(stream)
    deltas = [e for e in events if e.type == "tool_calls.function.arguments.delta"]
    (done,) = [e for e in events if e.type == "tool_calls.function.arguments.done"]
    assert "".join(e.arguments_delta for e in deltas) == done.arguments == deltas[-1].arguments
    assert done.parsed_arguments == json.loads(done.arguments) and done.name == "weather"
    assert not [e for e in events if e.type.startswith("content")]


def test_none_and_a_cut_call(tiny: LLM) -> None:
    result = tiny.chat("x", tools=[weather], tool_choice="none", temperature=1.0, seed=1, max_tokens=20)
    assert not result.message.tool_calls  # type: ignore[union-attr]
    assert isinstance(tiny.chat("x", int, tools=[weather], tool_choice="none", max_tokens=20).output, int)
    cut = tiny.chat("x", tools=[weather], tool_choice="required", max_tokens=40, budget="cut", temperature=1.0)
    if isinstance(cut, Truncated):
        with pytest.raises(TruncatedError):
            cut.output  # noqa: B018


def test_a_template_that_knows_tools_gets_arguments_as_objects() -> None:
    needs_kernels()
    template = ("{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}"
                "{{ c.function.name }}({{ c.function.arguments.city }}){% endfor %}{% endfor %}{{ tools | tojson }}")
    with LLM(tiny_model(template), max_len=1024) as llm:
        engine: Any = llm.engine
        asked, _ = llm._call([{"role": "user", "content": "?"}, {
            "role": "assistant", "content": "", "tool_calls": [call("weather", city="Rome").to_dict()]}], None, {},
            [weather])
        text = b"".join(engine.info.token_bytes(i) for i in engine.prompt_ids(asked)).decode()
    assert text.startswith("?weather(Rome)[{")
    assert json.loads(text[text.index("["):])[0]["function"]["name"] == "weather"


def test_a_conversation_with_calls_for_a_template_without_tools(tiny: LLM) -> None:
    messages = [{"role": "user", "content": "Weather?"},
                {"role": "assistant", "content": "", "tool_calls": [call("weather", city="Rome").to_dict()]},
                {"role": "tool", "tool_call_id": "id", "name": "weather", "content": "sunny"}]
    engine: Any = tiny.engine
    asked, _ = tiny._call(messages, None, {}, [weather])
    data = b"".join(engine.info.token_bytes(i) for i in engine.prompt_ids(asked)).decode()
    assert '{"name": "weather", "arguments": {"city": "Rome"}}' in data and "<tool_response>\nsunny" in data
    assert '"description": "Weather of a city."' in data and "A call is written like this" in data
