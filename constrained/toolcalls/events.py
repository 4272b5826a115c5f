"""What a tool-call parser reports, in the order of the text.

Every event is final when it is reported: text is never taken back. The texts of consecutive deltas of one kind, joined,
do not depend on how the bytes were cut; where one delta ends and the next begins does.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ArgumentsDelta", "Event", "ReasoningDelta", "TextDelta", "ToolCallEnd", "ToolCallStart"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Text for the reader."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """Text of the think section, its delimiters left out."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call begins: calls are numbered from 0."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """More of the arguments of call ``index``, as JSON text."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """A call is complete. ``arguments`` is all of its JSON text: the joined deltas."""

    index: int
    name: str
    arguments: str


Event = TextDelta | ReasoningDelta | ToolCallStart | ArgumentsDelta | ToolCallEnd
