"""OpenAI's strict subset of JSON Schema: what its servers refuse under ``strict: true``, found without asking them.

This library enforces far more than that subset. Whoever develops against this server and deploys against OpenAI's turns
``--strict-subset openai`` on and learns here what would fail there.

The rules are those of OpenAI's guide to Structured Outputs ("Supported schemas", as of 2026) and of error messages that
its clients quote. Where the guide is silent about a keyword (annotations such as ``title`` or ``default``) it passes.
One pass over the schema with a stack of its own; linear in its size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["NAME", "openai_refusal"]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Names of schemas and functions."""

MAX_PROPERTIES = 5_000
MAX_LEVELS = 10
MAX_TEXT = 120_000
"""Characters of property names, names of definitions, and values of ``enum`` and ``const``, together."""
MAX_ENUM_VALUES = 1_000
"""In all enumerations together."""
MANY_VALUES = 250
MAX_ENUM_TEXT = 15_000
"""Characters of an enumeration of more than ``MANY_VALUES`` strings."""

NOT_PERMITTED = frozenset({
    "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "minLength",
    "maxLength", "patternProperties", "unevaluatedProperties", "propertyNames", "minProperties", "maxProperties",
    "unevaluatedItems", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "uniqueItems",
    "$dynamicRef", "$recursiveRef"})
FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
LOOKAROUND = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|(\(\?<?[=!])", re.DOTALL)

Refusal = tuple[str, str]
"""A JSON Pointer and what is wrong there."""


def openai_refusal(schema: Any) -> Refusal | None:
    """The first thing in ``schema`` that OpenAI's strict mode refuses; None where it takes the schema."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "", "the root must have type: object"
    if "anyOf" in schema:
        return "", "anyOf is not permitted at the root"
    properties = text = values = 0
    stack: list[tuple[str, Any, int]] = [("", schema, 1)]
    while stack:
        pointer, node, level = stack.pop()
        wrong = _wrong(node)
        if wrong is not None:
            return pointer, wrong
        of_object = "properties" in node
        if of_object and level > MAX_LEVELS:
            return pointer, f"more than {MAX_LEVELS} levels of objects"
        properties += len(node.get("properties", ()))
        values += len(node.get("enum", ()))
        text += sum(len(name) for key in ("properties", "$defs", "definitions") for name in node.get(key, ()))
        text += sum(len(one) for one in (*node.get("enum", ()), node.get("const")) if isinstance(one, str))
        if properties > MAX_PROPERTIES:
            return pointer, f"more than {MAX_PROPERTIES} properties in all"
        if values > MAX_ENUM_VALUES:
            return pointer, f"more than {MAX_ENUM_VALUES} enum values in all"
        if text > MAX_TEXT:
            return pointer, f"more than {MAX_TEXT} characters of names and values in all"
        found = [(f"{pointer}/{place}", child, 1 if place.startswith(("$defs/", "definitions/")) else level + of_object)
                 for place, child in _children(node)]
        stack.extend(reversed(found))
    return None


def _children(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in ("$defs", "definitions", "properties"):
        for name, child in node.get(key, {}).items():
            yield f"{key}/{name.replace('~', '~0').replace('/', '~1')}", child
    if "items" in node:
        yield "items", node["items"]
    for i, child in enumerate(node.get("anyOf", ())):
        yield f"anyOf/{i}", child


def _wrong(node: Any) -> str | None:
    """What is wrong with one schema, apart from those in it. Afterwards its keywords have their right types."""
    if not isinstance(node, dict):
        return "a schema must be an object"
    for key in node:
        if key in NOT_PERMITTED:
            return f"{key} is not permitted"
    for key, kind in (("properties", dict), ("$defs", dict), ("definitions", dict), ("anyOf", list), ("enum", list),
                      ("required", list), ("pattern", str), ("format", str), ("$ref", str)):
        if key in node and not isinstance(node[key], kind):
            return f"{key} must be {'an object' if kind is dict else 'a list' if kind is list else 'a string'}"
    if "$ref" in node:
        others = sorted(key for key in node if key not in ("$ref", "$defs", "definitions"))
        if others:
            return f"$ref cannot stand beside {others[0]}"
        return None if node["$ref"].startswith("#") else "$ref must begin with #"
    kinds = node.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(kinds, list) or not all(isinstance(one, str) and one in TYPES for one in kinds):
        return "type must be a JSON type or a list of them"
    if not kinds and not any(key in node for key in ("anyOf", "enum", "const")):
        return "a schema must have a type"
    if "object" in kinds or "properties" in node:
        return _wrong_object(node)
    if "array" in kinds and not isinstance(node.get("items"), dict):
        return "an array needs items"
    if "format" in node and node["format"] not in FORMATS:
        return f"format {node['format']!r:.50} is not supported"
    if any(found.group(1) for found in LOOKAROUND.finditer(node.get("pattern", ""))):
        return "lookaround in a pattern is not supported"
    listed = [one for one in node.get("enum", ()) if isinstance(one, str)]
    if len(listed) > MANY_VALUES and sum(map(len, listed)) > MAX_ENUM_TEXT:
        return f"an enum of more than {MANY_VALUES} strings may have {MAX_ENUM_TEXT} characters"
    return None


def _wrong_object(node: Mapping[str, Any]) -> str | None:
    if node.get("additionalProperties") is not False:
        return "additionalProperties is required to be supplied and to be false"
    required = {one for one in node.get("required", ()) if isinstance(one, str)}
    missing = [name for name in node.get("properties", {}) if name not in required]
    if missing:
        return f"required must name every property; missing: {missing[0]!r:.60}"
    unknown = required - set(node.get("properties", {}))
    return f"required names {min(unknown)!r:.60}, which is no property" if unknown else None

