"""The prompt of a typed function: its docstring, with ``{name}`` for parameters.

Placeholders are those of ``str.format``: ``{name}``, ``{name.attribute}``, ``{name[key]}``, ``{name:>10}``; ``{{`` and
``}}`` are braces. Texts go in as they are, models and containers as JSON, everything else as ``format`` writes it.
Parameters that the docstring does not name follow it, one line each (``name: value``), so that nothing a caller passes
is dropped.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import string
from collections.abc import Mapping
from typing import Any

from constrained.errors import echo
from constrained.typed.errors import PromptError

__all__ = ["DocstringPrompt"]

_FORMATTER = string.Formatter()


class DocstringPrompt:
    """A docstring checked against the parameters of its function.

    Raises :class:`PromptError`: no docstring, braces that do not match, a placeholder that is no parameter.
    """

    __slots__ = ("_parts", "_rest")

    def __init__(self, name: str, docstring: str | None, parameters: list[str]) -> None:
        text = inspect.cleandoc(docstring or "")
        if not text:
            raise PromptError(f"{name} has no docstring",
                              hint='the docstring is the prompt: """Extract the person in: {text}"""')
        try:
            self._parts = [(literal, field, spec or "", conversion)
                           for literal, field, spec, conversion in _FORMATTER.parse(text)]
        except ValueError as error:
            raise PromptError(f"the docstring of {name}: {error}",
                              hint="write {{ and }} for braces that are text") from None
        named: set[str] = set()
        for _, field, spec, _ in self._parts:
            if field is None:
                continue
            head = field.replace("[", ".").split(".")[0]
            if head not in parameters or "{" in spec:
                known = ", ".join(parameters) or "none"
                raise PromptError(f"the docstring of {name} has the placeholder {{{echo(field, 60)[1:-1]}}}, which is "
                                  f"no parameter", hint=f"the parameters are: {known}; write {{{{ and }}}} for braces "
                                                        "that are text")
            if any(part.startswith("_") for part in field.replace("[", ".").replace("]", "").split(".")[1:]):
                raise PromptError(f"the docstring of {name}: {{{echo(field, 60)[1:-1]}}} names a private attribute",
                                  hint="pass what is needed as a parameter")
            named.add(head)
        self._rest = [parameter for i, parameter in enumerate(parameters)
                      if parameter not in named and not (i == 0 and parameter == "self")]

    def render(self, values: Mapping[str, Any]) -> str:
        """The prompt for these arguments. Raises :class:`PromptError` where a value lacks what a placeholder asks."""
        parts: list[str] = []
        for literal, field, spec, conversion in self._parts:
            parts.append(literal)
            if field is None:
                continue
            try:
                value, _ = _FORMATTER.get_field(field, (), values)
                shown = _FORMATTER.convert_field(value, conversion)
                parts.append(format(shown, spec) if spec or conversion else as_text(shown))
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                raise PromptError(f"the placeholder {{{field}}}: {type(error).__name__}: {error}") from None
        text = "".join(parts)
        rest = [f"{name}: {as_text(values[name])}" for name in self._rest]
        return text + ("\n\n" + "\n".join(rest) if rest else "")


def as_text(value: Any) -> str:
    """A value as it stands in a prompt."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, str):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    dump = getattr(value, "model_dump_json", None)
    if callable(dump):
        return str(dump())
    if isinstance(value, (dict, list, tuple)):
        try:
            return json.dumps(value, ensure_ascii=False, default=_jsonable)
        except (TypeError, ValueError, RecursionError):
            return str(value)
    return format(value)


def _jsonable(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
