"""Tool calls written by hand for each family: texts whose calls are known, independent of the library's grammars."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["CITY", "SCHEMAS", "XML", "render"]

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


def _gemma(value: Any, quote: str = "<escape>") -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, list):
        return "[" + ",".join(_gemma(one, quote) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{_gemma(v, quote)}" for k, v in value.items()) + "}"
    return json.dumps(value)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _kind(value: Any) -> str:
    return "true" if isinstance(value, str) else "false"


def _elements(family: str, arguments: dict[str, Any]) -> str:
    if family.startswith("glm"):
        between, behind = ("\n", "\n") if family == "glm4_5" else ("", "")
        return "".join(f"<arg_key>{k}</arg_key>{between}<arg_value>{_framed(v)}</arg_value>{behind}"
                       for k, v in arguments.items())
    if family == "minimax_m2":
        return "".join(f'<parameter name="{k}">{_framed(v)}</parameter>\n' for k, v in arguments.items())
    if family.startswith("deepseek"):
        blank = " " if family == "deepseek_v4_1" else ""
        mark = f"｜DSML｜{blank}parameter"
        return "".join(f'<{mark} name="{k}" string="{_kind(v)}">{_plain(v)}</{mark}>\n' for k, v in arguments.items())
    if family == "step3":
        return "".join(f'<steptml:parameter name="{k}">{_framed(v)}</steptml:parameter>' for k, v in arguments.items())
    edge = "" if family == "mimo" else "\n"
    return "".join(f"<parameter={k}>{edge or _edge(v)}{_plain(v)}{edge or _edge(v)}</parameter>{edge}"
                   for k, v in arguments.items())


def _edge(value: Any) -> str:
    """A line end around strings that have one at an edge: one at each side is none of the text."""
    return "\n" if isinstance(value, str) and (value.startswith("\n") or value.endswith("\n")) else ""


def _framed(value: Any) -> str:
    return f"{_edge(value)}{_plain(value)}{_edge(value)}"


def _minimax(name: str, value: Any) -> str:
    mark = "]<]minimax[>["
    if isinstance(value, list):
        inside = "".join(_minimax("item", one) for one in value)
    elif isinstance(value, dict):
        inside = "".join(_minimax(key, one) for key, one in value.items())
    else:
        inside = _plain(value)
    return f"{mark}<{name}>{inside}{mark}</{name}>"


def _cohere(value: Any, name: str | None = None) -> str:
    if isinstance(value, (list, dict)):
        inside = ("".join(map(_cohere, value)) if isinstance(value, list) else
                  "".join(_cohere(one, key) for key, one in value.items()))
        kind = "list" if isinstance(value, list) else "dict"
    else:
        inside, kind = _plain(value), "raw" if isinstance(value, str) else "json"
    named = "" if name is None else f' name="{name}"'
    return f'<cofl:value{named} type="{kind}">{inside}</cofl:value>'


def _kimi_k3(name: str, value: Any) -> str:
    kind = {str: "string", bool: "boolean", type(None): "null", list: "array", dict: "object"}.get(
        type(value), "number")
    return f'<|open|>argument key="{name}" type="{kind}"<|sep|>{_plain(value)}<|close|>argument<|sep|>'


def _xml(family: str, calls: list[Call]) -> str:
    if family in ("qwen3_coder", "seed_oss", "mimo"):
        mark, edge = ("seed:", "\n") if family == "seed_oss" else ("", "" if family == "mimo" else "\n")
        return edge.join(f"<{mark}tool_call>{edge}<function={name}>{edge}{_elements(family, arguments)}</function>"
                         f"{edge}</{mark}tool_call>" for name, arguments in calls)
    if family.startswith("glm"):
        edge = "\n" if family == "glm4_5" else ""
        return edge.join(f"<tool_call>{name}{edge}{_elements(family, arguments)}</tool_call>"
                         for name, arguments in calls)
    if family == "step3":
        inside = "".join(f'<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{name}">'
                         f"{_elements(family, arguments)}</steptml:invoke><｜tool_call_end｜>"
                         for name, arguments in calls)
        return f"<｜tool_calls_begin｜>{inside}<｜tool_calls_end｜>"
    mark, section = {"minimax_m2": ("", "minimax:tool_call"), "deepseek_v3_2": ("｜DSML｜", "｜DSML｜function_calls"),
                     "deepseek_v4": ("｜DSML｜", "｜DSML｜tool_calls"),
                     "deepseek_v4_1": ("｜DSML｜ ", "｜DSML｜ calls")}[family]
    inside = "".join(f'<{mark}invoke name="{name}">\n{_elements(family, arguments)}</{mark}invoke>\n'
                     for name, arguments in calls)
    return f"<{section}>\n{inside}</{section}>"


XML = ("qwen3_coder", "seed_oss", "mimo", "glm4_5", "glm4_7", "minimax_m2", "deepseek_v3_2", "deepseek_v4",
       "deepseek_v4_1", "step3")
"""Families whose strings are raw between the tags of elements."""


def _objects(calls: list[Call], name: str, arguments: str, ids: str = "") -> str:
    written = []
    for number, (function, values) in enumerate(calls):
        before = f'"{ids}": "{number}", ' if ids else ""
        written.append(f'{{{before}"{name}": "{function}", "{arguments}": {json.dumps(values)}}}')
    return "[" + ", ".join(written) + "]"


def render(family: str, calls: list[Call], text: str = "") -> str:
    """The calls as a model of the family writes them, behind ``text``."""
    tight = [f'{{"name": "{name}", "arguments": {json.dumps(values)}}}' for name, values in calls]
    if family in ("hermes", "qwen3", "smollm3", "granite4"):
        return text + "\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in tight)
    if family in XML:
        return text + _xml(family, calls)
    if family == "exaone4":
        return text + "\n".join(f"<tool_call>{one}</tool_call>" for one in tight)
    if family in ("jamba", "hunyuan_a13b"):
        return f"{text}<tool_calls>{_objects(calls, 'name', 'arguments')}</tool_calls>"
    if family == "apertus":
        inside = ", ".join(f'{{"{name}": {json.dumps(values)}}}' for name, values in calls)
        return f"{text}<|tools_prefix|>[{inside}]<|tools_suffix|>"
    if family in ("olmo3", "smollm3_python"):
        spell = json.dumps if family == "olmo3" else _python
        inside = "\n".join(f"{name}({', '.join(f'{k}={spell(v)}' for k, v in values.items())})"
                           for name, values in calls)
        return text + (f"<function_calls>{inside}</function_calls>" if family == "olmo3" else
                       f"<code>\n{inside}\n</code>")
    if family == "kimi_k3":
        inside = "".join(f'<|open|>call tool="{name}" index="{number}"<|sep|>'
                         f'{"".join(_kimi_k3(k, v) for k, v in values.items())}<|close|>call<|sep|>'
                         for number, (name, values) in enumerate(calls, 1))
        return (f"{text}<|close|>response<|sep|><|open|>tools<|sep|>{inside}<|close|>tools<|sep|>"
                "<|close|>message<|sep|>")
    if family == "minimax_m3":
        mark = "]<]minimax[>["
        inside = "".join(f'{mark}<invoke name="{name}">{"".join(_minimax(k, v) for k, v in values.items())}'
                         f"{mark}</invoke>\n" for name, values in calls)
        return f"{text}{mark}<tool_call>\n{inside}{mark}</tool_call>"
    if family == "cohere_xml":
        inside = "".join(f'<cofl:tool_call id="{number}" name="{name}">'
                         f'{"".join(_cohere(v, k) for k, v in values.items())}</cofl:tool_call>'
                         for number, (name, values) in enumerate(calls))
        return f"{text}<cofl:tool_calls>{inside}</cofl:tool_calls>"
    if family == "longcat":
        return text + "\n".join(f"<longcat_tool_call>\n{one}\n</longcat_tool_call>" for one in tight)
    if family == "json":
        return text + "\n".join(tight)
    if family == "llama3_json":
        return text + "\n".join(one.replace('"arguments"', '"parameters"', 1) for one in tight)
    if family in ("llama3_pythonic", "llama4_pythonic", "gemma3_pythonic", "lfm2"):
        inside = ", ".join(f"{name}({', '.join(f'{k}={_python(v)}' for k, v in values.items())})"
                           for name, values in calls)
        return f"{text}<|tool_call_start|>[{inside}]<|tool_call_end|>" if family == "lfm2" else f"[{inside}]"
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
    if family == "gemma4":
        quote = '<|"|>'
        return text + "".join(f"<|tool_call>call:{name}{_gemma(values, quote)}<tool_call|>" for name, values in calls)
    if family == "kimi_k2":
        inside = "".join(f"<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>{json.dumps(values)}"
                         "<|tool_call_end|>" for number, (name, values) in enumerate(calls))
        return f"{text}<|tool_calls_section_begin|>{inside}<|tool_calls_section_end|>"
    if family in ("granite3", "granite3_1"):
        mark = "<|tool_call|>" if family == "granite3" else "<tool_call>"
        return text + mark + _objects(calls, "name", "arguments")
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
