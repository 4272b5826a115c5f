"""Readers: the text of one output, piece by piece, as what it means: answer, reasoning, or part of a tool call.

``PlainReader`` knows text only, ``ThinkingReader`` cuts off what stands between the model's thinking marks,
``ToolReader`` reads calls in the model's format, and custom tools' inputs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from constrained.server.tools import CUSTOM_BEGIN, CUSTOM_END, CustomTool
from constrained.toolcalls import (
    ArgumentsDelta,
    Event,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallParser,
    ToolCallStart,
)

__all__ = ["Delta", "PlainReader", "Reader", "ThinkingReader", "ToolReader"]

Delta = Event


class Reader(Protocol):
    """Reads one output."""

    def feed(self, text: str) -> list[Delta]:
        """What ``text`` adds."""

    def finish(self) -> list[Delta]:
        """What was held back, at the end of the output."""


class PlainReader:
    """Everything is the answer."""

    def feed(self, text: str) -> list[Delta]:
        return [TextDelta(text)] if text else []

    def finish(self) -> list[Delta]:
        return []


class ThinkingReader:
    """Reasoning first, up to ``end``; then the answer. An output may begin with ``start``, or within it."""

    def __init__(self, start: str, end: str, *, inside: bool) -> None:
        self._start = start
        self._end = end
        self._held = ""
        self._begun = inside  # whether the start mark is behind us
        self.reasoning = inside
        self._trim = inside  # blanks at the border are nobody's text

    def feed(self, text: str) -> list[Delta]:
        self._held += text
        deltas: list[Delta] = []
        if not self._begun:
            rest = self._held.lstrip()
            if self._start.startswith(rest) and len(rest) < len(self._start):
                return []  # it may still become the mark
            self._begun = True
            if rest.startswith(self._start):
                self.reasoning, self._trim = True, True
                self._held = rest[len(self._start):]
        if self.reasoning:
            mark = self._held.find(self._end)
            if mark < 0:
                keep = _overlap(self._held, self._end)
                self._emit(deltas, self._held[: len(self._held) - keep])
                self._held = self._held[len(self._held) - keep :]
                return deltas
            self._emit(deltas, self._held[:mark].rstrip())
            self._held = self._held[mark + len(self._end):]
            self.reasoning, self._trim = False, True
        self._emit(deltas, self._held)
        self._held = ""
        return deltas

    def finish(self) -> list[Delta]:
        deltas: list[Delta] = []
        self._emit(deltas, self._held)
        self._held = ""
        return deltas

    def _emit(self, deltas: list[Delta], text: str) -> None:
        if self._trim:
            text = text.lstrip()
        if text:
            self._trim = False
            deltas.append(ReasoningDelta(text) if self.reasoning else TextDelta(text))


class ToolReader:
    """Calls in the model's format; inputs of custom tools become plain text.

    Calls are counted through both kinds, in the order of the text. ``framed``: the format frames every text, so that
    inputs of grammars are calls like others.
    """

    def __init__(self, parser: ToolCallParser, customs: Mapping[str, CustomTool], *, framed: bool = False) -> None:
        self._parser = parser
        self._customs = customs
        self._alone = not framed and any(tool.lark is not None for tool in customs.values())
        self._held = ""
        self._inside: str | None = None  # the custom tool whose input is being read
        self._input: list[str] = []
        self._numbers: dict[int, int] = {}
        self._calls = 0
        self._hidden: set[int] = set()

    def feed(self, text: str) -> list[Delta]:
        if not self._alone:
            return self._through(self._parser.feed(text.encode()))
        self._held += text
        deltas: list[Delta] = []
        while self._held:
            before = self._held
            deltas += self._within() if self._inside is not None else self._outside()
            if self._held == before:
                break
        return deltas

    def finish(self) -> list[Delta]:
        deltas: list[Delta] = []
        if self._inside is not None:
            self._take_input(deltas, self._held)
        elif self._held:
            deltas += self._through(self._parser.feed(self._held.encode()))
        self._held = ""
        return deltas + self._through(self._parser.finish())

    def _outside(self) -> list[Delta]:
        mark = self._held.find(CUSTOM_BEGIN)
        if mark < 0:
            keep = _overlap(self._held, CUSTOM_BEGIN)
            text, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
            return self._through(self._parser.feed(text.encode()))
        deltas = self._through(self._parser.feed(self._held[:mark].encode()))
        self._held = self._held[mark:]
        close = self._held.find('">')
        if close >= 0:
            self._inside = self._held[len(CUSTOM_BEGIN) : close]
            self._held = self._held[close + 2 :]
            self._input = []
            deltas.append(ToolCallStart(self._calls, self._inside))
            self._calls += 1
        return deltas

    def _within(self) -> list[Delta]:
        deltas: list[Delta] = []
        mark = self._held.find(CUSTOM_END)
        if mark < 0:
            keep = _overlap(self._held, CUSTOM_END)
            self._take_input(deltas, self._held[: len(self._held) - keep])
            self._held = self._held[len(self._held) - keep :]
            return deltas
        self._take_input(deltas, self._held[:mark])
        self._held = self._held[mark + len(CUSTOM_END) :]
        assert self._inside is not None
        deltas.append(ToolCallEnd(self._calls - 1, self._inside, "".join(self._input)))
        self._inside = None
        return deltas

    def _take_input(self, deltas: list[Delta], text: str) -> None:
        if text:
            self._input.append(text)
            deltas.append(ArgumentsDelta(self._calls - 1, text))

    def _through(self, events: list[Event]) -> list[Delta]:
        """Events of the parser with the calls counted anew; a custom tool's argument as its input."""
        deltas: list[Delta] = []
        for event in events:
            if isinstance(event, ToolCallStart):
                self._numbers[event.index] = self._calls
                self._calls += 1
                if event.name in self._customs:
                    self._hidden.add(event.index)
                deltas.append(ToolCallStart(self._numbers[event.index], event.name))
            elif isinstance(event, ArgumentsDelta):
                if event.index not in self._hidden:
                    deltas.append(ArgumentsDelta(self._numbers[event.index], event.text))
            elif isinstance(event, ToolCallEnd):
                number, text = self._numbers[event.index], event.arguments
                if event.index in self._hidden:
                    text = str(json.loads(text).get("input", ""))
                    deltas.append(ArgumentsDelta(number, text))
                deltas.append(ToolCallEnd(number, event.name, text))
            else:
                deltas.append(event)
        return deltas


def _overlap(text: str, mark: str) -> int:
    """Length of the longest end of ``text`` that begins ``mark``."""
    for size in range(min(len(text), len(mark) - 1), 0, -1):
        if mark.startswith(text[-size:]):
            return size
    return 0
