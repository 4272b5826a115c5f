"""Which constraint a request asks for: ``response_format``, ``structured_outputs``, or one flat field.

At most one may be given. Shapes are OpenAI's (``response_format``, and ``text.format`` of the Responses API) and vLLM's
(``structured_outputs``), the flat ones SGLang's (``regex``, ``ebnf``) and llama.cpp's (``grammar``); nothing in them is
ignored: an unknown field is refused.
"""

from __future__ import annotations

import json
from typing import Any

from constrained.api.requests import is_lark
from constrained.server.constraint import Constraint
from constrained.server.fields import Fields
from constrained.server.problems import bad_request
from constrained.server.strict_subset import NAME, openai_refusal

__all__ = ["CONSTRAINT_FIELDS", "check_subset", "read_constraint", "text_format"]

FLAT = ("regex", "ebnf", "grammar", "choice")
CONSTRAINT_FIELDS = frozenset({"response_format", "structured_outputs", *FLAT})
MAX_CHOICES = 100_000
ONE_OF = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")
STRUCTURED_FIELDS = frozenset({*ONE_OF, "disable_any_whitespace", "disable_additional_properties",
                               "whitespace_pattern"})
JSON_OBJECT = '{"type": "object"}'


def read_constraint(fields: Fields, layout: str, subset: str = "none") -> Constraint | None:
    """The constraint of a chat or completion request, None for free text. Raises :class:`ApiError`.

    ``layout`` and ``subset``: ``json_whitespace`` and ``strict_subset`` of the settings.
    """
    found = [one for one in (_response_format(fields, layout, subset), _structured_outputs(fields, layout),
                             *(_plain(fields, key) for key in FLAT if fields.has(key))) if one is not None]
    if len(found) > 1:
        raise bad_request(f"{found[0].param} and {found[1].param} are two constraints; give one", found[1].param)
    return found[0] if found else None


def _response_format(fields: Fields, layout: str, subset: str) -> Constraint | None:
    form = fields.object("response_format")
    if form is None:
        return None
    kind = form.needed_text("type", limit=60)
    if kind == "json_schema":
        form.check_known(frozenset({"type", "json_schema"}), strict=True)
        inner = form.needed_object("json_schema")
        inner.check_known(frozenset({"name", "description", "schema", "strict"}), strict=True)
        return _schema_constraint(inner, layout, subset)
    return _simple_format(form, kind, layout)


def text_format(form: Fields, layout: str, subset: str = "none") -> Constraint | None:
    """``text.format`` of the Responses API: as ``response_format``, with the schema one level higher."""
    kind = form.needed_text("type", limit=60)
    if kind == "json_schema":
        form.check_known(frozenset({"type", "name", "description", "schema", "strict"}), strict=True)
        return _schema_constraint(form, layout, subset)
    return _simple_format(form, kind, layout)


def _simple_format(form: Fields, kind: str, layout: str) -> Constraint | None:
    if kind == "text":
        form.check_known(frozenset({"type"}), strict=True)
        return None
    if kind == "json_object":
        form.check_known(frozenset({"type"}), strict=True)
        return Constraint("json_schema", JSON_OBJECT, layout, param=form.name("type"))
    if kind == "structural_tag":
        form.check_known(frozenset({"type", "format", "structures", "triggers"}), strict=True)
        return Constraint("structural_tag", json.dumps(form.value), param=form.path)
    if kind in ("regex", "grammar", "ebnf"):
        raise form.wrong("type", f"{kind!r} is not a response format; use structured_outputs: {{\"{kind}\": ...}}")
    raise form.wrong("type", "must be text, json_object, json_schema or structural_tag")


def _schema_constraint(fields: Fields, layout: str, subset: str) -> Constraint:
    """A ``schema`` beside its ``name`` and a ``strict`` flag. Only ``strict: false`` relaxes."""
    fields.text("name", limit=1_000)
    if "schema" not in fields.value:
        raise fields.wrong("schema", "is required", "invalid_json_schema")
    schema = fields.value["schema"]
    if not isinstance(schema, (dict, bool)):
        raise fields.wrong("schema", "must be a JSON Schema: an object or a boolean", "invalid_json_schema")
    strict = fields.optional_flag("strict")
    if strict:
        check_subset(fields, "schema", schema, subset, "invalid_json_schema")
    return Constraint("json_schema", json.dumps(schema), layout, relax=strict is False, param=fields.name("schema"))


def check_subset(fields: Fields, key: str, schema: Any, subset: str, code: str) -> None:
    """Refuse a strict schema at ``key``, and a ``name`` beside it, that ``subset`` does not have."""
    if subset != "openai":
        return
    name = fields.value.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise fields.wrong("name", "must be 1 to 64 letters, digits, _ or -, as OpenAI has it", code)
    refusal = openai_refusal(schema)
    if refusal is not None:
        pointer, reason = refusal
        raise fields.wrong(key, f"not in OpenAI's strict subset: at {pointer[:200] or 'the root'}: {reason}", code)


def _structured_outputs(fields: Fields, layout: str) -> Constraint | None:
    form = fields.object("structured_outputs")
    if form is None:
        return None
    form.check_known(STRUCTURED_FIELDS, strict=True)
    given = [key for key in ONE_OF if form.has(key) and not (key == "json_object" and form.value[key] is False)]
    if len(given) != 1:
        raise bad_request(f"structured_outputs needs exactly one of {', '.join(ONE_OF)}, not {len(given)}", form.path)
    if form.has("whitespace_pattern"):
        raise form.wrong("whitespace_pattern", "is not supported; use disable_any_whitespace", "unsupported_parameter")
    if form.flag("disable_any_whitespace"):
        layout = "compact"
    (key,) = given
    param, value = form.name(key), form.value[key]
    if key == "json":
        return _any_json(form, value, layout, closed=form.flag("disable_additional_properties"))
    if key == "json_object":
        form.flag(key)
        return Constraint("json_schema", JSON_OBJECT, layout, param=param)
    if key == "structural_tag":
        return Constraint("structural_tag", _tag_text(form, value), param=param)
    return _plain(form, key)


def _any_json(form: Fields, value: Any, layout: str, *, closed: bool) -> Constraint:
    """``json``: a schema as an object or as text."""
    if closed:
        raise form.wrong("disable_additional_properties", "is not supported; say additionalProperties: false in the "
                         "schema", "unsupported_parameter")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise form.wrong("json", "is not valid JSON", "invalid_json_schema") from None
    if not isinstance(value, (dict, bool)):
        raise form.wrong("json", "must be a JSON Schema", "invalid_json_schema")
    return Constraint("json_schema", json.dumps(value), layout, param=form.name("json"))


def _tag_text(form: Fields, value: Any) -> str:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise form.wrong("structural_tag", "is not valid JSON") from None
    if not isinstance(value, dict):
        raise form.wrong("structural_tag", "must be an object")
    return json.dumps(value)


def _plain(fields: Fields, key: str) -> Constraint:
    """A constraint that is a text or a list of texts: ``regex``, ``ebnf``, ``grammar`` (EBNF or Lark), ``choice``."""
    param = fields.name(key)
    if key == "choice":
        texts = fields.items(key, limit=MAX_CHOICES)
        if not texts or not all(isinstance(text, str) and text for text in texts):
            raise fields.wrong(key, "must be a list of non-empty texts")
        return Constraint("choice", json.dumps(texts), param=param)
    text = fields.needed_text(key)
    return Constraint(("lark" if is_lark(text) else "ebnf") if key == "grammar" else key, text, param=param)
