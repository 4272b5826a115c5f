"""The schemas that most tools have, read at a tenth of the cost: an object of declared scalars, nothing else.

``members`` says whether a schema is *plain*: only keywords whose meaning and correctness are seen at a glance, so that
nothing in it can be wrong, unsatisfiable or unsupported. Its members are then written as the emitter writes them
(``PlainObjects``), with values that all plain schemas of the grammar share. Everything else takes the front end's way.
Cost: 2-5 us a property.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constrained.frontends.json_schema.emit import Emitter
from constrained.frontends.json_schema.strings import StringShape
from constrained.grammar.ir import Expr, Literal, Repeat, Sequence

__all__ = ["PlainObjects", "members", "schema_of", "value_key"]

_OBJECT = frozenset(("type", "properties", "required", "additionalProperties", "description", "title"))
_SCALAR = frozenset(("type", "description", "title"))
_ENUM = frozenset(("type", "enum", "description", "title"))
_ARRAY = frozenset(("type", "items", "description", "title"))
_TYPES = frozenset(("string", "integer", "number", "boolean", "null"))


def members(schema: Any, *, strict: bool) -> list[tuple[str, Any, bool]] | None:
    """``(name, key of the value, required)`` for each property of a plain object; None for any other schema."""
    if type(schema) is not dict or schema.get("type") != "object" or not _OBJECT.issuperset(schema):
        return None
    if schema.get("additionalProperties", not strict) is not False:
        return None
    properties, required = schema.get("properties", {}), schema.get("required", ())
    if type(properties) is not dict or not isinstance(required, (list, tuple)):
        return None
    needed = set()
    for name in required:
        if not isinstance(name, str) or name not in properties or name in needed:
            return None
        needed.add(name)
    found = []
    for name, value in properties.items():
        key = value_key(value)
        if key is None or not isinstance(name, str) or not name.isascii():
            return None
        found.append((name, key, name in needed))
    return found


def value_key(schema: Any) -> Any:
    """What tells a plain value from others, as the schema that the key stands for is written; None: it is not plain."""
    if type(schema) is not dict:
        return None
    kind = schema.get("type")
    if not isinstance(kind, str):
        return None
    if kind in _TYPES and _SCALAR.issuperset(schema):
        return (kind,)
    if kind == "array" and _ARRAY.issuperset(schema):
        items = schema.get("items")
        inner = value_key(items) if type(items) is dict and items.get("type") != "array" else None
        return None if inner is None else ("array", inner)
    if kind == "string" and "enum" in schema and _ENUM.issuperset(schema):
        values = schema["enum"]
        if type(values) is list and values and all(type(value) is str and value.isascii() for value in values):
            return ("enum", *values) if len(set(values)) == len(values) else None
    return None


def schema_of(key: Any) -> dict[str, Any]:
    """The schema that a key stands for."""
    if key[0] == "array":
        return {"type": "array", "items": schema_of(key[1])}  # one level deep
    if key[0] == "enum":
        return {"type": "string", "enum": list(key[1:])}
    return {"type": key[0]}


class PlainObjects:
    """Writes plain objects as one emitter does, whose policy has free whitespace.

    Args:
        emitter: the parts that all schemas of the policy share.
        read: the expression of a schema, for values that are no enum.
    """

    def __init__(self, emitter: Emitter, read: Callable[[dict[str, Any], str], Expr]) -> None:
        self._emitter = emitter
        self._read = read
        self._values: dict[Any, Expr] = {}
        space = emitter.space
        self._opening, self._closing = (Literal(b"{"), space), (space, Literal(b"}"))
        self._colon, self._comma = (space, Literal(b":"), space), (space, Literal(b","), space)

    def write(self, found: list[tuple[str, Any, bool]]) -> Expr:
        """The object with these members, as ``members`` lists them."""
        emitter = self._emitter
        if not found or not found[0][2]:  # several members may come first: the emitter knows how
            return emitter.in_order([Sequence((emitter.key(name), *self._colon, self._value(key)))
                                     for name, key, _ in found],
                                    [number for number, (_, _, needed) in enumerate(found) if needed], None)
        items: list[Expr] = [*self._opening]
        for number, (name, key, needed) in enumerate(found):
            # the name of an identifier has one spelling
            quoted = Literal(f'"{name}"'.encode()) if name.isidentifier() else emitter.key(name)
            member = (*self._comma, quoted, *self._colon, self._value(key))
            if not needed:
                items.append(Repeat(Sequence(member), 0, 1))
            else:
                items += member if number else member[3:]
        items += self._closing
        return Sequence(tuple(items))

    def _value(self, key: Any) -> Expr:
        known = self._values.get(key)
        if known is None:
            known = self._values[key] = (self._emitter.string(StringShape.of_values(key[1:])) if key[0] == "enum"
                                         else self._read(schema_of(key), f"{key[0]} "))
        return known
