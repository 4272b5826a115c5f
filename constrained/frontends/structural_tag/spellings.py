"""Values in spellings other than JSON's, each a few overrides of the JSON emitter.

Python: ``True``, ``False``, ``None``; strings in double quotation marks as JSON writes them, and in single ones where
the schema leaves the text free or lists it. Arguments are ``name=value`` between the parentheses of a call.

FunctionGemma: bare keys, strings between two ``<escape>`` tokens, no blanks. Gemma 4: the same with ``<|"|>``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from constrained.errors import GrammarLimitError, UnsupportedSchemaError
from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.emit import EMPTY, NOTHING, Emitter
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.objects import ObjectShape
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import StringShape
from constrained.frontends.structural_tag.delimiters import Delimiters
from constrained.frontends.structural_tag.raw_strings import raw_string
from constrained.grammar import combinators as make
from constrained.grammar.ir import Choice, Distinct, Expr, Literal, Repeat, Sequence

__all__ = ["Gemma4Emitter", "GemmaEmitter", "KeywordEmitter", "PythonEmitter", "RestyledEmitter"]

_WORDS = {b"true": Literal(b"True"), b"false": Literal(b"False"), b"null": Literal(b"None")}
IDENTIFIER = "^[A-Za-z_][A-Za-z0-9_]*$"
BARE_KEY = "^[A-Za-z0-9_.$-]+$"
_SINGLE = Sequence((
    Literal(b"'"),
    Repeat(make.choice(make.ranges([(0, 0x1F), (0x27, 0x27), (0x5C, 0x5C)], negated=True),
                       make.sequence("\\", make.char_class("nrtbf'\"\\\\"))), 0, None),
    Literal(b"'")))
_PLAIN = re.compile(r"[^'\"\\\x00-\x1f]*")


class RestyledEmitter(Emitter):
    """What both have in common: words, and a root that is an object."""

    words: Mapping[bytes, Expr] = {}
    json_inside = False
    """Whether values within the outermost object are JSON: only such can be told from each other as they are read."""
    delimiters: Delimiters | None = None
    """Those of the vocabulary: a delimiter may be written as the token that it is. None: spelled only."""

    def mark(self, text: bytes) -> Expr:
        """A delimiter, in ordinary tokens or as a token of its own."""
        if self.delimiters is None:
            return Literal(text)
        return self.delimiters.expression(self.delimiters.encode(text.decode()))

    def __init__(self, normaliser: Normaliser, policy: TextPolicy, *, strict: bool) -> None:
        super().__init__(normaliser, policy, strict=strict)
        self.plain_scalars = False
        self.at_root = -1

    def value(self, expression: int) -> Expr:
        if self.at_root < 0:
            self.at_root = expression
            expr = super().value(expression)
            self.meanings.clear()
            self.names.clear()  # a reference to the root from inside is a value like any other
            return expr
        return super().value(expression)

    def body(self, expression: int) -> Expr:
        is_root = self.at_root >= 0 and not self.bodies
        self.bodies = True
        self.inside_root = is_root
        if is_root:
            d = self.normaliser.denote(expression)
            if not d.objects:
                raise UnsupportedSchemaError("the arguments of a call are an object",
                                             pointer=self.normaliser.pointer(expression))
            options = [self.exact(expression, partial(self.object, shape)) for shape in d.objects
                       if not self.normaliser.no_object(shape)]
            self.inside_root = False
            return options[0] if len(options) == 1 else Choice(tuple(options))
        found = super().body(expression)
        options = list(found.options) if isinstance(found, Choice) else [found]
        changed = [self.words.get(o.data, o) if isinstance(o, Literal) else o for o in options]
        return changed[0] if len(changed) == 1 else Choice(tuple(changed))

    def exact(self, expression: int, write: Callable[[], Expr]) -> Expr:
        """What is written; what cannot be is refused at the place of the expression."""
        try:
            return write()
        except (NotEnforced, GrammarLimitError) as error:
            self.refused(expression, error)
        return NOTHING

    def raw_text(self, shape: StringShape, stop: bytes, pattern: str | None = None, *, name: bool = False) -> Expr:
        """The members of a set of strings, or of names, as raw text without ``stop``."""
        return raw_string(shape, stop, self.normaliser.limits, pattern=pattern)

    def object(self, shape: ObjectShape) -> Expr:
        return self._comparable(super().object(shape), "undeclared members")

    def array(self, shape: ArrayShape) -> Expr:
        return self._comparable(super().array(shape), "uniqueItems")

    def _comparable(self, found: Expr, what: str) -> Expr:
        if isinstance(found, Distinct) and (self.inside_root or not self.json_inside):
            raise NotEnforced(f"{what} that must differ, in a spelling other than JSON's", "drop the constraint")
        return found

    bodies = False
    inside_root = False


class PythonEmitter(RestyledEmitter):
    """Keyword arguments of a call, in Python. What JSON alone escapes (``\\/``) is not escaped."""

    words: Mapping[bytes, Expr] = _WORDS

    def __init__(self, normaliser: Normaliser, policy: TextPolicy, *, strict: bool) -> None:
        super().__init__(normaliser, replace(policy, string_escapes="canonical"), strict=strict)

    def bracketed(self, left: bytes, inside: Expr | None, right: bytes, may_be_empty: bool) -> Expr:
        if not self.inside_root:
            return super().bracketed(left, inside, right, may_be_empty)
        options = [] if inside is None else [inside]
        return make.choice(*options, *([EMPTY] if may_be_empty else []))

    def member(self, name: str, expression: int) -> Expr:
        if not self.inside_root:
            return super().member(name, expression)
        if not re.fullmatch(IDENTIFIER[1:-1], name):
            raise NotEnforced(f"{name!r:.60} is no name of an argument in Python",
                              "use letters, digits and _ in the names of properties")
        return Sequence((Literal(name.encode() + b"="), self.inner(expression)))

    def free_member(self, cells: Any, declared: list[str]) -> Expr | None:
        if not self.inside_root:
            return super().free_member(cells, declared)
        options: list[Expr] = []
        for names, expression in cells:
            if self.normaliser.is_empty(expression):
                continue
            if not names.is_any():
                raise NotEnforced("patternProperties as arguments of a Python call", "declare the properties")
            key = raw_string(names.exclude_values(declared), b"", self.normaliser.limits, pattern=IDENTIFIER)
            options.append(Sequence((key, Literal(b"="), self.inner(expression))))
        return make.choice(*options) if options else None

    def in_counted_order(self, members: Any, standing: list[int], free: Expr | None, least: int,
                         most: int | None) -> Expr:
        if self.inside_root:
            return self.in_stages([(free, None)], least, most)
        return super().in_counted_order(members, standing, free, least, most)

    def in_stages(self, stages: Any, least: int, most: int | None) -> Expr:
        if self.inside_root:
            raise NotEnforced("minProperties and maxProperties of the arguments of a Python call", "")
        return super().in_stages(stages, least, most)

    in_json = False
    """Whether the items of an array are being written that are compared as JSON."""

    def array(self, shape: ArrayShape) -> Expr:
        if not shape.unique or self.in_json or not self._is_plain(shape):
            return super().array(shape)
        self.in_json = True
        try:
            return Emitter.array(self, shape)
        finally:
            self.in_json = False

    def _is_plain(self, shape: ArrayShape) -> bool:
        """Whether the items are endlessly many strings and numbers, whose JSON is Python too."""
        if not shape.prefix and not shape.contains and self.finite(shape.rest) is not None:
            return False
        items = [self.normaliser.denote(expression) for expression in (*shape.prefix, shape.rest)]
        return not any(d.objects or d.arrays or d.booleans or d.null for d in items)

    def inner(self, expression: int) -> Expr:
        if not self.in_json:
            return super().inner(expression)
        d = self.normaliser.denote(expression)
        return make.choice(*[Emitter.string(self, one) for one in d.strings], *map(self.number, d.numbers))

    def string(self, shape: StringShape) -> Expr:
        double = super().string(shape)
        if shape.is_any():
            return make.choice(double, self.scalar("text", _SINGLE))
        if shape.values is not None and all(_PLAIN.fullmatch(value) for value in shape.values):
            return make.choice(double, *[Literal(f"'{value}'".encode()) for value in shape.values])
        return double


class KeywordEmitter(PythonEmitter):
    """Keyword arguments of a call whose values are JSON."""

    words: Mapping[bytes, Expr] = {}
    json_inside = True

    def __init__(self, normaliser: Normaliser, policy: TextPolicy, *, strict: bool) -> None:
        RestyledEmitter.__init__(self, normaliser, policy, strict=strict)

    def string(self, shape: StringShape) -> Expr:
        return Emitter.string(self, shape)


class GemmaEmitter(RestyledEmitter):
    """FunctionGemma's values, and with another quote Gemma 4's."""

    quote = "<escape>"

    def __init__(self, normaliser: Normaliser, policy: TextPolicy, *, strict: bool) -> None:
        tight = TextPolicy(any_whitespace=False, separators=(",", ":"), property_order=policy.property_order,
                           max_number_digits=policy.max_number_digits, integer_as_float=policy.integer_as_float)
        super().__init__(normaliser, tight, strict=strict)

    def key(self, name: str) -> Expr:
        if not re.fullmatch(BARE_KEY[1:-1], name):
            raise NotEnforced(f"the key {name!r:.60} cannot be written without quotation marks",
                              "use letters, digits, _ . $ - in the names of properties")
        return Literal(name.encode())

    def free_member(self, cells: Any, declared: list[str]) -> Expr | None:
        options: list[Expr] = []
        for names, expression in cells:
            if self.normaliser.is_empty(expression):
                continue
            if not names.is_any():
                raise NotEnforced("patternProperties in FunctionGemma's spelling", "declare the properties")
            key = self.raw_text(names.exclude_values(declared), b"", BARE_KEY, name=True)
            options.append(Sequence((key, self.colon, self.inner(expression))))
        return make.choice(*options) if options else None

    def string(self, shape: StringShape) -> Expr:
        mark = self.mark(self.quote.encode())
        inside = self.raw_text(shape, self.quote.encode())
        return NOTHING if inside is NOTHING else make.sequence(mark, inside, mark)


class Gemma4Emitter(GemmaEmitter):
    """Gemma 4's values."""

    quote = '<|"|>'
