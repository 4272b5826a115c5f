"""A Python type as a language model sees it: a grammar, words for the prompt, and a reader of what was written.

``output_type(T)`` gives an ``OutputType``: frozen, made once for each hashable type and shared. Everything that
``Grammar.from_type`` takes is written as JSON on one line (``{"name": "Ada", "age": 36}``: one spelling of keys and
blanks, so they are forced tokens and cost nothing) and closed (no undeclared members); the types of
:mod:`constrained.typed.types` are written as plain text.

Raises :class:`AnnotationError` for what is no type, and says what to write instead.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, get_args, get_origin

from constrained.api.grammar import Grammar
from constrained.engine.capture_graph import CaptureGraph, has_captures
from constrained.errors import GrammarError, UnsupportedSchemaError, echo
from constrained.frontends.json_schema.captured import captured_rules
from constrained.frontends.json_schema.coverage import CoverageReport, coverage
from constrained.frontends.python_types import type_schema
from constrained.frontends.python_types.adapters import adapter_of
from constrained.grammar.ir import TokenReference, walk
from constrained.typed.errors import AnnotationError, OutputError, ToolError
from constrained.typed.outline import outline
from constrained.typed.partial_captures import JsonCaptures, TextCaptures
from constrained.typed.types import WHOLE, JsonSchema, Regex, TextType

__all__ = ["JSON_LAYOUT", "OutputType", "name_of", "output_type", "text_type_of"]

JSON_LAYOUT: dict[str, Any] = {"any_whitespace": False, "separators": (", ", ": "), "strict_mode": True,
                               "max_number_digits": 40}
"""How typed values are written: as ``json.dumps`` does by default, without undeclared members, numbers without bounds
of up to 40 digits (a small model that has begun with zeros goes on with them)."""

MAX_PROMPT_SCHEMA = 8_000
"""Characters of a schema in a prompt. A longer one is left out: it would fill the context of a small model."""

MAX_ERRORS = 5
"""Validation errors that are told to the model at once."""

MAX_SHARED = 512
"""Types kept ready."""


@dataclass(frozen=True, slots=True, eq=False)
class OutputType:
    """See the module docstring.

    Attributes:
        annotation: the type as the caller wrote it.
        grammar: its texts.
        schema: the JSON Schema in the order in which the grammar writes it, None for plain text.
        instructions: the sentence for the prompt, None where there is nothing to say.
        read: the text to its value. Raises :class:`OutputError`.
        source: what the JSON grammar is made of: a schema, or a type's adapter; None for plain text.
    """

    annotation: Any
    grammar: Grammar
    schema: Any
    instructions: str | None
    read: Callable[[str], Any]
    source: Any = None
    _graph: list[CaptureGraph | None] = field(default_factory=list, repr=False)

    @property
    def json(self) -> bool:
        """Its texts are JSON."""
        return self.schema is not None

    @property
    def coverage(self) -> CoverageReport:
        """What of the type the mask enforces. Plain text is a grammar of its own: nothing is left out."""
        if not self.json:
            return CoverageReport(())
        of = self.annotation.schema if isinstance(self.annotation, JsonSchema) else self.annotation
        return coverage(of, **JSON_LAYOUT)

    def follower(self) -> JsonCaptures | TextCaptures | None:
        """What follows a text of the grammar while it is written, and knows which parts are certain.

        None where there is nothing to follow: plain text without named parts, or with tokens or left recursion in its
        grammar, for which captures are not to be had.
        """
        if not self._graph:
            self._graph.append(self._made_graph())
        (graph,) = self._graph
        if graph is None:
            return None
        return JsonCaptures(graph) if self.json else TextCaptures(graph)

    def _made_graph(self) -> CaptureGraph | None:
        try:
            if self.json:
                return CaptureGraph(captured_rules(self.source, **JSON_LAYOUT), None)
            rules = self.grammar.rules
            if not has_captures(rules) or any(isinstance(node, TokenReference) for rule in rules.rules.values()
                                              for node in walk(rule)):
                return None
            return CaptureGraph(rules, None)
        except GrammarError:
            return None

    def __repr__(self) -> str:
        return f"<OutputType {name_of(self.annotation)}>"


def output_type(annotation: Any) -> OutputType:
    """The ``OutputType`` of a type; one is its own. Raises :class:`AnnotationError`, or the grammar's own error."""
    if isinstance(annotation, OutputType):
        return annotation
    try:
        hash(annotation)
    except TypeError:  # made anew each time
        return _make(annotation)
    return _shared(annotation)


def name_of(annotation: Any) -> str:
    """How a type is called in messages."""
    name = getattr(annotation, "__name__", None)
    if name:
        return str(name)
    shown = echo(str(annotation), 100)
    return shown.removeprefix(shown[0]).removesuffix(shown[0])


@lru_cache(maxsize=MAX_SHARED, typed=True)
def _shared(annotation: Any) -> OutputType:
    return _make(annotation)


def _make(annotation: Any) -> OutputType:
    text_type = text_type_of(annotation)
    if text_type is not None:
        return OutputType(annotation, text_type.grammar(), None, text_type.instructions(), str)
    if isinstance(annotation, Grammar):
        return OutputType(annotation, annotation, None, None, str)
    if isinstance(annotation, JsonSchema):
        return _json(annotation, annotation.schema, Grammar.from_json_schema(annotation.schema, **JSON_LAYOUT),
                     _read_json, annotation.schema)
    if inspect.isfunction(annotation) or inspect.ismethod(annotation):
        return _make(_arguments(annotation))
    if callable(getattr(annotation, "to_schema", None)) and not isinstance(annotation, type):  # genson's builders
        return _make(JsonSchema(annotation.to_schema()))
    _refuse(annotation)
    schema, grammar, read = _python_type(annotation)
    return _json(annotation, schema, grammar, read, adapter_of(annotation))


def _arguments(function: Any) -> Any:
    """The type of a function's arguments: a dict by their names."""
    from constrained.typed.tools import arguments_type  # which needs output types itself

    try:
        return arguments_type(function)
    except ToolError as error:
        raise AnnotationError(str(error)) from None


def text_type_of(annotation: Any) -> TextType | None:
    """Plain text types, also as ``Annotated[str, Regex(...)]`` and ``re.compile(...)``."""
    if isinstance(annotation, TextType):
        return annotation
    if get_origin(annotation) is Annotated and get_args(annotation)[0] is str:
        found = [extra for extra in get_args(annotation)[1:] if isinstance(extra, TextType)]
        if len(found) == 1 and len(get_args(annotation)) == 2:
            return found[0]
    if isinstance(annotation, re.Pattern):
        if annotation.flags & ~re.UNICODE or isinstance(annotation.pattern, bytes):
            raise AnnotationError("a compiled pattern with flags, or of bytes, is no type",
                                  hint='write the flags into the pattern: Regex("(?i)yes|no")')
        return Regex(annotation.pattern)
    return None


def _refuse(annotation: Any) -> None:
    """What looks like a type and is none, with what to write instead."""
    if annotation is Any or annotation is object:
        raise AnnotationError("Any says nothing about the value",
                              hint='write the type; for any JSON value JsonSchema(True), for free text None')
    if isinstance(annotation, dict):
        raise AnnotationError("a dict is no type", hint="for a JSON Schema write JsonSchema(schema)")
    if isinstance(annotation, str):
        raise AnnotationError(f"the text {echo(annotation)} is no type",
                              hint="for a pattern write Regex(...), for fixed texts Choice(...), for a grammar "
                                   "EBNF(...)")
    if isinstance(annotation, (list, tuple, set, frozenset)):
        raise AnnotationError(f"a {type(annotation).__name__} is no type",
                              hint='for one of several texts write Choice("a", "b") or Literal["a", "b"]; for a list '
                                   "of values list[T]")


def _json(annotation: Any, schema: Any, grammar: Grammar, read: Callable[[str], Any], source: Any) -> OutputType:
    given = _for_prompt(schema)
    instructions = None
    form = outline(given)
    if form is not None:
        instructions = f"Answer only with JSON of this form: {form}"
    elif schema is True:
        instructions = "Answer only with JSON"
    elif len(shown := json.dumps(given, ensure_ascii=False)) <= MAX_PROMPT_SCHEMA:
        instructions = f"Answer only with JSON that fits this JSON Schema: {shown}"
    return OutputType(annotation, grammar, schema, instructions, read, source)


def _python_type(annotation: Any) -> tuple[Any, Grammar, Callable[[str], Any]]:
    """JSON Schema, grammar and reader of a Python type."""
    try:
        adapter = adapter_of(annotation)
        schema = type_schema(annotation)
        grammar = Grammar.from_type(annotation, **JSON_LAYOUT)
    except UnsupportedSchemaError as error:
        raise AnnotationError(f"{name_of(annotation)} is no type that values can be written for: "
                              f"{error.without_option()}",
                              hint=None if error.hint else "use a Pydantic model, dataclass, TypedDict, Literal, "
                              "Enum, Union, list, dict, tuple, int, float, bool, str, date ...; or Regex, Choice, "
                              "EBNF, Lark, JsonSchema") from None

    def read(text: str) -> Any:
        from pydantic import ValidationError

        try:
            return adapter.validate_json(text)
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
            lines = [f"{'.'.join(map(str, e['loc'])) or 'the value'}: {e['msg']}" for e in found[:MAX_ERRORS]]
            raise OutputError(f"this is no {name_of(annotation)}: " + "; ".join(lines), text=text,
                              errors=tuple(found)) from None

    return schema, grammar, read


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OutputError(f"this is no JSON: {error}", text=text) from None


def _for_prompt(schema: Any) -> Any:
    """The schema without titles, which Pydantic makes from the names, and with patterns as they were written."""
    out: list[Any] = [schema]
    stack: list[tuple[Any, Any, bool]] = [(out, 0, False)]
    while stack:
        holder, key, names = stack.pop()
        node = holder[key]
        if isinstance(node, dict):
            drop = not names and isinstance(node.get("title"), str)
            holder[key] = copy = {k: v for k, v in node.items() if not (drop and k == "title")}
            pattern = None if names else copy.get("pattern")
            if isinstance(pattern, str) and WHOLE[0] in pattern and pattern.endswith(WHOLE[1]):
                copy["pattern"] = pattern.partition(WHOLE[0])[2].removesuffix(WHOLE[1])
            stack.extend((copy, k, k in ("properties", "$defs", "definitions", "patternProperties") and not names)
                         for k in copy if k not in ("const", "enum", "default", "examples") or names)
        elif isinstance(node, list):
            holder[key] = listed = list(node)
            stack.extend((listed, i, False) for i in range(len(listed)))
    return out[0]
