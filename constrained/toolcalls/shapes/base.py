"""What a call shape must be able to do, and the parts of structural tags that several of them are made of.

A shape is one frozen value. ``tags`` writes the calls of some tools as structural tags, each of which begins with one
of ``triggers``; ``read`` reads what such a tag accepts, from behind the trigger's place on. Both stand in one class,
so that a change of the one is seen beside the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from constrained.frontends.structural_tag.thinking import Thinking
from constrained.toolcalls.source import Calls, Reading, Source
from constrained.toolcalls.tools import ToolSpec

__all__ = ["BLANK", "CallShape", "TaggedCalls", "TurnCalls", "arguments", "const", "either", "free_text", "in_order",
           "many", "separated", "tag"]

Format = dict[str, Any]
"""A structural tag or a part of one."""

BLANK: Format = {"type": "regex", "pattern": "[ \\n\\r\\t]{0,64}"}
"""Whitespace between two parts of JSON."""


class CallShape(Protocol):
    """How calls are written. Implemented by frozen dataclasses; users may add their own."""

    @property
    def triggers(self) -> tuple[str, ...]:
        """What begins calls in free text; no other text may hold one of these."""

    @property
    def once(self) -> bool:
        """Whether one tag holds all the calls of a turn."""

    @property
    def separator(self) -> str:
        """What stands between two tags where calls are required."""

    @property
    def at_start_only(self) -> bool:
        """Whether calls are the whole text: the triggers count at its beginning only."""

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """Structural tags of calls of ``tools``; ``single``: of one call where a tag may hold several."""

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """Read one tag, its begin included. Raises ``Broken``."""


class TaggedCalls:
    """Defaults of shapes whose every call is a tag of its own that may stand anywhere in text."""

    begin: str

    @property
    def triggers(self) -> tuple[str, ...]:
        """The begin."""
        return (self.begin,)

    @property
    def once(self) -> bool:
        """A tag is one call."""
        return False

    @property
    def at_start_only(self) -> bool:
        """Never."""
        return False


class TurnCalls:
    """Shapes that frame all texts of a turn, answers and thoughts too: each writes the whole turn itself."""

    reads_thoughts = False
    """Whether ``read`` reports thoughts; else the parser has read the think section before."""

    @property
    def triggers(self) -> tuple[str, ...]:
        """There is no free text outside."""
        return ()

    @property
    def once(self) -> bool:
        """The turn is all."""
        return True

    @property
    def at_start_only(self) -> bool:
        """The turn is all."""
        return True

    def document(self, tools: Sequence[ToolSpec], *, required: bool, single: bool, section: Thinking | None,
                 answer: Format | None = None) -> Format:
        """The whole turn.

        Args:
            tools: what may be called.
            required, single: whether a call must come, and whether only one may.
            section: the think section; None: none is asked for.
            answer: a format of the text of the answer, which is free without one.
        """
        raise NotImplementedError


def free_text(section: Thinking | None, *excludes: str) -> Format:
    """Free text within the budgets of a think section, if there is one."""
    text: Format = {"type": "any_text"}
    if excludes:
        text["excludes"] = list(excludes)
    if section is not None and section.max_tokens is not None:
        text["max_tokens"] = section.max_tokens
    if section is not None and section.max_chars is not None:
        text["max_chars"] = section.max_chars
    return text


def const(text: str) -> Format:
    """Exactly this."""
    return {"type": "const_string", "value": text}


def in_order(*parts: Format) -> Format:
    """One after the other."""
    return {"type": "sequence", "elements": list(parts)} if len(parts) != 1 else parts[0]


def either(parts: Sequence[Format]) -> Format:
    """One of them."""
    return {"type": "or", "elements": list(parts)} if len(parts) != 1 else parts[0]


def many(part: Format) -> Format:
    """Any number of times."""
    return {"type": "star", "content": part}


def tag(begin: str, content: Format, end: str | list[str]) -> Format:
    """A tag."""
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def separated(tags: Sequence[Format], separator: str, single: bool = False) -> Format:
    """At least one of the tags, ``separator`` between two; ``single``: exactly one."""
    return {"type": "tags_with_separator", "tags": list(tags), "separator": separator, "at_least_one": True,
            "stop_after_first": single}


def arguments(tool: ToolSpec, style: str = "json") -> Format:
    """The arguments of a call, in a style of ``json_schema``. Errors of the schema name the tool."""
    found: Format = {"type": "json_schema", "json_schema": tool.schema, "label": f"tool {tool.name}"}
    if style != "json":
        found["style"] = style
    return found
