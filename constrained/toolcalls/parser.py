"""The incremental parser of a tool format: ``feed(bytes) -> events``.

It reads text, and what begins with a trigger of the format as calls, by the reading half of the format's shape. Calls
are JSON-aware: a delimiter inside a string is text. Whatever the grammar of the format accepts comes back as the same
calls, however the bytes are cut. Other text never raises: what looks like a call and is none is text, from the last
event on.

Feed the bytes of all tokens, *control tokens included*, as they are written (``<|channel|>``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from constrained.errors import ConstrainedError
from constrained.frontends.structural_tag.thinking import Thinking
from constrained.toolcalls.events import Event
from constrained.toolcalls.shapes import CallShape
from constrained.toolcalls.source import Broken, Calls, Reading, Source
from constrained.toolcalls.tools import tool_specs

__all__ = ["ToolCallParser"]

KEPT = 1 << 16
"""Bytes of text that has been reported which are kept before they are dropped."""


class ToolCallParser:
    """Reads one generation. Made by ``ToolFormat.parser``.

    Args:
        shape: how calls are written.
        tools: the tools, whose schemas some shapes need to tell strings from other values.
        thinking: the think section, as the grammar was given it; None: there is none.
        calls_allowed: False: everything is text.
        dropped: texts that stand around an answer and are no part of it.
    """

    def __init__(self, shape: CallShape, tools: Iterable[Any], *, thinking: Thinking | None = None,
                 calls_allowed: bool = True, dropped: tuple[str, ...] = ()) -> None:
        self._source = Source()
        self._calls = Calls(self._source)
        self._shape = shape
        self._tools = {tool.name: tool for tool in tool_specs(tools)}
        self._thinking = thinking
        self._allowed = calls_allowed
        self._dropped = tuple(text.encode() for text in dropped)
        self._idle = False
        self._reading = self._run()
        self._finished = False
        next(self._reading, None)

    def feed(self, data: bytes) -> list[Event]:
        """What the next bytes bring. Raises ``ConstrainedError`` after ``finish``, or for what is no bytes."""
        if self._finished:
            raise ConstrainedError("the parser has finished", hint="make a new parser for each generation")
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise ConstrainedError(f"the parser is fed bytes, not {type(data).__name__}")
        self._source.data += data
        next(self._reading, None)
        self._forget()
        return self._take()

    def finish(self) -> list[Event]:
        """What the end of the text brings. A call that is not complete stays without its ``ToolCallEnd``."""
        if not self._finished:
            self._finished = True
            self._source.ended = True
            next(self._reading, None)
        return self._take()

    def _take(self) -> list[Event]:
        events, self._calls.events = self._calls.events, []
        return events

    def _forget(self) -> None:
        """Drop what has been reported, in free text only: within a call positions are held."""
        if self._idle and self._source.at > KEPT:
            del self._source.data[: self._source.at]
            self._source.at = self._calls.commit = 0

    def _run(self) -> Reading:
        source, calls = self._source, self._calls
        if self._thinking is not None:
            yield from self._think(self._thinking)
        triggers = tuple(text.encode() for text in self._shape.triggers) if self._allowed else ()
        if self._allowed and self._shape.at_start_only:
            # the calls are the whole text, or there are none
            if not triggers or (yield from source.next_is(triggers[0])):
                yield from self._call()
            triggers = ()
        while True:
            self._idle = True
            found = yield from source.until_one((*triggers, *self._dropped), calls.text)
            self._idle = False
            if found is None:
                break
            if found >= len(triggers):
                continue
            source.at -= len(triggers[found])
            yield from self._call()
        calls.finish()

    def _think(self, thinking: Thinking) -> Reading:
        source, calls = self._source, self._calls
        begin, end = thinking.begin.encode(), thinking.end.encode()
        if not thinking.opened:
            if not (yield from source.next_is(begin)):
                return
            source.at += len(begin)
        self._idle = True
        yield from source.until_one((end,), calls.reasoning)
        self._idle = False
        calls.end_reasoning()
        yield from source.blanks()

    def _call(self) -> Reading:
        """One tag; where it breaks, what no event accounts for is text, its first byte at least."""
        source, calls = self._source, self._calls
        calls.commit = start = source.at
        try:
            yield from self._shape.read(source, calls, self._tools)
        except Broken:
            source.at = calls.commit
            if calls.commit == start and start < len(source.data):
                source.at += 1
                calls.text(bytes(source.data[start : start + 1]))
