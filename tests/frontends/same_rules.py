"""Whether two rule sets are the same but for the names of their rules: walked together from their roots.

Nodes are compared kind by kind, rules by what they are, so what one side shares and the other has twice is the same. No
text is enumerated; nothing is minimised either, so languages that are written in different ways differ.
"""

from __future__ import annotations

from constrained.grammar.counted import CountedDfa
from constrained.grammar.ir import (
    ByteDfa,
    CharClass,
    Choice,
    Distinct,
    Expr,
    Graph,
    Literal,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    Unordered,
    children,
)
from constrained.grammar.lazy import LazyDfa

__all__ = ["difference", "reached"]


def difference(one: RuleSet, other: RuleSet) -> str | None:
    """Where they first differ, in words; None: they do not."""
    seen: set[tuple[int, int]] = set()
    keep: list[Expr] = []  # an identity is good as long as its object lives
    stack: list[tuple[Expr, Expr, str]] = [(Reference(one.root), Reference(other.root), one.root)]
    while stack:
        a, b, where = stack.pop()
        a, where = _rule(one, a, where)
        b, _ = _rule(other, b, where)
        if (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        keep += (a, b)
        parts, others = children(a), children(b)
        if type(a) is not type(b) or len(parts) != len(others) or not _alike(a, b):
            return f"{where}: {a!r:.100} is not {b!r:.100}"
        stack.extend((left, right, where) for left, right in zip(parts, others, strict=True))
    return None


def reached(rules: RuleSet) -> int:
    """How many rules the root leads to, those that only stand for another one not counted."""
    seen: dict[int, Expr] = {}
    found: set[int] = set()
    stack: list[Expr] = [Reference(rules.root)]
    while stack:
        expr, where = _rule(rules, stack.pop(), "")
        if where:
            found.add(id(expr))
        if id(expr) not in seen:
            seen[id(expr)] = expr
            stack.extend(children(expr))
    return len(found)


def _rule(rules: RuleSet, expr: Expr, where: str) -> tuple[Expr, str]:
    """What a chain of references leads to, and the last rule's name."""
    while isinstance(expr, Reference):
        where = expr.name
        expr = rules.rules[where]
    return expr, where


def _alike(a: Expr, b: Expr) -> bool:
    """Whether two nodes of one kind say the same of themselves."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        return a.data == b.data
    if isinstance(a, CharClass) and isinstance(b, CharClass):
        return a.ranges == b.ranges
    if isinstance(a, LazyDfa) and isinstance(b, LazyDfa):
        return a.source == b.source
    if isinstance(a, CountedDfa) and isinstance(b, CountedDfa):
        return (a.minimum, a.maximum, a.boundary) == (b.minimum, b.maximum, b.boundary) and _alike(a.inner, b.inner)
    if isinstance(a, ByteDfa) and isinstance(b, ByteDfa):
        return a is b or (a.transitions == b.transitions and a.accepting == b.accepting)
    if isinstance(a, Repeat) and isinstance(b, Repeat):
        return (a.minimum, a.maximum) == (b.minimum, b.maximum)
    if isinstance(a, Unordered) and isinstance(b, Unordered):
        return (a.required, a.minimum, a.maximum, a.free is None, a.in_order) == (
            b.required, b.minimum, b.maximum, b.free is None, b.in_order)
    if isinstance(a, Graph) and isinstance(b, Graph):
        targets = [[to for _, to in row] for row in a.edges]
        return a.accepting == b.accepting and targets == [[to for _, to in row] for row in b.edges]
    return isinstance(a, (Sequence, Choice, Distinct))
