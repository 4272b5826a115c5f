"""Arguments of streamed tool calls: what is told of them is certain, in every family, and told early."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

pytest.importorskip("pydantic")
pytest.importorskip("torch")

from constrained.decoder.sampling_params import SamplingParams
from constrained.toolcalls import FAMILIES, ToolSpec
from constrained.typed.argument_captures import arguments_follower
from constrained.typed.call import Call, Piece
from constrained.typed.local import _piece
from constrained.typed.partial_captures import JsonCaptures
from constrained.typed.stream import Assembler
from tests.toolcalls.rendering import SCHEMAS, render

TOOLS = tuple({"type": "function", "function": {"name": name, "parameters": schema}}
              for name, schema in SCHEMAS.items())
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_weather", {"city": "Zürich \"😀\"\n", "days": 150}),
    ("get", {"url": "https://x.y/?q=</a>", "deep": True, "unit": "F"}),
    ("search.web", {"query": "", "tags": ["a", "b, c", ""], "near": {"x": -1.5, "why": "{}"}, "limit": None}),
    ("now", {})]


def grows(before: Any, after: Any) -> bool:
    """Nothing of ``before`` changes."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(key in after and grows(value, after[key]) for key, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        return after[: len(before)] == before
    return bool(before == after)


@pytest.mark.parametrize("fmt", FAMILIES, ids=lambda fmt: fmt.name)
def test_what_is_told_stays(fmt: Any) -> None:
    for one in CALLS:
        assembler = Assembler(Call(params=SamplingParams(), tools=TOOLS), held=True)
        parser = fmt.parser([ToolSpec(name, None, schema) for name, schema in SCHEMAS.items()])
        data = render(fmt.name, [one]).encode()
        events: list[Any] = []
        for i in range(len(data)):
            for part in parser.feed(data[i : i + 1]):
                events += assembler.feed(_piece(part))
        for part in parser.finish():
            events += assembler.feed(_piece(part))
        (call,) = assembler._calls
        assert isinstance(call.scanner, JsonCaptures) and not call.scanner.broken, call.arguments
        told = [event.parsed_arguments for event in events if event.type.startswith("tool_calls")]
        assert told[-1] == one[1] == json.loads(call.arguments)
        assert all(grows(a, b) for a, b in itertools.pairwise(told) if a is not None)


def test_what_the_schema_ends_is_told_at_once() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {
        "$schema": "http://json-schema.org/draft-04/schema#",  # in which 150.0 is no integer
        "type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 199}}, "required": ["n"]}}}
    for held, early in ((True, {"n": 150}), (False, {})):
        assembler = Assembler(Call(params=SamplingParams(), tools=(tool,)), held=held)
        assembler.feed(Piece(call=0, name="f"))
        (event,) = assembler.feed(Piece(call=0, arguments='{"n": 150'))
        assert event.parsed_arguments == early  # no further digit may come; a scanner cannot know
        (event,) = assembler.feed(Piece(call=0, arguments="}"))
        assert event.parsed_arguments == {"n": 150}


def test_tools_of_which_nothing_is_known() -> None:
    open_tool = {"type": "function", "function": {"name": "f", "strict": False}}
    assert arguments_follower([open_tool], "f") is None and arguments_follower([open_tool], "g") is None
    assembler = Assembler(Call(params=SamplingParams(), tools=(open_tool,)), held=True)
    assembler.feed(Piece(call=0, name="f"))
    (event,) = assembler.feed(Piece(call=0, arguments='{"anything": [1, 2'))
    assert event.parsed_arguments == {"anything": [1]}


def test_arguments_that_leave_their_schema() -> None:
    """Nothing becomes certain any more, and the end says what was written."""
    assembler = Assembler(Call(params=SamplingParams(), tools=TOOLS), held=True)
    assembler.feed(Piece(call=0, name="now"))
    (event,) = assembler.feed(Piece(call=0, arguments='{"x": 1}'))
    assert not event.parsed_arguments
    (event,) = assembler.feed(Piece(call=0, closed=True))
    assert event.parsed_arguments == {"x": 1}
