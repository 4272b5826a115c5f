"""Kimi K3's turns: blocks of thoughts, of the response and of tools, each between tokens.

    <|open|>think<|sep|>...<|close|>think<|sep|><|open|>response<|sep|>...<|close|>response<|sep|>
    <|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>argument key="q" type="string"<|sep|>x
    <|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>

The prompt opens the first block: of thoughts (an opened think section) or, where there are none, of the response. All
of it is written without line ends. The arguments of a call may also be one block of JSON, which is read, not written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constrained.frontends.structural_tag.thinking import Thinking
from constrained.frontends.structural_tag.xml_values import KimiEmitter
from constrained.toolcalls.shapes.base import (
    Format,
    TurnCalls,
    arguments,
    const,
    either,
    free_text,
    in_order,
    separated,
    tag,
)
from constrained.toolcalls.shapes.json_calls import stream_value
from constrained.toolcalls.shapes.xml import place_of, read_parameters, unescaped
from constrained.toolcalls.source import Broken, Calls, Reading, Source
from constrained.toolcalls.tools import NAME, ToolSpec

__all__ = ["KimiCalls"]

THINK = ("<|open|>think<|sep|>", "<|close|>think<|sep|>")
RESPONSE = ("<|open|>response<|sep|>", "<|close|>response<|sep|>")
TOOLS = ("<|open|>tools<|sep|>", "<|close|>tools<|sep|>")
MESSAGE_END = "<|close|>message<|sep|>"
CALL = ('<|open|>call tool="', "<|close|>call<|sep|>")
_JSON = (b'<|open|>json type="object"<|sep|>', b"<|close|>json<|sep|>")
_FRAME = tuple(mark.encode() for mark in (*TOOLS, *THINK, *RESPONSE, MESSAGE_END))


@dataclass(frozen=True)
class KimiCalls(TurnCalls):
    """Blocks. See the module docstring."""

    style: str = "kimi_k3_xml"
    separator: str = ""

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """The block of calls."""
        number: Format = {"type": "regex", "pattern": "[1-9][0-9]{0,8}"}
        found = []
        for tool in tools:
            content = arguments(tool, self.style)
            if tool.text is not None:  # the argument ``input``, its text of this format
                begin, end = '<|open|>argument key="input" type="string"<|sep|>', "<|close|>argument<|sep|>"
                content = tag(begin, dict(tool.text), end)
            found.append(tag(f'{CALL[0]}{tool.name}" index="', in_order(number, const('"<|sep|>'), content), CALL[1]))
        return [tag(TOOLS[0], separated(found, "", single), TOOLS[1])]

    def document(self, tools: Sequence[ToolSpec], *, required: bool, single: bool, section: Thinking | None,
                 answer: Format | None = None) -> Format:
        """Thoughts, a response, calls. Where a call must come, or beside an answer of a format, the response before
        calls is empty."""
        called = self.tags(tools, single) if tools else []
        closed = const(RESPONSE[1])
        text = free_text(None, *THINK, RESPONSE[0], *TOOLS, MESSAGE_END)
        if required:
            body = in_order(closed, *called)
        elif answer is not None:
            body = either([tag("", answer, RESPONSE[1]), *(in_order(closed, one) for one in called)])
        else:
            body = in_order(tag("", text, RESPONSE[1]), *({"type": "optional", "content": one} for one in called))
        return in_order(*self._opening(section), body, const(MESSAGE_END))

    def _opening(self, section: Thinking | None) -> list[Format]:
        """What stands before the text of the response; the prompt may have opened either block."""
        opened: Format = {"type": "optional", "content": const(RESPONSE[0])}
        if section is None:
            return [opened]
        begin = "" if section.opened else section.begin
        thought = in_order(tag(begin, free_text(section), section.end), const(RESPONSE[0]))
        return [thought] if section.opened or section.required else [either([thought, opened])]

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """The turn from behind the thoughts on; what frames its blocks is left out."""
        while True:
            found = yield from source.until_one(_FRAME, calls.text)
            calls.commit = source.at
            if found is None:
                return
            if found == 0:
                yield from self._tools(source, calls, tools)

    def _tools(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        begin, end = CALL[0].encode(), CALL[1].encode()
        while True:
            yield from source.blanks()
            if (yield from source.one_of((TOOLS[1].encode(), begin))) == 0:
                break
            name = unescaped((yield from source.until(b'"')).decode("utf-8", errors="replace"), KimiEmitter.escapes)
            if not NAME.fullmatch(name):
                raise Broken
            yield from source.until(b"<|sep|>")
            calls.start(name)
            if (yield from source.next_is(_JSON[0])):
                source.at += len(_JSON[0])
                yield from stream_value(source, calls)
                calls.end()
                yield from source.blanks()
                yield from source.literal(_JSON[1])
                yield from source.literal(end)
            else:
                yield from read_parameters(source, calls, KimiEmitter, place_of(tools.get(name)), end)
            calls.commit = source.at
        calls.commit = source.at
