"""Calls whose arguments are elements within elements: Cohere's ``<cofl:value>`` and MiniMax M3's.

    <cofl:tool_calls><cofl:tool_call id="0" name="f"><cofl:value name="q" type="raw">x</cofl:value></cofl:tool_call>
    </cofl:tool_calls>

    ]<]minimax[>[<tool_call>
    ]<]minimax[>[<invoke name="f">]<]minimax[>[<q>x]<]minimax[>[</q>]<]minimax[>[</invoke>
    ]<]minimax[>[</tool_call>

Cohere's elements say what they hold; of MiniMax M3's the schema says it. Open elements are kept on a stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constrained.frontends.structural_tag.nested_xml import COHERE_ESCAPES, MINIMAX_MARK, CohereEmitter
from constrained.frontends.structural_tag.xml_values import BLANKS, ONLY_STRINGS, JsonText, ValuePlace, value_of_text
from constrained.toolcalls.shapes.base import Format, arguments, const, in_order, separated, tag
from constrained.toolcalls.shapes.named import read_name
from constrained.toolcalls.shapes.xml import XmlCalls, place_of, unescaped
from constrained.toolcalls.source import Broken, Calls, Reading, Source
from constrained.toolcalls.strings import json_of, stream_string
from constrained.toolcalls.tools import ToolSpec

__all__ = ["CohereCalls", "MiniMaxM3Calls"]


@dataclass(frozen=True)
class CohereCalls(XmlCalls):
    """``XmlCalls`` with an id before the name, and elements that say what they hold."""

    begin: str = '<cofl:tool_call id="'
    before_name: str = '" name="'
    behind_name: str = '">'
    end: str = "</cofl:tool_call>"
    separator: str = ""
    style: str = "cohere_xml"
    section: tuple[str, str] = ("<cofl:tool_calls>", "</cofl:tool_calls>")

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """One section: in it, one tag for each tool."""
        number: Format = {"type": "regex", "pattern": "[0-9]{1,9}"}
        found = [tag(self.begin, in_order(number, const(f"{self.before_name}{tool.name}{self.behind_name}"),
                                          arguments(tool, self.style)), self.end) for tool in tools]
        return [tag(self.section[0], separated(found, self.separator, single), self.section[1])]

    def _call(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        yield from source.literal(self.begin.encode())
        yield from source.until(self.before_name.encode())
        name = yield from read_name(source)
        yield from source.literal(self.behind_name.encode())
        calls.start(name)
        closing: list[bytes] = []
        written = b"{"
        while True:
            yield from source.blanks()
            ends = self.end.encode() if not closing else CohereEmitter.end
            if (yield from source.one_of((CohereEmitter.begin, ends))) == 1:
                if not closing:
                    break
                calls.arguments((b"" if written == b", " else written) + closing.pop())
                written = b", "
                continue
            if not closing or closing[-1] == b"}":
                yield from source.literal(b' name="')
                key = (yield from source.until(b'"')).decode("utf-8", errors="replace")
                written += f"{json_of(unescaped(key, COHERE_ESCAPES))}: ".encode()
            kind = yield from source.one_of(_KINDS)
            if kind < 2:
                calls.arguments(written)
                yield from _leaf(source, calls, CohereEmitter.end, text=kind == 0)
                written = b", "
            else:
                calls.arguments(written + b"{["[kind - 2 : kind - 1])
                closing.append(b"}]"[kind - 2 : kind - 1])
                written = b""
        calls.arguments(b"{}" if written == b"{" else b"}")
        calls.end()


_KINDS = (b' type="raw">', b' type="json">', b' type="dict">', b' type="list">')


def _leaf(source: Source, calls: Calls, end: bytes, *, text: bool) -> Reading:
    if text:
        yield from stream_string(source, calls, end, trim=False)
    else:
        raw = yield from source.until(end)
        calls.arguments(raw.strip(BLANKS.encode()))


@dataclass(frozen=True)
class MiniMaxM3Calls(XmlCalls):
    """``XmlCalls`` whose elements are named as the arguments are.

    A tool with ``strict=False`` may be given any text for each argument that it declares: names must be known.
    """

    begin: str = ""
    before_name: str = f'{MINIMAX_MARK}<invoke name="'
    behind_name: str = '">'
    end: str = f"{MINIMAX_MARK}</invoke>\n"
    separator: str = ""
    style: str = "minimax_m3_xml"
    section: tuple[str, str] = (f"{MINIMAX_MARK}<tool_call>\n", f"{MINIMAX_MARK}</tool_call>")

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """One section: in it, one tag for each tool."""
        return super().tags([_declared(tool) for tool in tools], single)

    def _call(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        yield from source.blanks()
        yield from source.literal(self.before_name.encode())
        name = yield from read_name(source)
        yield from source.literal(self.behind_name.encode())
        calls.start(name)
        tool = tools.get(name)
        yield from _read_elements(source, calls, place_of(None if tool is None else _declared(tool)))
        yield from source.literal(self.end.strip().encode())


def _declared(tool: ToolSpec) -> ToolSpec:
    """The same tool; one that is not strict, with its arguments by name and nothing said of them."""
    if tool.strict is not False:
        return tool
    names = (tool.parameters or {}).get("properties", {})
    return ToolSpec(tool.name, tool.description, {"type": "object", "properties": dict.fromkeys(names, True),
                                                  "additionalProperties": False})


_MARK = MINIMAX_MARK.encode()


def _read_elements(source: Source, calls: Calls, place: ValuePlace) -> Reading:
    """Elements up to the end of the call, which is left; and the end of the call."""
    open_places = [place]
    names: list[bytes] = []
    closing = [b"}"]
    counts = [0]
    written = b"{"
    end = _MARK + b"</invoke>"
    while True:
        yield from source.blanks()
        if not names and (yield from source.next_is(end)):
            break
        if names and (yield from source.next_is(_MARK + b"</" + names[-1] + b">")):
            source.at += len(_MARK) + len(names.pop()) + 3
            calls.arguments((b"" if written == b", " else written) + closing.pop())
            open_places.pop()
            counts.pop()
            written = b", "
            continue
        yield from source.literal(_MARK + b"<")
        name = yield from source.until(b">")
        here = open_places[-1]
        if closing[-1] == b"}":
            key = name.decode("utf-8", errors="replace")
            inner = here.member(key)
            calls.arguments(written + f"{json_of(key)}: ".encode())
        else:
            inner = here.item(counts[-1])
            calls.arguments(written)
        counts[-1] += 1
        kinds = inner.kinds
        stop = _MARK + b"</" + name + b">"
        holds = (kinds.objects or kinds.arrays) and not kinds.strings
        if kinds == ONLY_STRINGS:
            yield from stream_string(source, calls, stop, trim=False)
            written = b", "
            continue
        if holds:
            yield from source.blanks()
        if holds and (yield from source.next_is(_MARK)):
            calls.arguments(b"[" if kinds.arrays else b"{")
            open_places.append(inner)
            names.append(name)
            closing.append(b"]" if kinds.arrays else b"}")
            counts.append(0)
            written = b""
            continue
        raw = (yield from source.until(stop)).decode("utf-8", errors="replace")
        value = value_of_text(raw, kinds.scalars, trim=False)
        if holds and not isinstance(value, JsonText):
            raise Broken
        calls.arguments((json_of(value) if isinstance(value, str) else value.text).encode())
        written = b", "
    calls.arguments(b"{}" if written == b"{" else b"}")
    calls.end()
