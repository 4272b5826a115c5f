"""JSON Schema to rules: the entry of this front end.

One thin pass: read (text, value or boolean), normalise to denotations, write rules. The metaschema runs only after a
failure, to word the error; a registry of references is built only if a reference needs one.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any
from uuid import uuid4

from constrained.errors import GrammarLimitError, SchemaError, UnsatisfiableGrammarError, UnsatisfiableSchemaError
from constrained.frontends.json_schema import formats, number_texts
from constrained.frontends.json_schema.dialects import PYTHON_TYPES, URIS, Dialect, find_dialect
from constrained.frontends.json_schema.direct_document import Front
from constrained.frontends.json_schema.document import Document
from constrained.frontends.json_schema.emit import Emitter
from constrained.frontends.json_schema.metaschema import worded
from constrained.frontends.json_schema.mixed import way_of
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.policy import check_formats, json_policy
from constrained.frontends.json_schema.shapes import Checked
from constrained.garbage import postponed
from constrained.grammar.ir import RuleSet
from constrained.limits import Limits

_DEFAULT_LIMITS = Limits()
_LOADED = (formats, number_texts)
"""Imported where they are used, and here so that the first schema with a format or a number does not wait for them."""

_JSON = (str, bytes, bytearray, dict, list, tuple, bool, int, float, Decimal, type(None))
"""What is read as a schema of JSON, or refused as a wrong one; anything else is meant as a type."""
_SCALARS = frozenset((str, int, bool, type(None)))

__all__ = ["FRONT", "build", "from_json_schema", "normalise_schema", "read_document", "read_schema", "schema_text"]


def from_json_schema(
    schema: Any,
    *,
    draft: str | int | None = None,
    strict_mode: bool = False,
    property_order: str = "schema",
    any_whitespace: bool = True,
    max_whitespace_cnt: int | None = 64,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    string_escapes: str = "any",
    max_number_digits: int = 400,
    unsupported: str = "error",
    assert_formats: bool | str = True,
    registry: Any = None,
    limits: Limits | None = None,
) -> RuleSet:
    """The JSON texts that a schema accepts.

    Args:
        schema: JSON text, a dict, a boolean, or a type (a Pydantic model, a dataclass, ``list[int]``, ...).
        draft: the dialect, by its name or number or as ``$schema`` says it; default: ``$schema``, else 2020-12.
        strict_mode: objects that say nothing about undeclared members have none.
        property_order: ``"schema"`` (declared order) or ``"any"``.
        any_whitespace, max_whitespace_cnt, indent, separators, string_escapes, max_number_digits: see ``TextPolicy``.
        unsupported: what cannot be enforced exactly is an ``"error"``, or left out with or without a warning
            (``"warn"``, ``"ignore"``); the coverage report lists it.
        assert_formats: whether ``format`` constrains. Unknown formats are annotations, of which ``unsupported="warn"``
            warns; with ``"strict"`` they are refused.
        registry: a ``referencing.Registry`` with the other documents that references may name.

    Raises:
        SchemaError: the schema is wrong, with its JSON Pointer; also ``UnsupportedSchemaError`` and
            ``UnsatisfiableSchemaError``.
        GrammarLimitError: a budget.
    """
    limits = limits or _DEFAULT_LIMITS
    document: tuple[Any, Dialect, list[tuple[str, str]]] | None = None
    if unsupported == "error":
        options = (assert_formats, any_whitespace, max_whitespace_cnt, indent, separators, string_escapes,
                   max_number_digits, property_order)
        if isinstance(schema, _JSON):
            found = FRONT.rules(schema, draft, registry, limits, options, strict_mode)
        else:
            document = read_document(schema, draft, registry, limits, unsupported, max_number_digits)
            found = _TYPE_FRONT.rules(document[0], None, None, limits, options, strict_mode)
        if found is not None:
            return found
    return build(schema, document=document, draft=draft, strict_mode=strict_mode, unsupported=unsupported,
                 assert_formats=assert_formats, registry=registry, limits=limits, any_whitespace=any_whitespace,
                 max_whitespace_cnt=max_whitespace_cnt, indent=indent, separators=separators,
                 string_escapes=string_escapes,
                 max_number_digits=max_number_digits, property_order=property_order)[0]


def build(
    schema: Any, *, draft: str | int | None = None, strict_mode: bool = False, unsupported: str = "error",
    assert_formats: bool | str = True, registry: Any = None, limits: Limits | None = None,
    emitter: type[Emitter] = Emitter, comparing: bool = True,
    document: tuple[Any, Dialect, list[tuple[str, str]]] | None = None, **spelling: Any,
) -> tuple[RuleSet, Normaliser]:
    """The rules, and the normaliser with its notes. A type is read by ``constrained.frontends.python_types``.

    ``comparing``: see ``Normaliser``. ``document``: what ``read_document`` gave, where it was asked.
    """
    limits = limits or _DEFAULT_LIMITS
    value, dialect, notes = document or read_document(schema, draft, registry, limits, unsupported,
                                                      spelling.get("max_number_digits", 400))
    policy = json_policy(spelling, dialect.float_integers)
    try:
        normaliser = normalise_schema(value, dialect, limits, unsupported, assert_formats, registry, comparing)
    except SchemaError as error:
        raise _worded(error, schema, value, dialect) from None
    normaliser.notes.update({(pointer, "relaxed", reason): None for pointer, reason in notes})
    try:
        with postponed():
            root = normaliser.at(normaliser.document.root_place())
            return emitter(normaliser, policy, strict=strict_mode).run(root), normaliser
    except UnsatisfiableGrammarError as error:
        raise UnsatisfiableSchemaError(str(error)) from None
    except SchemaError as error:
        raise _worded(error, schema, value, dialect) from None
    except RecursionError:
        raise GrammarLimitError("max_nesting", limits.max_nesting, "the schema is nested too deeply") from None


def _worded(error: SchemaError, schema: Any, value: Any, dialect: Dialect) -> SchemaError:
    """The error of a schema that is wrong, with what its metaschema says; any other as it is."""
    return worded(error, value, dialect) if type(error) is SchemaError and isinstance(schema, _JSON) else error


def read_document(schema: Any, draft: str | int | None, registry: Any, limits: Limits, unsupported: str = "error",
                  max_number_digits: int = 400) -> tuple[Any, Dialect, list[tuple[str, str]]]:
    """A schema of JSON or a type as a value, its dialect, and what of a type is not enforced (pointer, reason)."""
    if isinstance(schema, _JSON):
        value = read_schema(schema, limits)
        return value, find_dialect(draft, value, registry), []
    from constrained.frontends.python_types.translate import translated  # only where a type is given

    digits = max_number_digits if isinstance(max_number_digits, int) and max_number_digits > 0 else 1
    value, notes = translated(schema, limits, unsupported, digits)
    return value, PYTHON_TYPES, notes


def normalise_schema(value: Any, dialect: Dialect, limits: Limits, unsupported: str, assert_formats: bool | str,
                     registry: Any, comparing: bool = True) -> Normaliser:
    """The normaliser of a schema value. ``comparing``: see there."""
    if unsupported not in ("error", "warn", "ignore"):
        raise SchemaError(f'unsupported must be "error", "warn" or "ignore", not {unsupported!r:.50}')
    check_formats(assert_formats)
    if registry is not None and not hasattr(registry, "with_resource"):
        raise SchemaError(f"registry must be a referencing.Registry, not {type(registry).__name__}")
    checked = Checked()
    checked.require(value, dialect, limits, registry=registry)
    document = Document(value, dialect, registry, checked)
    return Normaliser(document, limits, unsupported=unsupported, assert_formats=assert_formats, comparing=comparing)


def read_schema(schema: Any, limits: Limits) -> Any:
    """The schema as a value with exact numbers: floats of a value become the decimals they are written as."""
    if isinstance(schema, (str, bytes)):
        if len(schema) > limits.max_source_chars:
            raise GrammarLimitError("max_source_chars", limits.max_source_chars, "the schema text is too long")
        try:
            if isinstance(schema, str) and not schema.startswith("\ufeff"):
                return _decode(schema)
            return json.loads(schema, parse_float=Decimal, parse_constant=_no_constant)
        except RecursionError:
            raise GrammarLimitError("max_nesting", limits.max_nesting, "the schema is nested too deeply") from None
        except ArithmeticError:
            raise SchemaError("a number of the schema has an exponent of more than 18 digits") from None
        except (ValueError, UnicodeDecodeError) as error:
            raise SchemaError(f"the schema is no JSON: {error}"[:300]) from None
    if isinstance(schema, (dict, bool)):
        return _exact(schema, limits)
    raise SchemaError(f"a schema is JSON text, a dict, a boolean or a type, not {type(schema).__name__}")


def schema_text(schema: Any, limits: Limits) -> str:
    """A schema value as text, to be kept as a key or read again. Raises as ``read_schema``."""
    read_schema(schema, limits)
    try:
        return _text_of(schema)
    except RecursionError:
        raise GrammarLimitError("max_nesting", limits.max_nesting, "the schema is nested too deeply") from None


def _exact(schema: Any, limits: Limits) -> Any:
    """The same value as ``json`` reads it, with decimals for floats; copied only if something is otherwise (a tuple, a
    number as a name).

    Depth and length are bounded as they would be written out, and found without: what stands in several places of a
    value (one dict under many names) is looked at once, and a cycle is known by itself.
    """
    measured: dict[int, tuple[int, int]] = {}  # by identity: values in it, written out; how deep they nest
    opened: set[int] = set()
    stack: list[Any] = [schema]
    same = True
    while stack:
        value = stack[-1]
        key = id(value)
        if key in measured:
            stack.pop()
            continue
        waiting: list[Any] = []
        length, depth = 1, 0
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
            if not isinstance(item, (dict, list, tuple)):
                kind = type(item)
                same = same and (kind in _SCALARS or (kind is Decimal and item.is_finite()))
                length += 1
            elif id(item) in measured:
                more, below = measured[id(item)]
                length += more
                depth = max(depth, below + 1)
            else:
                waiting.append(item)
        if waiting:
            if key in opened:
                raise GrammarLimitError("max_nesting", limits.max_nesting, "the schema holds itself")
            opened.add(key)
            stack += waiting
            continue
        if depth > limits.max_nesting:
            raise GrammarLimitError("max_nesting", limits.max_nesting, "the schema is nested too deeply")
        if length > limits.max_source_chars:
            raise GrammarLimitError("max_source_chars", limits.max_source_chars, "the schema is too long, written out")
        kind = type(value)
        same = same and (kind is list or kind is bool or (
            kind is dict and all(type(name) is str for name in value)))
        measured[key] = length, depth
        stack.pop()
    return schema if same else json.loads(_text_of(schema), parse_float=Decimal, parse_constant=_no_constant)


def _text_of(schema: Any) -> str:
    """The JSON text of a value, decimals as they are. Raises ``SchemaError`` for what is no JSON."""
    numbers: list[str] = []
    mark = uuid4().hex  # in no string of the schema

    def number(value: Any) -> str:
        if not isinstance(value, Decimal) or not value.is_finite():
            raise TypeError(f"{value!r:.80} is no value of JSON")
        numbers.append(str(value))
        return f"{mark} {len(numbers) - 1}"

    try:
        text = json.dumps(schema, allow_nan=False, default=number)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"the schema is no JSON: {error}"[:300]) from None
    return re.sub(f'"{mark} ([0-9]+)"', lambda found: numbers[int(found[1])], text) if numbers else text


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


_decode = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_constant).decode
FRONT = Front(read_schema, find_dialect, URIS, way_of)
_TYPE_FRONT = Front(lambda value, limits: value, lambda draft, value, registry: PYTHON_TYPES, {}, way_of)
"""Of schemas that ``python_types`` made, which are values of their own dialect."""
