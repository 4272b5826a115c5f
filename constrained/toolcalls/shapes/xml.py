"""Qwen3-Coder's calls, with one element for each argument.

    <tool_call>\\n<function=f>\\n<parameter=k>\\nv\\n</parameter>\\n</function>\\n</tool_call>

Strings are written raw, everything else as JSON. Which of both a value is, only the schema of its parameter tells: the
grammar and the reader ask the same function, ``parameter_kinds``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constrained.frontends.structural_tag.xml_values import ONLY_STRINGS, parameter_kinds, value_of_text
from constrained.toolcalls.shapes.base import Format, TaggedCalls, arguments, tag
from constrained.toolcalls.shapes.named import read_name
from constrained.toolcalls.source import Broken, Calls, Reading, Source
from constrained.toolcalls.strings import JsonStringWriter, json_of
from constrained.toolcalls.tools import ToolSpec

__all__ = ["XmlCalls"]


@dataclass(frozen=True)
class XmlCalls(TaggedCalls):
    """``begin`` <function=name> parameters ``end``."""

    begin: str = "<tool_call>"
    end: str = "</function>\n</tool_call>"
    separator: str = "\n"

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """One for each tool."""
        return [tag(f"{self.begin}\n<function={tool.name}>", arguments(tool, "qwen_xml"), self.end) for tool in tools]

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """One call; strings are handed on while they come, other arguments when their element is closed."""
        yield from source.literal(self.begin.encode())
        yield from source.blanks()
        yield from source.literal(b"<function=")
        name = yield from read_name(source)
        yield from source.literal(b">")
        calls.start(name)
        tool = tools.get(name)
        kinds = parameter_kinds(tool.schema if tool is not None else {"type": "object", "additionalProperties": True})
        end = self.end.encode()
        written = "{"
        while True:
            yield from source.blanks()
            if (yield from source.one_of((b"<parameter=", end))) == 1:
                break
            key = (yield from source.until(b">")).decode("utf-8", errors="replace")
            kind = kinds(key)
            if kind == ONLY_STRINGS:  # such a value may be long, and is handed on while it comes
                calls.arguments(f"{written}{json_of(key)}: \"".encode())
                text = JsonStringWriter(calls.arguments, trim=True)
                if (yield from source.until_one((b"</parameter>",), text.write)) is None:
                    raise Broken
                text.end()
                calls.arguments(b'"')
                written = ", "
                continue
            raw = (yield from source.until(b"</parameter>")).decode("utf-8", errors="replace")
            value = value_of_text(raw, kind)
            found = json_of(value) if isinstance(value, str) else value.text
            calls.arguments(f"{written}{json_of(key)}: {found}".encode())
            written = ", "
        calls.arguments(b"{}" if written == "{" else b"}")
        calls.end()
