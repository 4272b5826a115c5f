"""Values as elements within elements: Cohere's, which say what they hold, and MiniMax M3's, which do not.

    <cofl:value name="q" type="raw">x</cofl:value><cofl:value name="tags" type="list"><cofl:value type="json">1
    </cofl:value></cofl:value>
    ]<]minimax[>[<q>x]<]minimax[>[</q>]<]minimax[>[<tags>]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[</tags>

The rule of an expression is what stands between the name of an element and its end: references between schemas, and
recursion, are references between rules. Strings are raw text, other scalars JSON; objects and arrays are elements, one
behind the other. MiniMax M3's elements end in their names, so that names have to be known; whether a text there is a
string is said by the schema alone, as it is for flat XML (``xml_values``).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from constrained.frontends.json_schema.arrays import ANY_ARRAY
from constrained.frontends.json_schema.denotation import Denotation
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.objects import ANY_OBJECT
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.structural_tag.raw_strings import raw_string
from constrained.frontends.structural_tag.spellings import RestyledEmitter
from constrained.frontends.structural_tag.xml_values import check_mixed
from constrained.grammar import combinators as make
from constrained.grammar.ir import Expr, Literal, Sequence

__all__ = ["COHERE_ESCAPES", "MINIMAX_MARK", "CohereEmitter", "MiniMaxM3Emitter"]

COHERE_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
"""How characters are written in the names of Cohere's elements; their texts are as they stand."""

MINIMAX_MARK = "]<]minimax[>["
"""What stands before each element, and before each end of one."""


class NestedEmitter(RestyledEmitter):
    """What both have in common: containers are their elements."""

    def text(self, expression: int, d: Denotation) -> list[Expr]:
        """What an element that is no container may hold, and its end where that belongs to the rule."""
        raise NotImplementedError

    def container(self, kind: str, elements: Expr) -> Expr:
        """The rest of an element that holds others."""
        raise NotImplementedError

    def body(self, expression: int) -> Expr:
        if not self.bodies:
            return super().body(expression)
        d = self.normaliser.denote(expression)
        options = self.exact(expression, lambda: make.choice(*self.text(expression, d)))
        found: list[Expr] = [options]
        for shape in d.objects if self.holds(d) else ():
            if not self.normaliser.no_object(shape):
                written = self.exact(expression, partial(self.object, shape))
                found.append(self.container("dict", written))
        for array in d.arrays if self.holds(d) else ():
            if not self.normaliser.no_array(array):
                written = self.exact(expression, partial(self.array, array))
                found.append(self.container("list", written))
        return make.choice(*found)

    def holds(self, d: Denotation) -> bool:
        """Whether values of this may be written as elements."""
        return True

    def scalars_of(self, d: Denotation) -> list[Expr]:
        """The values that are neither strings nor containers."""
        return [*(self.number(shape) for shape in d.numbers), *([Literal(b"true")] if d.booleans & 2 else []),
                *([Literal(b"false")] if d.booleans & 1 else []), *([Literal(b"null")] if d.null else [])]

    def bracketed(self, left: bytes, inside: Expr | None, right: bytes, may_be_empty: bool) -> Expr:
        options: list[Expr] = [] if inside is None else [Sequence((self.space, inside, self.space))]
        return make.choice(*options, *([self.space] if may_be_empty else []))

    def separator(self) -> Expr:
        return self.space


class CohereEmitter(NestedEmitter):
    """``<cofl:value name="key" type="raw|json|dict|list">`` ... ``</cofl:value>``."""

    begin, end = b"<cofl:value", b"</cofl:value>"

    def inner(self, expression: int) -> Expr:
        """An item of a list."""
        return Sequence((self.mark(self.begin), self.value(expression)))

    def member(self, name: str, expression: int) -> Expr:
        if any("\ud800" <= char <= "\udfff" for char in name):
            raise NotEnforced(f"the parameter {name!r:.60} cannot be named in XML", "leave lone surrogates out")
        written = "".join([COHERE_ESCAPES.get(char, char) for char in name])
        return Sequence((self.mark(self.begin), Literal(f' name="{written}"'.encode()), self.value(expression)))

    def free_member(self, cells: Any, declared: list[str]) -> Expr | None:
        options: list[Expr] = []
        for names, expression in cells:
            if not self.normaliser.is_empty(expression):
                key = raw_string(names.exclude_values(declared), b"", self.normaliser.limits, pattern='^[^&<>"]*$')
                options.append(Sequence((self.mark(self.begin), Literal(b' name="'), key, Literal(b'"'),
                                         self.value(expression))))
        return make.choice(*options) if options else None

    def text(self, expression: int, d: Denotation) -> list[Expr]:
        found: list[Expr] = []
        for shape in d.strings:
            raw = raw_string(shape, self.end, self.normaliser.limits)
            found.append(Sequence((Literal(b' type="raw">'), raw, self.mark(self.end))))
        scalars = self.scalars_of(d)
        if scalars:
            found.append(Sequence((Literal(b' type="json">'), self.space, make.choice(*scalars), self.space,
                                   self.mark(self.end))))
        return found

    def container(self, kind: str, elements: Expr) -> Expr:
        return Sequence((Literal(f' type="{kind}">'.encode()), elements, self.mark(self.end)))


class MiniMaxM3Emitter(NestedEmitter):
    """``]<]minimax[>[<key>`` ... ``]<]minimax[>[</key>``, items of arrays as elements ``item``, without blanks."""

    item = "item"

    def __init__(self, normaliser: Normaliser, policy: TextPolicy, *, strict: bool) -> None:
        tight = TextPolicy(any_whitespace=False, separators=("", ""), property_order=policy.property_order,
                           max_number_digits=policy.max_number_digits, integer_as_float=policy.integer_as_float)
        super().__init__(normaliser, tight, strict=strict)

    def element(self, name: str, expression: int) -> Expr:
        """An element of a known name."""
        return Sequence((self.mark(f"{MINIMAX_MARK}<{name}>".encode()), self.value(expression),
                         self.mark(f"{MINIMAX_MARK}</{name}>".encode())))

    def inner(self, expression: int) -> Expr:
        return self.element(self.item, expression)

    def member(self, name: str, expression: int) -> Expr:
        if not name.strip() or name.startswith("/") or any(
                char in "<>" or "\ud800" <= char <= "\udfff" for char in name):
            raise NotEnforced(f"the parameter {name!r:.60} cannot be the name of an element",
                              "leave < and > out of names")
        return self.element(name, expression)

    def free_member(self, cells: Any, declared: list[str]) -> Expr | None:
        if all(self.normaliser.is_empty(expression) for _, expression in cells):
            return None
        raise NotEnforced("additionalProperties and patternProperties as elements that end in their names",
                          'declare the properties and say "additionalProperties": false')

    def holds(self, d: Denotation) -> bool:
        return not d.strings

    def text(self, expression: int, d: Denotation) -> list[Expr]:
        scalars = self.scalars_of(d)
        if (d.objects and d.arrays and not d.strings) or (d.strings and (
                any(one != ANY_OBJECT for one in d.objects) or any(one != ANY_ARRAY for one in d.arrays))):
            raise NotEnforced("type beside type: elements of MiniMax M3 do not say whether they hold a string, an "
                              "object or an array", "leave one of them")
        if scalars:
            for shape in d.strings:
                check_mixed("a value", shape, Denotation(d.null, d.booleans, d.numbers, d.strings, (), ()))
        return [*(raw_string(shape, MINIMAX_MARK.encode(), self.normaliser.limits) for shape in d.strings), *scalars]

    def container(self, kind: str, elements: Expr) -> Expr:
        return elements
