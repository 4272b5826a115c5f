"""Tool calls written by hand for each family: texts whose calls are known, independent of the library's grammars."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["CITY", "SCHEMAS", "render"]

Call = tuple[str, dict[str, Any]]

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"], "additionalProperties": False}

SCHEMAS: dict[str, dict[str, Any]] = {
    "get_weather": CITY,
    "get": {"type": "object", "properties": {"url": {"type": "string"}, "deep": {"type": "boolean"},
                                             "unit": {"enum": ["C", "F"]}}, "additionalProperties": False},
    "search.web": {"type": "object", "properties": {
        "query": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
        "near": {"type": "object", "properties": {"x": {"type": "number"}, "why": {"type": "string"}},
                 "required": ["x"], "additionalProperties": False},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "required": ["query"], "additionalProperties": False},
    "now": {"type": "object", "properties": {}, "additionalProperties": False},
}


def _python(value: Any) -> str:
    if isinstance(value, str):
        escaped = "".join({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(
            c, f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in value)
        if any(ord(c) < 32 and c not in "\n\r\t" for c in value):
            return json.dumps(value)
        return f"'{escaped}'"
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_python, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {_python(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


def _gemma(value: Any) -> str:
    if isinstance(value, str):
        return f"<escape>{value}<escape>"
    if isinstance(value, list):
        return "[" + ",".join(map(_gemma, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{_gemma(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


def _xml(call: Call) -> str:
    name, arguments = call
    lines = []
    for key, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value)
        lines.append(f"<parameter={key}>\n{text}\n</parameter>\n")
    return f"<tool_call>\n<function={name}>\n{''.join(lines)}</function>\n</tool_call>"


def _objects(calls: list[Call], name: str, arguments: str, ids: str = "") -> str:
    written = []
    for number, (function, values) in enumerate(calls):
        before = f'"{ids}": "{number}", ' if ids else ""
        written.append(f'{{{before}"{name}": "{function}", "{arguments}": {json.dumps(values)}}}')
    return "[" + ", ".join(written) + "]"


def render(family: str, calls: list[Call], text: str = "") -> str:
    """The calls as a model of the family writes them, behind ``text``."""
    tight = [f'{{"name": "{name}", "arguments": {json.dumps(values)}}}' for name, values in calls]
    if family in ("hermes", "qwen3", "smollm3"):
        return text + "\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in tight)
    if family == "qwen3_coder":
        return text + "\n".join(map(_xml, calls))
    if family == "json":
        return text + "\n".join(tight)
    if family == "llama3_json":
        return text + "\n".join(one.replace('"arguments"', '"parameters"', 1) for one in tight)
    if family in ("llama3_pythonic", "llama4_pythonic", "gemma3_pythonic"):
        inside = ", ".join(f"{name}({', '.join(f'{k}={_python(v)}' for k, v in values.items())})"
                           for name, values in calls)
        return f"[{inside}]"
    if family in ("mistral_v3", "mistral_v7"):
        return text + "[TOOL_CALLS]" + _objects(calls, "name", "arguments")
    if family in ("mistral_v11", "mistral_v13"):
        return text + "".join(f"[TOOL_CALLS]{name}[ARGS]{json.dumps(values)}" for name, values in calls)
    if family == "deepseek_v3":
        inside = "\n".join(f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{json.dumps(values)}\n```"
                           "<｜tool▁call▁end｜>" for name, values in calls)
        return f"{text}<｜tool▁calls▁begin｜>{inside}<｜tool▁calls▁end｜>"
    if family == "deepseek_v3_1":
        inside = "".join(f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{json.dumps(values)}<｜tool▁call▁end｜>"
                         for name, values in calls)
        return f"{text}<｜tool▁calls▁begin｜>{inside}<｜tool▁calls▁end｜>"
    if family == "harmony":
        messages = [f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{json.dumps(values)}"
                    "<|call|>" for name, values in calls]
        if text:
            messages.insert(0, f"<|channel|>commentary<|message|>{text}<|end|>")
        return "<|start|>assistant".join(messages)
    if family == "functiongemma":
        return text + "".join(f"<start_function_call>call:{name}{_gemma(values)}<end_function_call>"
                              for name, values in calls)
    if family == "smollm2":
        return text + "<tool_call>" + _objects(calls, "name", "arguments") + "</tool_call>"
    if family == "phi4":
        return text + "<|tool_call|>" + _objects(calls, "name", "arguments") + "<|/tool_call|>"
    if family == "phi4_functools":
        return text + "functools" + _objects(calls, "name", "arguments")
    if family == "command_r":
        return text + "Action: ```json\n" + _objects(calls, "tool_name", "parameters") + "```"
    assert family == "command_r7b", family
    return text + "<|START_ACTION|>" + _objects(calls, "tool_name", "parameters", "tool_call_id") + "<|END_ACTION|>"
