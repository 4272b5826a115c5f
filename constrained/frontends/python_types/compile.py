"""Types to rules, to schemas for prompts, and texts back to values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from constrained.errors import SchemaError
from constrained.frontends.json_schema.denotation import NOTHING
from constrained.frontends.json_schema.given import Given
from constrained.frontends.python_types.adapters import adapter_of
from constrained.grammar.ir import RuleSet
from constrained.limits import Limits

__all__ = ["from_type", "type_schema", "validate"]


def from_type(annotation: Any, **options: Any) -> RuleSet:
    """The JSON texts of a type's values: what ``TypeAdapter(annotation).validate_json`` accepts, in canonical spelling.

    Options as ``from_json_schema``; ``draft`` and ``registry`` say nothing here.

    Raises:
        UnsupportedSchemaError: an annotation that no grammar says exactly, with its place and what to write instead.
        UnsatisfiableSchemaError, GrammarLimitError: as ``from_json_schema``.
        ConstrainedError: Pydantic is not installed.
    """
    from constrained.frontends.json_schema.compile import from_json_schema

    return from_json_schema(adapter_of(annotation), **options)


def type_schema(annotation: Any) -> dict[str, Any]:
    """The JSON Schema of a type, for prompts: members in the order in which the grammar writes them, with the
    descriptions of fields and classes. What the grammar cannot enforce is left open.

    Raises as ``from_type``.
    """
    from constrained.frontends.python_types.translate import translated  # tables that nothing else needs

    root, _ = translated(annotation, Limits(), "ignore", 400)
    found: dict[str, Any] = {}
    stack: list[tuple[Any, Any]] = [(root, found)]
    while stack:
        source, target = stack.pop()
        for key, value in source.items() if isinstance(source, dict) else enumerate(source):
            plain: Any = value
            if isinstance(value, Given) and value.denotation is NOTHING and isinstance(source, dict):
                continue  # a member that must not be written is not worth a word
            if isinstance(value, (dict, list)):
                plain = {} if isinstance(value, dict) else []
                stack.append((value, plain))
            elif isinstance(value, Decimal):
                plain = int(value) if value == value.to_integral_value() else float(value)
            elif isinstance(value, str):
                plain = str(value)
            if isinstance(target, dict):
                target[str(key)] = plain
            else:
                target.append(plain)
    return found


def validate(annotation: Any, text: str | bytes) -> Any:
    """The value of ``annotation`` that ``text`` writes, by ``TypeAdapter.validate_json``.

    Raises ``pydantic.ValidationError`` where it is none, and as ``from_type``.
    """
    if not isinstance(text, (str, bytes, bytearray)):
        raise SchemaError(f"a text is a str or bytes, not {type(text).__name__}")
    return adapter_of(annotation).validate_json(text)
