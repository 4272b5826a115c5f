"""Parameters as XML elements: ``<parameter=key>`` value ``</parameter>``, strings raw and everything else as JSON.

What a text between the tags means is decided by the schema of the parameter, once for the grammar and the reader alike:

- only strings are allowed: the text is the string, without one line end at each side, if there is one;
- no strings are: it is JSON;
- both: it is JSON if it reads as a value of another allowed type, else a string. That is only right where every such
  value is valid: a schema that mixes strings with *bounded* other values is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar

from constrained.frontends.json_schema.arrays import ANY_ARRAY
from constrained.frontends.json_schema.compile import normalise_schema
from constrained.frontends.json_schema.denotation import ANYTHING, Denotation
from constrained.frontends.json_schema.dialects import find_dialect
from constrained.frontends.json_schema.emit import NOTHING
from constrained.frontends.json_schema.expressions import FALSE
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.numbers import ANY_INTEGER, ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.objects import ANY_OBJECT
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import StringShape
from constrained.frontends.structural_tag.spellings import RestyledEmitter
from constrained.grammar import combinators as make
from constrained.grammar.ir import Choice, Expr, Literal, Sequence
from constrained.limits import Limits

__all__ = [
    "BLANKS",
    "ONLY_STRINGS",
    "XML_STYLES",
    "JsonText",
    "KimiEmitter",
    "Kinds",
    "ValuePlace",
    "XmlEmitter",
    "check_mixed",
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

    @property
    def scalars(self) -> Kinds:
        """The same without arrays and objects."""
        return replace(self, arrays=False, objects=False)

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


class ValuePlace:
    """A place within the values of a schema, by which a reader knows the types that a value there may have.

    A place is the expressions that say something about it, one of which holds.
    """

    __slots__ = ("_expressions", "_kinds", "_normaliser")

    def __init__(self, normaliser: Normaliser, expressions: tuple[int, ...]) -> None:
        self._normaliser = normaliser
        self._expressions = expressions
        self._kinds: Kinds | None = None

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> ValuePlace:
        """The arguments of a function. Raises as ``normalise_schema``."""
        value = dict(schema)
        normaliser = normalise_schema(value, find_dialect(None, value, None), Limits(), "error", True, None)
        return cls(normaliser, (normaliser.at(normaliser.document.root_place()),))

    def _denotations(self) -> list[Denotation]:
        return [self._normaliser.denote(expression) for expression in self._expressions]

    def member(self, name: str) -> ValuePlace:
        """The value of a member."""
        return ValuePlace(self._normaliser, tuple(dict.fromkeys(
            [e for d in self._denotations() for shape in d.objects if (e := shape.at(name)) != FALSE])))

    def item(self, index: int) -> ValuePlace:
        """An item of an array."""
        return ValuePlace(self._normaliser, tuple(dict.fromkeys(
            [e for d in self._denotations() for shape in d.arrays if (e := shape.at(index)) != FALSE])))

    @property
    def kinds(self) -> Kinds:
        """The types that a value here may have: all where nothing is said."""
        if self._kinds is None:
            merged = [Kinds.of(d) for d in (self._denotations() or [ANYTHING])]
            self._kinds = Kinds(*(any(getattr(one, field) for one in merged) for field in Kinds.__slots__))
        return self._kinds


def _decimal(text: str) -> Decimal:
    """A number; where decimals have no such exponent, one that is whole if it is."""
    try:
        return Decimal(text)
    except ArithmeticError:
        digits, _, exponent = text.lower().partition("e")
        return Decimal(f"{digits}e{'-' if exponent[0] == '-' else ''}99999999999999999")


def value_of_text(raw: str, kinds: Kinds, *, trim: bool = True) -> str | JsonText:
    """What the text of a parameter means: a string, or another value as its JSON text.

    For spellings that do not say which (``XmlEmitter.told_apart``). ``trim``: one line end at each side of a string is
    none of its text.
    """
    if kinds != ONLY_STRINGS:
        text = raw.strip(BLANKS)
        try:
            value = json.loads(text, parse_float=_decimal, parse_int=Decimal)
        except (ValueError, RecursionError):
            value = ""
        if not isinstance(value, str) and kinds.allows(value):
            return JsonText(text)
    if not trim:
        return raw
    raw = raw[1:] if raw.startswith("\n") else raw
    return raw[:-1] if raw.endswith("\n") else raw


ONLY_STRINGS = Kinds(strings=True)
"""What may be nothing but a string: its text is raw, whatever it looks like."""


class XmlEmitter(RestyledEmitter):
    """Parameters of a call in XML, as Qwen writes them; values inside arrays and objects are JSON."""

    json_inside = True
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
    escapes: ClassVar[Mapping[str, str]] = {}
    """How characters are written within names, if not as themselves."""

    def opened(self, name: Expr, says: int) -> Expr:
        """The beginning of an element, with what it says of its value, by number."""
        parts: list[Expr] = [self.mark(self.before), name, self.mark(self.behind + self.string_marks[says])]
        if self.value_mark:
            parts += [self.space, self.mark(self.value_mark)]
        return Sequence(tuple(parts))

    def bracketed(self, left: bytes, inside: Expr | None, right: bytes, may_be_empty: bool) -> Expr:
        if not self.inside_root:
            return super().bracketed(left, inside, right, may_be_empty)
        options: list[Expr] = [] if inside is None else [Sequence((self.space, inside, self.space))]
        return make.choice(*options, *([self.space] if may_be_empty else []))

    def separator(self) -> Expr:
        return self.space if self.inside_root else super().separator()

    def in_counted_order(self, members: Any, standing: list[int], free: Expr | None, least: int,
                         most: int | None) -> Expr:
        if self.inside_root:
            return self.in_stages([(free, None)], least, most)
        return super().in_counted_order(members, standing, free, least, most)

    def in_stages(self, stages: Any, least: int, most: int | None) -> Expr:
        if self.inside_root:
            raise NotEnforced("minProperties and maxProperties of XML parameters", "")
        return super().in_stages(stages, least, most)

    def name_text(self, name: str) -> bytes:
        """A parameter's name as it is written. Raises ``NotEnforced``."""
        written = "".join([self.escapes.get(char, char) for char in name])
        end = self.behind[:1].decode()
        if end in written or any("\ud800" <= char <= "\udfff" for char in name):
            raise NotEnforced(f"the parameter {name!r:.60} cannot be named in XML", f"leave {end} out of names")
        return written.encode()

    def member(self, name: str, expression: int) -> Expr:
        if not self.inside_root:
            return super().member(name, expression)
        return self.parameter(name, Literal(self.name_text(name)), expression)

    def free_member(self, cells: Any, declared: list[str]) -> Expr | None:
        if not self.inside_root:
            return super().free_member(cells, declared)
        options: list[Expr] = []
        plain = "^[^" + "".join(self.escapes) + "]*$" if self.escapes else None
        for names, expression in cells:
            if not self.normaliser.is_empty(expression):
                key = self.raw_text(names.exclude_values(declared), self.behind[:1], plain, name=True)
                options.append(self.parameter("an undeclared parameter", key, expression))
        return make.choice(*options) if options else None

    def parameter(self, name: str, key: Expr, expression: int) -> Expr:
        """The element of one parameter."""
        self.inside_root = False
        self.depth += 1
        try:
            d = self.normaliser.denote(expression)
            values = list(self.values(expression, d))
            if d.strings and not self.told_apart and len(values) > len(d.strings):
                for shape in d.strings:
                    check_mixed(name, shape, d)
            found: list[Expr] = []
            for says in dict.fromkeys([says for says, _ in values]):
                value = make.choice(*[value for said, value in values if said == says])
                found.append(Sequence((self.opened(key, says), value, self.mark(self.stop))))
            return make.choice(*found) if found else NOTHING
        finally:
            self.depth -= 1
            self.inside_root = True

    def values(self, expression: int, d: Denotation) -> Iterator[tuple[int, Expr]]:
        """The values of a parameter, each with what its element says of it."""
        if not d.strings:
            yield 1, self.framed(self.value(expression))
            return
        for shape in d.strings:
            yield 0, self.raw(shape)
        others = self.others(d)
        if others is not None:
            yield 1 if self.told_apart else 0, self.framed(others)

    def framed(self, value: Expr) -> Expr:
        """Blanks around a value."""
        return Sequence((self.space, value, self.space))

    def raw(self, shape: StringShape) -> Expr:
        if shape.is_any() or not self.trims:
            return self.raw_text(shape, self.stop)
        framed = make.sequence("\n", self.raw_text(shape, self.stop), "\n")
        bare = self.raw_text(shape, self.stop, NO_EDGE)
        return framed if bare is NOTHING else make.choice(framed, bare)

    def others(self, d: Denotation) -> Expr | None:
        """The values that are no strings."""
        options: list[Expr] = []
        options += [self.object(shape) for shape in d.objects if not self.normaliser.no_object(shape)]
        options += [self.array(shape) for shape in d.arrays if not self.normaliser.no_array(shape)]
        options += [self.number(shape) for shape in d.numbers]
        options += [Literal(b"true")] if d.booleans & 2 else []
        options += [Literal(b"false")] if d.booleans & 1 else []
        options += [Literal(b"null")] if d.null else []
        return Choice(tuple(options)) if options else None


def check_mixed(name: str, shape: StringShape, d: Denotation) -> None:
    """Refuse where a text could be read as another value than the one that was meant, and be invalid.

    Raises ``NotEnforced``.
    """
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


class StepEmitter(XmlEmitter):
    """``<steptml:parameter name="key">value</steptml:parameter>``."""

    stop = b"</steptml:parameter>"
    before, behind = b'<steptml:parameter name="', b'">'


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
    escapes: ClassVar[Mapping[str, str]] = {"&": "&amp;", '"': "&quot;"}

    def values(self, expression: int, d: Denotation) -> Iterator[tuple[int, Expr]]:
        for shape in d.strings:
            yield 0, self.raw(shape)
        for kind, part in (("number", {"numbers": d.numbers}), ("boolean", {"booleans": d.booleans}),
                           ("null", {"null": d.null}), ("array", {"arrays": d.arrays}),
                           ("object", {"objects": d.objects})):
            value = self.others(NO_VALUE.changed(**part))
            if value is not None:
                yield self.types.index(kind), self.framed(value)


XML_STYLES: dict[str, type[XmlEmitter]] = {
    "qwen_xml": XmlEmitter,
    "minimax_xml": MiniMaxEmitter,
    "glm_xml": GlmEmitter,
    "step_xml": StepEmitter,
    "deepseek_xml": DeepSeekEmitter,
    "deepseek_v4_1_xml": DeepSeek41Emitter,
    "kimi_k3_xml": KimiEmitter,
}
"""The styles of parameters as elements: what the grammar writes, and what a reader has to know of it."""
