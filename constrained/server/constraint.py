"""``Constraint``: what a request asks its output to be, as text; and the grammar of it.

A constraint is plain data, so it can be a cache key and travel to a compiling process. ``build_grammar`` is the only
place where one becomes a grammar.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass
from typing import Any

from constrained.api.grammar import Grammar
from constrained.errors import ConstrainedError
from constrained.frontends.json_schema.coverage import coverage
from constrained.grammar.combinators import choice
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

__all__ = ["KINDS", "Constraint", "Relaxed", "build_grammar"]

KINDS = ("json_schema", "regex", "ebnf", "lark", "choice", "structural_tag")

Relaxed = tuple[str, str]
"""A JSON Pointer and why what stands there is not enforced."""

LAYOUTS: dict[str, dict[str, Any]] = {
    "any": {},
    "line": {"any_whitespace": False, "separators": (", ", ": ")},
    "compact": {"any_whitespace": False, "separators": (",", ":")},
}


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
    source, kind = constraint.source, constraint.kind
    if kind == "json_schema":
        return _json_schema(constraint, limits)
    if kind == "regex":
        return Grammar.from_regex(source, limits=limits), []
    if kind == "ebnf":
        return Grammar.from_ebnf(source, limits=limits), []
    if kind == "choice":
        return Grammar.of(choice(*json.loads(source))), []
    if kind == "structural_tag":
        tag = json.loads(source)
        _lay_out(tag, constraint.layout)
        return Grammar.from_structural_tag(tag, tokenizer_info=info, strict_mode=False, limits=limits), []
    if kind == "lark":
        return Grammar.from_lark(source, limits=limits), []
    raise ConstrainedError(f"unknown kind of constraint {kind!r:.50}")


def _lay_out(tag: Any, layout: str) -> None:
    """Bound the whitespace of every JSON value in a structural tag that this server wrote itself."""
    most = {"line": 1, "compact": 0}.get(layout)
    stack = [tag] if most is not None else []
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if node.get("type") == "json_schema" and "json_schema" in node:
                node.setdefault("max_whitespace_cnt", most)
            else:
                stack.extend(node.values())


def _json_schema(constraint: Constraint, limits: Limits) -> tuple[Grammar, list[Relaxed]]:
    options = LAYOUTS[constraint.layout]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they would say is in the report
        grammar = Grammar.from_json_schema(constraint.source, limits=limits,
                                           unsupported="ignore" if constraint.relax else "error", **options)
    if not constraint.relax and '"format"' not in constraint.source:
        return grammar, []  # nothing else is relaxed without being asked for
    report = coverage(constraint.source, limits=limits, **options)
    return grammar, [(entry.pointer, entry.reason) for entry in report.relaxed[:50]]
