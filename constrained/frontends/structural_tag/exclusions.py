"""``excludes`` of ``json_schema``: texts that stand in no string and in no name of a member.

As in XGrammar the text that is written is looked at, before anything is unescaped, without the marks around it; strings
with a pattern or a format are left to that alone. Otherwise than there lengths hold, too, and members that have to be
written under an excluded name make a schema that nothing satisfies.

A free string is then an automaton: what JSON writes between quotation marks, with its length, without the excluded
texts. Names that the schema does not declare are written without escapes.
"""

from __future__ import annotations

import json
import re
from typing import Any

from constrained.frontends.json_schema.emit import NOTHING, Emitter
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import StringShape
from constrained.frontends.structural_tag.raw_strings import raw_string
from constrained.frontends.structural_tag.spellings import GemmaEmitter, RestyledEmitter
from constrained.frontends.structural_tag.xml_values import XmlEmitter
from constrained.grammar import combinators as make
from constrained.grammar.ir import Expr, Literal, Sequence

__all__ = ["excluding"]

_HEX = "[0-9a-fA-F]"
_CHARACTER = ('(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u(?:[0-9a-cA-Ce-fE-F]' + _HEX + "{3}|[dD][0-7]" + _HEX
              + "{2}|[dD][89abAB]" + _HEX + "{2}\\\\u[dD][c-fC-F]" + _HEX + "{2})))")
"""One character of a JSON string, in ECMAScript's syntax: raw, escaped, or a pair of escaped surrogates."""
_UNESCAPED = '^[^"\\\\\\u0000-\\u001f]*$'
_QUOTE = Literal(b'"')


class _Excluding(Emitter):
    """What is put before an emitter: members of hidden names are left out."""

    excludes: tuple[str, ...] = ()

    def hidden(self, text: str) -> bool:
        """Whether a string of a known text cannot be written."""
        ways = (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
        return any(one in way for one in self.excludes for way in ways)

    def member(self, name: str, expression: int) -> Expr:
        return NOTHING if self.hidden(name) else super().member(name, expression)


class _ExcludingJson(_Excluding):
    """Strings and names as JSON writes them."""

    def string(self, shape: StringShape) -> Expr:
        if shape.languages:
            return super().string(shape)
        if shape.values is not None:
            left = [value for value in shape.values if not self.hidden(value)]
            return super().string(StringShape.of_values(left)) if left else NOTHING
        if shape.excluded:
            raise NotEnforced("not beside excluded texts", "leave out either")
        bounds = "*" if shape.is_any() else f"{{{shape.minimum},{'' if shape.maximum is None else shape.maximum}}}"
        limits = self.normaliser.limits
        written = StringShape.from_pattern(f"^{_CHARACTER}{bounds}$", limits)
        return self.scalar("string", _between(raw_string(written, b"", limits, without=self.excludes)))

    def free_member(self, cells: Any, declared: list[str]) -> Expr | None:
        if self.writes_elements:
            return super().free_member(cells, declared)
        options: list[Expr] = []
        limits = self.normaliser.limits
        for names, expression in cells:
            if not self.normaliser.is_empty(expression):
                key = raw_string(names.exclude_values(declared), b"", limits, pattern=_UNESCAPED, without=self.excludes)
                options.append(Sequence((_between(key), self.colon, self.inner(expression))))
        return make.choice(*options) if options else None

    @property
    def writes_elements(self) -> bool:
        """Whether the members that are being written are elements."""
        return False


class _ExcludingRaw(_Excluding, RestyledEmitter):
    """Raw strings and names."""

    def raw_text(self, shape: StringShape, stop: bytes, pattern: str | None = None, *, name: bool = False) -> Expr:
        if shape.languages and not name:
            return super().raw_text(shape, stop, pattern)
        return raw_string(shape, stop, self.normaliser.limits, pattern=pattern, without=self.excludes)


class _ExcludingXml(_ExcludingRaw, _ExcludingJson):
    """Raw strings of elements, and JSON within them."""

    @property
    def writes_elements(self) -> bool:
        return self.inside_root


def _between(text: Expr) -> Expr:
    return NOTHING if text is NOTHING else Sequence((_QUOTE, text, _QUOTE))


def excluding(style: type[Emitter], excludes: tuple[str, ...]) -> type[Emitter]:
    """The emitter of a style, with exclusions. Raises ``ValueError`` for a style that has none."""
    if style is Emitter:
        base: tuple[type, ...] = (_ExcludingJson,)
    elif issubclass(style, XmlEmitter):
        if any(re.match(r"\s", text) or re.search(r"\s$", text) for text in excludes):
            raise ValueError("beside elements an excluded text neither begins nor ends with a blank")
        base = (_ExcludingXml, style)
    elif issubclass(style, GemmaEmitter):
        base = (_ExcludingRaw, style)
    else:
        raise ValueError("texts are excluded from JSON, flat elements and Gemma's values only")
    return type(f"Excluding{style.__name__}", base, {"excludes": excludes})
