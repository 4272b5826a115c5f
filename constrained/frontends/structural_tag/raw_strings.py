"""Strings of a schema as they stand between delimiters: raw text, nothing escaped, the delimiter not in it."""

from __future__ import annotations

import re
from dataclasses import replace

from constrained.frontends.json_schema.strings import NOTHING, StringShape, pattern_language
from constrained.frontends.regex import byte_dfa
from constrained.grammar import combinators as make
from constrained.grammar.ir import AnyTextUntil, Expr, Literal
from constrained.limits import Limits

__all__ = ["raw_string"]


def raw_string(shape: StringShape, stop: bytes, limits: Limits, *, pattern: str | None = None,
               without: tuple[str, ...] = ()) -> Expr:
    """The members of ``shape`` that contain neither ``stop`` nor a text of ``without``, and match the ECMA pattern, as
    raw text.

    ``NOTHING`` where there are none. Raises GrammarLimitError where lengths and patterns have no small automaton.
    """
    if pattern is not None:
        shape = shape.intersect(StringShape.from_pattern(pattern, limits)) or StringShape.of_values(())
    if shape.values is not None:
        texts = [value for value in shape.values if not any("\ud800" <= char <= "\udfff" for char in value)]
        hidden = [*([stop] if stop else []), *(text.encode() for text in without)]
        options = [Literal(data) for data in (text.encode() for text in texts)
                   if not any(one in data for one in hidden)]
        return make.choice(*options) if options else NOTHING
    if shape.is_any():
        return AnyTextUntil((*([stop] if stop else []), *(text.encode() for text in without)), consume=False)
    for text in (*([stop.decode()] if stop else []), *without):
        left = pattern_language(re.escape(text).replace(r"\-", "-"), limits).opposite()
        shape = replace(shape, languages=(*shape.languages, left))
    dfa = shape.dfa(limits)
    return byte_dfa(dfa, limits) if dfa.accepting else NOTHING
