"""What a structural tag may be given as: JSON text, a dict, a model; the present form and the legacy one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from constrained.errors import GrammarLimitError, StructuralTagError
from constrained.frontends.structural_tag.fields import join
from constrained.limits import Limits

__all__ = ["read_tag"]


def read_tag(tag: Any, limits: Limits) -> tuple[Any, str]:
    """The outermost format and its pointer. Raises ``StructuralTagError``."""
    if hasattr(tag, "model_dump"):
        tag = tag.model_dump(by_alias=True)
    if isinstance(tag, (str, bytes)):
        if len(tag) > limits.max_source_chars:
            raise GrammarLimitError("max_source_chars", limits.max_source_chars, "the structural tag is too long")
        try:
            tag = json.loads(tag)
        except RecursionError:
            raise GrammarLimitError("max_nesting", limits.max_nesting, "the tag is nested too deeply") from None
        except (ValueError, UnicodeDecodeError) as error:
            raise StructuralTagError(f"the structural tag is no JSON: {error}"[:300]) from None
    if not isinstance(tag, Mapping):
        raise StructuralTagError(f"a structural tag is JSON text, a dict or a model, not {type(tag).__name__}")
    if "structures" in tag and "format" not in tag:
        return _legacy(tag), ""
    if tag.get("type") == "structural_tag":
        for field in tag:
            if field not in ("type", "format"):
                raise StructuralTagError(f"unknown field {field!r:.60}", pointer=join("", field),
                                         hint="a structural tag has type and format")
        if "format" not in tag:
            raise StructuralTagError("a structural tag has a format", hint='{"type": "structural_tag", "format": ...}')
        return tag["format"], "/format"
    return tag, ""


def _legacy(tag: Mapping[str, Any]) -> dict[str, Any]:
    """``{"structures": [{"begin", "schema", "end"}], "triggers": [...]}`` as triggered tags."""
    structures = tag["structures"]
    for field in tag:
        if field not in ("type", "structures", "triggers"):
            raise StructuralTagError(f"unknown field {field!r:.60}", pointer=join("", field),
                                     hint="the older form has structures and triggers")
    if tag.get("type", "structural_tag") != "structural_tag":
        raise StructuralTagError(f"unknown type {tag['type']!r:.60}", pointer="/type", hint='"structural_tag"')
    if not isinstance(structures, Sequence) or isinstance(structures, (str, bytes)):
        raise StructuralTagError("structures is a list", pointer="/structures")
    tags = []
    for number, one in enumerate(structures):
        if hasattr(one, "model_dump"):
            one = one.model_dump(by_alias=True)
        pointer = f"/structures/{number}"
        if not isinstance(one, Mapping) or not {"begin", "end"} <= set(one) or not {"schema", "schema_"} & set(one):
            raise StructuralTagError("a structure has begin, schema and end", pointer=pointer)
        for field in one:
            if field not in ("begin", "schema", "schema_", "end"):
                raise StructuralTagError(f"a structure has no field {field!r:.60}", pointer=join(pointer, field),
                                         hint="it has begin, schema and end")
        schema = one.get("schema", one.get("schema_"))
        if hasattr(schema, "model_json_schema"):
            schema = schema.model_json_schema()
        tags.append({"type": "tag", "begin": one["begin"], "end": one["end"],
                     "content": {"type": "json_schema", "json_schema": schema}})
    return {"type": "triggered_tags", "triggers": tag.get("triggers"), "tags": tags}
