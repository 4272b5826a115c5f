"""Tools of a request: what may be called, the structural tag of it, and the reader of what comes out.

Function tools are written in the format of the model's family (``constrained.toolcalls``). Custom tools, whose input is
text, are two kinds: without a grammar or with a regular expression their input is a string argument ``input`` of a
function, held to the expression; with a Lark grammar the input stands by itself between

    <custom_tool name="NAME"> ... </custom_tool>

With a constraint beside the tools the answer is either calls or a text that fits the constraint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from constrained.errors import ConstrainedError
from constrained.server.constraint import Constraint
from constrained.server.fields import Fields
from constrained.server.formats import check_subset
from constrained.server.problems import bad_request, from_library
from constrained.toolcalls import ToolFormat, ToolSpec, detect_format, get_format

__all__ = ["CUSTOM_BEGIN", "CUSTOM_END", "CustomTool", "Tools", "constraint_format", "format_of", "in_words",
           "read_tools"]

MAX_TOOLS = 512
CUSTOM_BEGIN = '<custom_tool name="'
CUSTOM_END = "</custom_tool>"
INPUT: dict[str, Any] = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"],
                         "additionalProperties": False}
"""The arguments that a custom tool has as a function."""
FUNCTION_FIELDS = frozenset({"name", "description", "parameters", "strict"})


@dataclass(frozen=True, slots=True)
class CustomTool:
    """A tool whose input is text; ``lark`` is its grammar where it stands by itself."""

    name: str
    lark: str | None = None


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a request and the choice between them.

    ``specs`` are all that are written as functions, ``template`` is what chat templates are shown, ``places`` the field
    of each by name. ``relaxed`` names the tools whose arguments are not held to a schema.
    """

    specs: list[ToolSpec]
    customs: dict[str, CustomTool]
    choice: Any
    parallel: bool
    template: list[dict[str, Any]]
    places: dict[str, str] = field(default_factory=dict)
    relaxed: list[tuple[str, str]] = field(default_factory=list)

    def constraint(self, fmt: ToolFormat, beside: Constraint | None, thinking: Any) -> Constraint:
        """The structural tag of what may be written. Raises :class:`ApiError`."""
        try:
            whole = fmt.whole_turn  # the reasoning is a part of the format then
            content = self._content(fmt, beside, thinking if whole else None)
            section = None if whole else fmt.thinking(thinking)
        except ConstrainedError as error:
            raise from_library(error, param="tools") from None
        if section is not None:
            content = section.before(content)
        layout = "line" if beside is None else beside.layout
        return Constraint("structural_tag", json.dumps({"type": "structural_tag", "format": content}), layout,
                          param="tools")

    def _content(self, fmt: ToolFormat, beside: Constraint | None, thinking: Any) -> dict[str, Any]:
        allowed = set(self.places if isinstance(self.choice, str) else self.choice["names"])
        lark = [tool for tool in self.customs.values() if tool.lark is not None and tool.name in allowed]
        named = [spec for spec in self.specs if spec.name in allowed]
        if fmt.whole_turn:
            named += [spec for spec in self.text_specs if spec.name in allowed]
            tag = fmt.structural_tag(named, tool_choice=self._mode, parallel_tool_calls=not self._single,
                                     thinking=thinking, answer=None if beside is None else constraint_format(beside))
            return dict(tag["format"])
        if beside is not None and self._mode == "auto":  # where a call must come, none of its texts may stand for it
            calls = self._calls(fmt, named, lark, "required")
            return {"type": "or", "elements": [calls, constraint_format(beside)]}
        return self._calls(fmt, named, lark, self._mode)

    def _calls(self, fmt: ToolFormat, named: list[ToolSpec], lark: list[CustomTool], mode: str) -> dict[str, Any]:
        tags = [{"type": "tag", "begin": f'{CUSTOM_BEGIN}{tool.name}">', "end": CUSTOM_END,
                 "content": {"type": "grammar", "syntax": "lark", "grammar": tool.lark}} for tool in lark]
        if not named and mode == "required":
            return {"type": "tags_with_separator", "tags": tags, "separator": "\n", "at_least_one": True,
                    "stop_after_first": self._single}
        found = fmt.structural_tag(named, tool_choice=mode if named else "none",
                                   parallel_tool_calls=not self._single)["format"]
        if not tags:
            return dict(found)
        if found["type"] == "tags_with_separator":
            return {**found, "tags": [*found["tags"], *tags]}
        if mode == "required":
            return {"type": "or", "elements": [found, *tags]}
        if found["type"] == "triggered_tags":
            return {**found, "triggers": [*found["triggers"], CUSTOM_BEGIN], "tags": [*found["tags"], *tags]}
        if found["type"] == "any_text":
            return {"type": "triggered_tags", "triggers": [CUSTOM_BEGIN], "tags": tags,
                    "excludes": found.get("excludes", []), "stop_after_first": self._single}
        raise bad_request("tools: Lark grammars are not supported with this model's way of calling tools", "tools",
                          "unsupported_parameter")

    @property
    def text_specs(self) -> list[ToolSpec]:
        """Tools with grammars of their own, for a format that frames every text: their input is a message."""
        return [ToolSpec(tool.name, None, INPUT, text={"type": "grammar", "syntax": "lark", "grammar": tool.lark})
                for tool in self.customs.values() if tool.lark is not None]

    def shown(self, fmt: ToolFormat) -> list[dict[str, Any]]:
        """What chat templates are shown: with how the input of tools with grammars is written, where that is ours."""
        if fmt.whole_turn or not any(tool.lark is not None for tool in self.customs.values()):
            return self.template
        found: list[dict[str, Any]] = []
        for one in self.template:
            inner = one["function"]
            custom = self.customs.get(inner["name"])
            if custom is not None and custom.lark is not None:
                told = f"{inner['description']}\nWrite {CUSTOM_BEGIN}{custom.name}\">INPUT{CUSTOM_END} to call it."
                one = {**one, "function": {**inner, "description": told}}
            found.append(one)
        return found

    @property
    def _single(self) -> bool:
        """There may be one call only: that was said, or one function was named."""
        return not self.parallel or (not isinstance(self.choice, str) and self.choice["type"] == "function")

    @property
    def _mode(self) -> str:
        """``auto`` or ``required``: what the choice comes to for the tools it leaves."""
        if isinstance(self.choice, str):
            return self.choice
        if self.choice.get("type") == "allowed_tools":
            return str(self.choice.get("mode", "auto"))
        return "required"


def constraint_format(constraint: Constraint) -> dict[str, Any]:
    """A constraint as a part of a structural tag. Raises :class:`ApiError`."""
    source, kind = constraint.source, constraint.kind
    if kind == "json_schema":
        if constraint.relax:
            raise bad_request(f"{constraint.param}: strict: false together with tools or reasoning is not supported",
                              constraint.param, "unsupported_parameter")
        # as open as where it stands alone; the arguments of tools are closed
        return {"type": "json_schema", "json_schema": json.loads(source), "strict_mode": False}
    if kind == "regex":
        return {"type": "regex", "pattern": source}
    if kind in ("ebnf", "lark"):
        return {"type": "grammar", "grammar": source, "syntax": kind}
    if kind == "choice":
        return {"type": "or", "elements": [{"type": "const_string", "value": text} for text in json.loads(source)]}
    tag = json.loads(source)
    if "format" not in tag:
        raise bad_request(f"{constraint.param}: the older form of structural tags is not supported together with tools "
                          "or reasoning", constraint.param, "unsupported_parameter")
    found: dict[str, Any] = tag["format"]
    return found


def read_tools(fields: Fields, *, flat: bool = False, subset: str = "none") -> Tools | None:
    """The tools of a request; None where none may be called. ``flat``: as the Responses API writes them; ``subset``:
    ``strict_subset`` of the settings.

    Raises :class:`ApiError` naming the tool that is wrong.
    """
    for old in ("functions", "function_call"):
        if fields.has(old):
            raise fields.wrong(old, "is the old form; use tools and tool_choice", "unsupported_parameter")
    parallel = fields.flag("parallel_tool_calls", True)
    tools = Tools([], {}, None, parallel, [])
    for one in fields.objects("tools", limit=MAX_TOOLS):
        _read_tool(one, tools, flat, subset)
    choice = _read_choice(fields, tools)
    if not tools.places or choice == "none":
        return None
    return Tools(tools.specs, tools.customs, choice, parallel, tools.template, tools.places, tools.relaxed)


def _read_tool(one: Fields, tools: Tools, flat: bool, subset: str) -> None:
    kind = one.needed_text("type", limit=60)
    if kind == "function":
        inner = one if flat else one.needed_object("function")
        inner.check_known(FUNCTION_FIELDS | ({"type", "defer_loading"} if flat else set()), strict=True)
        parameters = inner.object("parameters")
        strict = inner.optional_flag("strict")
        if strict and parameters is not None:
            check_subset(inner, "parameters", parameters.value, subset, "invalid_function_parameters")
        spec = _spec(inner, inner.needed_text("name", limit=128), inner.text("description"),
                     None if parameters is None else parameters.value, strict is not False)
        if strict is False:
            tools.relaxed.append((inner.name("parameters"), "strict: false: any JSON object is accepted"))
        _add(tools, inner, spec, inner.name("parameters"), parameters)
    elif kind == "custom":
        inner = one if flat else one.needed_object("custom")
        _read_custom(inner, tools, flat)
    else:
        raise one.wrong("type", f"tools of type {kind!r} are not supported; use function or custom",
                        "unsupported_parameter")


def _read_custom(inner: Fields, tools: Tools, flat: bool) -> None:
    inner.check_known(frozenset({"name", "description", "format"}) | ({"type", "defer_loading"} if flat else set()),
                      strict=True)
    name = inner.needed_text("name", limit=128)
    text: dict[str, Any] = {"type": "string"}
    lark: str | None = None
    form = inner.object("format")
    shown = inner.text("description") or ""
    place = inner.path
    if form is not None and form.needed_text("type") != "text":
        if form.value["type"] != "grammar":
            raise form.wrong("type", "must be text or grammar")
        grammar = form.object("grammar") or form  # the Responses API writes syntax and definition one level higher
        syntax = grammar.needed_text("syntax", limit=20)
        definition = grammar.needed_text("definition")
        place = grammar.name("definition")
        if syntax == "lark":
            lark = definition
            shown = f"{shown}\nThe input is text of this Lark grammar:\n{definition}"
        elif syntax == "regex":
            text["pattern"] = f"^(?:{definition})$"
            shown = f"{shown}\nThe input matches this regular expression: {definition}"
        else:
            raise grammar.wrong("syntax", "must be lark or regex")
    tools.customs[name] = CustomTool(name, lark)
    spec = _spec(inner, name, shown, {**INPUT, "properties": {"input": text}}, True)
    if lark is None:
        _add(tools, inner, spec, place, None)
    else:
        _place(tools, inner, name, place)
        tools.template.append(_shown(spec))


def _spec(fields: Fields, name: str, description: str | None, parameters: Mapping[str, Any] | None,
          strict: bool) -> ToolSpec:
    try:
        return ToolSpec(name, description, parameters, strict)
    except ConstrainedError as error:
        raise from_library(error, param=fields.name("parameters" if "arguments" in str(error) else "name"),
                           code="invalid_function_parameters") from None


def _add(tools: Tools, fields: Fields, spec: ToolSpec, place: str, parameters: Fields | None) -> None:
    _place(tools, fields, spec.name, place)
    tools.specs.append(spec)
    tools.template.append(_shown(spec))


def _place(tools: Tools, fields: Fields, name: str, place: str) -> None:
    if name in tools.places:
        raise fields.wrong("name", f"two tools are called {name!r}")
    tools.places[name] = place


def _shown(spec: ToolSpec) -> dict[str, Any]:
    """A tool as chat templates know it."""
    return {"type": "function", "function": {
        "name": spec.name, "description": spec.description or "",
        "parameters": dict(spec.parameters or {"type": "object", "properties": {}})}}


def _read_choice(fields: Fields, tools: Tools) -> Any:
    """``auto``, ``required``, ``none``, or ``{"type": ..., "names": [...]}``, with a ``mode`` for allowed tools."""
    value = fields.value.get("tool_choice")
    if value is None:
        return "auto"
    if isinstance(value, str):
        if value not in ("auto", "none", "required", "any"):
            raise fields.wrong("tool_choice", "must be auto, none, required, or an object")
        if value in ("required", "any") and not tools.places:
            raise fields.wrong("tool_choice", "needs tools")
        return "required" if value == "any" else value
    choice = fields.needed_object("tool_choice")
    kind = choice.needed_text("type", limit=60)
    if kind in ("function", "custom"):
        inner = choice.object(kind) or choice
        return {"type": "function", "names": [_known(inner, tools)]}
    if kind == "allowed_tools":
        allowed = choice.object("allowed_tools") or choice
        mode = allowed.text("mode", "auto")
        if mode not in ("auto", "required"):
            raise allowed.wrong("mode", "must be auto or required")
        names: list[str] = []
        for entry in allowed.objects("tools", limit=MAX_TOOLS):
            inner = entry.object(entry.text("type", "function") or "function") or entry
            names.append(_known(inner, tools))
        if not names:
            raise allowed.wrong("tools", "names no tool")
        return {"type": "allowed_tools", "mode": mode, "names": names}
    raise choice.wrong("type", "must be function, custom or allowed_tools", "unsupported_parameter")


def _known(fields: Fields, tools: Tools) -> str:
    name = fields.needed_text("name", limit=128)
    if name not in tools.places:
        raise fields.wrong("name", f"there is no tool {name!r}")
    return name


def format_of(name: str, chat_template: str | None, token_texts: Any) -> ToolFormat:
    """The format by its name, or for ``auto`` by the model. Raises :class:`ConstrainedError`."""
    return detect_format(chat_template, token_texts) if name == "auto" else get_format(name)


def in_words(messages: Sequence[Mapping[str, Any]], shown: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """Messages for chat templates that know nothing of tools: tools, calls and results as plain text."""
    found: list[dict[str, Any]] = []
    for message in messages:
        one = {key: value for key, value in message.items() if key != "tool_calls"}
        calls = [json.dumps({"name": call["function"]["name"], "arguments": call["function"]["arguments"]})
                 for call in message.get("tool_calls", ())]
        if calls:
            one["content"] = "\n".join([*([one["content"]] if one.get("content") else []), *calls])
        found.append(one)
    if shown is None:
        return found
    lines = [json.dumps(tool["function"]) for tool in shown]
    text = ("You can call these tools:\n" + "\n".join(lines) + '\nTo call one, write {"name": NAME, "arguments": '
            "ARGUMENTS} with ARGUMENTS as its parameters say.")
    if found and found[0]["role"] == "system":
        found[0]["content"] = f"{found[0]['content']}\n\n{text}"
    else:
        found.insert(0, {"role": "system", "content": text})
    return found

