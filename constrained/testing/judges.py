"""Who judges a text beside the grammar that is tested: Pydantic for types, jsonschema for schemas, re for patterns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from constrained.api.grammar import Grammar
from constrained.errors import ConstrainedError
from constrained.frontends.python_types import is_python_type, validate

__all__ = ["Judge", "judge_of"]

Judge = Callable[[str], str | None]
"""Why a text is not valid, None if it is."""


def judge_of(subject: Any) -> Judge | None:
    """The judge of what a user gave; None where there is none but the grammar (a ``Grammar``).

    Raises ``ConstrainedError`` where jsonschema is needed and not installed.
    """
    if isinstance(subject, Grammar):
        return None
    if isinstance(subject, re.Pattern):
        return lambda text: None if subject.fullmatch(text) else f"it does not match {subject.pattern!r:.200}"
    if is_python_type(subject):
        return lambda text: _by_type(subject, text)
    return _by_schema(json.loads(subject) if isinstance(subject, (str, bytes)) else subject)


def _by_type(annotation: Any, text: str) -> str | None:
    try:
        validate(annotation, text)
    except ValueError as error:
        return str(error)
    return None


def _by_schema(schema: Any) -> Judge:
    try:
        import jsonschema
    except ImportError:
        raise ConstrainedError("texts of a JSON Schema are judged by jsonschema, which is not installed",
                               hint="pip install jsonschema") from None
    validator_class = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    validator = validator_class(schema, format_checker=validator_class.FORMAT_CHECKER)

    def judge(text: str) -> str | None:
        try:
            value = json.loads(text)
        except ValueError as error:
            return f"it is no JSON: {error}"
        worst = jsonschema.exceptions.best_match(validator.iter_errors(value))
        return None if worst is None else f"{worst.json_path}: {worst.message}"

    return judge
