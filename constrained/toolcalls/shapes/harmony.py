"""gpt-oss: the harmony format, in which the whole turn is messages with headers.

    <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json
    <|message|>{...}<|call|>

The text begins behind ``<|start|>assistant``. Analysis is the think section, commentary without a recipient and final
are text. The recipient may stand in the role part or in the channel part, with or without ``<|constrain|>``. The input
of a tool that takes text (``ToolSpec.text``) is the message itself.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from constrained.frontends.structural_tag.thinking import Thinking
from constrained.toolcalls.shapes.base import (
    Format,
    TurnCalls,
    arguments,
    const,
    either,
    free_text,
    in_order,
    many,
    separated,
    tag,
)
from constrained.toolcalls.shapes.json_calls import stream_value
from constrained.toolcalls.shapes.named import read_name
from constrained.toolcalls.source import Calls, Reading, Source
from constrained.toolcalls.strings import stream_string
from constrained.toolcalls.tools import ToolSpec

__all__ = ["HarmonyCalls"]

SEPARATOR = "<|start|>assistant"
TEXT_END = "<|call|>"
_ENDS = (b"<|end|>", b"<|return|>", b"<|call|>")


@dataclass(frozen=True)
class HarmonyCalls(TurnCalls):
    """Messages. Its tags are whole messages."""

    prefix: str = "functions."
    separator: str = SEPARATOR

    reads_thoughts = True

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """Five spellings of the header for each tool; two for one whose input is text."""
        found = []
        for tool in tools:
            to = f" to={self.prefix}{tool.name}"
            if tool.text is not None:
                found += [tag(begin, dict(tool.text), TEXT_END) for begin in (
                    f"<|channel|>commentary{to}<|message|>", f"{to}<|channel|>commentary<|message|>")]
                continue
            content = arguments(tool)
            for begin in (f"<|channel|>commentary{to} <|constrain|>json<|message|>",
                          f"<|channel|>commentary{to}<|constrain|>json<|message|>",
                          f"<|channel|>commentary{to} json<|message|>",
                          f"{to}<|channel|>commentary <|constrain|>json<|message|>",
                          f"{to}<|channel|>commentary json<|message|>"):
                found.append(tag(begin, content, "<|call|>"))
        return found

    def document(self, tools: Sequence[ToolSpec], *, required: bool, single: bool, section: Thinking | None,
                 answer: Format | None = None) -> Format:
        """The whole turn: thoughts may come whether a section is asked for or not, first where one is required. Beside
        an answer of a format there are no comments, which would be part of its text."""
        thought = tag("<|channel|>analysis<|message|>", free_text(section), "<|end|>")
        turn = self._turn(thought, self.tags(tools, single), required, single, answer)
        if section is not None and section.opened:
            return in_order(tag("", free_text(section), "<|end|>"), const(self.separator), turn)
        return in_order(thought, const(self.separator), turn) if section is not None and section.required else turn

    def _turn(self, thought: Format, called: list[Format], required: bool, single: bool,
              answer: Format | None) -> Format:
        if answer is not None:
            last = [] if required else [tag("<|channel|>final<|message|>", answer, ["<|return|>", "<|end|>"])]
            if called:
                last.append(self._calls(called, single))
            return in_order(many(in_order(thought, const(self.separator))), either(last))
        text: Format = {"type": "any_text"}
        comment = tag("<|channel|>commentary<|message|>", text, "<|end|>")
        final = tag("<|channel|>final<|message|>", text, ["<|return|>", "<|end|>"])
        if not required and not single:
            return separated([thought, comment, final, *called], self.separator)
        messages = many(in_order(either([thought, comment]), const(self.separator)))
        if not required:
            return in_order(messages, either([final, *called]))
        return in_order(messages, self._calls(called, single))

    def _calls(self, called: list[Format], single: bool) -> Format:
        return separated(called, self.separator, single)

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """All messages up to the end of the text; what stands behind an opened thought begins with a separator."""
        if (yield from source.next_is(SEPARATOR.encode())):
            source.at += len(SEPARATOR)
        while True:
            yield from self._message(source, calls, tools)
            calls.commit = source.at
            if not (yield from source.next_is(SEPARATOR.encode())):
                break
            source.at += len(SEPARATOR)

    def _message(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        name = yield from self._recipient(source)
        yield from source.literal(b"<|channel|>")
        channel = ("analysis", "commentary", "final")[(yield from source.one_of((b"analysis", b"commentary",
                                                                                 b"final")))]
        name = name or (yield from self._recipient(source))
        yield from source.until(b"<|message|>")
        calls.commit = source.at
        if name is not None:
            calls.start(name)
            tool = tools.get(name)
            if tool is not None and tool.text is not None:
                calls.arguments(b'{"input": ')
                yield from stream_string(source, calls, TEXT_END.encode(), trim=False)
                calls.arguments(b"}")
                calls.end()
                return
            yield from stream_value(source, calls)
            calls.end()
            yield from source.blanks()
            yield from source.one_of(_ENDS)
            return
        sink = calls.reasoning if channel == "analysis" else calls.text
        yield from source.until_one(_ENDS, sink)
        if channel == "analysis":
            calls.end_reasoning()

    def _recipient(self, source: Source) -> Generator[None, None, str | None]:
        mark = f" to={self.prefix}".encode()
        if not (yield from source.next_is(mark)):
            return None
        source.at += len(mark)
        name: str = yield from read_name(source)
        return name
