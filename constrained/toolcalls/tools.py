"""Tools and the choice between them, as OpenAI's clients write both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from constrained.errors import GrammarError, SchemaError, echo

__all__ = ["Selection", "ToolChoice", "ToolSpec", "select_tools", "tool_specs"]

ToolChoice = str | Mapping[str, Any] | Sequence[str]
"""``"auto"``, ``"none"``, ``"required"``, ``{"type": "function", "function": {"name": ...}}``,
``{"type": "allowed_tools", "allowed_tools": {"mode": ..., "tools": [...]}}`` or a list of names, one of which must be
called."""

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")
"""Names that every family can write: no delimiter of any of them begins with one of these characters."""

ANY_OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}
NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True)
class ToolSpec:
    """One function that the model may call.

    Args:
        name: letters, digits and ``_ . : / -``, at most 128.
        description: for the prompt only.
        parameters: JSON Schema of the arguments, an object; None: there are none.
        strict: False: any JSON object is accepted as arguments.
        text: a format (a part of a structural tag) of text that is written in place of the arguments, by families that
            can (harmony, Kimi K3); it is reported as the argument ``input``.

    Raises:
        GrammarError: the name cannot be written.
        SchemaError: ``parameters`` is no schema of an object.
    """

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    strict: bool | None = True
    text: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise GrammarError(f"a tool cannot be called {self.name!r:.150}",
                               hint="use letters, digits and _ . : / - in names, at most 128 characters")
        if self.parameters is not None and not isinstance(self.parameters, Mapping):
            raise SchemaError(f"tool {self.name!r}: parameters is a schema, not {type(self.parameters).__name__}",
                              pointer="/parameters")
        kind = (self.parameters or {}).get("type", "object")
        if kind != "object" and not (isinstance(kind, list) and "object" in kind):
            raise SchemaError(f"tool {self.name!r}: the arguments of a call are an object, not {kind!r:.50}",
                              pointer="/parameters/type", hint='say "type": "object" and list the arguments in '
                                                               '"properties"')

    @property
    def schema(self) -> dict[str, Any]:
        """The schema that arguments are held to."""
        if self.strict is False:
            return ANY_OBJECT
        if self.parameters is None:
            return NO_ARGUMENTS
        if self.parameters.get("type") == "object":
            return self.parameters if isinstance(self.parameters, dict) else dict(self.parameters)
        return {**self.parameters, "type": "object"}


def tool_specs(tools: Iterable[Any]) -> list[ToolSpec]:
    """``ToolSpec`` values out of these, or of the dicts of a chat request.

    Raises ``GrammarError`` for something else and for a name that two tools have.
    """
    if not isinstance(tools, Iterable) or isinstance(tools, (str, bytes, Mapping)):
        raise GrammarError(f"tools are a list, not {type(tools).__name__}", hint="[ToolSpec(...)], or [] for none")
    found: list[ToolSpec] = []
    for number, tool in enumerate(tools):
        if isinstance(tool, Mapping):
            inner = tool.get("function", tool)
            if not isinstance(inner, Mapping) or "name" not in inner:
                raise GrammarError(f"tool {number} has no function name", hint='{"type": "function", "function": '
                                   '{"name": ..., "parameters": {...}}}')
            tool = ToolSpec(inner["name"], inner.get("description"), inner.get("parameters"), inner.get("strict", True))
        if not isinstance(tool, ToolSpec):
            raise GrammarError(f"tool {number} is a ToolSpec or a dict, not {type(tool).__name__}")
        found.append(tool)
    seen: set[str] = set()
    for tool in found:
        if tool.name in seen:
            raise GrammarError(f"two tools are called {tool.name!r}")
        seen.add(tool.name)
    return found


@dataclass(frozen=True)
class Selection:
    """What a ``tool_choice`` means: the tools that may be called, whether one must be, and whether just one."""

    tools: tuple[ToolSpec, ...]
    required: bool
    single: bool


def select_tools(tools: Iterable[Any], tool_choice: ToolChoice, parallel: bool) -> Selection:
    """The selection. Raises ``GrammarError`` for an unknown choice, or one that names no tool there is."""
    specs = tool_specs(tools)
    single = not parallel
    if isinstance(tool_choice, str):
        if tool_choice in ("auto", "required"):
            if tool_choice == "required" and not specs:
                raise GrammarError('tool_choice "required" needs a tool')
            return Selection(tuple(specs), tool_choice == "required", single)
        if tool_choice == "none":
            return Selection((), False, single)
        raise GrammarError(f"unknown tool_choice {echo(tool_choice, 60)}",
                           hint='one of "auto", "none", "required", a function, allowed tools, or a list of names')
    if isinstance(tool_choice, Mapping):
        kind = tool_choice.get("type")
        if kind == "function":
            inner = tool_choice.get("function", tool_choice)
            name = inner.get("name") if isinstance(inner, Mapping) else None
            return Selection((_by_name(specs, name),), True, True)
        if kind == "allowed_tools":
            allowed = tool_choice.get("allowed_tools", tool_choice)
            entries = allowed.get("tools") if isinstance(allowed, Mapping) else None
            mode = allowed.get("mode", "auto") if isinstance(allowed, Mapping) else None
            if not isinstance(entries, Sequence) or isinstance(entries, str) or mode not in ("auto", "required"):
                raise GrammarError('allowed tools are {"mode": "auto" or "required", "tools": [...]}')
            names = []
            for entry in entries:
                inner = entry.get("function", entry) if isinstance(entry, Mapping) else {"name": entry}
                names.append(inner.get("name") if isinstance(inner, Mapping) else None)
            return _subset(specs, names, mode == "required", single)
        raise GrammarError(f"unknown type of tool_choice: {kind!r:.60}", hint='"function" or "allowed_tools"')
    if isinstance(tool_choice, Sequence):
        return _subset(specs, list(tool_choice), True, single)
    raise GrammarError(f"a tool_choice is a str, a dict or a list of names, not {type(tool_choice).__name__}")


def _subset(specs: list[ToolSpec], names: list[Any], required: bool, single: bool) -> Selection:
    chosen = tuple(dict.fromkeys(_by_name(specs, name).name for name in names))
    if required and not chosen:
        raise GrammarError("no tool is allowed, and one is required")
    return Selection(tuple(spec for spec in specs if spec.name in chosen), required, single)


def _by_name(specs: list[ToolSpec], name: Any) -> ToolSpec:
    for spec in specs:
        if spec.name == name:
            return spec
    known = ", ".join(spec.name for spec in specs[:10])
    raise GrammarError(f"no tool is called {name!r:.100}", hint=f"there are: {known or 'none'}")
