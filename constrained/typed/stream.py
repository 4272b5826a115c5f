"""From pieces to events and a result: ``Assembler`` (no I/O), and ``Stream``, which drives a generation with it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Generic, TypeVar

from constrained.typed.argument_captures import arguments_follower
from constrained.typed.call import Call, Ending, Generation, Piece
from constrained.typed.errors import OutputError
from constrained.typed.events import (
    ArgumentsDelta,
    ArgumentsDone,
    ContentDelta,
    ContentDone,
    Event,
    LogprobsDelta,
    LogprobsDone,
    OutputDone,
    OutputPartial,
    ReasoningDelta,
    ReasoningDone,
    RefusalDelta,
    RefusalDone,
)
from constrained.typed.output_type import OutputType
from constrained.typed.partial import MISSING, Partial, PartialJson
from constrained.typed.partial_captures import JsonCaptures, TextCaptures
from constrained.typed.results import Failed, FunctionCall, Message, Result, ToolCall, Truncated

__all__ = ["Assembler", "Stream"]

T = TypeVar("T")

ID_LENGTH = 9
"""Characters of a tool call's id, where the model gives none: what Mistral's templates ask for."""


class _OpenCall:
    """A tool call that is being written."""

    __slots__ = ("arguments", "closed", "id", "name", "scanner")

    def __init__(self, name: str, scanner: PartialJson | JsonCaptures) -> None:
        self.name = name
        self.id = uuid.uuid4().hex[:ID_LENGTH]
        self.arguments = ""
        self.closed = False
        self.scanner = scanner

    @property
    def parsed(self) -> Any:
        """What of the arguments is certain, None before anything is."""
        if self.closed and self.scanner.broken:  # whole, but it could not be followed
            try:
                return json.loads(self.arguments)
            except (ValueError, RecursionError):
                pass
        found = self.scanner.snapshot
        return None if found is MISSING else found


class Assembler:
    """Collects the pieces of one generation. ``events=False``: only the result is wanted.

    ``held``: text and arguments are held to their grammars, so that captures tell what is certain; else the JSON is
    scanned.
    """

    def __init__(self, call: Call, *, events: bool = True, held: bool = False) -> None:
        self._call = call
        self._wants_events = events
        self._content: list[str] = []
        self._snapshot = ""
        self._reasoning = ""
        self._refusal = ""
        self._calls: list[_OpenCall] = []
        self._held = held
        self._scanner = _follower(call.output, held)
        self._parsed: Any = MISSING if self._scanner is None else self._scanner.snapshot
        self._logprobs: list[Any] = []
        self._thinking_done = False

    def feed(self, piece: Piece) -> list[Event]:
        """Take a piece; the events it makes (none where only the result is wanted)."""
        events: list[Event] = []
        if piece.reasoning:
            self._reasoning += piece.reasoning
            events.append(ReasoningDelta(piece.reasoning, self._reasoning))
        if piece.refusal:
            self._refusal += piece.refusal
            events.append(RefusalDelta(piece.refusal, self._refusal))
        if piece.text:
            self._text(piece, events)
        if piece.call >= 0:
            self._tool_call(piece, events)
        if piece.logprobs and self._wants_events:
            self._logprobs.extend(piece.logprobs)
            events.append(LogprobsDelta(piece.logprobs, tuple(self._logprobs)))
        return events if self._wants_events else []

    def finish(self, ending: Ending) -> tuple[list[Event], Result[Any]]:
        """The end: what is still to be said, and the result."""
        scanner = self._scanner if self._snapshot and ending.finish_reason == "stop" else None
        grew = scanner is not None and scanner.finish()
        result = self.result(ending)
        events: list[Event] = []
        if self._wants_events:
            self._end_reasoning(events)
            if grew and scanner is not None:
                events.append(OutputPartial(Partial(scanner.snapshot, scanner.done)))
            if self._snapshot or not (self._calls or self._refusal):
                parsed = self._scanner.snapshot if self._scanner is not None else None
                events.append(ContentDone(self._snapshot, None if parsed is MISSING else parsed))
            if self._refusal:
                events.append(RefusalDone(self._refusal))
            if self._logprobs:
                events.append(LogprobsDone(tuple(self._logprobs)))
            events.append(OutputDone(result))
        return events, result

    def result(self, ending: Ending) -> Result[Any]:
        """The result, ``Truncated`` or ``Failed`` where there is no value."""
        text = "".join(self._content)
        calls = tuple(ToolCall(one.id, FunctionCall(one.name, one.arguments)) for one in self._calls if one.closed)
        message = Message(text or None, calls, self._reasoning or None, self._refusal or None)
        known: dict[str, Any] = {
            "text": text, "usage": ending.usage, "token_ids": ending.token_ids, "logprobs": ending.logprobs,
            "seed": ending.seed, "message": message, "reasoning": self._reasoning or None}
        if ending.error is not None:
            return Failed(None, finish_reason="error", error=ending.error, **known)
        if calls and len(calls) == len(self._calls):
            return Result(None, finish_reason="tool_calls", **known)
        if self._calls:
            last = self._calls[-1]
            return Truncated(None, finish_reason=ending.finish_reason,
                             partial={"name": last.name, "arguments": last.parsed}, **known)
        if self._refusal:
            return Failed(None, finish_reason=ending.finish_reason, error=OutputError(
                f"the model refused: {self._refusal}", text=self._refusal), **known)
        output = self._call.output
        if output is None:
            return Result(text, finish_reason=ending.finish_reason, **known)
        scanner = self._scanner
        if scanner is not None and not self._wants_events and (ending.finish_reason != "stop" or not output.json):
            scanner.feed(text)
        if isinstance(scanner, TextCaptures):
            if ending.finish_reason == "stop":
                scanner.finish()
            known["captures"] = None if scanner.broken else scanner.snapshot
        if ending.finish_reason != "stop" and not (output.json and scanner is not None and scanner.done):
            partial = scanner.snapshot if output.json and scanner is not None else text
            return Truncated(None, finish_reason=ending.finish_reason,
                             partial=None if partial is MISSING else partial, **known)
        try:
            value = output.read(text)
        except OutputError as error:
            return Failed(None, finish_reason=ending.finish_reason, error=error, **known)
        return Result(value, finish_reason=ending.finish_reason, **known)

    def _text(self, piece: Piece, events: list[Event]) -> None:
        self._end_reasoning(events)
        self._content.append(piece.text)
        if not self._wants_events:  # read only where the text turns out to be cut
            return
        self._snapshot += piece.text
        if self._scanner is None:
            events.append(ContentDelta(piece.text, self._snapshot, None, piece.forced))
            return
        grew = self._scanner.feed(piece.text)
        if grew:  # else the last one still holds: snapshots are never changed
            self._parsed = self._scanner.snapshot
        parsed = self._parsed
        events.append(ContentDelta(piece.text, self._snapshot, None if parsed is MISSING else parsed, piece.forced))
        if grew and parsed is not MISSING:
            events.append(OutputPartial(Partial(parsed, self._scanner.done)))

    def _end_reasoning(self, events: list[Event]) -> None:
        if self._reasoning and not self._thinking_done:
            self._thinking_done = True
            events.append(ReasoningDone(self._reasoning))

    def _tool_call(self, piece: Piece, events: list[Event]) -> None:
        self._end_reasoning(events)
        while len(self._calls) <= piece.call:
            follower = arguments_follower(self._call.tools, piece.name) if self._held and self._wants_events else None
            self._calls.append(_OpenCall(piece.name, follower or PartialJson()))
        one = self._calls[piece.call]
        one.name = one.name or piece.name
        one.id = piece.call_id or one.id
        if piece.arguments:
            one.arguments += piece.arguments
            one.scanner.feed(piece.arguments)
            events.append(ArgumentsDelta(one.name, piece.call, one.arguments, one.parsed, piece.arguments))
        if piece.closed and not one.closed:
            one.closed = True
            events.append(ArgumentsDone(one.name, piece.call, one.arguments, one.parsed))


def _follower(output: OutputType | None, held: bool) -> PartialJson | JsonCaptures | TextCaptures | None:
    """What tells the certain parts of an output's text."""
    if output is None:
        return None
    found = output.follower() if held or not output.json else None
    return PartialJson() if found is None and output.json else found


class Stream(Generic[T]):
    """Events of one generation as they come; ``result`` runs it to its end. Closing it cancels what is left.

        with llm.stream(prompt, Person) as stream:
            for event in stream: ...
        stream.result.output
    """

    def __init__(self, call: Call, generation: Generation) -> None:
        self._generation = generation
        self._assembler = Assembler(call, held=generation.held)
        self._result: Result[T] | None = None
        self._events = self._run()

    def _run(self) -> Iterator[Event]:
        for piece in self._generation:
            yield from self._assembler.feed(piece)
        events, self._result = self._assembler.finish(self._generation.ending)
        yield from events

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return next(self._events)

    @property
    def result(self) -> Result[T]:
        """The finished result: reads what is left of the stream first."""
        for _ in self._events:
            pass
        if self._result is None:
            raise OutputError("the stream was closed before its end")
        return self._result

    @property
    def text_deltas(self) -> Iterator[str]:
        """Only the text, as it comes."""
        return (event.delta for event in self if isinstance(event, ContentDelta))

    def close(self) -> None:
        """Cancel the generation."""
        if self._result is None:
            self._generation.cancel()

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
