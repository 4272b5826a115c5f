"""``POST /v1/chat/completions``: one answer, or a stream of chunks.

Chunks of a stream, in order: the role; for each piece reasoning, content or tool-call deltas; the finish reason; with
``include_usage`` a chunk without choices; ``[DONE]``. A request that fails before its first token is answered with an
HTTP error, later with an ``error`` chunk.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from constrained.decoder.request import TokenEvent
from constrained.decoder.service import RequestHandle
from constrained.server.chat_request import ChatRequest, read_chat
from constrained.server.choices import FAILED, Call, Choice, failure, first_events, logprob_entries, usage_of
from constrained.server.deltas import Delta
from constrained.server.engine import Engine
from constrained.server.fields import parse_body
from constrained.server.http import EventStream, Watch, json_response, read_body
from constrained.server.prepare import Prepared, prepare
from constrained.server.reports import report_headers, report_of
from constrained.toolcalls import ArgumentsDelta, ReasoningDelta, TextDelta, ToolCallEnd, ToolCallStart

__all__ = ["chat_completions"]

DONE = b"data: [DONE]\n\n"


async def chat_completions(request: Request, engine: Engine, request_id: str) -> Response:
    """Answer one chat request. Raises :class:`ApiError`."""
    settings = engine.settings
    chat = read_chat(parse_body(await read_body(request, settings.max_body_bytes, settings.body_seconds)), settings)
    model = engine.known_model(chat.model)
    prepared = await prepare(engine, chat)
    handle = engine.submit(prepared.prompt, prepared.params, prepared.compiled)
    answer = _Answer(engine, chat, model, f"chatcmpl-{request_id}", handle, prepared)
    if chat.stream:
        try:
            async with Watch(request.receive, handle.cancel):
                first = await first_events(handle)
        except BaseException:
            handle.cancel()
            raise
        return EventStream(answer.chunks(first), handle.cancel, settings.write_seconds,
                           report_headers(prepared.relaxed), answer.gone)
    async with Watch(request.receive, handle.cancel) as watch:
        body = await answer.whole()
    if watch.gone:
        answer.gone()
    return json_response(body, headers=report_headers(prepared.relaxed))


class _Answer:
    """A request's outputs on their way to the client."""

    def __init__(self, engine: Engine, chat: ChatRequest, model: str, answer_id: str, handle: RequestHandle,
                 prepared: Prepared) -> None:
        self.engine = engine
        self.chat = chat
        self.handle = handle
        self.relaxed = prepared.relaxed
        self.head = {"id": answer_id, "object": "chat.completion", "created": int(time.time()), "model": model,
                     "system_fingerprint": engine.fingerprint}
        self.choices = [Choice(prepared.reader(), answer_id, prepared.customs) for _ in range(chat.params.n)]

    def gone(self) -> None:
        """The client hung up."""
        self.engine.metrics.disconnects += 1

    async def whole(self) -> dict[str, Any]:
        """The answer in one piece. Raises :class:`ApiError`."""
        while events := await self.handle.next_events():
            for event in events:
                self.choices[event.index].take(event)
                if event.finish_reason in FAILED:
                    raise await failure(self.handle, event.index)
        return {**self.head, "choices": [self._choice(i, choice) for i, choice in enumerate(self.choices)],
                "usage": self._usage(), **report_of(self.relaxed)}

    def _choice(self, index: int, choice: Choice) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": choice.text or (None if choice.calls else ""),
                                   "refusal": None}
        if choice.reasoning:
            message["reasoning"] = message["reasoning_content"] = choice.reasoning
        if choice.calls:
            message["tool_calls"] = [_call(call, call.arguments) for call in choice.calls]
        logprobs = None
        if self.chat.logprobs is not None:
            logprobs = {"content": logprob_entries(self.engine, choice.logprobs), "refusal": None}
        return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": choice.finish_reason}

    def _usage(self) -> dict[str, Any]:
        engine, handle = self.engine, self.handle
        if handle.first_event_at is not None:
            engine.metrics.first_token.add(handle.first_event_at - handle.submitted_at)
        engine.metrics.request_seconds.add(time.monotonic() - handle.submitted_at)
        return usage_of(engine, handle.completions, sum(choice.reasoning_tokens for choice in self.choices))

    # -- streaming ---------------------------------------------------------------------------------------------

    async def chunks(self, events: list[TokenEvent]) -> AsyncGenerator[bytes, None]:
        """The stream, from the first events on."""
        head = json.dumps({**self.head, "object": "chat.completion.chunk"})[:-1]
        tail = ', "usage": null}\n\n' if self.chat.include_usage else "}\n\n"
        plain = self.chat.logprobs is None
        # the commonest chunk, all but its text
        before = [f'data: {head}, "choices": [{{"index": {i}, "delta": {{"content": ' for i in range(len(self.choices))]
        after = '}, "logprobs": null, "finish_reason": null}]' + tail
        yield "".join(_chunk(head, tail, i, {"role": "assistant", "content": ""})
                      for i in range(len(self.choices))).encode()
        while events:
            parts: list[str] = []
            for event in _merged(events) if plain else events:
                choice = self.choices[event.index]
                text = choice.take_text(event)
                if text is not None:
                    if text:
                        parts.append(f"{before[event.index]}{quoted(text)}{after}")
                    continue
                deltas = choice.take(event)
                logprobs = None if plain else {"content": logprob_entries(self.engine, list(event.logprobs)),
                                               "refusal": None}
                for delta in deltas or ([TextDelta("")] if event.logprobs else []):
                    if isinstance(delta, ToolCallEnd):
                        continue
                    if plain and isinstance(delta, TextDelta):
                        parts.append(f"{before[event.index]}{quoted(delta.text)}{after}")
                        continue
                    parts.append(_chunk(head, tail, event.index, _delta(choice, delta), logprobs))
                    logprobs = None
                if event.finish_reason in FAILED:
                    error = await failure(self.handle, event.index)
                    parts.append(f"data: {json.dumps(error.body())}\n\n")
                    yield "".join(parts).encode()
                    return
                if event.finish_reason is not None:
                    parts.append(_chunk(head, tail, event.index, {}, None, choice.finish_reason))
            if parts:
                yield "".join(parts).encode()
            events = await self.handle.next_events()
        usage = self._usage()
        report = report_of(self.relaxed)
        if self.chat.include_usage:
            value = {**self.head, "object": "chat.completion.chunk", "choices": [], "usage": usage, **report}
            yield f"data: {json.dumps(value)}\n\n".encode()
        yield DONE


def _merged(events: list[TokenEvent]) -> list[TokenEvent]:
    """Events of one output that came together as one: a reader that fell behind gets fewer, longer pieces."""
    if len(events) < 2:
        return events
    found: list[TokenEvent] = []
    place: dict[int, int] = {}
    for event in events:
        at = place.get(event.index)
        if at is None:
            place[event.index] = len(found)
            found.append(event)
        else:
            old = found[at]
            found[at] = TokenEvent(event.request_id, event.index, old.token_ids + event.token_ids,
                                   old.text + event.text, old.forced + event.forced, (), event.finish_reason)
    return found


def _chunk(head: str, tail: str, index: int, delta: dict[str, Any], logprobs: Any = None,
           finish_reason: str | None = None) -> str:
    choice = {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
    return f'data: {head}, "choices": [{json.dumps(choice)}]{tail}'


def _delta(choice: Choice, delta: Delta) -> dict[str, Any]:
    """A delta as OpenAI's chunks have it."""
    if isinstance(delta, TextDelta):
        return {"content": delta.text}
    if isinstance(delta, ReasoningDelta):
        return {"reasoning": delta.text, "reasoning_content": delta.text}
    if isinstance(delta, ToolCallStart):
        return {"tool_calls": [{"index": delta.index, **_call(choice.calls[delta.index], "")}]}
    if isinstance(delta, ArgumentsDelta):
        if choice.calls[delta.index].custom:
            return {"tool_calls": [{"index": delta.index, "custom": {"input": delta.text}}]}
        return {"tool_calls": [{"index": delta.index, "function": {"arguments": delta.text}}]}
    return {}


def _call(call: Call, text: str) -> dict[str, Any]:
    """A tool call as OpenAI's messages have it."""
    if call.custom:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": text}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text}}

