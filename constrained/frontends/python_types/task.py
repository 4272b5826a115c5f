"""One core schema at one place, to be written into one schema object; and the work that is left.

A task fills the ``Given`` that its parent has already placed, so nothing recurses and definitions may refer to each
other. Handlers are functions of the translator and the task, by the ``type`` of the core schema.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from constrained.errors import GrammarLimitError, RegexError, UnsupportedSchemaError, echo
from constrained.frontends.json_schema.denotation import NOTHING, Denotation
from constrained.frontends.json_schema.given import Given
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.python_types.finite import finite_values
from constrained.frontends.python_types.functions import called
from constrained.frontends.python_types.numbers import MAX_DIGITS
from constrained.frontends.python_types.plain import is_said, without_givens
from constrained.limits import Limits

__all__ = ["Core", "Handler", "Task", "Translator"]

Core = Mapping[str, Any]


class Task(NamedTuple):
    """A core schema to be written into ``target``."""

    schema: Core
    target: Given
    pointer: str
    config: Core
    hashable: bool = False
    """Whether it stands in a set."""
    tag: tuple[tuple[str, ...], tuple[Any, ...]] | None = None
    """In a discriminated union: the names of the member that tells, and its values here."""

    def inner(self, schema: Core) -> Task:
        """What this schema wraps, at the same place."""
        return Task(schema, self.target, self.pointer, self.config, self.hashable, self.tag)

    def same(self, schema: Core, target: Given, *steps: str | int) -> Task:
        """Another schema of the same value."""
        return Task(schema, target, self.pointer_to(steps), self.config, self.hashable, self.tag)

    def child(self, schema: Core, target: Given, *steps: str | int) -> Task:
        """A schema of a value inside."""
        return Task(schema, target, self.pointer_to(steps), self.config, self.hashable)

    def pointer_to(self, steps: tuple[str | int, ...]) -> str:
        """The JSON Pointer of a place below."""
        path = self.pointer
        for step in steps:
            name = str(step)
            if "~" in name or "/" in name:
                name = name.replace("~", "~0").replace("/", "~1")
            path = f"{path}/{name}"
        return path


class Translator:
    """One type's schema in the making. ``notes`` are ``(pointer, reason)`` of what is not enforced."""

    def __init__(self, handlers: Mapping[str, Handler], limits: Limits, *, unsupported: str = "error",
                 max_number_digits: int = 400) -> None:
        self.handlers = handlers
        self.limits = limits
        self.unsupported = unsupported
        self.cap = min(max_number_digits, MAX_DIGITS)
        self.notes: dict[tuple[str, str], None] = {}
        self.definitions: dict[str, Core] = {}
        self.names: dict[tuple[Any, ...], str] = {}
        self.defined: dict[str, Given] = {}
        self.waiting: list[Task] = []

    def run(self, schema: Core, config: Core) -> dict[str, Any]:
        """The schema of a whole type. Raises UnsupportedSchemaError and GrammarLimitError."""
        root = Given()
        self.waiting.append(Task(schema, root, "", config))
        while self.waiting:
            task = self.waiting.pop()
            handler = self.handlers.get(task.schema["type"])
            try:
                if handler is None:
                    self.refuse(task, f"the type {echo(str(task.schema['type']))} is not known", "use a plainer type")
                else:
                    handler(self, task)
            except NotEnforced as refused:
                self.refuse(task, refused.reason, refused.hint)
            except RegexError as error:
                self.refuse(task, f"its pattern cannot be used: {error}", "write it in plain syntax")
            except GrammarLimitError as error:
                raise GrammarLimitError(error.limit, error.value,
                                        f"at {echo(task.pointer)}: {str(error).split(' (Limits')[0]}") from None
        if self.defined:
            root["$defs"] = self.defined
        return without_givens(root)

    # ---- what is not enforced --------------------------------------------------------------------------

    def refuse(self, task: Task, reason: str, instead: str) -> None:
        """Raise, or note and leave any value."""
        if self.unsupported == "error":
            raise UnsupportedSchemaError(f"{reason}: not enforced exactly", pointer=task.pointer, hint=instead,
                                         option='unsupported="warn" leaves it out')
        if self.unsupported == "warn":
            warnings.warn(f"at {task.pointer}: {reason}: not enforced", stacklevel=2)
        self.note(task, reason)

    def note(self, task: Task, reason: str) -> None:
        """Something that may refuse more than the grammar does."""
        self.notes[task.pointer, reason] = None

    # ---- placing ---------------------------------------------------------------------------------------

    def push(self, task: Task) -> Given:
        """Have ``task`` done; its target, to be placed now."""
        self.waiting.append(task)
        return task.target

    def leaf(self, task: Task, words: Mapping[str, Any], meaning: Denotation) -> None:
        """Write a leaf: words for readers, and what it means."""
        for keyword, value in words.items():
            task.target.setdefault(keyword, value)
        if not is_said(task.target, meaning, self.limits):
            task.target.denotation = meaning

    def never(self, task: Task) -> None:
        """No value at all."""
        self.leaf(task, {"not": {}}, NOTHING)

    def define(self, task: Task) -> None:
        """A reference to a definition, which is written once for each way in which it is used."""
        ref = task.schema["schema_ref"]
        key = (ref, task.hashable, task.tag)
        name = self.names.get(key)
        if name is None:
            base = re.sub(r"[^\w.]+", "_", ref.split("[")[0].rsplit(":", 1)[0].rsplit(".", 1)[-1]).strip("_") or "type"
            name, number = base, 2
            while name in self.defined:
                name, number = f"{base}-{number}", number + 1
            self.names[key] = name
            target = self.defined[name] = Given()
            self.push(task._replace(schema=self.definitions[ref], target=target, pointer=f"/$defs/{name}"))
        task.target["$ref"] = f"#/$defs/{name}"

    # ---- looking ahead ---------------------------------------------------------------------------------

    def kinds(self, schema: Core) -> set[str]:
        """The types of the core schemas that a value may come from; also ``bool`` and ``0 or 1`` if one lists these."""
        found: set[str] = set()
        for one in self.sources(schema):
            found.add(one["type"])
            if one["type"] in ("literal", "enum"):
                values = finite_values(one)[0]
                found.update("bool" if isinstance(value, bool) else "0 or 1" for value in values
                             if value in (0, 1))  # which Python takes for each other
        return found

    def sources(self, schema: Core) -> list[Core]:
        """The core schemas that a value may come from: unions, references and wrappers are followed."""
        found: list[Core] = []
        seen: set[str] = set()
        stack = [schema]
        while stack:
            one = stack.pop()
            kind = one["type"]
            if kind in ("union", "tagged-union"):
                choices = one["choices"]
                listed = choices.values() if isinstance(choices, dict) else choices
                stack += [choice[0] if isinstance(choice, tuple) else choice for choice in listed]
            elif kind == "nullable":
                found.append({"type": "none"})
                stack.append(one["schema"])
            elif kind == "definition-ref":
                if one["schema_ref"] not in seen and one["schema_ref"] in self.definitions:
                    seen.add(one["schema_ref"])
                    stack.append(self.definitions[one["schema_ref"]])
            elif kind in ("json-or-python", "lax-or-strict"):
                stack.append(one["json_schema" if kind[0] == "j" else "lax_schema"])
            elif kind in ("default", "definitions") or (kind == "function-after" and called(one).kind == "constraint"):
                stack.append(one["schema"])
            else:
                found.append(one)
        return found


Handler = Callable[[Translator, Task], None]
