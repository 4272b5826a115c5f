"""The rules of a schema with its values and names as captures: for reading a document while it is written.

Every value is a ``Capture("value", ...)``, the root's and those inside it; every name of a member a
``Capture("key", ...)`` with its quotes. The language is that of ``from_json_schema`` with the same options: whoever
follows a text of that grammar with a ``CaptureTracker`` over these rules learns which parts can no longer change.

Cost: as ``from_json_schema``; the automaton need not know these rules.
"""

from __future__ import annotations

from typing import Any

from constrained.frontends.json_schema.compile import build
from constrained.frontends.json_schema.emit import Emitter
from constrained.grammar.ir import Capture, Expr, RuleSet

__all__ = ["KEY", "VALUE", "captured_rules"]

VALUE, KEY = "value", "key"


class CapturingEmitter(Emitter):
    """Names what ``Emitter`` writes. Sharing stays: a rule is captured within, a text where it is used."""

    def body(self, expression: int) -> Expr:
        return Capture(VALUE, super().body(expression))

    def plain_scalar(self, expression: int) -> Expr | None:
        found = super().plain_scalar(expression)
        return None if found is None else Capture(VALUE, found)

    def key(self, name: str) -> Expr:
        return Capture(KEY, super().key(name))

    def scalar(self, kind: str, expr: Expr) -> Expr:
        found = super().scalar(kind, expr)
        return Capture(KEY, found) if kind == "key" else found


def captured_rules(schema: Any, **options: Any) -> RuleSet:
    """As ``from_json_schema``, or ``python_types.from_type`` for an adapter. Raises as they do."""
    return build(schema, emitter=CapturingEmitter, **options)[0]
