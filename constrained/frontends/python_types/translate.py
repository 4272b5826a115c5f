"""Types to schemas with exact leaves: Pydantic's core schema, walked once, with a stack of what is left to do.

Every place becomes a ``Given`` first: containers and unions in the keywords of JSON Schema, which are combined as those
of any schema; leaves with their own denotation where keywords say too little of them (``plain``).

What JSON cannot say, or only the running program knows, is refused at its pointer (or left open and noted, with
``unsupported`` "warn" or "ignore"). Validators written by users are always noted: their input is what is enforced.
"""

from __future__ import annotations

from typing import Any

from constrained.frontends.python_types import containers, members, scalars, wrappers
from constrained.frontends.python_types.adapters import adapter_of, config_of, core_schema_of
from constrained.frontends.python_types.task import Handler, Translator
from constrained.limits import Limits

__all__ = ["HANDLERS", "translated"]

HANDLERS: dict[str, Handler] = {**scalars.HANDLERS, **wrappers.HANDLERS, **containers.HANDLERS, **members.HANDLERS}
"""By the ``type`` of a core schema."""


def translated(annotation: Any, limits: Limits, unsupported: str,
               max_number_digits: int) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The schema of a type, and what is not enforced of it, as ``(pointer, reason)``.

    Raises UnsupportedSchemaError and GrammarLimitError; ConstrainedError without Pydantic.
    """
    adapter = adapter_of(annotation)
    translator = Translator(HANDLERS, limits, unsupported=unsupported, max_number_digits=max_number_digits)
    return translator.run(core_schema_of(adapter), config_of(adapter)), list(translator.notes)
