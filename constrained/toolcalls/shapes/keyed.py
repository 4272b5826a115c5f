"""Apertus' calls: a list of objects whose one key is the name of the function: ``[{"f": {...}}, {"g": {}}]``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from constrained.toolcalls.shapes.base import BLANK, Format, arguments, const, either, in_order
from constrained.toolcalls.shapes.json_calls import JsonCalls, stream_value
from constrained.toolcalls.source import Calls, Reading, Source
from constrained.toolcalls.strings import json_text
from constrained.toolcalls.tools import ToolSpec

__all__ = ["KeyedCalls"]


@dataclass(frozen=True)
class KeyedCalls(JsonCalls):
    """``JsonCalls`` with ``listed`` in which a call is the one member of an object."""

    listed: bool = True

    def _loose_call(self, tools: Sequence[ToolSpec]) -> Format:
        named = [in_order(const(f'"{tool.name}"'), BLANK, const(":"), BLANK, arguments(tool)) for tool in tools]
        return in_order(const("{"), BLANK, either(named), BLANK, const("}"))

    def _call(self, source: Source, calls: Calls) -> Reading:
        yield from source.literal(b"{")
        yield from source.blanks()
        name = json_text((yield from source.json_string()))
        yield from source.blanks()
        yield from source.literal(b":")
        yield from source.blanks()
        calls.start(name)
        yield from stream_value(source, calls)
        yield from source.blanks()
        yield from source.literal(b"}")
        calls.end()
