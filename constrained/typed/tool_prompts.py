"""Tools for models whose chat template knows none: instructions, and calls and results as plain messages.

A template that names ``tools`` gets them as they are. For any other the tools are listed in the system message, with
one call as the model is to write it (the shortest that its format's grammar allows), and the messages of earlier calls
are written out the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from constrained.toolcalls import ToolFormat
from constrained.toolcalls.shapes import JsonCalls, KeyedCalls

__all__ = ["bounded_integers", "knows_tools", "plain_example", "plain_messages", "tool_instructions",
           "with_parsed_arguments"]

MAX_INTEGER = 10**15
"""Integers without bounds of their own are written up to this: every reader of JSON takes them exactly."""


def bounded_integers(tools: Sequence[Mapping[str, Any]]) -> list[Any]:
    """A copy for the grammar in which integers have bounds: JSON Schema's may be ``1e90``, which Pydantic refuses."""
    copy: list[Any] = json.loads(json.dumps(list(tools)))
    stack: list[Any] = [tool.get("function", tool).get("parameters") for tool in copy]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if node.get("type") == "integer" and not {"enum", "const", "multipleOf"} & node.keys():
                if not {"minimum", "exclusiveMinimum"} & node.keys():
                    node["minimum"] = -MAX_INTEGER
                if not {"maximum", "exclusiveMaximum"} & node.keys():
                    node["maximum"] = max(MAX_INTEGER, node.get("minimum", 0))
            stack.extend(value for key, value in node.items() if key not in ("enum", "const", "default", "examples"))
    return copy


def knows_tools(template: str) -> bool:
    """Whether a chat template renders tools."""
    return "tools" in template


def tool_instructions(tools: Sequence[Mapping[str, Any]], example: str, *, must: bool, typed: bool) -> str:
    """What the system message says about the tools."""
    listed = "\n".join(json.dumps(one.get("function", one), ensure_ascii=False) for one in tools)
    when = "Call one of them now" if must else (
        "Call them when you need them; when you know the answer, " + ("answer as asked" if typed else "just answer"))
    return (f"You can call these functions:\n{listed}\n"
            f"A call is written like this, with the right name and arguments:\n{example}\n{when}.")


def plain_example(tool: Mapping[str, Any], fmt: ToolFormat) -> str:
    """A call without arguments, in JSON."""
    name = tool.get("function", tool).get("name")
    return _written([{"function": {"name": name, "arguments": "{}"}}], fmt)


def with_parsed_arguments(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Messages for templates that know tools: they expect arguments as objects, not as the JSON text of OpenAI's."""
    found: list[Mapping[str, Any]] = []
    for message in messages:
        calls = message.get("tool_calls")
        if calls:
            message = {**message, "tool_calls": [_parsed(call) for call in calls]}
        found.append(message)
    return found


def _parsed(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function", {})
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError, RecursionError):
        return call
    return {**call, "function": {**function, "arguments": arguments}} if isinstance(arguments, dict) else call


def plain_messages(messages: Sequence[Mapping[str, Any]], fmt: ToolFormat) -> list[Mapping[str, Any]]:
    """Messages without ``tool_calls`` and without the role ``tool``; results in a row become one message."""
    plain: list[Mapping[str, Any]] = []
    results: list[str] = []

    def flush() -> None:
        if results:
            plain.append({"role": "user", "content": "\n".join(results)})
            results.clear()

    for message in messages:
        if message.get("role") == "tool":
            results.append(f"<tool_response>\n{message.get('content') or ''}\n</tool_response>")
            continue
        flush()
        calls = message.get("tool_calls")
        if calls:
            written = _written(calls, fmt)
            text = message.get("content")
            plain.append({"role": message.get("role"), "content": f"{text}\n{written}" if text else written})
        else:
            plain.append(message)
    flush()
    return plain


def _written(calls: Sequence[Any], fmt: ToolFormat) -> str:
    """Calls as the format has them; as JSON objects where its shape is another."""
    known = isinstance(fmt.calls, JsonCalls) and not isinstance(fmt.calls, KeyedCalls)
    shape = fmt.calls if known else JsonCalls("<tool_call>\n", "\n</tool_call>")
    assert isinstance(shape, JsonCalls)
    objects = []
    for call in calls:
        function = call.get("function", {})
        arguments = function.get("arguments") or "{}"
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        objects.append(f'{{{json.dumps(shape.name_key)}: {json.dumps(function.get("name"))}, '
                       f"{json.dumps(shape.arguments_key)}: {text}}}")
    if shape.listed:
        return f"{shape.begin}[{', '.join(objects)}]{shape.end}"
    return "\n".join(f"{shape.begin}{one}{shape.end}" for one in objects)
