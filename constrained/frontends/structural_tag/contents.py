"""The contents of tags that other front ends read: schemas, patterns and grammars, as parts of one rule set.

Rules of all parts live in one mapping, each under a prefix of its own; equal parts of JSON (whitespace, free strings,
numbers, keys) are shared by all of them, so that a hundred tools cost a hundred times what tells them apart. An object
that stands in several places of the tag is read once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from constrained.errors import SchemaError, UnsatisfiableGrammarError, UnsatisfiableSchemaError, UnsupportedSchemaError
from constrained.frontends.json_schema.compile import normalise_schema, read_document
from constrained.frontends.json_schema.emit import EMPTY, Emitter
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.frontends.structural_tag.delimiters import Delimiters
from constrained.frontends.structural_tag.exclusions import excluding
from constrained.frontends.structural_tag.nested_xml import CohereEmitter, MiniMaxM3Emitter
from constrained.frontends.structural_tag.plain_schemas import PlainObjects, members
from constrained.frontends.structural_tag.spellings import (
    Gemma4Emitter,
    GemmaEmitter,
    KeywordEmitter,
    PythonEmitter,
    RestyledEmitter,
)
from constrained.frontends.structural_tag.xml_values import XML_STYLES
from constrained.grammar.flat import from_flat, to_flat
from constrained.grammar.ir import Expr, Reference, RuleSet
from constrained.limits import Limits

__all__ = ["STYLES", "Contents"]

STYLES: dict[str, type[Emitter]] = {
    "json": Emitter,
    **XML_STYLES,
    "cohere_xml": CohereEmitter,
    "minimax_m3_xml": MiniMaxM3Emitter,
    "pythonic": PythonEmitter,
    "keywords": KeywordEmitter,
    "function_gemma": GemmaEmitter,
    "gemma": Gemma4Emitter,
}
"""Spellings of a value: how each is written."""


class Contents:
    """The rules of one grammar while its parts are read."""

    def __init__(self, limits: Limits, *, strict: bool, delimiters: Delimiters) -> None:
        self.limits = limits
        self.delimiters = delimiters
        self.strict = strict
        self.rules: dict[str, Expr] = {}
        self.parts: dict[Any, tuple[Expr, Any]] = {}
        self._first: dict[Any, Emitter] = {}
        self._plain_objects: dict[tuple[TextPolicy, bool], PlainObjects] = {}
        self._styles: dict[tuple[str, tuple[str, ...]], type[Emitter]] = {}
        self._count = 0

    def emitter_of(self, style: str, excludes: tuple[str, ...]) -> type[Emitter]:
        """What writes values in a style, without these texts. Raises ``ValueError`` where it cannot."""
        if not excludes:
            return STYLES[style]
        known = self._styles.get((style, excludes))
        if known is None:
            known = self._styles[style, excludes] = excluding(STYLES[style], excludes)
        return known

    def name(self, base: str) -> str:
        """A rule name that is not taken."""
        name = base
        while name in self.rules:
            self._count += 1
            name = f"{base} {self._count}"
        return name

    def schema(self, schema: Any, style: str, policy: TextPolicy, prefix: str, strict: bool,
               excludes: tuple[str, ...] = ()) -> Expr:
        """The texts of a schema's values, as a reference to a rule. Raises ``SchemaError``.

        ``strict``: objects that say nothing about undeclared members have none. ``excludes``: texts that stand in no
        string and no name.
        """
        key = (id(schema), style, policy, strict, excludes)
        known = self.parts.get(key)
        if known is None:
            # the object is kept: its identity is the key
            found = (self._schema(schema, style, policy, prefix, strict) if not excludes else
                     self._read(schema, style, policy, prefix, strict, excludes))
            known = self.parts[key] = (found, schema)
        return known[0]

    def _schema(self, schema: Any, style: str, policy: TextPolicy, prefix: str, strict: bool) -> Expr:
        if style == "json" and policy.property_order == "schema":
            found = members(schema, strict=strict)
            if found is not None:
                name = self.name(prefix + "arguments")
                self.rules[name] = EMPTY  # the name is taken
                self.rules[name] = self._plain(policy, strict).write(found)
                return Reference(name)
        return self._read(schema, style, policy, prefix, strict)

    def _plain(self, policy: TextPolicy, strict: bool) -> PlainObjects:
        """What writes the plain objects of a policy."""
        known = self._plain_objects.get((policy, strict))
        if known is None:
            if ("json", policy, strict) not in self._first:
                self._read(True, "json", policy, "any ", strict)
            known = self._plain_objects[policy, strict] = PlainObjects(
                self._first["json", policy, strict],
                lambda schema, prefix: self._read(schema, "json", policy, prefix, strict))
        return known

    def _read(self, schema: Any, style: str, policy: TextPolicy, prefix: str, strict: bool,
              excludes: tuple[str, ...] = ()) -> Expr:
        value, dialect, _ = read_document(schema, None, None, self.limits)
        policy = policy if dialect.float_integers else replace(policy, integer_as_float=False)
        normaliser = normalise_schema(value, dialect, self.limits, "error", True, None)
        try:
            root = normaliser.at(normaliser.document.root_place())
            return self._emit(normaliser, style, policy, root, prefix, strict, excludes)
        except UnsatisfiableGrammarError as error:
            raise UnsatisfiableSchemaError(str(error)) from None

    def _emit(self, normaliser: Normaliser, style: str, policy: TextPolicy, root: int, prefix: str,
              strict: bool, excludes: tuple[str, ...]) -> Expr:
        emitter = self.emitter_of(style, excludes)(normaliser, policy, strict=strict)
        if isinstance(emitter, RestyledEmitter):
            emitter.delimiters = self.delimiters
        first = self._first.setdefault((style, policy, strict, *excludes), emitter)
        if first is emitter:
            # its own rules so far: whitespace
            self.rules.update({name: rule for name, rule in emitter.rules.items() if name not in self.rules})
        emitter.rules = self.rules
        emitter.taken = set()
        emitter.scalars, emitter.keys = first.scalars, first.keys
        emitter.renamed = lambda name: self.name(prefix + name)
        expr = emitter.value(root)
        done = 0
        while done < len(emitter.waiting):
            expression, depth, name = emitter.waiting[done]
            done += 1
            emitter.depth = depth
            self.rules[name] = emitter.body(expression)
        return expr

    def adopt(self, rules: RuleSet, prefix: str) -> Expr:
        """Rules that another front end made, as one expression."""
        if len(rules.rules) == 1 and rules.root in rules.rules:
            name = self.name(prefix)
            flat = to_flat(rules)
            if not any(entry[0] == "reference" for entry in flat[2]):
                self.rules[name] = rules.rules[rules.root]
                return Reference(name)
        root, heads, entries = to_flat(rules)
        names = {name: self.name(f"{prefix} {name}") for name in rules.rules}
        moved = tuple(("reference", names[entry[1]]) if entry[0] == "reference" else entry for entry in entries)
        renamed = from_flat((names[root], tuple((names[name], number) for name, number in heads), moved))
        self.rules.update(renamed.rules)
        return Reference(renamed.root)


def at_pointer(error: SchemaError, pointer: str, where: str) -> SchemaError:
    """The same error, at its place in the whole tag."""
    hint = error.remedy if isinstance(error, UnsupportedSchemaError) else error.hint
    return type(error)(where + error.reason, pointer=pointer + error.pointer, hint=hint)
