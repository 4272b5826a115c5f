"""Core schemas around others: defaults, unions, functions, definitions."""

from __future__ import annotations

from typing import Any

from constrained.errors import echo
from constrained.frontends.json_schema.formats import FORMATS
from constrained.frontends.json_schema.given import Given
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import StringShape
from constrained.frontends.python_types.containers import require_counted
from constrained.frontends.python_types.decimals import fraction_shapes
from constrained.frontends.python_types.functions import Called, called
from constrained.frontends.python_types.hosts import host_shape
from constrained.frontends.python_types.languages import language, numbers, strings
from constrained.frontends.python_types.numbers import float_shape, keywords
from constrained.frontends.python_types.task import Core, Handler, Task, Translator
from constrained.frontends.python_types.urls import email_shape

__all__ = ["HANDLERS"]


def _definitions(translator: Translator, task: Task) -> None:
    for schema in task.schema["definitions"]:
        translator.definitions[schema["ref"]] = schema
    _inner(translator, task)


def _inner(translator: Translator, task: Task) -> None:
    translator.push(task.inner(task.schema["schema"]))


def _json_or_python(translator: Translator, task: Task) -> None:
    translator.push(task.inner(task.schema["json_schema"]))


def _lax_or_strict(translator: Translator, task: Task) -> None:
    # the canonical spellings are the same in strict mode, and no others are offered
    translator.push(task.inner(task.schema["lax_schema"]))


def _default(translator: Translator, task: Task) -> None:
    value = task.schema.get("default")
    if "default" in task.schema and (value is None or type(value) in (str, bool, int)):
        task.target.setdefault("default", value)
    _inner(translator, task)


def _nullable(translator: Translator, task: Task) -> None:
    child = Given()
    task.target["anyOf"] = [child, Given({"type": "null"})]
    translator.push(task.same(task.schema["schema"], child, "anyOf", 0))


def _chain(translator: Translator, task: Task) -> None:
    first, *others = task.schema["steps"]
    hashing = [step["type"] == "is-instance" and step["cls"].__name__ == "Hashable" for step in others]
    if not all(hashing):
        translator.note(task, "the later steps of a chain may refuse what the grammar accepts")
    translator.push(task.inner(first)._replace(hashable=task.hashable or any(hashing)))


# -- unions -------------------------------------------------------------------------------------------------------


def _union(translator: Translator, task: Task) -> None:
    _any_of(translator, task, [choice[0] if isinstance(choice, tuple) else choice for choice in task.schema["choices"]])


def _any_of(translator: Translator, task: Task, choices: list[Core]) -> None:
    task.target["anyOf"] = [translator.push(task.same(choice, Given(), "anyOf", index))
                            for index, choice in enumerate(choices)]


def _tagged_union(translator: Translator, task: Task) -> None:
    schema = task.schema
    tags: dict[str, list[Any]] = {}
    choices: dict[str, Core] = {}
    for tag, choice in schema["choices"].items():
        key = choice.get("schema_ref") or str(id(choice))
        tags.setdefault(key, []).append(tag)
        choices[key] = choice
    discriminator = schema["discriminator"]
    if callable(discriminator):
        translator.note(task, "the discriminator is a function, which may choose another member of the union")
        _any_of(translator, task, list(choices.values()))
        return
    paths = [[discriminator]] if isinstance(discriminator, str) else [
        [path] if isinstance(path, str) else list(path) for path in discriminator]
    names = tuple(path[0] for path in paths if len(path) == 1 and isinstance(path[0], str))
    if not names:
        raise NotEnforced("a discriminator deep inside", "use a field of the member itself")
    task.target["anyOf"] = [
        translator.push(task.same(choice, Given(), "anyOf", index)._replace(tag=(names, tuple(tags[key]))))
        for index, (key, choice) in enumerate(choices.items())]


# -- functions ----------------------------------------------------------------------------------------------------


def _function(translator: Translator, task: Task) -> None:
    schema = task.schema
    found = called(schema)
    if found.kind == "user":
        mode = schema["type"].partition("-")[2]
        translator.note(task, f"the validator {echo(found.name)} ({mode}) may refuse what the grammar accepts")
        given = schema.get("json_schema_input_schema") or schema.get("schema")
        if given is not None:
            translator.push(task.inner(given))
    elif found.kind == "harmless" and "schema" in schema:
        _inner(translator, task)
    elif found.kind == "host":
        translator.leaf(task, {"type": "string"}, strings([host_shape(found.name)]))
    elif found.kind == "constraint":
        _constraint(translator, task, found)
    elif found.kind == "email":
        translator.leaf(task, {"type": "string", "format": "email"}, strings([email_shape()]))
    elif found.kind == "fraction":
        translator.leaf(task, {"type": "string"}, strings(fraction_shapes(translator.cap)))
    elif found.kind == "bytesize":
        translator.leaf(task, {"type": "integer", "minimum": 0}, numbers([NumberShape.of_bounds(0, integer=True)]))
    elif found.kind == "base64":
        if task.config.get("val_json_bytes", "utf8") != "utf8":
            raise NotEnforced(f"{found.name} inside of val_json_bytes={task.config['val_json_bytes']!r}",
                              "leave val_json_bytes out, or use bytes")
        pattern = FORMATS["byte"] if found.name == "Base64Encoder" else FORMATS["byte"].replace("+/", "_-")
        translator.leaf(task, {"type": "string", "contentEncoding": "base64"},
                        strings([StringShape(languages=(language(found.name, pattern),))]))
    elif found.kind == "url":
        _inner(translator, task)
    else:
        raise NotEnforced(f"{found.name}: {found.reason or 'it is no grammar'}", found.hint or "use a plainer type")


def _constraint(translator: Translator, task: Task, found: Called) -> None:
    """A constraint that Pydantic checks in Python, because what it is on is no type of its core."""
    schema = task.schema["schema"]
    kinds = translator.kinds(schema)
    if found.name in ("min_length", "max_length") and kinds <= {"str", "list", "tuple", "dict", "deque"}:
        word = found.name[:3]
        for one in translator.sources(schema):
            if one["type"] == "dict" and word == "min":
                require_counted(translator, one, found.value)
        said = Given({f"{word}{of}": found.value for of in ("Length", "Items", "Properties")})
    elif kinds <= {"int", "float"} and (found.name != "multiple_of" or kinds == {"int"}):
        shape = float_shape({found.name: found.value}, finite=False)
        said = Given(keywords({found.name: found.value}, "number"), numbers([] if shape is None else [shape]))
    else:
        raise NotEnforced(f"{found.name} on {' or '.join(sorted(kinds))}",
                          "put the constraint on each member of the union: Annotated[int, Field(gt=0)] | None")
    child = Given()
    task.target["allOf"] = [child, said]
    translator.push(task.same(schema, child, "allOf", 0))


# -- what is no type of JSON ----------------------------------------------------------------------------------------

_INSTEAD = {
    "json": ("Json", "use the type inside Json[...]"), "callable": ("Callable", "use a Literal of names"),
    "is-subclass": ("type[...]", "use a Literal of names"),
    "arguments": ("a function", "use a model or a TypedDict of its parameters"),
    "arguments-v3": ("a function", "use a model or a TypedDict of its parameters"),
}


def _beyond(translator: Translator, task: Task) -> None:
    cls = task.schema.get("cls")
    named = getattr(cls, "__qualname__", str(cls))
    name, instead = _INSTEAD.get(task.schema["type"], (named, "use a model, a dataclass or a TypedDict"))
    raise NotEnforced(f"the type {echo(name)} is not read from JSON", instead)


HANDLERS: dict[str, Handler] = {
    "definitions": _definitions, "definition-ref": Translator.define, "default": _default, "nullable": _nullable,
    "custom-error": _inner, "json-or-python": _json_or_python, "lax-or-strict": _lax_or_strict, "chain": _chain,
    "union": _union, "tagged-union": _tagged_union, "function-after": _function, "function-before": _function,
    "function-wrap": _function, "function-plain": _function,
    "is-instance": _beyond, "is-subclass": _beyond, "callable": _beyond, "json": _beyond, "arguments": _beyond,
    "arguments-v3": _beyond,
}
