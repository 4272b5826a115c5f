"""The drafts of JSON Schema as data: which keywords each knows and where their meanings differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from constrained.errors import SchemaError, echo

__all__ = ["DIALECTS", "PYTHON_TYPES", "URIS", "VALIDATION", "Dialect", "find_dialect"]

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

#: How schemas that are made from Python types are read: integers are written in digits.
PYTHON_TYPES = replace(DIALECTS["2020-12"], float_integers=False)

_ALIASES = {
    "4": "draft4", "6": "draft6", "7": "draft7", "draft-04": "draft4", "draft-06": "draft6", "draft-07": "draft7",
    "draft3": "", "draft2019-09": "2019-09", "draft2020-12": "2020-12", "2019": "2019-09", "2020": "2020-12",
}
_BY_URI = {d.uri: d for d in DIALECTS.values()}
URIS: dict[str | None, Dialect] = {
    None: DIALECTS["2020-12"], **{uri + end: d for uri, d in _BY_URI.items() for end in ("", "#")}}
"""What ``$schema`` mostly says; None: there is none."""


VALIDATION = frozenset(
    "type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems "
    "minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired".split()
)
"""The keywords of the validation vocabulary, which a dialect of one's own may leave out."""


def find_dialect(draft: str | int | None, schema: object, registry: Any = None) -> Dialect:
    """The dialect named, else the one of ``$schema``, else 2020-12. An unknown one is a ``SchemaError``.

    A dialect of one's own is read from its metaschema in ``registry``: the draft it is written in, without the
    validation vocabulary where it leaves that out.
    """
    if draft is not None:
        name = str(draft) if isinstance(draft, (str, int)) else ""
        found = DIALECTS.get(_ALIASES.get(name, name)) or _BY_URI.get(name.rstrip("#"))
        if found is None:
            raise SchemaError(f"unknown draft {echo(str(draft))}", hint=f"one of {', '.join(DIALECTS)}")
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
        scheme, _, rest = uri.rstrip("#").partition("://")  # either is written for every draft
        found = _BY_URI.get(("https://" if scheme == "http" else "http://") + rest)
    if found is None and registry is not None:
        found = _own_dialect(registry.get(uri.rstrip("#")))
    if found is None:
        raise SchemaError(f"unknown dialect {echo(uri)}", pointer="/$schema",
                          hint=f"pass draft=, one of {', '.join(DIALECTS)}")
    return found


def _own_dialect(metaschema: Any) -> Dialect | None:
    contents = getattr(metaschema, "contents", None)
    if not isinstance(contents, dict) or not isinstance(contents.get("$schema"), str):
        return None
    base = _BY_URI.get(contents["$schema"].rstrip("#"))
    vocabularies = contents.get("$vocabulary")
    if base is None or not isinstance(vocabularies, dict):
        return base
    for name, needed in vocabularies.items():
        if needed is True and not name.startswith(base.uri.removesuffix("schema") + "vocab/"):
            raise SchemaError(f"the vocabulary {echo(name)} is needed and not known", pointer="/$schema")
    if any(name.endswith("/vocab/validation") for name in vocabularies):
        return base
    return replace(base, keywords=base.keywords - VALIDATION)
