"""Llama 3.1's calls: JSON objects, and two built-in tools that are called as methods behind ``<|python_tag|>``.

    {"name": "f", "parameters": {...}}
    <|python_tag|>brave_search.call(query="...")

A tool that is named as a built-in one may be called in either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constrained.toolcalls.shapes.base import Format, arguments, tag
from constrained.toolcalls.shapes.json_calls import JsonCalls
from constrained.toolcalls.shapes.named import read_name
from constrained.toolcalls.shapes.pythonic import read_keywords
from constrained.toolcalls.source import Broken, Calls, Reading, Source
from constrained.toolcalls.tools import ToolSpec

__all__ = ["LlamaCalls"]

_METHOD = ".call"


@dataclass(frozen=True)
class LlamaCalls(JsonCalls):
    """``JsonCalls``, and the tools called ``builtin`` as methods behind ``python_tag``."""

    python_tag: str = "<|python_tag|>"
    builtin: tuple[str, ...] = ("brave_search", "wolfram_alpha")

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """Those of ``JsonCalls``, and one for each tool that is built in."""
        methods = [tag(f"{self.python_tag}{tool.name}{_METHOD}(", arguments(tool, "pythonic"), ")")
                   for tool in tools if tool.name in self.builtin]
        return [*super().tags(tools, single), *methods]

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """A call of either kind."""
        mark = self.python_tag.encode()
        if not (yield from source.next_is(mark)):
            yield from super().read(source, calls, tools)
            return
        start = source.at
        source.at += len(mark)
        yield from source.need()
        if source.data[source.at] == ord("{"):
            source.at = start
            yield from super().read(source, calls, tools)
            return
        name = yield from read_name(source)
        if not name.endswith(_METHOD):
            raise Broken
        yield from source.literal(b"(")
        calls.start(name.removesuffix(_METHOD))
        yield from read_keywords(source, calls)
