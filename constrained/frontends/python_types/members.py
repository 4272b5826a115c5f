"""Models, dataclasses and typed dicts: members, their names, and what is undeclared.

A field is read under its alias, one of several, its own name, or along a path inside other members. Where it has more
than one name, any one of them is offered, never two (with ``extra="forbid"`` the second would be refused). Undeclared
members: refused, read as their type, or ignored, which leaves the object open unless ``strict_mode`` closes it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from constrained.errors import echo
from constrained.frontends.json_schema.denotation import NOTHING
from constrained.frontends.json_schema.given import Given, Names
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import ANY_STRING
from constrained.frontends.python_types.finite import finite_values
from constrained.frontends.python_types.keys import key_shapes
from constrained.frontends.python_types.task import Core, Handler, Task, Translator

__all__ = ["HANDLERS", "has_default"]

Field = tuple[str, Core, bool]
"""Name, core schema of the field, whether it must be written."""


def _model(translator: Translator, task: Task) -> None:
    schema = task.schema
    cls = schema["cls"]
    if not schema["schema"].get("fields", True) and cls.__name__ == "BaseModel" and cls.__module__ == "pydantic.main":
        translator.refuse(task, "BaseModel itself, of which Pydantic makes no values", "a model of your own")
        return
    if task.hashable and cls.__hash__ is None:
        translator.never(task)
        return
    _describe(task, cls)
    if schema.get("custom_init"):
        translator.note(task, f"{cls.__name__}.__init__ may refuse what the grammar accepts")
    hook = schema.get("post_init")
    hook = hook if isinstance(hook, str) else "__post_init__" if hook else None
    if hook is not None:
        module = getattr(getattr(cls, hook, None), "__module__", "") or ""
        if module.split(".")[0] != "pydantic":
            translator.note(task, f"{cls.__name__}.{hook} may refuse what the grammar accepts")
    translator.push(task.inner(schema["schema"])._replace(config=schema.get("config") or {}))


def _describe(task: Task, cls: type) -> None:
    text = (cls.__dict__.get("__doc__") or "").strip()
    if text and not text.startswith(f"{cls.__name__}(") and (cls.__module__ or "").split(".")[0] != "pydantic":
        task.target.setdefault("description", text)


def _model_fields(translator: Translator, task: Task) -> None:
    _members(translator, task, [(name, field, not _may_lack(translator, task, field))
                                for name, field in task.schema["fields"].items()])


def _dataclass_args(translator: Translator, task: Task) -> None:
    """A field without ``init`` is written by a dump and not read: if others are ignored, so is it."""
    ignored = _behaviour(task) == "ignore"
    _members(translator, task, [
        (field["name"], field, field.get("init", True) is not False and not _may_lack(translator, task, field))
        for field in task.schema["fields"] if field.get("init", True) is not False or ignored])


def _typed_dict(translator: Translator, task: Task) -> None:
    if task.hashable:
        translator.never(task)
        return
    schema = task.schema
    if schema.get("cls") is not None:
        _describe(task, schema["cls"])
    _members(translator, task._replace(config=schema.get("config") or task.config),
             [(name, field, field.get("required", schema.get("total", True)))
              for name, field in schema["fields"].items()])


def _members(translator: Translator, task: Task, fields: list[Field]) -> None:
    target, config = task.target, task.config
    by_alias = config.get("validate_by_alias", True) is not False
    by_name = bool(config.get("validate_by_name", config.get("populate_by_name", False)))
    target.setdefault("type", "object")
    properties: dict[str, Given] = {}
    needed: list[str] = []
    deep: list[Given] = []
    read_by: dict[str, str] = {}
    read_along: list[tuple[str, str]] = []
    for name, field, required in fields:
        child = Given(_annotations(field))
        keys = simple_names(name, field, by_alias, by_name)
        if not keys:
            first, inner = _along_path(translator, task, field, child, required)
            properties.setdefault(first, Given())
            deep.append(inner)
            continue
        for key in keys:
            if read_by.setdefault(key, name) != name:
                raise NotEnforced(f"the name {echo(key)} is read by the fields {echo(read_by[key])} and {echo(name)}",
                                  "give them aliases of their own")
        read_along += [(keys[0], root) for root in _roots(field)]
        translator.push(task.child(field["schema"], child, "properties", keys[0]))
        if task.hashable and not required and not _hashable_default(field["schema"]):
            required = True
        if task.tag is not None and not set(keys).isdisjoint(task.tag[0]):
            # the tag is looked for before any member of the union is tried: needed even where it has a default
            keys, required = [key for key in keys if key in task.tag[0]], True
            told = [tag.value if isinstance(tag, Enum) else tag for tag in task.tag[1]]
            if _literal_values(field["schema"]) != told:
                child = Given({"allOf": [child, Given({"enum": told})]})
        properties[Names(keys[0], tuple(keys[1:])) if len(keys) > 1 else keys[0]] = child
        if required:
            needed.append(keys[0])
    for key, root in read_along:
        # not offered, and yet read: an undeclared member of that name would be taken for the field
        if root in properties and key not in needed:
            raise NotEnforced(f"a path into {echo(root)} may be read as {echo(key)}", "give it an alias of its own")
        properties.setdefault(root, Given({"not": {}}, NOTHING))
    if properties:
        target["properties"] = properties
    if needed:
        target["required"] = needed
    if deep:
        target["allOf"] = deep
    _undeclared(translator, task)


def _undeclared(translator: Translator, task: Task) -> None:
    schema, config = task.schema, task.config
    behaviour = _behaviour(task)
    if behaviour == "forbid":
        task.target["additionalProperties"] = False
    elif behaviour == "allow":
        extra = schema.get("extras_schema")
        task.target["additionalProperties"] = True if extra is None else translator.push(
            task.child(extra, Given(), "additionalProperties"))
        names = schema.get("extras_keys_schema")
        if names is not None and key_shapes(names, config, translator.definitions, translator.limits,
                                            translator.cap) != [ANY_STRING]:
            raise NotEnforced("a type of the names of undeclared members", "use dict[str, ...]")


def _behaviour(task: Task) -> str:
    return str(task.schema.get("extra_behavior") or task.config.get("extra_fields_behavior") or "ignore")


def _along_path(translator: Translator, task: Task, field: Core, child: Given, required: bool) -> tuple[str, Given]:
    """A member that stands deeper inside: the first name of its ``AliasPath``, and objects and arrays along it."""
    alias = field["validation_alias"]
    path = alias[0] if isinstance(alias[0], (list, tuple)) else alias
    translator.push(task.child(field["schema"], child, "properties", *path))
    inner = child
    whole = required or _behaviour(task) != "ignore"  # what leads to nothing is undeclared
    for depth, step in reversed(list(enumerate(path))):
        if isinstance(step, str):
            inner = Given({"type": "object", "properties": {step: inner}})
            if required or (whole and depth > 0):
                inner["required"] = [step]
        elif step >= 0:
            inner = Given({"type": "array", "prefixItems": [*([True] * step), inner]})
            if whole:
                inner["minItems"] = step + 1
        else:
            raise NotEnforced("a path of an alias that counts from the end", "count from the beginning")
    return path[0], inner


def simple_names(name: str, field: Core, by_alias: bool, by_name: bool) -> list[str]:
    """The names under which a field is read, the first for the schema; none where only paths lead to it."""
    alias = field.get("validation_alias")
    if alias is None or not by_alias:
        return [name]
    if isinstance(alias, str):
        found = [alias]
    else:
        paths = alias if alias and isinstance(alias[0], (list, tuple)) else [alias]
        found = [path[0] for path in paths if len(path) == 1]
    if by_name:
        found.append(name)
    return list(dict.fromkeys(found))


def _roots(field: Core) -> list[str]:
    """The first names of the paths that lead to a field, where it has names as well."""
    alias = field.get("validation_alias")
    paths = alias if isinstance(alias, list) and alias and isinstance(alias[0], (list, tuple)) else []
    return [path[0] for path in paths if len(path) > 1]


def has_default(schema: Core) -> bool:
    """Whether a field may be left out."""
    while schema["type"] in ("function-after", "function-before", "function-wrap"):
        schema = schema["schema"]
    return bool(schema["type"] == "default")


def _may_lack(translator: Translator, task: Task, field: Core) -> bool:
    """Whether a field may be left out: if its default is validated, only where it is known to be valid."""
    schema = field["schema"]
    if not has_default(schema):
        return False
    while schema["type"] != "default":
        schema = schema["schema"]
    if not schema.get("validate_default", task.config.get("validate_default", False)):
        return True
    from pydantic_core import SchemaValidator, core_schema

    inner: Any = schema["schema"]
    definitions: Any = list(translator.definitions.values())
    try:
        default = schema["default"] if "default" in schema else _made(schema["default_factory"])
        SchemaValidator(core_schema.definitions_schema(inner, definitions)).validate_python(default)
    except Exception:  # whatever a validator of the user's raises: then the member is always written
        return False
    return True


def _made(factory: Any) -> Any:
    if factory not in (list, dict, set, tuple, str, int, float, bool, frozenset):
        raise TypeError("a factory of the user's is not called before its time")
    return factory()


def _hashable_default(schema: Core) -> bool:
    """Whether a value left out is surely one that a set can hold."""
    while schema["type"] != "default":
        schema = schema["schema"]
    try:
        hash(schema["default"])
    except (KeyError, TypeError):
        return False
    return True


def _literal_values(schema: Core) -> list[Any] | None:
    """The values of a Literal, with a default or without."""
    while schema["type"] == "default":
        schema = schema["schema"]
    return finite_values(schema)[0] if schema["type"] in ("literal", "enum") else None


def _annotations(field: Core) -> dict[str, Any]:
    """What a field says to readers."""
    updates = (field.get("metadata") or {}).get("pydantic_js_updates") or {}
    return {key: updates[key] for key in ("title", "description", "examples", "deprecated") if key in updates}


HANDLERS: dict[str, Handler] = {
    "model": _model, "model-fields": _model_fields, "dataclass": _model, "dataclass-args": _dataclass_args,
    "typed-dict": _typed_dict,
}
