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


def raw_string(shape: StringShape, stop: bytes, limits: Limits, *, pattern: str | None = None) -> Expr:
    """The members of ``shape`` that do not contain ``stop``, and match the ECMA pattern, as raw text.

    ``NOTHING`` where there are none. Raises GrammarLimitError where lengths and patterns have no small automaton.
    """
    if pattern is not None:
        shape = shape.intersect(StringShape.from_pattern(pattern, limits)) or StringShape.of_values(())
    if shape.values is not None:
        texts = [value for value in shape.values if not any("\ud800" <= char <= "\udfff" for char in value)]
        options = [Literal(data) for data in (text.encode() for text in texts) if not stop or stop not in data]
        return make.choice(*options) if options else NOTHING
    if shape.is_any():
        return AnyTextUntil((stop,) if stop else (), consume=False)
    if stop:
        without = pattern_language(re.escape(stop.decode()).replace(r"\-", "-"), limits).opposite()
        shape = replace(shape, languages=(*shape.languages, without))
    dfa = shape.dfa(limits)
    return byte_dfa(dfa, limits) if dfa.accepting else NOTHING
