"""Types as Pydantic sees them: adapters, kept, and what to say where there is none.

Pydantic is imported here and only when a type is given: the extra ``types``.
"""

from __future__ import annotations

import dataclasses
import re
import threading
import typing
from collections import OrderedDict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from constrained.errors import ConstrainedError, GrammarLimitError, SchemaError, UnsupportedSchemaError, echo
from constrained.limits import Limits

__all__ = ["adapter_of", "config_of", "core_schema_of", "is_python_type"]

_KEPT = 512
_VALUES = (str, bytes, bytearray, dict, list, tuple, bool, int, float, Decimal, type(None))
_adapters: OrderedDict[int, tuple[Any, Any]] = OrderedDict()
_guard = threading.Lock()


def is_python_type(schema: Any) -> bool:
    """Whether ``schema`` is meant as a type, and not as a schema of JSON: anything but a value of JSON or its text."""
    return not isinstance(schema, _VALUES)


def adapter_of(annotation: Any) -> Any:
    """The ``TypeAdapter`` of an annotation; an adapter is its own. Kept by identity, so making it again is free.

    Raises UnsupportedSchemaError where Pydantic knows no such type, ConstrainedError where it is not installed.
    """
    with _guard:
        known = _adapters.get(id(annotation))
        if known is not None:
            _adapters.move_to_end(id(annotation))
            return known[1]
    found = _made(annotation)
    with _guard:
        _adapters[id(annotation)] = (annotation, found)  # the annotation is kept, so its id stays its own
        if len(_adapters) > _KEPT:
            _adapters.popitem(last=False)
    return found


def core_schema_of(adapter: Any) -> Mapping[str, Any]:
    """What Pydantic's core runs for an adapter."""
    found: Mapping[str, Any] = adapter.core_schema
    return found


def config_of(adapter: Any) -> Mapping[str, Any]:
    """The configuration passed to an adapter, under the names of the core."""
    given = dict(getattr(adapter, "_config", None) or {})
    if "extra" in given:
        given["extra_fields_behavior"] = given.pop("extra")
    return given


def _made(annotation: Any) -> Any:
    try:
        import pydantic
        from pydantic_core import SchemaError as CoreSchemaError
    except ImportError:
        raise ConstrainedError("grammars from types need Pydantic",
                               hint="pip install 'constrained[types]', or pass a JSON Schema") from None
    if isinstance(annotation, pydantic.TypeAdapter):
        return annotation
    try:
        found = pydantic.TypeAdapter(annotation)
        if found.core_schema.get("type") is None:  # names that were not defined when the class was
            found.rebuild(raise_errors=True)
        return found
    except RecursionError:
        raise GrammarLimitError("max_nesting", Limits().max_nesting, "the type is nested too deeply") from None
    except pydantic.errors.PydanticUserError as error:
        pointer, part = _culprit(annotation, pydantic)
        reason = _without_addresses(str(error)).split("\n")[0].split(". Set `")[0]
        raise UnsupportedSchemaError(
            f"the type {echo(_name(part))} is not one that JSON can carry: {reason}", pointer=pointer,
            hint="use a model, a dataclass, a TypedDict, or a type of the standard library") from None
    except ImportError as error:  # a type that needs a package of its own: EmailStr
        raise ConstrainedError(f"the type {echo(_name(annotation))} needs a package: {str(error)[:200]}") from None
    except CoreSchemaError as error:
        raise SchemaError(f"the type cannot be used: {str(error)[:300]}") from None
    except (AttributeError, KeyError, TypeError) as error:  # the former for instances of dataclasses and dicts
        raise UnsupportedSchemaError(
            f"{echo(_name(annotation))} is no type: {str(error)[:200]}",
            hint="pass the class itself, or a JSON Schema to from_json_schema") from None


def _name(annotation: Any) -> str:
    return annotation.__qualname__ if isinstance(annotation, type) else _without_addresses(str(annotation))


def _without_addresses(text: str) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def _culprit(annotation: Any, pydantic: Any) -> tuple[str, Any]:
    """The innermost part that Pydantic refuses, and where it stands."""
    pointer = ""
    seen: list[Any] = []
    while not any(annotation is one for one in seen):
        seen.append(annotation)
        for steps, part in _parts(annotation):
            try:
                pydantic.TypeAdapter(part)
            except Exception:
                pointer, annotation = pointer + steps, part
                break
        else:
            break
    return pointer, annotation


def _parts(annotation: Any) -> list[tuple[str, Any]]:
    arguments = typing.get_args(annotation)
    if arguments:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            return [("", arguments[0])]
        step = "anyOf" if origin is typing.Union or not isinstance(origin, type) else "items"
        if origin is dict:
            return [("/propertyNames", arguments[0]), ("/additionalProperties", arguments[-1])]
        return [(f"/{step}/{index}" if step == "anyOf" else f"/{step}", part)
                for index, part in enumerate(arguments) if part is not ...]
    if dataclasses.is_dataclass(annotation) or hasattr(annotation, "__annotations__"):
        try:
            hints = typing.get_type_hints(annotation, include_extras=True)
        except Exception:
            return []
        return [(f"/properties/{name}", part) for name, part in hints.items()]
    return []
