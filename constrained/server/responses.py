"""``POST /v1/responses``: one answer made of output items, or the stream of events that builds it.

Events of a stream, in order: ``response.created``, ``response.in_progress``; for each item ``output_item.added``, its
parts and deltas, their ``done``, ``output_item.done``; ``response.completed`` (``incomplete`` where a limit cut it,
``failed`` where something broke). A finished response is stored unless ``store: false``, so that it can be fetched, or
continued by its id.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from constrained.decoder.request import TokenEvent
from constrained.decoder.service import RequestHandle
from constrained.server.chat_request import ChatRequest
from constrained.server.choices import FAILED, Choice, failure, first_events, logprob_entries, usage_of
from constrained.server.engine import Engine
from constrained.server.fields import Fields, parse_body
from constrained.server.http import OWNER, EventStream, Watch, json_response, read_body
from constrained.server.output_items import Event, OutputItems
from constrained.server.prepare import Prepared, prepare
from constrained.server.problems import ApiError
from constrained.server.reports import report_headers, report_of
from constrained.server.responses_request import input_items, previous_id, read_responses, wants_store

__all__ = ["responses"]


async def responses(request: Request, engine: Engine, request_id: str) -> Response:
    """Answer one request. Raises :class:`ApiError`."""
    settings = engine.settings
    fields = parse_body(await read_body(request, settings.max_body_bytes, settings.body_seconds))
    owner, previous, store = request.scope.get(OWNER, 0), previous_id(fields, settings), wants_store(fields, settings)
    before: tuple[dict[str, Any], ...] = ()
    if previous is not None:
        found = engine.responses.get(previous, owner)
        if found is None:
            raise fields.wrong("previous_response_id", f"there is no response {previous[:100]!r}",
                               "previous_response_not_found")
        before = found.conversation
    chat = read_responses(fields, settings, before)
    model = engine.known_model(chat.model)
    prepared = await prepare(engine, chat)
    handle = engine.submit(prepared.prompt, prepared.params, prepared.compiled)
    answer = _Answer(engine, chat, fields, model, request_id, handle, prepared)
    if store:
        inputs = (*before, *input_items(fields, request_id))
        answer.keep = lambda response: engine.responses.put(owner, response, inputs)
    answer.head.update(store=store, previous_response_id=previous)
    headers = report_headers(prepared.relaxed)
    try:
        async with Watch(request.receive, handle.cancel) as watch:
            first = await first_events(handle)
            if not chat.stream:
                body = await answer.whole(first)
    except BaseException:
        handle.cancel()
        raise
    if watch.gone:
        answer.gone()
    if chat.stream:
        return EventStream(answer.stream(first), handle.cancel, settings.write_seconds, headers, answer.gone)
    return json_response(body, headers=headers)


class _Answer:
    """A response on its way to the client."""

    def __init__(self, engine: Engine, chat: ChatRequest, fields: Fields, model: str, request_id: str,
                 handle: RequestHandle, prepared: Prepared) -> None:
        self.engine = engine
        self.chat = chat
        self.handle = handle
        self.relaxed = prepared.relaxed
        self.choice = Choice(prepared.reader(), request_id, prepared.customs)
        self.items = OutputItems(request_id, self.choice)
        self.keep: Callable[[dict[str, Any]], None] | None = None
        """What to do with the finished response."""
        self._sequence = 0
        value = fields.value
        self.head: dict[str, Any] = {
            "id": f"resp_{request_id}", "object": "response", "created_at": int(time.time()), "status": "in_progress",
            "background": False, "error": None, "incomplete_details": None,
            "instructions": value.get("instructions"), "max_output_tokens": value.get("max_output_tokens"),
            "metadata": value.get("metadata") or {}, "model": model, "output": [],
            "parallel_tool_calls": value.get("parallel_tool_calls", True) is not False, "previous_response_id": None,
            "reasoning": value.get("reasoning") or {"effort": None, "summary": None}, "store": False,
            "temperature": prepared.params.temperature, "text": value.get("text") or {"format": {"type": "text"}},
            "tool_choice": value.get("tool_choice") or "auto", "tools": value.get("tools") or [],
            "top_p": prepared.params.top_p, "truncation": "disabled", "usage": None, "user": value.get("user")}

    def gone(self) -> None:
        """The client hung up."""
        self.engine.metrics.disconnects += 1

    async def whole(self, events: list[TokenEvent]) -> dict[str, Any]:
        """The answer in one piece. Raises :class:`ApiError`."""
        while events:
            for event in events:
                self._take(event)
                if event.finish_reason in FAILED:
                    raise await failure(self.handle, event.index)
            events = await self.handle.next_events()
        self.items.close("completed" if self.choice.finish_reason != "length" else "incomplete")
        return self._finished()

    async def stream(self, events: list[TokenEvent]) -> AsyncGenerator[bytes, None]:
        """The events as server-sent events, from the first tokens on."""
        yield self._sse([("response.created", {"response": self.head}),
                         ("response.in_progress", {"response": self.head})])
        while events:
            found: list[Event] = []
            failed: ApiError | None = None
            for event in events:
                found += self._take(event)
                if event.finish_reason in FAILED:
                    failed = await failure(self.handle, event.index)
                    break
            if failed is not None:
                error = {"code": failed.code or failed.kind, "message": str(failed)[:2000]}
                ended = {**self.head, "status": "failed", "error": error, "output": self.items.output}
                yield self._sse([*found, ("response.failed", {"response": ended})])
                return
            if found:
                yield self._sse(found)
            events = await self.handle.next_events()
        cut = self.choice.finish_reason == "length"
        found = self.items.close("incomplete" if cut else "completed")
        yield self._sse([*found, (f"response.{'incomplete' if cut else 'completed'}", {"response": self._finished()})])

    def _take(self, event: TokenEvent) -> list[Event]:
        deltas = self.choice.take(event)
        logprobs = [] if self.chat.logprobs is None else logprob_entries(self.engine, list(event.logprobs))
        return self.items.take(deltas, logprobs)

    def _finished(self) -> dict[str, Any]:
        handle, metrics = self.handle, self.engine.metrics
        if handle.first_event_at is not None:
            metrics.first_token.add(handle.first_event_at - handle.submitted_at)
        metrics.request_seconds.add(time.monotonic() - handle.submitted_at)
        usage = usage_of(self.engine, handle.completions, self.choice.reasoning_tokens)
        cut = self.choice.finish_reason == "length"
        response = {**self.head, "status": "incomplete" if cut else "completed",
                "incomplete_details": {"reason": "max_output_tokens"} if cut else None, "output": self.items.output,
                "usage": {"input_tokens": usage["prompt_tokens"],
                          "input_tokens_details": usage["prompt_tokens_details"],
                          "output_tokens": usage["completion_tokens"],
                          "output_tokens_details": usage["completion_tokens_details"],
                          "total_tokens": usage["total_tokens"]}, **report_of(self.relaxed)}
        if self.keep is not None:
            self.keep(response)
        return response

    def _sse(self, events: list[Event]) -> bytes:
        parts: list[str] = []
        for name, value in events:
            body = json.dumps({"type": name, "sequence_number": self._sequence, **value})
            parts.append(f"event: {name}\ndata: {body}\n\n")
            self._sequence += 1
        return "".join(parts).encode()
