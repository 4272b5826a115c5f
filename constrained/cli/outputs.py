"""What the commands that generate are given: an output type by one option, and the model.

``--schema`` (a file or JSON), ``--type module:Name`` (from the working directory), ``--grammar`` (EBNF, or Lark for
``.lark``), ``--regex``, ``--choice a --choice b``; none of them means free text.
"""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from constrained.cli.inputs import PATTERN_SUFFIXES, pattern_in, read_text
from constrained.cli.problem import UsageProblem
from constrained.errors import echo
from constrained.typed.llm import LLM
from constrained.typed.types import EBNF, Choice, JsonSchema, Lark, Regex

__all__ = ["Wanted", "as_json", "open_model", "output_of"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options as they were given."""

    schema: str | None = None
    type: str | None = None
    grammar: str | None = None
    regex: str | None = None
    choice: tuple[str, ...] = ()


def output_of(wanted: Wanted) -> Any:
    """The output type, None for free text.

    Raises ``UsageProblem`` for several options, and for what cannot be read; further what the front ends raise.
    """
    given = [name for name in ("schema", "type", "grammar", "regex", "choice") if getattr(wanted, name)]
    if len(given) > 1:
        raise UsageProblem(f"--{given[0]} and --{given[1]} at the same time", hint="the output has one form")
    if wanted.schema is not None:
        return JsonSchema(_schema(wanted.schema))
    if wanted.type is not None:
        return _type(wanted.type)
    if wanted.grammar is not None:
        text = read_text(wanted.grammar)
        if wanted.grammar.endswith(PATTERN_SUFFIXES):
            return Regex(pattern_in(text))
        return Lark(text) if wanted.grammar.endswith(".lark") else EBNF(text)
    if wanted.regex is not None:
        return Regex(wanted.regex)
    return Choice(wanted.choice) if wanted.choice else None


def _schema(given: str) -> Any:
    """A file's JSON, or JSON that was typed."""
    typed = given.lstrip().startswith(("{", "true", "false"))
    text = given if typed and not Path(given).exists() else read_text(given)
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageProblem(f"--schema {echo(given)}: no JSON: {error}") from None


def _type(given: str) -> Any:
    module, colon, name = given.partition(":")
    if not colon or not module or not name:
        raise UsageProblem(f"--type {echo(given)}: write module:Name", hint="for example --type shop.models:Order")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise UsageProblem(f"--type {echo(given)}: {error}") from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise UsageProblem(f"--type {echo(given)}: {module} has no {name}")
        found = getattr(found, part)
    return found


def open_model(source: str | None, *, device: str | None = None, max_batch: int = 8) -> LLM:
    """The model: a file, a directory, a URL, or the built-in one. Raises what ``LLM`` raises."""
    options: dict[str, Any] = {} if device is None else {"device": device}
    return LLM(source, max_batch=max_batch, **options)


def as_json(value: Any) -> Any:
    """A typed value as JSON values. Pydantic knows how, where there is one."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    try:
        from pydantic_core import to_jsonable_python
    except ImportError:
        return value
    return to_jsonable_python(value)
