"""What a piece of output means: plain text, reasoning, or part of a tool call.

A reader turns the text of one output into these, piece by piece; ``PlainReader`` knows text only, ``ThinkingReader``
cuts off what stands between the model's thinking marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["ArgumentsDelta", "Delta", "PlainReader", "Reader", "ReasoningDelta", "TextDelta", "ThinkingReader",
           "ToolCallEnd", "ToolCallStart"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of what the model thinks before it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call begins; calls are counted from 0."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """More of a call's arguments, as JSON text (of a custom tool: its input)."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """A call is complete."""

    index: int
    name: str
    arguments: str


Delta = TextDelta | ReasoningDelta | ToolCallStart | ArgumentsDelta | ToolCallEnd


class Reader(Protocol):
    """Reads one output."""

    @property
    def reasoning(self) -> bool:
        """The output is within its reasoning."""

    def feed(self, text: str) -> list[Delta]:
        """What ``text`` adds."""

    def finish(self) -> list[Delta]:
        """What was held back, at the end of the output."""


class PlainReader:
    """Everything is the answer."""

    reasoning = False

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


def _overlap(text: str, mark: str) -> int:
    """Length of the longest end of ``text`` that begins ``mark``."""
    for size in range(min(len(text), len(mark) - 1), 0, -1):
        if mark.startswith(text[-size:]):
            return size
    return 0
