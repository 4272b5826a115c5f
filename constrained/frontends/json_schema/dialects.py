"""The drafts of JSON Schema as data: which keywords each knows and where their meanings differ."""

from __future__ import annotations

from dataclasses import dataclass

from constrained.errors import SchemaError, echo

__all__ = ["DIALECTS", "Dialect", "find_dialect"]

_CORE = frozenset(
    "type enum properties required additionalProperties patternProperties minProperties maxProperties items minItems "
    "maxItems uniqueItems minLength maxLength pattern format minimum maximum multipleOf allOf anyOf oneOf not".split()
)
_4 = _CORE | frozenset("additionalItems dependencies exclusiveMinimum exclusiveMaximum definitions".split())
_6 = _4 | frozenset("const contains propertyNames".split())
_7 = _6 | frozenset("if then else".split())
_2019 = (_7 - {"dependencies"}) | frozenset(
    "dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems minContains maxContains".split()
)
_2020 = (_2019 - {"additionalItems"}) | {"prefixItems"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One draft.

    Attributes:
        name: the ``draft`` argument's spelling.
        uri: its ``$schema``, without a fragment.
        keywords: what constrains values in it; everything else is an annotation.
        id_keyword: ``id`` or ``$id``.
        ref_alone: ``$ref`` hides its siblings.
        exclusive_flags: ``exclusiveMinimum`` is a boolean beside ``minimum``.
        float_integers: ``1.0`` is an integer.
        items_lists: ``items`` may be a list (the prefix), ``additionalItems`` what follows.
        dynamic: the keyword of dynamic references, or "".
    """

    name: str
    uri: str
    keywords: frozenset[str]
    id_keyword: str = "$id"
    ref_alone: bool = False
    exclusive_flags: bool = False
    float_integers: bool = True
    items_lists: bool = False
    dynamic: str = ""


DIALECTS: dict[str, Dialect] = {
    d.name: d
    for d in (
        Dialect("draft4", "http://json-schema.org/draft-04/schema", _4, "id", True, True, False, True),
        Dialect("draft6", "http://json-schema.org/draft-06/schema", _6, ref_alone=True, items_lists=True),
        Dialect("draft7", "http://json-schema.org/draft-07/schema", _7, ref_alone=True, items_lists=True),
        Dialect("2019-09", "https://json-schema.org/draft/2019-09/schema", _2019, items_lists=True,
                dynamic="$recursiveRef"),
        Dialect("2020-12", "https://json-schema.org/draft/2020-12/schema", _2020, dynamic="$dynamicRef"),
    )
}

_ALIASES = {
    "4": "draft4", "6": "draft6", "7": "draft7", "draft-04": "draft4", "draft-06": "draft6", "draft-07": "draft7",
    "draft3": "", "draft2019-09": "2019-09", "draft2020-12": "2020-12", "2019": "2019-09", "2020": "2020-12",
}
_BY_URI = {d.uri: d for d in DIALECTS.values()}


def find_dialect(draft: str | None, schema: object) -> Dialect:
    """The dialect named, else the one of ``$schema``, else 2020-12. An unknown one is a ``SchemaError``."""
    if draft is not None:
        found = DIALECTS.get(_ALIASES.get(draft, draft))
        if found is None:
            raise SchemaError(f"unknown draft {echo(draft)}", hint=f"one of {', '.join(DIALECTS)}")
        return found
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    if uri is None:
        return DIALECTS["2020-12"]
    if not isinstance(uri, str):
        raise SchemaError("$schema must be a string", pointer="/$schema")
    found = _BY_URI.get(uri.rstrip("#"))
    if found is None and uri.rstrip("#") in ("http://json-schema.org/schema", "https://json-schema.org/schema"):
        return DIALECTS["2020-12"]
    if found is None:
        secure = uri.rstrip("#").replace("https://json-schema.org/draft-", "http://json-schema.org/draft-")
        found = _BY_URI.get(secure)
    if found is None:
        raise SchemaError(f"unknown dialect {echo(uri)}", pointer="/$schema",
                          hint=f"pass draft=, one of {', '.join(DIALECTS)}")
    return found
