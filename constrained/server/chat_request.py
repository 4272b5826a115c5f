"""A chat request, read and checked: everything that ``POST /v1/chat/completions`` may carry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from constrained.decoder.sampling_params import SamplingParams
from constrained.server.constraint import Constraint
from constrained.server.fields import Fields
from constrained.server.formats import CONSTRAINT_FIELDS, read_constraint
from constrained.server.messages import chat_messages
from constrained.server.problems import bad_request
from constrained.server.sampling import SAMPLING_FIELDS, chat_logprobs, sampling_params
from constrained.server.settings import ServerSettings
from constrained.server.tools import Tools, read_tools

__all__ = ["ChatRequest", "read_chat", "template_arguments"]

KNOWN = SAMPLING_FIELDS | CONSTRAINT_FIELDS | {
    "model", "messages", "stream", "stream_options", "logprobs", "top_logprobs", "tools", "tool_choice",
    "parallel_tool_calls", "functions", "function_call", "reasoning_effort", "user", "metadata", "store",
    "chat_template_kwargs", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_options",
    "verbosity", "modalities", "prediction", "include_reasoning"}

TEMPLATE_SWITCHES = frozenset({"enable_thinking", "thinking", "reasoning_effort"})
"""What a request may hand to the chat template."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat request."""

    model: str
    messages: list[dict[str, Any]]
    params: SamplingParams
    constraint: Constraint | None
    stream: bool
    include_usage: bool
    logprobs: int | None
    template_arguments: dict[str, Any] = field(default_factory=dict)
    tools: Tools | None = None
    truncation: str = "disabled"
    """``auto``: the oldest messages are left out where all are too long."""


def read_chat(fields: Fields, settings: ServerSettings) -> ChatRequest:
    """Raises :class:`ApiError` naming the field that is wrong."""
    fields.check_known(frozenset(KNOWN))
    model = fields.text("model", "", limit=500) or ""
    messages = chat_messages(fields)
    for kind in fields.items("modalities", limit=10):
        if kind != "text":
            raise fields.wrong("modalities", "this server writes text only", "unsupported_parameter")
    constraint = read_constraint(fields, settings.json_whitespace, settings.strict_subset)
    tools = read_tools(fields, subset=settings.strict_subset)
    stream = fields.flag("stream")
    options = fields.object("stream_options")
    if options is not None and not stream:
        raise bad_request("stream_options: only with stream: true", "stream_options")
    logprobs = chat_logprobs(fields)
    return ChatRequest(
        model, messages, sampling_params(fields, settings, constrained=constraint is not None or tools is not None,
                                         logprobs=logprobs),
        constraint, stream, options is not None and options.flag("include_usage"), logprobs,
        template_arguments(fields), tools)


def template_arguments(fields: Fields) -> dict[str, Any]:
    """Switches for the chat template: ``reasoning_effort`` and a few of ``chat_template_kwargs``."""
    found: dict[str, Any] = {}
    effort = fields.text("reasoning_effort", limit=40)
    if effort is not None:
        found["reasoning_effort"] = effort
        if effort == "none":
            found["enable_thinking"] = False
    given = fields.object("chat_template_kwargs")
    if given is not None:
        given.check_known(TEMPLATE_SWITCHES, strict=True)
        for key, value in given.value.items():
            if not isinstance(value, (bool, str)):
                raise given.wrong(key, "must be a boolean or a string")
            found[key] = value
    return found
