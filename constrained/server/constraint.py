"""``Constraint``: what a request asks its output to be, as text; and the grammar of it.

A constraint is plain data, so it can be a cache key and travel to a compiling process. ``build_grammar`` makes
a grammar of one, with ``api.requests``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from constrained.api.grammar import Grammar
from constrained.api.requests import LAYOUTS, grammar_of_request
from constrained.frontends.json_schema.coverage import coverage
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

__all__ = ["Constraint", "Relaxed", "build_grammar"]

Relaxed = tuple[str, str]
"""A JSON Pointer and why what stands there is not enforced."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint of one request.

    ``source`` is the schema (JSON text), pattern, grammar, list of choices (JSON text) or structural tag (JSON text);
    ``layout`` is how JSON is written (see ``ServerSettings.json_whitespace``); ``relax`` leaves out what cannot be
    enforced exactly instead of refusing it; ``param`` is the field to name in errors.
    """

    kind: str
    source: str
    layout: str = "any"
    relax: bool = False
    param: str = "response_format"

    @property
    def key(self) -> bytes:
        """Equal for constraints that mean the same; a digest, so that a cache does not hold megabytes of keys."""
        parts = (self.kind, self.layout, str(self.relax), self.source)
        return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def build_grammar(constraint: Constraint, limits: Limits, info: TokenizerInfo) -> tuple[Grammar, list[Relaxed]]:
    """The grammar, and what of it was relaxed. Raises :class:`ConstrainedError` as the front ends do."""
    source, kind, layout = constraint.source, constraint.kind, constraint.layout
    grammar = grammar_of_request(kind, source, layout=layout, relax=constraint.relax, tokenizer_info=info,
                                 limits=limits)
    if kind != "json_schema" or (not constraint.relax and '"format"' not in source):
        return grammar, []  # nothing else is relaxed without being asked for
    report = coverage(source, limits=limits, **LAYOUTS[layout])
    return grammar, [(entry.pointer, entry.reason) for entry in report.relaxed[:50]]
