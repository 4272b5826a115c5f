"""Lists, sets, tuples and dicts, in the keywords of JSON Schema."""

from __future__ import annotations

from typing import Any

from constrained.frontends.json_schema.given import Given
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import ANY_STRING
from constrained.frontends.python_types.keys import key_shapes
from constrained.frontends.python_types.languages import strings
from constrained.frontends.python_types.members import has_default
from constrained.frontends.python_types.task import Core, Handler, Task, Translator

__all__ = ["HANDLERS", "require_counted"]

_ANY: Core = {"type": "any"}


def _lengths(task: Task, word: str) -> None:
    if task.schema.get("min_length"):
        task.target[f"min{word}"] = task.schema["min_length"]
    if task.schema.get("max_length") is not None:
        task.target[f"max{word}"] = task.schema["max_length"]


def _list(translator: Translator, task: Task) -> None:
    if task.hashable:
        translator.never(task)
    else:
        _items(translator, task)


def _items(translator: Translator, task: Task) -> None:
    task.target.setdefault("type", "array")
    _lengths(task, "Items")
    items = task.schema.get("items_schema") or _ANY
    if items != _ANY or task.hashable:
        task.target["items"] = translator.push(task.child(items, Given(), "items"))


def _set(translator: Translator, task: Task) -> None:
    """Equal items become one, so only a least number of items asks for different ones."""
    if task.hashable and task.schema["type"] == "set":
        translator.never(task)
        return
    _items(translator, task._replace(hashable=True))
    least = task.schema.get("min_length") or 0
    if least > 1:
        task.target["uniqueItems"] = True
        kinds = translator.kinds(task.schema.get("items_schema") or _ANY)
        if not _counted(kinds):
            raise NotEnforced(f"at least {least} different items of {' or '.join(sorted(kinds))}",
                              "use a list, or a set of str, of int or of a Literal")


def _counted(kinds: set[str]) -> bool:
    """Whether values that are written in different ways are different ones in Python, too, and the other way round."""
    return (kinds <= {"str", "int", "date", "none"} or kinds <= {"literal", "enum", "0 or 1", "none"}
            or kinds <= {"literal", "enum", "bool", "none"})


def require_counted(translator: Translator, schema: Core, least: int) -> None:
    """Refuse a least number of keys where two names may be one key (``1`` and ``1.0``)."""
    kinds = translator.kinds(schema.get("keys_schema") or _ANY)
    if least > 1 and not (_counted(kinds) or kinds in ({"any"}, {"bool"})):
        raise NotEnforced(f"at least {least} different keys of {' or '.join(sorted(kinds))}",
                          "use keys of str, of int or of a Literal")


def _tuple(translator: Translator, task: Task) -> None:
    schema, target = task.schema, task.target
    items = schema["items_schema"]
    variadic = schema.get("variadic_item_index")
    if variadic is not None and variadic != len(items) - 1:
        raise NotEnforced("a tuple with items behind a part of any length", "put the part of any length last")
    target.setdefault("type", "array")
    fixed = items if variadic is None else items[:-1]
    if fixed:
        target["prefixItems"] = [translator.push(task.child(item, Given(), "prefixItems", index))
                                 for index, item in enumerate(fixed)]
    target["items"] = False if variadic is None else translator.push(task.child(items[-1], Given(), "items"))
    target["minItems"] = max(len(fixed), schema.get("min_length") or 0)
    if schema.get("max_length") is not None:
        target["maxItems"] = schema["max_length"]


def _named_tuple(translator: Translator, task: Task) -> None:
    _by_position(translator, task, [(field["name"], field["schema"]) for field in task.schema["fields"]])


def _call(translator: Translator, task: Task) -> None:
    """How Pydantic before 2.14 has named tuples."""
    arguments = task.schema["arguments_schema"]
    if not hasattr(task.schema["function"], "_fields") or arguments["type"] != "arguments":
        raise NotEnforced("a function", "use a model or a TypedDict of its parameters")
    _by_position(translator, task, [(one["name"], one["schema"]) for one in arguments["arguments_schema"]])


def _by_position(translator: Translator, task: Task, fields: list[tuple[str, Core]]) -> None:
    needed = sum(1 for _, schema in fields if not has_default(schema))
    task.target.update(type="array", items=False, minItems=needed)
    if fields:
        task.target["prefixItems"] = [
            translator.push(task.child(schema, Given({"title": name}), "prefixItems", index))
            for index, (name, schema) in enumerate(fields)]


def _dict(translator: Translator, task: Task) -> None:
    if task.hashable:
        translator.never(task)
        return
    schema, target = task.schema, task.target
    target.setdefault("type", "object")
    _lengths(task, "Properties")
    require_counted(translator, schema, schema.get("min_length") or 0)
    values = schema.get("values_schema") or _ANY
    child: Any = True if values == _ANY else translator.push(task.child(values, Given(), "additionalProperties"))
    shapes = key_shapes(schema.get("keys_schema") or _ANY, task.config, translator.definitions, translator.limits,
                        translator.cap)
    if shapes == [ANY_STRING]:
        target["additionalProperties"] = child
    elif all(shape.values is not None for shape in shapes):
        names = dict.fromkeys(value for shape in shapes for value in shape.values or ())
        target.update(properties=dict.fromkeys(names, child), additionalProperties=False)
    else:
        target["propertyNames"] = Given({"type": "string"}, strings(shapes))
        target["additionalProperties"] = child


HANDLERS: dict[str, Handler] = {
    "list": _list, "deque": _list, "generator": _list, "set": _set, "frozenset": _set, "tuple": _tuple,
    "named-tuple": _named_tuple, "call": _call, "dict": _dict, "ordered-dict": _dict, "counter": _dict,
}
