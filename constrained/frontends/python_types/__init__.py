"""Python types as grammars: what ``TypeAdapter(T).validate_json`` accepts, exactly or refused.

Reading order: ``adapters`` (types to Pydantic's core schemas), ``translate`` (those to schemas with exact leaves; the
rest is the JSON Schema front end), then the leaves: ``numbers``, ``decimals``, ``strings``, ``times``, ``hosts``,
``finite``, ``keys``; ``functions`` tells Pydantic's own functions from those of users.
"""

from __future__ import annotations

from constrained.frontends.python_types.adapters import is_python_type
from constrained.frontends.python_types.compile import from_type, type_schema, validate

__all__ = ["from_type", "is_python_type", "type_schema", "validate"]
