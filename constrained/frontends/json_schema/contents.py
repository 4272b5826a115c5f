"""What small schemas say, to be compared: equal ones are one expression of a document, wherever they stand.

Scalars among them mean the same in every document, so what they denote is kept from one to the next (``leaves``).
"""

from __future__ import annotations

from typing import Any

from constrained.frontends.json_schema.denotation import Denotation
from constrained.frontends.json_schema.dialects import DIALECTS, Dialect

__all__ = ["content_of", "leaves"]

MOST_KEYWORDS = 8
"""Schemas of fewer keywords are compared."""

_SILENT, _SAYS, _ITEMS = 1, 2, 3
_KEYWORDS = {
    **dict.fromkeys("title description default examples $comment deprecated readOnly writeOnly".split(), _SILENT),
    **dict.fromkeys("type minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength enum const "
                    "minItems maxItems".split(), _SAYS),
    "items": _ITEMS,
}
_TYPED: dict[str, tuple[tuple[str, type, str], ...]] = {
    name: (("type", str, name),) for name in "null boolean integer number string array object".split()}
"""The contents of schemas that say nothing but a type: most of them."""
_MOST_LEAVES = 20_000
_LEAVES: dict[tuple[str, int], dict[Any, Denotation]] = {}


def content_of(schema: dict[str, Any], depth: int = 1) -> tuple[Any, ...] | None:
    """What a schema says, to be compared; None where it says more than a few simple things, of itself and its items."""
    said = schema.get("type")
    if type(said) is str and (len(schema) == 1 or (len(schema) == 2 and "description" in schema)) and said in _TYPED:
        return _TYPED[said]
    if len(schema) >= MOST_KEYWORDS:
        return None
    found: list[tuple[Any, ...]] = []
    for key, value in schema.items():
        says = _KEYWORDS.get(key, 0)
        if says == _SILENT:
            continue
        kind = type(value)
        if says == _SAYS:
            if kind is list:
                if len(value) > 64:
                    return None
                for item in value:
                    if isinstance(item, (list, dict)):
                        return None
                value = tuple([(type(item), item) for item in value])
            elif kind is dict:
                return None
            found.append((key, kind, value))
        elif says == _ITEMS and kind is dict and depth:
            inner = content_of(value, depth - 1)
            if inner is None:
                return None
            found.append((key, dict, inner))
        else:
            return None
    if len(found) > 1:
        found.sort(key=_first)
    return tuple(found)


def _first(entry: tuple[Any, ...]) -> Any:
    return entry[0]


def leaves(dialect: Dialect, max_repeat: int) -> dict[Any, Denotation]:
    """What scalars denote, by their content; shared by all documents that are read alike."""
    if DIALECTS.get(dialect.name) is not dialect:
        return {}
    found = _LEAVES.setdefault((dialect.name, max_repeat), {})
    if len(found) > _MOST_LEAVES:
        found.clear()
    return found
