"""A chat request made ready to run: its prompt, its grammar with tools and reasoning in it, and its readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from constrained.decoder.sampling_params import SamplingParams
from constrained.errors import ConstrainedError
from constrained.frontends.structural_tag import Thinking
from constrained.server.chat_request import ChatRequest
from constrained.server.compiling import Compiled
from constrained.server.constraint import Constraint, Relaxed
from constrained.server.deltas import PlainReader, Reader, ThinkingReader, ToolReader
from constrained.server.engine import Engine
from constrained.server.problems import ApiError, from_library
from constrained.server.tools import Tools, constraint_format

__all__ = ["Prepared", "prepare"]

TAIL = 64
"""Tokens at the end of a prompt that are looked at for an open think section."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is submitted, and how its outputs are read."""

    prompt: list[int]
    params: SamplingParams
    compiled: Compiled | None
    reader: Callable[[], Reader]
    customs: Collection[str]
    relaxed: list[Relaxed] | None
    """What of the constraints is not enforced; None where there are none."""


async def prepare(engine: Engine, chat: ChatRequest) -> Prepared:
    """Raises :class:`ApiError`."""
    tools = chat.tools
    prompt = await _prompt(engine, chat)
    thinking = _thinking(engine, prompt, chat)
    constraint = chat.constraint
    if tools is not None:
        constraint = tools.constraint(engine.tool_format, constraint, thinking)
    elif constraint is not None and (thinking is not None or engine.tool_format.whole_turn):
        content = constraint_format(constraint)
        if engine.tool_format.whole_turn:
            tag = engine.tool_format.structural_tag((), thinking=thinking, answer=content)
        else:
            assert thinking is not None
            tag = {"type": "structural_tag", "format": thinking.before(content)}
        constraint = Constraint("structural_tag", json.dumps(tag), constraint.layout, param=constraint.param)
    try:
        compiled = await engine.grammar(constraint)
    except ApiError as error:
        if tools is not None and error.status == 400:
            await _find_culprit(engine, tools, chat)
        raise
    skip = tools is None and not engine.tool_format.whole_turn and (thinking is None or not any(
        text in engine.info.token_ids_by_text for text in (thinking.begin, thinking.end)))
    relaxed = None if compiled is None else [*compiled.relaxed, *(() if tools is None else tools.relaxed)]
    return Prepared(prompt, chat.params if skip else chat.params.updated(skip_special_tokens=False), compiled,
                    _readers(engine, tools, thinking), () if tools is None else tools.customs, relaxed)


async def _prompt(engine: Engine, chat: ChatRequest) -> list[int]:
    """The prompt; with ``truncation: auto`` that of so many of the last messages as leave room for the output.

    Instructions stay, a tool's result is never left without its call, and where there are several messages of the user
    the prompt begins with one.
    """
    async def of(messages: list[dict[str, Any]]) -> list[int]:
        return await engine.chat_prompt(messages, chat.tools, **chat.template_arguments)

    messages = chat.messages
    prompt = await of(messages)
    most = engine.scheduler.cache.max_len
    room = most - min(chat.params.max_tokens or 1, most // 2)
    if chat.truncation != "auto" or len(prompt) <= room:
        return prompt
    head = [message for message in messages[:1] if message["role"] == "system"]
    cuts = [i for i in range(len(head) + 1, len(messages)) if messages[i]["role"] == "user"] or [
        i for i in range(len(head) + 1, len(messages)) if messages[i]["role"] != "tool"]
    low, high = 0, len(cuts)
    while low < high:  # fewer messages are fewer tokens
        middle = (low + high) // 2
        found = await of([*head, *messages[cuts[middle] :]])
        if len(found) <= room:
            high, prompt = middle, found
        else:
            low = middle + 1
            if len(found) < len(prompt):
                prompt = found
    return prompt


def _thinking(engine: Engine, prompt: list[int], chat: ChatRequest) -> Thinking | None:
    """The think section that the output may have."""
    if engine.think is None or chat.template_arguments.get("enable_thinking") is False:
        return None
    begin, end = engine.think
    tail = engine.token_text.decode(prompt[-TAIL:], False)
    found = Thinking.of({"mode": "optional", "prompt": tail}, begin, end)
    return None if found is None or (not found.opened and tail.rstrip().endswith(end)) else found


def _readers(engine: Engine, tools: Tools | None, thinking: Thinking | None) -> Callable[[], Reader]:
    fmt = engine.tool_format
    if tools is not None or fmt.whole_turn:
        specs, customs = (tools.specs, tools.customs) if tools is not None else ([], {})
        if tools is not None and fmt.whole_turn:
            specs = [*specs, *tools.text_specs]
        return lambda: ToolReader(fmt.parser(specs, thinking=thinking), customs, framed=fmt.whole_turn)
    if thinking is not None:
        return lambda: ThinkingReader(thinking.begin, thinking.end, inside=thinking.opened)
    return PlainReader


async def _find_culprit(engine: Engine, tools: Tools, chat: ChatRequest) -> None:
    """Raise the error of the one tool whose schema or grammar is wrong, named by its field."""
    if chat.constraint is not None:
        await engine.grammar(chat.constraint)
    alone = [Constraint("lark", tool.lark, param=tools.places[tool.name]) for tool in tools.customs.values()
             if tool.lark is not None]
    alone += [Constraint("json_schema", json.dumps(spec.schema), param=tools.places[spec.name]) for spec in tools.specs]
    for constraint in alone:
        try:
            await engine.grammar(constraint)
        except ApiError as error:
            if error.status == 400:
                error.code = "invalid_function_parameters"
            raise
        except ConstrainedError as error:
            raise from_library(error, param=constraint.param) from None
