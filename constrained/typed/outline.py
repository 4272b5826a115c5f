"""A JSON Schema as a prompt shows it: the form of the value, ``{"name": <string>, "age": <integer>}``.

Small models copy a JSON Schema instead of filling it in; of this form they follow the keys and replace what stands in
angle brackets (``benchmarks/quality.py``). Members come in the order in which the grammar writes them, descriptions of
members stand in the brackets. What is too long or too deep is cut to its kind: the grammar holds anyway.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["outline"]

MAX_DEPTH = 6
MAX_LENGTH = 2_000
"""Characters; a form that is longer is not given."""

MAX_OPTIONS = 12
MAX_DESCRIPTION = 80


def outline(schema: Any) -> str | None:
    """The form of a schema's values; None where there is nothing to say, or too much."""
    out: list[str] = []
    length = 0
    stack: list[Any] = [(schema, 0, "")]
    while stack:
        item = stack.pop()
        if not isinstance(item, str):
            stack.extend(reversed(_parts(schema, *item)))
            continue
        out.append(item)
        length += len(item)
        if length > MAX_LENGTH:
            return None
    text = "".join(out)
    return None if text == "<any JSON value>" else text


def _parts(root: Any, node: Any, depth: int, description: str) -> list[Any]:
    """Text, and nodes still to be written, in order."""
    node, name = _resolved(root, node)
    if not isinstance(node, dict) or not node or depth > 2 * MAX_DEPTH:
        return [_slot("any JSON value", description)]
    description = _described(node, description)
    if "const" in node:
        return [json.dumps(node["const"], ensure_ascii=False)]
    if isinstance(node.get("enum"), list) and node["enum"]:
        return [" | ".join(json.dumps(value, ensure_ascii=False) for value in node["enum"][:MAX_OPTIONS])
                + (" | ..." if len(node["enum"]) > MAX_OPTIONS else "")]
    for key in ("anyOf", "oneOf"):
        if isinstance(node.get(key), list) and node[key]:
            parts: list[Any] = []
            for option in node[key][:MAX_OPTIONS]:
                parts += [" | ", (option, depth + 1, "" if parts else description)]
            return parts[1:]
    if isinstance(node.get("allOf"), list) and len(node["allOf"]) == 1:
        return [(node["allOf"][0], depth + 1, description)]
    kind = node.get("type")
    if isinstance(kind, list):
        parts = []
        for one in kind:
            parts += [" | ", ({**node, "type": one}, depth, description if not parts else "")]
        return parts[1:]
    if kind == "object" or "properties" in node:
        return [_slot(name or "object", description)] if depth >= MAX_DEPTH else _object(node, depth)
    if kind == "array" or "items" in node or "prefixItems" in node:
        return [_slot("array", description)] if depth >= MAX_DEPTH else _array(node, depth, description)
    if kind == "string":
        return [_slot(_string(node), description)]
    if kind in ("integer", "number"):
        return [_slot(_number(node, kind), description)]
    return [{"boolean": "true | false", "null": "null"}.get(kind or "", _slot("any JSON value", description))]


def _object(node: dict[str, Any], depth: int) -> list[Any]:
    parts: list[Any] = ["{"]
    for key, member in (node.get("properties") or {}).items():
        parts += [", " if len(parts) > 1 else "", f"{json.dumps(key, ensure_ascii=False)}: ", (member, depth + 1, "")]
    more = node.get("additionalProperties")
    if isinstance(more, dict) and more:
        parts += [", " if len(parts) > 1 else "", "<key>: ", (more, depth + 1, ""), ", ..."]
    return [*parts, "}"]


def _array(node: dict[str, Any], depth: int, description: str) -> list[Any]:
    first = node.get("prefixItems")
    parts: list[Any] = ["["]
    if isinstance(first, list):
        for item in first:
            parts += [", " if len(parts) > 1 else "", (item, depth + 1, "")]
    items = node.get("items")
    if items is not False and (isinstance(items, dict) or not isinstance(first, list)):
        parts += [", " if len(parts) > 1 else "", (items, depth + 1, description), ", ..."]
    return [*parts, "]"]


def _string(node: dict[str, Any]) -> str:
    pattern = node.get("pattern")
    if isinstance(pattern, str) and len(pattern) <= MAX_DESCRIPTION:
        return f"string like {pattern}"
    return node["format"] if isinstance(node.get("format"), str) else "string"


def _number(node: dict[str, Any], kind: str) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    return f"{kind} from {low} to {high}" if low is not None and high is not None else kind


def _slot(kind: str, description: str) -> str:
    return f"<{kind}: {description}>" if description else f"<{kind}>"


def _described(node: dict[str, Any], outer: str) -> str:
    """What a member is for: its own words, else those of what refers to it."""
    own = node.get("description")
    text = outer or (own if isinstance(own, str) and "properties" not in node else "")
    text = " ".join(text.split())
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 3] + "..."


def _resolved(root: Any, node: Any) -> tuple[Any, str]:
    """A reference within the schema followed (once: what it leads to may refer again), and the name it had."""
    name = ""
    for _ in range(8):
        reference = node.get("$ref") if isinstance(node, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return node, name
        target: Any = root
        for part in reference[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, dict) or key not in target:
                return {}, name
            target = target[key]
        name = reference.rsplit("/", 1)[-1]
        node = target
    return {}, name
