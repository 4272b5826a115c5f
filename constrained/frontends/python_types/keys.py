"""Types of the keys of a ``dict``: the strings that Pydantic reads as such a key, in the spelling it writes.

Kinds of keys that cannot be read from a name (tuples, None, numbers of a plain Enum) have no strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constrained.frontends.json_schema.number_texts import number_dfa, number_tree
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import ANY_STRING, Language, StringShape
from constrained.frontends.python_types import decimals, durations, hosts, times
from constrained.frontends.python_types.finite import key_texts
from constrained.frontends.python_types.functions import called
from constrained.frontends.python_types.languages import tree_language
from constrained.frontends.python_types.numbers import float_shape, integer_shape
from constrained.frontends.python_types.strings import bytes_shapes, string_shapes
from constrained.limits import Limits

__all__ = ["key_shapes"]

_INSIDE = {"nullable": "schema", "default": "schema", "custom-error": "schema", "definitions": "schema",
           "json-or-python": "json_schema", "lax-or-strict": "lax_schema"}
_BY_POSITION = frozenset(("tuple", "list", "dict", "set", "frozenset", "none", "model", "dataclass", "typed-dict",
                          "named-tuple"))


def key_shapes(schema: Mapping[str, Any] | None, config: Mapping[str, Any], definitions: Mapping[str, Any],
               limits: Limits, cap: int) -> list[StringShape]:
    """The strings that are keys of a core schema. Raises NotEnforced, RegexError, GrammarLimitError."""
    found: dict[StringShape, None] = {}
    seen: set[str] = set()
    stack = [] if schema is None else [schema]
    if schema is None:
        return [ANY_STRING]
    while stack:
        one = stack.pop()
        kind = one["type"]
        if kind in _INSIDE:
            if kind == "definitions":
                definitions = {**definitions, **{part["ref"]: part for part in one["definitions"]}}
            stack.append(one[_INSIDE[kind]])
        elif kind == "union":
            stack += reversed([choice[0] if isinstance(choice, tuple) else choice for choice in one["choices"]])
        elif kind == "definition-ref":
            if one["schema_ref"] not in seen:
                seen.add(one["schema_ref"])
                stack.append(definitions[one["schema_ref"]])
        elif kind.startswith("function-"):
            function = called(one)
            if function.kind == "host":
                found[hosts.host_shape(function.name)] = None
            elif function.kind in ("harmless", "user") and "schema" in one:
                stack.append(one["schema"])
            else:
                raise NotEnforced(f"keys that {function.name} checks", "use str keys")
        elif kind not in _BY_POSITION:
            found.update(dict.fromkeys(_shapes(kind, one, config, limits, cap)))
    return [ANY_STRING] if ANY_STRING in found else list(found)


def _shapes(kind: str, schema: Mapping[str, Any], config: Mapping[str, Any], limits: Limits,
            cap: int) -> list[StringShape]:
    if kind == "any":
        return [ANY_STRING]
    if kind == "str":
        return string_shapes(schema, config, limits)
    if kind == "bytes":
        return bytes_shapes(schema, config, limits)
    if kind == "bool":
        return [StringShape.of_values(["true", "false"])]
    if kind in ("literal", "enum"):
        return [StringShape.of_values(key_texts(schema))]
    if kind == "int":
        return _of_integers(integer_shape(schema), limits, cap)
    if kind == "float":
        return _of_numbers(float_shape(schema, finite=schema.get("allow_inf_nan") is False), limits, cap)
    if kind == "decimal":
        return decimals.decimal_shapes(schema, cap)[1]
    if kind == "date" and not schema.get("now_op"):
        return times.date_shapes(schema)
    if kind == "time":
        return times.time_shapes(schema)
    if kind == "datetime" and not schema.get("now_op"):
        return times.datetime_shapes(schema)
    if kind == "timedelta":
        return durations.timedelta_shapes(schema)
    if kind == "uuid":
        return [hosts.uuid_shape(schema.get("version"))]
    if kind == "fraction":
        return decimals.fraction_shapes(cap)
    raise NotEnforced(f"keys of the type {kind}", "use str keys")


def _of_integers(shape: NumberShape | None, limits: Limits, cap: int) -> list[StringShape]:
    """The same without "-0", so that no two names are one key."""
    if shape is None:
        return []
    found = [StringShape.of_values(["0"])] if shape.contains(0) else []
    for part in (NumberShape.of_bounds(1), NumberShape.of_bounds(None, -1)):
        found += _of_numbers(shape.intersect(part), limits, cap)
    return found


def _of_numbers(shape: NumberShape | None, limits: Limits, cap: int) -> list[StringShape]:
    if shape is None or shape.is_empty():
        return []
    name = f"key {shape}"
    if shape.multiple_of is not None:
        return [StringShape(languages=(Language(name, None, number_dfa(shape, False, limits)),))]
    tree = number_tree(shape, cap, False)
    return [] if tree is None else [StringShape(languages=(tree_language(name, tree),))]
