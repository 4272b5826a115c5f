"""Tools: Python functions that a model may call.

    @llm.tool
    def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
        \"\"\"Current weather.

        Args:
            city: its name
        \"\"\"

The signature gives the JSON Schema of the arguments, the docstring the descriptions; the grammar holds the model to
both, so arguments always fit. What a grammar cannot say (validators) is checked before the function runs, and told to
the model as the result of its call, as are errors of the function and calls that take too long.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from constrained.api.grammar import Grammar
from constrained.errors import ConstrainedError, GrammarError, UnsupportedSchemaError, echo
from constrained.frontends.python_types import type_schema
from constrained.frontends.python_types.adapters import adapter_of
from constrained.toolcalls.tools import NAME
from constrained.typed.docstrings import parse_docstring
from constrained.typed.errors import ToolError
from constrained.typed.function import local_names
from constrained.typed.results import ToolCall
from constrained.typed.threads import in_thread

__all__ = ["Tool", "ToolResult", "arguments_type", "as_tools", "make_tool", "tool", "tool_dicts"]

MAX_RESULT = 100_000
"""Characters of a result that go to the model; a longer one is cut, and says so."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to. ``content`` is what the model is told; ``error`` is set where the call failed."""

    call: ToolCall
    content: str
    value: Any = field(default=None, repr=False)
    error: Exception | None = None
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """As a message."""
        return {"role": "tool", "tool_call_id": self.call.id, "name": self.call.function.name, "content": self.content}


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A function with its schema. Call it as the function is called."""

    name: str
    description: str | None
    parameters: Mapping[str, Any]
    """JSON Schema of the arguments, an object, in the order of the signature."""
    function: Callable[..., Any]
    timeout: float | None = None
    """Seconds; None: the agent's."""
    strict: bool = True
    _adapter: Any = field(default=None, repr=False)
    _positional: tuple[str, ...] = field(default=(), repr=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function itself."""
        return self.function(*args, **kwargs)

    @property
    def is_async(self) -> bool:
        """Whether it is an ``async def``."""
        return inspect.iscoroutinefunction(self.function)

    def to_dict(self) -> dict[str, Any]:
        """As OpenAI's clients write a tool."""
        function: dict[str, Any] = {"name": self.name, "parameters": dict(self.parameters)}
        if self.description:
            function["description"] = self.description
        if not self.strict:
            function["strict"] = False
        return {"type": "function", "function": function}

    def arguments(self, text: str) -> tuple[list[Any], dict[str, Any]]:
        """JSON arguments as the function takes them. Raises :class:`ToolError` that says what does not fit."""
        from pydantic import ValidationError

        try:
            values: dict[str, Any] = self._adapter.validate_json(text or "{}")
        except ValidationError as error:
            lines = [f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()[:5]]
            raise ToolError("the arguments do not fit: " + "; ".join(lines)) from None
        return [values.pop(name) for name in self._positional if name in values], values

    async def run(self, call: ToolCall, timeout: float | None = None) -> ToolResult:
        """Run a call. Never raises what the function raises: that is the result."""
        started = time.monotonic()
        limit = self.timeout if self.timeout is not None else timeout
        try:
            args, kwargs = self.arguments(call.function.arguments)
            work = (self.function(*args, **kwargs) if self.is_async
                    else in_thread(lambda: self.function(*args, **kwargs)))
            value = await asyncio.wait_for(work, limit)
            if inspect.isawaitable(value):
                value = await asyncio.wait_for(value, limit)
            content, error = as_content(value), None
        except (Exception, asyncio.CancelledError) as problem:
            task = asyncio.current_task()
            if isinstance(problem, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # the run is cancelled, not something inside the tool
            if isinstance(problem, asyncio.CancelledError):
                problem = ToolError(f"{self.name} was cancelled")
            value, error = None, problem
            if isinstance(problem, TimeoutError) and limit is not None and time.monotonic() - started >= limit:
                content = f"Error: {self.name} took longer than {limit:g} seconds and was given up"
            else:
                said = str(problem).split("\nhint:")[0]
                content = f"Error: {said}" if isinstance(problem, ToolError) else (
                    f"Error: {type(problem).__name__}: {said}")
        return ToolResult(call, content[:MAX_RESULT], value, error, time.monotonic() - started)


def tool(function: Any = None, /, *, name: str | None = None, description: str | None = None,
         timeout: float | None = None, strict: bool = True) -> Any:
    """Decorator: makes a :class:`Tool` of a function.

    Args:
        name: default: the function's.
        description: default: the docstring without its sections.
        timeout: seconds that a call may take.
        strict: False: any JSON object may be written as arguments; they are checked before the call alone.

    Raises:
        ToolError: a parameter without a type, ``*args`` or ``**kwargs``, a type that no grammar can hold, a name that
            no model can write, a docstring that describes a parameter that is not there.
    """
    if function is None:
        names = local_names(2)
        return lambda f: make_tool(f, names, name, description, timeout, strict)
    return make_tool(function, local_names(2), name, description, timeout, strict)


def make_tool(function: Any, names: Mapping[str, Any], name: str | None = None, description: str | None = None,
              timeout: float | None = None, strict: bool = True) -> Tool:
    """What ``tool`` does; ``names``: local ones that annotations may use."""
    if isinstance(function, Tool):
        return function
    if not callable(function) or inspect.isclass(function):
        raise ToolError(f"a {type(function).__name__} is no tool",
                        hint="decorate a function: @llm.tool def weather(city: str) -> str: ...")
    called = str(name or getattr(function, "__name__", ""))
    if not NAME.fullmatch(called):
        raise ToolError(f"a tool cannot be called {called!r:.150}",
                        hint='give it a name of letters, digits and _: tool(function, name="...")')
    if timeout is not None and timeout <= 0:
        raise ToolError(f"timeout is a number of seconds above 0, not {timeout!r:.50}")
    documented = parse_docstring(function.__doc__)
    fields, required, positional, defaults = _parameters(function, called, names, documented.parameters)
    arguments = _arguments_type(called, fields, required)
    try:
        adapter, schema = adapter_of(arguments), type_schema(arguments)
        Grammar.from_type(arguments)  # a schema for readers says nothing of what no grammar can hold
    except ConstrainedError as error:
        said = error.without_option() if isinstance(error, UnsupportedSchemaError) else error
        raise ToolError(f"the parameters of {called}: {said}") from None
    return Tool(called, description or documented.description or None, _inlined(schema, defaults), function, timeout,
                strict, adapter, positional)


def arguments_type(function: Any) -> Any:
    """The arguments of a function as a TypedDict, for values that are such arguments. Raises :class:`ToolError`."""
    called = str(getattr(function, "__name__", "function"))
    fields, required, _, _ = _parameters(function, called, {}, parse_docstring(function.__doc__).parameters)
    return _arguments_type(called, fields, required)


def _parameters(function: Any, called: str, names: Mapping[str, Any], described: Mapping[str, str]
                ) -> tuple[dict[str, Any], set[str], tuple[str, ...], dict[str, Any]]:
    """Annotated types, which are required, which go by position, and JSON defaults."""
    target = function if hasattr(function, "__code__") or inspect.ismethod(function) else type(function).__call__
    try:
        hints = typing.get_type_hints(target, localns=dict(names), include_extras=True)
    except NameError as error:
        raise ToolError(f"the annotations of {called} name {error.name!r}, which is not there",
                        hint="define or import the type before the tool") from None
    except (TypeError, SyntaxError) as error:
        raise ToolError(f"the annotations of {called} cannot be read: {error}") from None
    signature = inspect.signature(function)
    fields: dict[str, Any] = {}
    required: set[str] = set()
    positional: list[str] = []
    defaults: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ToolError(f"{called} takes {parameter}", hint="a tool's parameters are named one by one; take a list "
                                                                "or a dict with a type instead")
        if parameter.name not in hints:
            raise ToolError(f"the parameter {parameter.name} of {called} has no type",
                            hint=f"def {called}({parameter.name}: str, ...): the model is held to the types")
        kind = hints[parameter.name]
        if described.get(parameter.name):
            from pydantic import Field

            kind = typing.Annotated[kind, Field(description=described[parameter.name])]
        fields[parameter.name] = kind
        if parameter.default is parameter.empty:
            required.add(parameter.name)
        else:
            try:
                json.dumps(parameter.default)
                defaults[parameter.name] = parameter.default
            except (TypeError, ValueError):
                pass
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(parameter.name)
    unknown = [one for one in described if one not in fields]
    if unknown:
        raise ToolError(f"the docstring of {called} describes {unknown[0]}, which is no parameter",
                        hint=f"the parameters are: {', '.join(fields) or 'none'}")
    return fields, required, tuple(positional), defaults


def _arguments_type(called: str, fields: Mapping[str, Any], required: set[str]) -> Any:
    """A TypedDict: any name may be a parameter's, and what is left out keeps the function's own default."""
    from typing_extensions import TypedDict

    return TypedDict(called, {name: kind if name in required else typing.NotRequired[kind]  # type: ignore[operator]
                              for name, kind in fields.items()})


def _inlined(schema: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments' object at the top of the schema, with the defaults."""
    found = dict(schema)
    reference = found.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        definitions = dict(found.get("$defs", {}))
        inner = definitions.get(reference.removeprefix("#/$defs/"))
        if isinstance(inner, dict):
            found = {**inner, **({"$defs": definitions} if len(definitions) > 1 else {})}
    members = {name: {**member, "default": defaults[name]} if name in defaults and isinstance(member, dict) else member
               for name, member in found.get("properties", {}).items()}
    found.pop("title", None)
    return {**found, "type": "object", "properties": members}


def as_content(value: Any) -> str:
    """A tool's value as the model is told it: text as it is, everything else as JSON."""
    if isinstance(value, str):
        return value
    from pydantic_core import to_json

    return to_json(value, fallback=str, inf_nan_mode="constants").decode()


def as_tools(tools: Iterable[Any], names: Mapping[str, Any] | None = None) -> list[Tool | Mapping[str, Any]]:
    """Tools of one call: ``Tool`` values, functions, or OpenAI's dicts. Raises :class:`ToolError` for a clash."""
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
        raise ToolError(f"tools are a list, not {type(tools).__name__}")
    found: list[Tool | Mapping[str, Any]] = []
    seen: set[str] = set()
    for one in tools:
        made: Tool | Mapping[str, Any] = _checked(one) if isinstance(one, Mapping) else make_tool(one, names or {})
        name = _name(made)
        if name in seen:
            raise ToolError(f"two tools are called {name!r:.100}", hint='rename one: tool(function, name="...")')
        seen.add(name)
        found.append(made)
    return found


def tool_dicts(tools: Sequence[Tool | Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """In OpenAI's form."""
    return tuple(one.to_dict() if isinstance(one, Tool) else one for one in tools)


def _checked(one: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        json.dumps(one)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f"a tool's dict must be JSON: {error}") from None
    return one


def _name(one: Tool | Mapping[str, Any]) -> str:
    if isinstance(one, Tool):
        return one.name
    inner = one.get("function", one)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str):
        raise ToolError(f"this is no tool: {echo(str(dict(one)))}",
                        hint='{"type": "function", "function": {"name": ..., "parameters": {...}}}')
    return name


def checked_choice(tools: Sequence[Mapping[str, Any]], choice: Any, parallel: bool) -> None:
    """Raises :class:`ToolError` for a ``tool_choice`` that names no tool, or is none."""
    from constrained.toolcalls.tools import select_tools

    try:
        select_tools(tools, choice, parallel)
    except GrammarError as error:
        raise ToolError(str(error)) from None
