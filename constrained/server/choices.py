"""One output of a request while it comes: its deltas, its text so far, its log-probabilities, how it ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from constrained.decoder.logprobs import TokenLogprob
from constrained.decoder.request import Completion, TokenEvent
from constrained.decoder.service import RequestHandle
from constrained.server.deltas import Delta, PlainReader, Reader
from constrained.server.engine import Engine
from constrained.server.problems import ApiError, from_library
from constrained.toolcalls import ArgumentsDelta, ReasoningDelta, TextDelta, ToolCallEnd, ToolCallStart

__all__ = ["FAILED", "Call", "Choice", "failure", "first_events", "logprob_entries", "refuse_failed", "usage_of"]

FAILED = ("error", "cancelled")
"""How outputs end that are no answers."""

NEVER = -9999.0
"""Log-probability of what cannot happen: JSON has no infinity."""


class Call:
    """A tool call as it comes. ``custom``: its arguments are the plain input of a custom tool."""

    __slots__ = ("arguments", "custom", "id", "name")

    def __init__(self, name: str, call_id: str, *, custom: bool) -> None:
        self.name = name
        self.id = call_id
        self.custom = custom
        self.arguments = ""


class Choice:
    """One of the ``n`` outputs of a request."""

    __slots__ = ("_customs", "_parts", "_plain", "_reasoning", "_request_id", "calls", "finish_reason", "logprobs",
                 "reader", "reasoning_tokens")

    def __init__(self, reader: Reader, request_id: str, customs: Collection[str] = ()) -> None:
        self.reader = reader
        self._plain = isinstance(reader, PlainReader)
        self._customs = customs
        self.calls: list[Call] = []
        self.logprobs: list[TokenLogprob] = []
        self.finish_reason: str | None = None
        self.reasoning_tokens = 0
        self._request_id = request_id
        self._parts: list[str] = []
        self._reasoning: list[str] = []

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._parts)

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return "".join(self._reasoning)

    def take(self, event: TokenEvent) -> list[Delta]:
        """What an event adds."""
        deltas = self.reader.feed(event.text) if event.text else []
        if deltas and all(isinstance(delta, ReasoningDelta) for delta in deltas):
            self.reasoning_tokens += len(event.token_ids)
        if event.finish_reason is not None:
            deltas += self.reader.finish()
        for delta in deltas:
            self._add(delta)
        self.logprobs.extend(event.logprobs)
        if event.finish_reason is not None:
            self.finish_reason = ("tool_calls" if self.calls and event.finish_reason == "stop" else
                                  "length" if event.finish_reason in ("length", "time") else event.finish_reason)
        return deltas

    def take_text(self, event: TokenEvent) -> str | None:
        """What an event adds where that is a piece of the answer and nothing else; None: ``take`` it."""
        if not self._plain or event.finish_reason is not None or event.logprobs:
            return None
        self._parts.append(event.text)
        return event.text

    def _add(self, delta: Delta) -> None:
        if isinstance(delta, TextDelta):
            self._parts.append(delta.text)
        elif isinstance(delta, ReasoningDelta):
            self._reasoning.append(delta.text)
        elif isinstance(delta, ToolCallStart):
            self.calls.append(Call(delta.name, f"call_{self._request_id[-24:]}_{len(self.calls)}",
                                   custom=delta.name in self._customs))
        elif isinstance(delta, ArgumentsDelta):
            self.calls[delta.index].arguments += delta.text
        elif isinstance(delta, ToolCallEnd):
            self.calls[delta.index].arguments = delta.arguments


async def first_events(handle: RequestHandle) -> list[TokenEvent]:
    """The first events of a request. Raises :class:`ApiError` where it fails before any text."""
    events = await handle.next_events()
    await refuse_failed(handle, events)
    return events


async def refuse_failed(handle: RequestHandle, events: Iterable[TokenEvent]) -> None:
    """Raises :class:`ApiError` where one of the first events is a failure without text: no stream has begun yet."""
    for event in events:
        if event.finish_reason in FAILED and not event.text:
            raise await failure(handle, event.index)


async def failure(handle: RequestHandle, index: int) -> ApiError:
    """Why output ``index`` ended in an error or was cut off; ends the request's other outputs."""
    handle.cancel()
    completion = (await handle)[index]
    if completion.error is not None:
        return from_library(completion.error)
    return ApiError(503, "the request was ended by the server", code="cancelled")


def logprob_entries(engine: Engine, entries: list[TokenLogprob]) -> list[dict[str, Any]]:
    """OpenAI's ``logprobs.content``; end tokens are not part of it."""
    stops = set(engine.info.stop_token_ids)
    found = []
    for entry in entries:
        if entry.token in stops:
            continue
        one = _token(engine, entry.token, entry.logprob)
        one["top_logprobs"] = [_token(engine, token, value) for token, value in entry.top]
        found.append(one)
    return found


def _token(engine: Engine, token: int, logprob: float) -> dict[str, Any]:
    data = engine.token_text(token, False)
    return {"token": data.decode("utf-8", "replace"), "logprob": max(logprob, NEVER), "bytes": list(data)}


def usage_of(engine: Engine, completions: list[Completion], reasoning_tokens: int) -> dict[str, Any]:
    """OpenAI's ``usage`` of a request, also counted in the metrics."""
    prompt = completions[0].usage.prompt_tokens
    cached = max(one.usage.cached_tokens for one in completions[:1])
    output = sum(one.usage.output_tokens for one in completions)
    forced = sum(one.usage.forced_tokens for one in completions)
    metrics = engine.metrics
    metrics.prompt_tokens += prompt
    metrics.cached_tokens += cached
    metrics.output_tokens += output
    metrics.forced_tokens += forced
    metrics.reasoning_tokens += reasoning_tokens
    return {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning_tokens, "forced_tokens": forced}}
