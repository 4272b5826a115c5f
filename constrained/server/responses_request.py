"""A request of the Responses API as a chat request.

``input`` is a text or a list of items: messages, the model's function calls, their outputs, reasoning (which is passed
over). Tools are flat. ``previous_response_id`` puts the items of a stored response and its own before them (not its
instructions), ``conversation`` those of a conversation. Stored prompts and built-in tools are refused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from constrained.server.chat_request import ChatRequest, template_arguments
from constrained.server.fields import Fields
from constrained.server.formats import text_format
from constrained.server.messages import MAX_MESSAGES, ROLES, content_text, parsed_arguments
from constrained.server.problems import bad_request
from constrained.server.sampling import MAX_TOP_LOGPROBS, SAMPLING_FIELDS, sampling_params
from constrained.server.settings import ServerSettings
from constrained.server.tools import read_tools

__all__ = ["check_items", "conversation_id", "input_items", "previous_id", "read_responses", "wants_background",
           "wants_store"]

KNOWN = (SAMPLING_FIELDS - {"n", "max_tokens", "max_completion_tokens"}) | {
    "model", "input", "instructions", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "text",
    "reasoning", "reasoning_effort", "include", "metadata", "store", "user", "truncation", "top_logprobs",
    "service_tier", "safety_identifier", "prompt_cache_key", "background", "previous_response_id", "conversation",
    "prompt", "max_tool_calls", "chat_template_kwargs", "context_management", "prompt_cache_retention",
    "prompt_cache_options", "moderation"}


def previous_id(fields: Fields, settings: ServerSettings) -> str | None:
    """The response that a request continues. Raises :class:`ApiError` where nothing is kept."""
    found = fields.text("previous_response_id", limit=200)
    if found is not None and not settings.store_bytes:
        raise fields.wrong("previous_response_id", "is not supported: this server keeps no responses",
                           "unsupported_parameter")
    return found


def conversation_id(fields: Fields, settings: ServerSettings) -> str | None:
    """The conversation that a request belongs to. Raises :class:`ApiError` where nothing is kept."""
    if not fields.has("conversation"):
        return None
    if not settings.store_bytes:
        raise fields.wrong("conversation", "is not supported: this server keeps no conversations",
                           "unsupported_parameter")
    if isinstance(fields.value["conversation"], str):
        return fields.needed_text("conversation", limit=200)
    return fields.needed_object("conversation").needed_text("id", limit=200)


def wants_background(fields: Fields, settings: ServerSettings) -> bool:
    """Whether the response is written without a connection. Raises :class:`ApiError` where it would not be kept."""
    wanted = fields.flag("background")
    if wanted and not wants_store(fields, settings):
        raise fields.wrong("background", "needs a response that is stored", "unsupported_parameter")
    return wanted


def wants_store(fields: Fields, settings: ServerSettings) -> bool:
    """Whether the response is to be kept: yes unless the request, or the server, says no."""
    if fields.flag("store") and not settings.store_bytes:
        raise fields.wrong("store", "is not supported: this server keeps no responses", "unsupported_parameter")
    return fields.flag("store", True) and settings.store_bytes > 0


def input_items(value: str | list[dict[str, Any]], request_id: str) -> list[dict[str, Any]]:
    """An ``input`` that was read, as items with ids and messages with lists of parts."""
    items = [{"role": "user", "content": value}] if isinstance(value, str) else value
    found: list[dict[str, Any]] = []
    for i, item in enumerate(items):
        one = {"id": f"in_{request_id}_{i}", "type": "message", **{k: v for k, v in item.items() if v is not None}}
        if isinstance(one.get("content"), str):
            kind = "output_text" if one.get("role") == "assistant" else "input_text"
            one["content"] = [{"type": kind, "text": one["content"]}]
        found.append(one)
    return found


def read_responses(fields: Fields, settings: ServerSettings, before: Sequence[dict[str, Any]] = ()) -> ChatRequest:
    """``before``: the items of the conversation so far. Raises :class:`ApiError` naming the field that is wrong."""
    fields.check_known(frozenset(KNOWN), instead="text.format")
    if fields.value.get("prompt"):
        raise fields.wrong("prompt", "is not supported", "unsupported_parameter")
    truncation = fields.text("truncation", "disabled", limit=40) or "disabled"
    if truncation not in ("auto", "disabled"):
        raise fields.wrong("truncation", "must be auto or disabled")
    form = fields.object("text")
    constraint = None
    if form is not None:
        form.check_known(frozenset({"format", "verbosity"}), strict=True)
        inner = form.object("format")
        constraint = None if inner is None else text_format(
            inner, settings.json_whitespace, settings.strict_subset)
    tools = read_tools(fields, flat=True, subset=settings.strict_subset)
    top = fields.integer("top_logprobs", low=0, high=MAX_TOP_LOGPROBS)
    wants = "message.output_text.logprobs" in fields.items("include", limit=50)
    logprobs = (top or 0) if wants or top else None
    arguments = template_arguments(fields)
    reasoning = fields.object("reasoning")
    if reasoning is not None and reasoning.text("effort", limit=40):
        arguments["reasoning_effort"] = reasoning.text("effort")
        if reasoning.text("effort") == "none":
            arguments["enable_thinking"] = False
    params = sampling_params(Fields({**fields.value, "n": 1}, fields.path), settings,
                             constrained=constraint is not None or tools is not None, logprobs=logprobs)
    return ChatRequest(fields.text("model", "", limit=500) or "", _messages(fields, before), params, constraint,
                       fields.flag("stream"), True, logprobs, arguments, tools, truncation)


def _messages(fields: Fields, before: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    instructions = fields.text("instructions")
    if instructions:
        messages.append({"role": "system", "content": instructions})
    for item in before:
        _add_item(Fields(item, "previous_response_id"), messages)
    value = fields.value.get("input")
    if isinstance(value, str):
        messages.append({"role": "user", "content": value})
    else:
        for one in fields.objects("input", limit=max(0, MAX_MESSAGES - len(before))):
            _add_item(one, messages)
        if not value:
            raise bad_request("input: is required", "input")
    return messages


def check_items(fields: Fields, key: str) -> None:
    """Raises :class:`ApiError` where an item of a list is none that a response could answer."""
    for one in fields.objects(key, limit=MAX_MESSAGES):
        _add_item(one, [])


def _add_item(item: Fields, messages: list[dict[str, Any]]) -> None:
    kind = item.text("type", "message", limit=60)
    if kind == "message":
        role = item.needed_text("role", limit=40)
        if role not in ROLES:
            raise item.wrong("role", f"must be one of {', '.join(sorted(ROLES))}")
        messages.append({"role": ROLES[role], "content": content_text(item, "content", needed=True) or ""})
    elif kind in ("function_call", "custom_tool_call"):
        text = item.text("input" if kind == "custom_tool_call" else "arguments", "") or ""
        called = {"name": item.needed_text("name", limit=256),
                  "arguments": {"input": text} if kind == "custom_tool_call" else parsed_arguments(text)}
        call = {"id": item.needed_text("call_id", limit=256), "type": "function", "function": called}
        if messages and messages[-1]["role"] == "assistant" and "tool_calls" in messages[-1]:
            messages[-1]["tool_calls"].append(call)
        else:
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = item.value.get("output")
        text = content_text(item, "output") or "" if isinstance(output, (str, list)) else json.dumps(output)
        messages.append({"role": "tool", "content": text, "tool_call_id": item.needed_text("call_id", limit=256)})
    elif kind != "reasoning":
        raise item.wrong("type", f"items of type {kind!r} are not supported", "unsupported_parameter")
