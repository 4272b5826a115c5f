"""The leaves of types: each a denotation, and words of JSON Schema for readers."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from constrained.frontends.json_schema.denotation import Denotation
from constrained.frontends.json_schema.numbers import ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape
from constrained.frontends.python_types import decimals, durations, hosts, times, urls
from constrained.frontends.python_types.finite import finite_denotation, finite_values
from constrained.frontends.python_types.languages import numbers, strings
from constrained.frontends.python_types.numbers import float_shape, integer_shape, keywords
from constrained.frontends.python_types.strings import bytes_shapes, string_shapes
from constrained.frontends.python_types.task import Core, Handler, Task, Translator

__all__ = ["HANDLERS"]

_SCALARS = Denotation(True, 3, (ANY_NUMBER,), (ANY_STRING,), (), ())
_BOUNDS = ("ge", "gt", "le", "lt")


def _any(translator: Translator, task: Task) -> None:
    if task.hashable:
        translator.leaf(task, {"type": ["string", "number", "boolean", "null"]}, _SCALARS)


def _none(translator: Translator, task: Task) -> None:
    task.target.setdefault("type", "null")


def _bool(translator: Translator, task: Task) -> None:
    task.target.setdefault("type", "boolean")


def _int(translator: Translator, task: Task) -> None:
    _number(translator, task, "integer", integer_shape(task.schema))


def _float(translator: Translator, task: Task) -> None:
    finite = task.schema.get("allow_inf_nan", task.config.get("allow_inf_nan", True)) is False
    _number(translator, task, "number", float_shape(task.schema, finite=finite))


def _number(translator: Translator, task: Task, kind: str, shape: NumberShape | None) -> None:
    if shape is None or shape.is_empty():
        translator.never(task)
    else:
        translator.leaf(task, keywords(task.schema, kind), numbers([shape]))


def _str(translator: Translator, task: Task) -> None:
    words = keywords(task.schema, "string")
    pattern = task.schema.get("pattern")
    if pattern is not None:
        words["pattern"] = pattern if isinstance(pattern, str) else pattern.pattern
    translator.leaf(task, words, strings(string_shapes(task.schema, task.config, translator.limits)))


def _bytes(translator: Translator, task: Task) -> None:
    shapes = bytes_shapes(task.schema, task.config, translator.limits)
    translator.leaf(task, {"type": "string"}, strings(shapes))


def _decimal(translator: Translator, task: Task) -> None:
    schema = {"allow_inf_nan": task.config.get("allow_inf_nan", False), **task.schema}
    digits, texts = decimals.decimal_shapes(schema, translator.cap)
    if digits or texts:
        translator.leaf(task, keywords(schema, ["number", "string"]), numbers(digits, texts))
    else:
        translator.never(task)


def _fraction(translator: Translator, task: Task) -> None:
    if any(task.schema.get(name) is not None for name in (*_BOUNDS, "multiple_of")):
        raise NotEnforced("a bound on a fraction", "use Decimal or float")
    translator.leaf(task, {"type": "string"}, strings(decimals.fraction_shapes(translator.cap)))


def _complex(translator: Translator, task: Task) -> None:
    translator.leaf(task, {"type": "string"}, strings(decimals.complex_shapes(translator.cap)))


def _timed(name: str, shapes: Callable[[Core], list[StringShape]]) -> Handler:
    def handler(translator: Translator, task: Task) -> None:
        if task.schema.get("now_op"):
            raise NotEnforced(f"a {name} before or after the moment of validation",
                              f"bound it by a {name} that is known when the grammar is made")
        translator.leaf(task, {"type": "string", "format": name}, strings(shapes(task.schema)))

    return handler


def _timedelta(translator: Translator, task: Task) -> None:
    shapes = durations.timedelta_shapes(task.schema)
    words = {"type": "string", "format": "duration"}
    seconds = task.config.get("ser_json_timedelta") == "float" or task.config.get(
        "ser_json_temporal", "iso8601") != "iso8601"
    strict = task.schema.get("strict", task.config.get("strict", False))
    if seconds and not strict and not any(task.schema.get(name) is not None for name in _BOUNDS):
        # written as a number of seconds, so read as one too
        most = Decimal(10**12)
        translator.leaf(task, {**words, "type": ["string", "number"]},
                        numbers([NumberShape.of_bounds(-most, most)], shapes))
    else:
        translator.leaf(task, words, strings(shapes))


def _uuid(translator: Translator, task: Task) -> None:
    shape = hosts.uuid_shape(task.schema.get("version"))
    translator.leaf(task, {"type": "string", "format": "uuid"}, strings([shape]))


def _finite(translator: Translator, task: Task) -> None:
    values, left = finite_values(task.schema)
    if left:
        instead = "make its class one of str too: class Name(str, Enum)" if task.schema["type"] == "literal" else (
            "give it a string, a number, a boolean or None")
        translator.refuse(task, f"the value {left[0]!r:.60} has no JSON that is read back as it", instead)
    if values:
        translator.leaf(task, {"enum": values}, finite_denotation(values))
    elif not left:
        translator.never(task)


def _url(translator: Translator, task: Task) -> None:
    words = {"type": "string", "format": "uri"}
    if task.schema.get("max_length"):
        words["maxLength"] = task.schema["max_length"]
    translator.leaf(task, words, strings(urls.url_shapes(task.schema)))


HANDLERS: dict[str, Handler] = {
    "any": _any, "none": _none, "bool": _bool, "int": _int, "float": _float, "str": _str, "bytes": _bytes,
    "decimal": _decimal, "fraction": _fraction, "complex": _complex, "date": _timed("date", times.date_shapes),
    "time": _timed("time", times.time_shapes), "datetime": _timed("date-time", times.datetime_shapes),
    "timedelta": _timedelta, "uuid": _uuid, "literal": _finite, "enum": _finite, "url": _url, "multi-host-url": _url,
}
