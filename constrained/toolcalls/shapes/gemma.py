"""FunctionGemma's calls: ``<start_function_call>call:f{city:<escape>Tokyo<escape>,days:3}<end_function_call>``.

Keys are bare, strings stand between two ``<escape>`` tokens at every depth, all else is as in JSON without blanks.
Gemma 4 writes the same with other delimiters: ``<|tool_call>call:f{city:<|"|>Tokyo<|"|>}<tool_call|>``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constrained.toolcalls.shapes.base import Format, TaggedCalls, arguments, tag
from constrained.toolcalls.shapes.named import read_name
from constrained.toolcalls.source import Broken, Calls, Reading, Source
from constrained.toolcalls.strings import json_of, stream_string
from constrained.toolcalls.tools import ToolSpec

__all__ = ["GemmaCalls"]

_KEY = re.compile(rb"[^:,{}\[\]<]+(?=:)")
_SCALAR = re.compile(rb"[A-Za-z0-9.+-]+(?=[,}\]])")


@dataclass(frozen=True)
class GemmaCalls(TaggedCalls):
    """``begin`` call:name{...} ``end``; ``quote`` stands on both sides of a string, as ``style`` has it."""

    begin: str = "<start_function_call>"
    end: str = "<end_function_call>"
    quote: str = "<escape>"
    style: str = "function_gemma"
    separator: str = ""

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """One for each tool."""
        return [tag(f"{self.begin}call:{tool.name}", arguments(tool, self.style), self.end) for tool in tools]

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """One call: its arguments are handed on piece by piece."""
        yield from source.literal(self.begin.encode() + b"call:")
        name = yield from read_name(source)
        yield from source.need()
        if source.data[source.at] != ord("{"):
            raise Broken
        calls.start(name)
        yield from self._value(source, calls)
        calls.end()
        yield from source.literal(self.end.encode())
        calls.commit = source.at

    def _value(self, source: Source, calls: Calls) -> Reading:
        quote = self.quote.encode()
        closing: list[int] = []
        at_key = False
        while True:
            yield from source.need()
            byte = source.data[source.at]
            if at_key and byte != ord("}"):
                while (key := _KEY.match(source.data, source.at)) is None:
                    if source.ended or b":" in source.data[source.at :]:
                        raise Broken
                    yield
                source.at = key.end() + 1
                calls.arguments((json_of(key[0].decode("utf-8", errors="replace")) + ": ").encode())
                at_key = False
                continue
            at_key = False
            if byte in b"{[":
                source.at += 1
                closing.append(ord("}") if byte == ord("{") else ord("]"))
                at_key = byte == ord("{")
                calls.arguments(bytes([byte]))
                continue
            if closing and byte == closing[-1]:
                source.at += 1
                closing.pop()
                calls.arguments(bytes([byte]))
            elif closing and byte == ord(","):
                source.at += 1
                at_key = closing[-1] == ord("}")
                calls.arguments(b", ")
                continue
            elif byte == quote[0]:
                yield from source.literal(quote)
                yield from stream_string(source, calls, quote, trim=False)
            else:
                while (scalar := _SCALAR.match(source.data, source.at)) is None:
                    if source.ended:
                        raise Broken
                    yield
                source.at = scalar.end()
                calls.arguments(scalar[0])
            if not closing:
                return
