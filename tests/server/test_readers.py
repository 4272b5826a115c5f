"""Readers give the same meaning however the text is cut."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("torch")
pytest.importorskip("starlette", reason="the server is not installed: pip install 'constrained[server]'")

from constrained.server.deltas import Delta, PlainReader, Reader, ThinkingReader, ToolReader
from constrained.server.tools import CustomTool
from constrained.toolcalls import (
    ArgumentsDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolSpec,
    get_format,
)


def meaning(deltas: list[Delta]) -> list[tuple]:
    """Neighbouring deltas of one kind joined."""
    found: list[tuple] = []
    for delta in deltas:
        if isinstance(delta, (TextDelta, ReasoningDelta)):
            key = (type(delta).__name__,)
        elif isinstance(delta, ArgumentsDelta):
            key = ("ArgumentsDelta", delta.index)
        else:
            found.append((delta,))
            continue
        if found and found[-1][:-1] == key:
            found[-1] = (*key, found[-1][-1] + delta.text)
        else:
            found.append((*key, delta.text))
    return found


def read(reader: Reader, text: str, seed: int | None) -> list[tuple]:
    deltas: list[Delta] = []
    draw = random.Random(seed)
    at = 0
    while at < len(text):
        size = len(text) if seed is None else draw.randint(1, 6)
        deltas += reader.feed(text[at : at + size])
        at += size
    return meaning(deltas + reader.finish())


SEEDS = [None, *range(15)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("text", "inside", "expected"), [
    ("<think>a b</think>\n\nyes", False, [("ReasoningDelta", "a b"), ("TextDelta", "yes")]),
    ("a b</think>yes", True, [("ReasoningDelta", "a b"), ("TextDelta", "yes")]),
    ("  <think>x", False, [("ReasoningDelta", "x")]),
    ("<thin", False, [("TextDelta", "<thin")]),
    ("no <think> later", False, [("TextDelta", "no <think> later")]),
    ("x < y</thin", True, [("ReasoningDelta", "x < y</thin")]),
    ("<think></think>z", False, [("TextDelta", "z")])])
def test_thinking(text: str, inside: bool, expected: list[tuple], seed: int | None) -> None:
    found = read(ThinkingReader("<think>", "</think>", inside=inside), text, seed)
    assert [(kind, piece.rstrip() if kind == "ReasoningDelta" else piece) for kind, piece in found] == expected


def test_plain() -> None:
    assert read(PlainReader(), "abc", 1) == [("TextDelta", "abc")]


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_of_both_kinds_are_counted_through(seed: int | None) -> None:
    fmt = get_format("qwen3")
    specs = [ToolSpec("f", parameters={"type": "object"}), ToolSpec("c", parameters={"type": "object"})]
    reader = ToolReader(fmt.parser(specs), {"c": CustomTool("c"), "l": CustomTool("l", 'start: "x"')})
    text = ('One <moment.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n'
            '<custom_tool name="l">a < b\n</custom_tool>'
            '<tool_call>\n{"name": "c", "arguments": {"input": "q\\n"}}\n</tool_call>')
    found = read(reader, text, seed)
    assert [one for one in found if one[0] != "TextDelta"] == [
        (ToolCallStart(0, "f"),), ("ArgumentsDelta", 0, '{"a": 1}'), (ToolCallEnd(0, "f", '{"a": 1}'),),
        (ToolCallStart(1, "l"),), ("ArgumentsDelta", 1, "a < b\n"), (ToolCallEnd(1, "l", "a < b\n"),),
        (ToolCallStart(2, "c"),), ("ArgumentsDelta", 2, "q\n"), (ToolCallEnd(2, "c", "q\n"),)]
    assert found[0][0] == "TextDelta" and found[0][1].startswith("One <moment.")
