"""A response while it is written: its events, or the whole of it, out of the token events of one request.

Events, in order: ``response.created``, ``response.in_progress`` (in the background ``response.queued`` before it); for
each item ``output_item.added``, its parts and deltas, their ``done``, ``output_item.done``; ``response.completed``
(``incomplete`` where a limit cut it or it was cancelled, ``failed`` where something broke). ``final`` is the finished
response, None until then; ``keep`` is called with it.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from constrained.decoder.request import TokenEvent
from constrained.decoder.service import RequestHandle
from constrained.server.chat_request import ChatRequest
from constrained.server.choices import FAILED, Choice, failure, logprob_entries, usage_of
from constrained.server.engine import Engine
from constrained.server.fields import Fields
from constrained.server.output_items import Event, OutputItems
from constrained.server.prepare import Prepared
from constrained.server.problems import ApiError
from constrained.server.reports import report_of

__all__ = ["ResponseAnswer"]


class ResponseAnswer:
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
        self.status = "in_progress"
        self.final: dict[str, Any] | None = None
        self._cancelled = False
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

    async def stream(self, first: list[TokenEvent]) -> AsyncGenerator[bytes, None]:
        """The events as server-sent events, from the first tokens on."""
        async for events in self.events(first):
            yield b"".join(self.encoded(events))

    async def events(self, first: list[TokenEvent] | None = None) -> AsyncGenerator[list[Event], None]:
        """The events, several at a time. ``first`` None: the request waits; its first tokens are waited for here."""
        if first is None:
            self.status = "queued"
            yield [("response.created", {"response": self.snapshot}), ("response.queued", {"response": self.snapshot})]
            first = await self.handle.next_events()
            self.status = "in_progress"
            yield [("response.in_progress", {"response": self.snapshot})]
        else:
            yield [("response.created", {"response": self.snapshot}),
                   ("response.in_progress", {"response": self.snapshot})]
        events = first
        while events:
            found: list[Event] = []
            for event in events:
                found += self._take(event)
                if event.finish_reason in FAILED:
                    yield [*found, *self.failed(await failure(self.handle, event.index))]
                    return
            if found:
                yield found
            events = await self.handle.next_events()
        found = self.items.close("incomplete" if self.choice.finish_reason == "length" else "completed")
        response = self._finished()
        yield [*found, (f"response.{response['status']}", {"response": response})]

    @property
    def snapshot(self) -> dict[str, Any]:
        """The response so far: the items that are whole."""
        if self.final is not None:
            return self.final
        whole = [item for item in self.items.output if item["status"] != "in_progress"]
        return {**self.head, "status": self.status, "output": whole}

    def cancel(self) -> None:
        """End it before the next step, as its owner wishes."""
        self._cancelled = True
        self.handle.cancel()

    def failed(self, error: ApiError) -> list[Event]:
        """The end of a response that broke, or was cancelled."""
        found = self.items.close("incomplete") if self.items.output else []
        if self._cancelled:
            self.final = {**self.head, "status": "cancelled", "output": self.items.output}
            return [*found, ("response.incomplete", {"response": self.final})]
        self.final = {**self.head, "status": "failed", "output": self.items.output,
                      "error": {"code": error.code or error.kind, "message": str(error)[:2000]}}
        return [*found, ("response.failed", {"response": self.final})]

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
        response = {
            **self.head, "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None, "output": self.items.output,
                "usage": {"input_tokens": usage["prompt_tokens"],
                          "input_tokens_details": usage["prompt_tokens_details"],
                          "output_tokens": usage["completion_tokens"],
                          "output_tokens_details": usage["completion_tokens_details"],
                          "total_tokens": usage["total_tokens"]}, **report_of(self.relaxed)}
        self.final = response
        if self.keep is not None:
            self.keep(response)
        return response

    def encoded(self, events: list[Event]) -> list[bytes]:
        """Events as server-sent events, numbered through."""
        found: list[bytes] = []
        for name, value in events:
            body = json.dumps({"type": name, "sequence_number": self._sequence, **value})
            found.append(f"event: {name}\ndata: {body}\n\n".encode())
            self._sequence += 1
        return found
