"""Bytes as they arrive, read by generators that wait for more: what every incremental parser here is built on.

A reading function is a generator that yields whenever it needs bytes that have not come; the parser resumes it.
Nothing depends on how the bytes are cut, since a function asks for what it needs and sees only that. ``Broken`` says
that the text is not what the function reads; whoever called decides what the bytes are then. The nesting of
generators is that of the code, not of the text: brackets are kept on a stack.

``Calls`` turns what is read into events: calls are numbered, and characters cut in two wait for their rest.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Generator

from constrained.toolcalls.events import ArgumentsDelta, Event, ReasoningDelta, TextDelta, ToolCallEnd, ToolCallStart

__all__ = ["Broken", "Calls", "Reading", "Source"]

Reading = Generator[None, None, None]
"""Reads from a source; yields where it waits."""

BLANKS = b" \t\r\n"
_IN_STRING = re.compile(rb'[^"\\]*')
_IN_NUMBER = re.compile(rb"[^\s,\]}\[{\":]*")
_PLAIN = re.compile(rb'[^"\[\]{}]*')
_CLOSING = {ord("{"): ord("}"), ord("["): ord("]")}


class Broken(Exception):
    """The text is not what is being read."""


class Source:
    """The text so far, and how far it is read."""

    __slots__ = ("at", "data", "ended")

    def __init__(self) -> None:
        self.data = bytearray()
        self.at = 0
        self.ended = False

    def need(self, count: int = 1) -> Reading:
        """Wait until ``count`` bytes are there; ``Broken`` if the text ends before."""
        while len(self.data) - self.at < count:
            if self.ended:
                raise Broken
            yield

    def next_is(self, text: bytes) -> Generator[None, None, bool]:
        """Whether ``text`` comes next; reads nothing."""
        while True:
            have = bytes(self.data[self.at : self.at + len(text)])
            if have == text:
                return True
            if not text.startswith(have) or self.ended:
                return False
            yield

    def literal(self, text: bytes) -> Reading:
        """Read exactly ``text``."""
        if not (yield from self.next_is(text)):
            raise Broken
        self.at += len(text)

    def blanks(self) -> Reading:
        """Read whitespace, if any."""
        while True:
            while self.at < len(self.data) and self.data[self.at] in BLANKS:
                self.at += 1
            if self.at < len(self.data) or self.ended:
                return
            yield

    def one_of(self, texts: tuple[bytes, ...]) -> Generator[None, None, int]:
        """Read one of ``texts``, the first that fits; its number."""
        for number, text in enumerate(texts):
            if (yield from self.next_is(text)):
                self.at += len(text)
                return number
        raise Broken

    def until(self, stop: bytes) -> Generator[None, None, bytes]:
        """Read up to and with ``stop``; what stands before it."""
        start = self.at
        while (found := self.data.find(stop, start)) < 0:
            if self.ended:
                raise Broken
            start = max(self.at, len(self.data) - len(stop) + 1)
            yield
        text = bytes(self.data[self.at : found])
        self.at = found + len(stop)
        return text

    def until_one(self, stops: tuple[bytes, ...], sink: Callable[[bytes], None]) -> Generator[None, None, int | None]:
        """Read up to and with the first of ``stops``; ``sink`` is given what stands before it as it comes.

        Returns its number, and leaves ``at`` behind it; None if the text ends before, all of it given.
        """
        longest = max(map(len, stops), default=1)
        while True:
            places = ((self.data.find(stop, self.at), number) for number, stop in enumerate(stops))
            found = sorted(place for place in places if place[0] >= 0)
            if found:
                end = found[0][0]
            elif self.ended:
                end = len(self.data)
            else:
                end = self._held_back(stops, max(self.at, len(self.data) - longest + 1))
            if end > self.at:
                sink(bytes(self.data[self.at : end]))
                self.at = end
            if found:
                self.at += len(stops[found[0][1]])
                return found[0][1]
            if self.ended:
                return None
            yield

    def _held_back(self, stops: tuple[bytes, ...], start: int) -> int:
        """Where what may be the beginning of a stop begins."""
        for at in range(start, len(self.data)):
            tail = bytes(self.data[at:])
            if any(stop.startswith(tail) for stop in stops):
                return at
        return len(self.data)

    def json_string(self) -> Generator[None, None, bytes]:
        """Read a JSON string; its text with the quotation marks."""
        start = self.at
        yield from self.literal(b'"')
        yield from self._rest_of_string(None)
        return bytes(self.data[start : self.at])

    def _rest_of_string(self, progress: Callable[[], None] | None) -> Reading:
        while True:
            found = _IN_STRING.match(self.data, self.at)
            assert found is not None
            self.at = found.end()
            if self.at == len(self.data):
                if progress is not None:
                    progress()
                yield from self.need()
                continue
            if self.data[self.at] == 0x22:
                self.at += 1
                return
            yield from self.need(2)
            self.at += 2

    def json_value(self, progress: Callable[[], None] | None = None) -> Generator[None, None, bytes]:
        """Read one JSON value by its brackets and strings; its text. ``progress`` is called as it goes on.

        A string may hold any delimiter: only brackets outside strings count. The syntax between brackets is not
        checked, which is the grammar's work.
        """
        start = self.at
        yield from self.need()
        first = self.data[self.at]
        if first not in b'{["-0123456789tfn':
            raise Broken
        if first == 0x22:
            self.at += 1
            yield from self._rest_of_string(progress)
        elif first in _CLOSING:
            closing = [_CLOSING[first]]
            self.at += 1
            while closing:
                found = _PLAIN.match(self.data, self.at)
                assert found is not None
                self.at = found.end()
                if self.at == len(self.data):
                    if progress is not None:
                        progress()
                    yield from self.need()
                    continue
                byte = self.data[self.at]
                self.at += 1
                if byte == 0x22:
                    yield from self._rest_of_string(progress)
                elif byte in _CLOSING:
                    closing.append(_CLOSING[byte])
                elif closing.pop() != byte:
                    raise Broken
        else:
            while True:
                found = _IN_NUMBER.match(self.data, self.at)
                assert found is not None
                self.at = found.end()
                if self.at < len(self.data) or self.ended:
                    break
                yield
        if progress is not None:
            progress()
        return bytes(self.data[start : self.at])


class Calls:
    """Collects events. ``commit`` is how far the text is accounted for by events: what broke later is text."""

    __slots__ = ("_arguments", "_decoder", "_name", "_pending", "_reasoning", "_text", "commit", "events", "index",
                 "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.events: list[Event] = []
        self.index = -1
        self.commit = 0
        self._name = ""
        self._arguments: list[str] = []
        self._decoder = _decoder()
        self._text = _decoder()
        self._reasoning = _decoder()
        self._pending = ""

    def text(self, data: bytes) -> None:
        """Text for the reader. Blanks between or behind calls are part of the format, and dropped."""
        self._add_text(self._text.decode(data))

    def _add_text(self, text: str) -> None:
        if not text:
            return
        if self.index >= 0:
            # blanks behind a call wait: they are text only if more text follows
            whole = self._pending + text
            text = whole.rstrip(" \t\r\n")
            self._pending = whole[len(text) :]
        if text:
            self.events.append(TextDelta(text))

    def reasoning(self, data: bytes) -> None:
        """Text of the think section."""
        text = self._reasoning.decode(data)
        if text:
            self.events.append(ReasoningDelta(text))

    def end_reasoning(self) -> None:
        """The think section is over; a cut character at its end is a replacement character."""
        text = self._reasoning.decode(b"", final=True)
        if text:
            self.events.append(ReasoningDelta(text))

    def start(self, name: str) -> None:
        """A call begins."""
        self._flush_text()
        self.index += 1
        self._name = name
        self._arguments = []
        self._decoder = _decoder()
        self._pending = ""
        self.events.append(ToolCallStart(self.index, name))
        self.commit = self.source.at

    def arguments(self, data: bytes) -> None:
        """More of its arguments."""
        text = self._decoder.decode(data)
        if text:
            self._arguments.append(text)
            self.events.append(ArgumentsDelta(self.index, text))
        self.commit = self.source.at

    def end(self) -> None:
        """The call is complete."""
        self.events.append(ToolCallEnd(self.index, self._name, "".join(self._arguments)))
        self.commit = self.source.at

    def finish(self) -> None:
        """The text is over."""
        self._flush_text()
        self._pending = ""

    def _flush_text(self) -> None:
        self._add_text(self._text.decode(b"", final=True))
        self._text = _decoder()


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")
