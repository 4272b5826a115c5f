"""Qwen's XML parameters: ``<parameter=key>`` value ``</parameter>``, strings raw and everything else as JSON.

What a text between the tags means is decided by the schema of the parameter, once for the grammar and the reader alike:

- only strings are allowed: the text is the string, without one line end at each side, if there is one;
- no strings are: it is JSON;
- both: it is JSON if it reads as a value of another allowed type, else a string. That is only right where every such
  value is valid: a schema that mixes strings with *bounded* other values is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.compile import normalise_schema
from constrained.frontends.json_schema.denotation import ANYTHING, Denotation
from constrained.frontends.json_schema.dialects import find_dialect
from constrained.frontends.json_schema.emit import NOTHING
from constrained.frontends.json_schema.expressions import FALSE
from constrained.frontends.json_schema.numbers import ANY_INTEGER, ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.objects import ANY_OBJECT
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import StringShape
from constrained.frontends.structural_tag.raw_strings import raw_string
from constrained.frontends.structural_tag.spellings import RestyledEmitter
from constrained.grammar import combinators as make
from constrained.grammar.ir import Choice, Expr, Literal, Sequence
from constrained.limits import Limits

__all__ = [
    "BLANKS",
    "ONLY_STRINGS",
    "XML_STYLES",
    "JsonText",
    "Kinds",
    "XmlEmitter",
    "parameter_kinds",
    "value_of_text",
]

BLANKS = " \t\r\n"
NO_EDGE = "^(?:[^\\n](?:[^]*[^\\n])?)?$"
"""Strings that neither begin nor end with a line end, so that none is taken away."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """The JSON types that a parameter may have."""

    strings: bool = False
    integers: bool = False
    fractions: bool = False
    booleans: bool = False
    null: bool = False
    arrays: bool = False
    objects: bool = False

    @classmethod
    def of(cls, d: Denotation) -> Kinds:
        """Those of what a schema denotes."""
        return cls(bool(d.strings), bool(d.numbers), any(not _integral(shape) for shape in d.numbers),
                   bool(d.booleans), d.null, bool(d.arrays), bool(d.objects))

    def allows(self, value: Any) -> bool:
        """Whether a value that was read as JSON, strings aside, has one of the types."""
        if value is None:
            return self.null
        if isinstance(value, bool):
            return self.booleans
        if isinstance(value, Decimal):
            return self.fractions or (self.integers and value == value.to_integral_value())
        return self.arrays if isinstance(value, list) else self.objects if isinstance(value, dict) else False


@dataclass(frozen=True, slots=True)
class JsonText:
    """A value by its JSON text, in which numbers keep all their digits."""

    text: str


def _integral(shape: NumberShape) -> bool:
    if shape.values is not None:
        return all(value == value.to_integral_value() for value in shape.values)
    return bool(shape.integer)


def parameter_kinds(schema: Mapping[str, Any]) -> Callable[[str], Kinds]:
    """The kinds of each parameter of a function, by name; of an undeclared one: what the schema leaves it.

    Raises as ``normalise_schema``.
    """
    limits = Limits()
    value = dict(schema)
    normaliser = normalise_schema(value, find_dialect(None, value, None), limits, "error", True, None)
    d = normaliser.denote(normaliser.at(normaliser.document.root_place()))

    def kinds(name: str) -> Kinds:
        found = [normaliser.denote(e) for shape in d.objects if (e := shape.at(name)) != FALSE]
        if not found:
            return Kinds.of(ANYTHING)
        merged = [Kinds.of(one) for one in found]
        return Kinds(*(any(getattr(one, field) for one in merged) for field in Kinds.__slots__))

    return kinds


def value_of_text(raw: str, kinds: Kinds) -> str | JsonText:
    """What the text of a parameter means: a string, or another value as its JSON text.

    For spellings that do not say which (``XmlEmitter.told_apart``).
    """
    if kinds != ONLY_STRINGS:
        text = raw.strip(BLANKS)
        try:
            value = json.loads(text, parse_float=Decimal, parse_int=Decimal)
        except (ValueError, RecursionError):
            value = ""
        if not isinstance(value, str) and kinds.allows(value):
            return JsonText(text)
    raw = raw[1:] if raw.startswith("\n") else raw
    return raw[:-1] if raw.endswith("\n") else raw


ONLY_STRINGS = Kinds(strings=True)
"""What may be nothing but a string: its text is raw, whatever it looks like."""


class XmlEmitter(RestyledEmitter):
    """Parameters of a call in XML, as Qwen writes them; values inside arrays and objects are JSON."""

    stop = b"</parameter>"
    before, behind = b"<parameter=", b">"
    """What stands around a parameter's name."""
    told_apart = False
    """Whether the element says if its value is a string."""
    trims = True
    """Whether one line end at each side of a string is none of its text."""
    value_mark = b""
    """What stands, behind blanks, between an element's name and its value."""
    string_marks: tuple[bytes, ...] = (b"", b"")
    """What the element says of its value, if it does: of a string, and of another one (of each other type)."""

    def opened(self, name: Expr, *, string: bool) -> Expr:
        """The beginning of an element."""
        parts: list[Expr] = [self.mark(self.before), name, self.mark(self.behind)]
        if self.told_apart:
            parts.append(Literal(self.string_marks[0 if string else 1]))
        if self.value_mark:
            parts += [self.space, self.mark(self.value_mark)]
        return Sequence(tuple(parts))

    def bracketed(self, left: bytes, inside: Expr | None, right: bytes, *, may_be_empty: bool) -> Expr:
        if not self.inside_root:
            return super().bracketed(left, inside, right, may_be_empty=may_be_empty)
        options: list[Expr] = [] if inside is None else [Sequence((self.space, inside, self.space))]
        return make.choice(*options, *([self.space] if may_be_empty else []))

    def separator(self) -> Expr:
        return self.space if self.inside_root else super().separator()

    def in_stages(self, stages: Any, least: int, most: int | None) -> Expr:
        if self.inside_root:
            raise NotEnforced("minProperties and maxProperties of XML parameters", "")
        return super().in_stages(stages, least, most)

    def member(self, name: str, expression: int) -> Expr:
        if not self.inside_root:
            return super().member(name, expression)
        if self.behind[:1].decode() in name or any("\ud800" <= char <= "\udfff" for char in name):
            raise NotEnforced(f"the parameter {name!r:.60} cannot be named in XML",
                              f"leave {self.behind[:1].decode()} out of names")
        return self.parameter(name, Literal(name.encode()), expression)

    def free_member(self, cells: Any, declared: list[str]) -> Expr | None:
        if not self.inside_root:
            return super().free_member(cells, declared)
        options: list[Expr] = []
        for names, expression in cells:
            if not self.normaliser.is_empty(expression):
                key = raw_string(names.exclude_values(declared), self.behind[:1], self.normaliser.limits)
                options.append(self.parameter("an undeclared parameter", key, expression))
        return make.choice(*options) if options else None

    def parameter(self, name: str, key: Expr, expression: int) -> Expr:
        """The element of one parameter."""
        self.inside_root = False
        self.depth += 1
        try:
            d = self.normaliser.denote(expression)
            if not d.strings:
                value = Sequence((self.space, self.value(expression), self.space))
                return Sequence((self.opened(key, string=False), value, self.mark(self.stop)))
            others = self.others(expression, d)
            strings: list[Expr] = []
            for shape in d.strings:
                if others is not None and not self.told_apart:
                    self.check_mixed(name, shape, d)
                strings.append(self.raw(shape))
            other = None if others is None else Sequence((self.space, others, self.space))
            if other is not None and not self.told_apart:
                strings.append(other)
            found = Sequence((self.opened(key, string=True), make.choice(*strings), self.mark(self.stop)))
            if other is None or not self.told_apart:
                return found
            return make.choice(found, Sequence((self.opened(key, string=False), other, self.mark(self.stop))))
        finally:
            self.depth -= 1
            self.inside_root = True

    def raw(self, shape: StringShape) -> Expr:
        limits = self.normaliser.limits
        if shape.is_any() or not self.trims:
            return raw_string(shape, self.stop, limits)
        framed = make.sequence("\n", raw_string(shape, self.stop, limits), "\n")
        bare = raw_string(shape, self.stop, limits, pattern=NO_EDGE)
        return framed if bare is NOTHING else make.choice(framed, bare)

    def others(self, expression: int, d: Denotation) -> Expr | None:
        """The values that are no strings."""
        options: list[Expr] = []
        options += [self.object(shape) for shape in d.objects if not self.normaliser.no_object(shape)]
        options += [self.array(shape) for shape in d.arrays if not self.normaliser.no_array(shape)]
        options += [self.number(shape) for shape in d.numbers]
        options += [Literal(b"true")] if d.booleans & 2 else []
        options += [Literal(b"false")] if d.booleans & 1 else []
        options += [Literal(b"null")] if d.null else []
        return Choice(tuple(options)) if options else None

    def check_mixed(self, name: str, shape: StringShape, d: Denotation) -> None:
        """Refuse where a text could be read as another value than the one that was meant, and be invalid."""
        kinds = Kinds.of(d)
        if shape.values is not None and all(isinstance(value_of_text(value, kinds), str) for value in shape.values):
            return
        whole = (d.booleans in (0, 3) and all(n in (ANY_NUMBER, ANY_INTEGER) for n in d.numbers)
                 and all(a == ANY_ARRAY for a in d.arrays) and all(o == ANY_OBJECT for o in d.objects))
        if not whole:
            raise NotEnforced(
                f"the parameter {name!r:.60} may be a string or a bounded value of another type, which raw text cannot "
                "tell apart", "leave out either, or the bounds")


class MiniMaxEmitter(XmlEmitter):
    """``<parameter name="key">value</parameter>``."""

    before, behind = b'<parameter name="', b'">'


class GlmEmitter(XmlEmitter):
    """``<arg_key>key</arg_key>``, blanks, ``<arg_value>value</arg_value>``."""

    stop = b"</arg_value>"
    before, behind = b"<arg_key>", b"</arg_key>"
    value_mark = b"<arg_value>"


class DeepSeekEmitter(XmlEmitter):
    """DeepSeek 3.2: an attribute says whether the value is a string."""

    stop = "</｜DSML｜parameter>".encode()
    before, behind = '<｜DSML｜parameter name="'.encode(), b'"'
    told_apart = True
    trims = False
    string_marks = (b' string="true">', b' string="false">')


class DeepSeek41Emitter(DeepSeekEmitter):
    """DeepSeek 4.1: the same with a blank before the name of the element."""

    stop = "</｜DSML｜ parameter>".encode()
    before = '<｜DSML｜ parameter name="'.encode()


NO_VALUE = Denotation(False, 0, (), (), (), ())


class KimiEmitter(XmlEmitter):
    """Kimi K3: the element names the JSON type of its value, integers among the numbers."""

    stop = b"<|close|>argument<|sep|>"
    before, behind = b'<|open|>argument key="', b'"'
    told_apart = True
    trims = False
    types = ("string", "number", "boolean", "null", "array", "object", "integer")
    string_marks = tuple(f' type="{kind}"<|sep|>'.encode() for kind in types)

    def parameter(self, name: str, key: Expr, expression: int) -> Expr:
        self.inside_root = False
        self.depth += 1
        try:
            d = self.normaliser.denote(expression)
            found: list[Expr] = []
            if d.strings:
                text = make.choice(*[self.raw(shape) for shape in d.strings])
                found.append(Sequence((*self.begun(key, "string"), text, self.mark(self.stop))))
            for kind, part in (("number", {"numbers": d.numbers}), ("boolean", {"booleans": d.booleans}),
                               ("null", {"null": d.null}), ("array", {"arrays": d.arrays}),
                               ("object", {"objects": d.objects})):
                value = self.others(expression, replace(NO_VALUE, **part))
                if value is not None:
                    found.append(Sequence((*self.begun(key, kind), self.space, value, self.space,
                                           self.mark(self.stop))))
            return make.choice(*found) if found else NOTHING
        finally:
            self.depth -= 1
            self.inside_root = True

    def begun(self, key: Expr, kind: str) -> tuple[Expr, ...]:
        """The beginning of an element."""
        return self.mark(self.before), key, self.mark(self.behind + self.string_marks[self.types.index(kind)])


ANY_ARRAY = ArrayShape()

XML_STYLES: dict[str, type[XmlEmitter]] = {
    "qwen_xml": XmlEmitter,
    "minimax_xml": MiniMaxEmitter,
    "glm_xml": GlmEmitter,
    "deepseek_xml": DeepSeekEmitter,
    "deepseek_v4_1_xml": DeepSeek41Emitter,
    "kimi_k3_xml": KimiEmitter,
}
"""The styles of parameters as elements: what the grammar writes, and what a reader has to know of it."""
