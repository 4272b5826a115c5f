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

from constrained.toolcalls.shapes.base import Format, arguments, const, either, in_order, many, separated, tag
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
class HarmonyCalls:
    """Messages. Its tags are whole messages, so it writes the document itself."""

    prefix: str = "functions."
    separator: str = SEPARATOR

    @property
    def triggers(self) -> tuple[str, ...]:
        """Every message is structure: there is no free text outside."""
        return ()

    @property
    def once(self) -> bool:
        """The document is all."""
        return True

    @property
    def at_start_only(self) -> bool:
        """The document is all."""
        return True

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

    def document(self, tools: Sequence[ToolSpec], *, required: bool, single: bool, reasoning: Format | None,
                 answer: Format | None = None) -> Format:
        """The whole turn. ``reasoning``: the content of analysis messages; None: there are none. ``answer``: that of
        the final message where it is not free; comments, which are part of the answer's text, are then left out."""
        if answer is not None:
            return self._answered(tools, required, single, reasoning, answer)
        text: Format = {"type": "any_text"}
        comment = tag("<|channel|>commentary<|message|>", text, "<|end|>")
        final = tag("<|channel|>final<|message|>", text, ["<|return|>", "<|end|>"])
        before = [comment] if reasoning is None else [tag("<|channel|>analysis<|message|>", reasoning, "<|end|>"),
                                                      comment]
        called = self.tags(tools, single)
        if not required and not single:
            return separated([*before, final, *called], self.separator)
        messages = many(in_order(either(before), const(self.separator)))
        if not required:
            last = [final, *called] if called else [final]
            return in_order(messages, either(last))
        return in_order(messages, self._calls(called, single))

    def _answered(self, tools: Sequence[ToolSpec], required: bool, single: bool, reasoning: Format | None,
                  answer: Format) -> Format:
        last = [] if required else [tag("<|channel|>final<|message|>", answer, ["<|return|>", "<|end|>"])]
        called = self.tags(tools, single)
        if called:
            last.append(self._calls(called, single))
        if reasoning is None:
            return either(last)
        thought = tag("<|channel|>analysis<|message|>", reasoning, "<|end|>")
        return in_order(many(in_order(thought, const(self.separator))), either(last))

    def _calls(self, called: list[Format], single: bool) -> Format:
        return separated(called, self.separator, single)

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """All messages up to the end of the text."""
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
