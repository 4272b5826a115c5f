"""Calls in XML, with one element for each argument.

    <tool_call>\\n<function=f>\\n<parameter=k>\\nv\\n</parameter>\\n</function>\\n</tool_call>         Qwen3-Coder
    <tool_call>f\\n<arg_key>k</arg_key>\\n<arg_value>v</arg_value>\\n</tool_call>                  GLM 4.5
    <minimax:tool_call>\\n<invoke name="f">\\n<parameter name="k">v</parameter>\\n</invoke>\\n</minimax:tool_call>

Strings are written raw, everything else as JSON. Which of both a value is, the element says (DeepSeek), or only the
schema of its parameter tells: then the grammar and the reader ask for the same ``Kinds``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constrained.frontends.structural_tag.xml_values import (
    BLANKS,
    ONLY_STRINGS,
    XML_STYLES,
    JsonText,
    Kinds,
    ValuePlace,
    XmlEmitter,
    value_of_text,
)
from constrained.toolcalls.shapes.base import Format, TaggedCalls, arguments, separated, tag
from constrained.toolcalls.shapes.named import read_name
from constrained.toolcalls.source import Calls, Reading, Source
from constrained.toolcalls.strings import json_of, stream_string
from constrained.toolcalls.tools import ToolSpec

__all__ = ["XmlCalls", "place_of", "read_parameters", "unescaped"]


@dataclass(frozen=True)
class XmlCalls(TaggedCalls):
    """``begin`` ``before_name`` name ``behind_name`` parameters ``end``, perhaps within ``section``.

    Args:
        begin: of a call, unless it stands in a section.
        before_name, behind_name, end: around the name, and behind the parameters.
        separator: between two calls where calls are required, or in a section.
        style: of ``json_schema`` formats: how parameters are written.
        section: around all calls of a turn; empty strings: none.
    """

    begin: str = "<tool_call>"
    before_name: str = "\n<function="
    behind_name: str = ">"
    end: str = "</function>\n</tool_call>"
    separator: str = "\n"
    style: str = "qwen_xml"
    section: tuple[str, str] = ("", "")

    @property
    def triggers(self) -> tuple[str, ...]:
        """The begin of the section, or of a call."""
        return (self.section[0].rstrip() or self.begin,)

    @property
    def once(self) -> bool:
        """Within a section."""
        return bool(self.section[0])

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """One tag for each tool; within a section, one around them."""
        found = [tag(f"{self.begin}{self.before_name}{tool.name}{self.behind_name}", arguments(tool, self.style),
                     self.end) for tool in tools]
        if not self.section[0]:
            return found
        return [tag(self.section[0], separated(found, self.separator, single), self.section[1])]

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """A call, or a section of them."""
        if not self.section[0]:
            yield from self._call(source, calls, tools)
            return
        yield from source.literal(self.section[0].rstrip().encode())
        while True:
            yield from source.blanks()
            if (yield from source.next_is(self.section[1].encode())):
                break
            yield from self._call(source, calls, tools)
        yield from source.literal(self.section[1].encode())
        calls.commit = source.at

    def _call(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        yield from source.literal(self.begin.encode())
        yield from source.blanks()
        yield from source.literal(self.before_name.strip().encode())
        name = yield from read_name(source)
        yield from source.literal(self.behind_name.rstrip().encode())
        calls.start(name)
        yield from self.read_arguments(source, calls, place_of(tools.get(name)))

    def read_arguments(self, source: Source, calls: Calls, place: ValuePlace) -> Reading:
        """The parameters, and the end of the call."""
        yield from read_parameters(source, calls, XML_STYLES[self.style], place, self.end.rstrip().encode())


def place_of(tool: ToolSpec | None) -> ValuePlace:
    """What a tool says of its arguments; of one that is not known, anything."""
    return ValuePlace.of({"type": "object", "additionalProperties": True} if tool is None else tool.schema)


def read_parameters(source: Source, calls: Calls, style: type[XmlEmitter], place: ValuePlace, end: bytes) -> Reading:
    """Elements in a style up to and with ``end``, as the arguments of the call that has begun; and its end."""
    written = "{"
    while True:
        yield from source.blanks()
        if (yield from source.one_of((style.before, end))) == 1:
            break
        key = unescaped((yield from source.until(style.behind)).decode("utf-8", errors="replace"), style.escapes)
        kind = place.member(key).kinds
        if style.told_apart:
            text = (yield from source.one_of(style.string_marks)) == 0
            kind = ONLY_STRINGS if text else NO_STRINGS
        if style.value_mark:
            yield from source.blanks()
            yield from source.literal(style.value_mark)
        calls.arguments(f"{written}{json_of(key)}: ".encode())
        yield from _value(source, calls, style, kind)
        written = ", "
    calls.arguments(b"{}" if written == "{" else b"}")
    calls.end()


def unescaped(text: str, escapes: Mapping[str, str]) -> str:
    """A name as it was before its characters were escaped; the ampersand comes last."""
    for char, written in reversed(list(escapes.items())):
        text = text.replace(written, char)
    return text


NO_STRINGS = Kinds(integers=True, fractions=True, booleans=True, null=True, arrays=True, objects=True)
"""What an element that says so holds."""


def _value(source: Source, calls: Calls, style: type[XmlEmitter], kind: Kinds) -> Reading:
    """The text of a parameter up to its end; strings are handed on while they come."""
    if kind == ONLY_STRINGS:
        yield from stream_string(source, calls, style.stop, trim=style.trims)
        return
    raw = (yield from source.until(style.stop)).decode("utf-8", errors="replace")
    value = JsonText(raw.strip(BLANKS)) if style.told_apart else value_of_text(raw, kind)
    calls.arguments((json_of(value) if isinstance(value, str) else value.text).encode())
