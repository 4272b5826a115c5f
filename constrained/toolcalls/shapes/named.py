"""Calls that name the function in plain text, then give the arguments as JSON.

    [TOOL_CALLS]f[ARGS]{...}                                              Mistral v11, v13
    <｜tool▁call▁begin｜>f<｜tool▁sep｜>{...}<｜tool▁call▁end｜>                 DeepSeek V3.1
    <|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{...}<|tool_call_end|>      Kimi K2
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from constrained.errors import GrammarError
from constrained.toolcalls.shapes.base import Format, TaggedCalls, arguments, separated, tag
from constrained.toolcalls.shapes.json_calls import stream_value
from constrained.toolcalls.source import Broken, Calls, Reading, Source
from constrained.toolcalls.tools import NAME, ToolSpec

__all__ = ["NamedCalls"]


@dataclass(frozen=True)
class NamedCalls(TaggedCalls):
    """``begin`` name ``middle`` JSON ``end``, perhaps within ``section``.

    Args:
        begin, middle, end: around name and arguments.
        section: around all calls of a turn; empty strings: none.
        separator: between two calls of a section, or where calls are required.
        id_mark, id_pattern: before ``middle`` may stand ``id_mark`` and an id; ``id_required``: must.
    """

    begin: str
    middle: str
    end: str
    section: tuple[str, str] = ("", "")
    separator: str = ""
    id_mark: str = ""
    id_pattern: str = "[a-zA-Z0-9]{9}"
    id_required: bool = False

    @property
    def triggers(self) -> tuple[str, ...]:
        """The begin of the section, or of a call."""
        return (self.section[0] or self.begin,)

    @property
    def once(self) -> bool:
        """Within a section."""
        return bool(self.section[0])

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """One tag for each tool; within a section, one around them."""
        found: list[Format] = []
        for tool in tools:
            if any(mark and mark in tool.name for mark in (self.middle, self.id_mark)):
                raise GrammarError(f"the name of tool {tool.name!r} holds the delimiter behind names")
            content = arguments(tool)
            if not self.id_required:
                found.append(tag(f"{self.begin}{tool.name}{self.middle}", content, self.end))
            if self.id_mark:
                identity: Format = {"type": "regex", "pattern": self.id_pattern}
                middle: Format = {"type": "const_string", "value": self.middle}
                found.append(tag(f"{self.begin}{tool.name}{self.id_mark}",
                                 {"type": "sequence", "elements": [identity, middle, content]}, self.end))
        if not self.section[0]:
            return found
        return [tag(self.section[0], separated(found, self.separator, single), self.section[1])]

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """A call, or a section of them."""
        if not self.section[0]:
            yield from self._call(source, calls)
            return
        yield from source.literal(self.section[0].encode())
        while True:
            yield from source.blanks()
            if (yield from source.next_is(self.section[1].encode())):
                break
            yield from self._call(source, calls)
        yield from source.literal(self.section[1].encode())
        calls.commit = source.at

    def _call(self, source: Source, calls: Calls) -> Reading:
        yield from source.literal(self.begin.encode())
        name = bytearray()
        stops = (self.middle.encode(), *([self.id_mark.encode()] if self.id_mark else []))
        behind = yield from source.until_one(stops, name.extend)
        if behind is None or not NAME.fullmatch(name.decode("latin-1")):
            raise Broken
        if behind == 1:
            yield from read_name(source)
            yield from source.literal(stops[0])
        yield from source.blanks()
        calls.start(name.decode())
        yield from stream_value(source, calls)
        calls.end()
        end = self.end.encode()
        if end:
            yield from source.blanks()
            yield from source.literal(end.lstrip())
            calls.commit = source.at


def read_name(source: Source) -> Generator[None, None, str]:
    """The name of a function, in plain text."""
    while True:
        found = NAME.match(source.data[source.at : source.at + 129].decode("latin-1"))
        length = found.end() if found else 0
        if source.ended or source.at + length < len(source.data):
            break
        yield
    if found is None:
        raise Broken
    source.at += length
    return found[0]
