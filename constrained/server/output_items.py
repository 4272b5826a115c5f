"""The output items of a response while they are written: reasoning, a message, calls, in the order of the text.

One item is open at a time; a delta of another kind closes it and opens the next. ``take`` and ``close`` return the
events that tell a stream about it; ``output`` holds the items themselves, and equals what the events build.
"""

from __future__ import annotations

from typing import Any

from constrained.server.choices import Call, Choice
from constrained.server.deltas import Delta
from constrained.toolcalls import ArgumentsDelta, ReasoningDelta, TextDelta, ToolCallStart

__all__ = ["Event", "OutputItems"]

Event = tuple[str, dict[str, Any]]
"""The type of an event, and its fields without ``type`` and ``sequence_number``."""


class OutputItems:
    """The items of one response."""

    def __init__(self, request_id: str, choice: Choice) -> None:
        self.output: list[dict[str, Any]] = []
        self._id = request_id
        self._choice = choice
        self._kind: str | None = None  # of the open item
        self._text: list[str] = []
        self._logprobs: list[dict[str, Any]] = []

    def take(self, deltas: list[Delta], logprobs: list[dict[str, Any]]) -> list[Event]:
        """What deltas add; ``logprobs`` are those of their tokens."""
        events: list[Event] = []
        for delta in deltas:
            if isinstance(delta, TextDelta):
                self._need("message", events)
                self._text.append(delta.text)
                self._logprobs += logprobs
                events.append(("response.output_text.delta", {**self._place(part=True), "delta": delta.text,
                                                              "logprobs": logprobs}))
                logprobs = []
            elif isinstance(delta, ReasoningDelta):
                self._need("reasoning", events)
                self._text.append(delta.text)
                events.append(("response.reasoning_text.delta", {**self._place(part=True), "delta": delta.text}))
            elif isinstance(delta, ToolCallStart):
                self._close(events, "completed")
                call = self._choice.calls[delta.index]
                self._open("custom_tool_call" if call.custom else "function_call", events, call)
            elif isinstance(delta, ArgumentsDelta) and self._kind in ("function_call", "custom_tool_call"):
                self._text.append(delta.text)
                events.append((self._arguments("delta"), {**self._place(), "delta": delta.text}))
        return events

    def close(self, status: str) -> list[Event]:
        """The end. A response without anything has one empty message."""
        events: list[Event] = []
        if not self.output:
            self._need("message", events)
        self._close(events, status)
        return events

    def _need(self, kind: str, events: list[Event]) -> None:
        if self._kind != kind:
            self._close(events, "completed")
            self._open(kind, events, None)

    def _open(self, kind: str, events: list[Event], call: Call | None) -> None:
        number = len(self.output)
        item: dict[str, Any]
        if kind == "message":
            item = {"id": f"msg_{self._id}_{number}", "type": kind, "status": "in_progress", "role": "assistant",
                    "content": []}
        elif kind == "reasoning":
            item = {"id": f"rs_{self._id}_{number}", "type": kind, "status": "in_progress", "summary": [],
                    "content": []}
        else:
            assert call is not None
            text = "input" if kind == "custom_tool_call" else "arguments"
            item = {"id": f"fc_{self._id}_{number}", "type": kind, "status": "in_progress", "call_id": call.id,
                    "name": call.name, text: ""}
        self._kind = kind
        self._text, self._logprobs = [], []
        self.output.append(item)
        events.append(("response.output_item.added", {"output_index": number, "item": dict(item)}))
        if kind in ("message", "reasoning"):
            events.append(("response.content_part.added", {**self._place(part=True), "part": self._part("", [])}))

    def _close(self, events: list[Event], status: str) -> None:
        kind, text = self._kind, "".join(self._text)
        if kind is None:
            return
        item = {**self.output[-1], "status": status}
        if kind in ("message", "reasoning"):
            part = self._part(text, self._logprobs)
            item["content"] = [part]
            if kind == "message":
                events.append(("response.output_text.done", {**self._place(part=True), "text": text,
                                                             "logprobs": self._logprobs}))
            else:
                events.append(("response.reasoning_text.done", {**self._place(part=True), "text": text}))
            events.append(("response.content_part.done", {**self._place(part=True), "part": part}))
        else:
            field = "input" if kind == "custom_tool_call" else "arguments"
            item[field] = text
            events.append((self._arguments("done"), {**self._place(), "name": item["name"], field: text}))
        self.output[-1] = item
        events.append(("response.output_item.done", {"output_index": len(self.output) - 1, "item": item}))
        self._kind = None

    def _part(self, text: str, logprobs: list[dict[str, Any]]) -> dict[str, Any]:
        if self._kind == "reasoning":
            return {"type": "reasoning_text", "text": text}
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs}

    def _place(self, *, part: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = {"item_id": self.output[-1]["id"], "output_index": len(self.output) - 1}
        if part:
            found["content_index"] = 0
        return found

    def _arguments(self, what: str) -> str:
        custom = self._kind == "custom_tool_call"
        return f"response.{'custom_tool_call_input' if custom else 'function_call_arguments'}.{what}"
