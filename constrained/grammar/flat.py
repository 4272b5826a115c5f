"""Grammars as flat lists of plain values: for pickles, caches and equality.

Expression trees may be deep and shared, so neither ``pickle`` nor ``==`` may walk them by recursion. Here every
distinct node is one entry ``(tag, ...)`` that names its parts by number, parts first. Equal trees built alike give
equal lists.
"""

from __future__ import annotations

from typing import Any

from constrained.grammar.ir import (
    AnyTextUntil,
    ByteDfa,
    Capture,
    CharClass,
    Choice,
    Distinct,
    Expr,
    Graph,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    TokenBudget,
    TokenReference,
    Unordered,
    children,
)
from constrained.grammar.lazy import LazyDfa

__all__ = ["from_flat", "to_flat"]

Flat = tuple[str, tuple[tuple[str, int], ...], tuple[tuple[Any, ...], ...]]
"""``(root, rules as (name, entry), entries)``."""


def to_flat(rules: RuleSet) -> Flat:
    """Entries of all rules; shared nodes are one entry."""
    numbers: dict[int, int] = {}
    entries: list[tuple[Any, ...]] = []
    heads: list[tuple[str, int]] = []
    for name, expr in rules.rules.items():
        stack: list[Expr] = [expr]
        while stack:
            node = stack[-1]
            if id(node) in numbers:
                stack.pop()
                continue
            entry: tuple[Any, ...]
            if type(node) is Literal:  # most nodes are leaves of these three kinds
                entry = ("literal", node.data)
            elif type(node) is CharClass:
                entry = ("class", node.ranges)
            elif type(node) is Reference:
                entry = ("reference", node.name)
            else:
                parts = children(node)
                waiting = [child for child in parts if id(child) not in numbers]
                if waiting:
                    stack.extend(reversed(waiting))
                    continue
                entry = _entry(node, tuple([numbers[id(child)] for child in parts]))
            stack.pop()
            numbers[id(node)] = len(entries)
            entries.append(entry)
        heads.append((name, numbers[id(expr)]))
    return rules.root, tuple(heads), tuple(entries)


def _entry(node: Expr, parts: tuple[int, ...]) -> tuple[Any, ...]:
    if isinstance(node, Sequence):
        return ("sequence", parts)
    if isinstance(node, Choice):
        return ("choice", parts)
    if isinstance(node, Repeat):
        return ("repeat", parts[0], node.minimum, node.maximum)
    if isinstance(node, Distinct):
        return ("distinct", parts[0])
    if isinstance(node, Capture):
        return ("capture", parts[0], node.name)
    if isinstance(node, Unordered):
        return ("unordered", parts, tuple(sorted(node.required)), node.free is not None, node.minimum, node.maximum,
                node.in_order)
    if isinstance(node, Graph):
        targets = tuple([tuple([to for _, to in row]) for row in node.edges])
        return ("graph", parts, targets, tuple(sorted(node.accepting)))
    if isinstance(node, TokenReference):
        return ("token", node.tokens, node.exclude)
    if isinstance(node, AnyTextUntil):
        return ("until", node.stops, node.consume, node.excludes, node.max_chars)
    if isinstance(node, NotFollowedBy):
        return ("not-followed-by", node.dfa.transitions, tuple(sorted(node.dfa.accepting)), tuple(sorted(node.at_end)))
    if isinstance(node, TokenBudget):
        return ("token-budget", _entry(node.text, ()), node.maximum)
    if isinstance(node, LazyDfa):
        return ("lazy", node.source)
    assert isinstance(node, ByteDfa)
    return ("dfa", node.transitions, tuple(sorted(node.accepting)))


def from_flat(flat: Flat) -> RuleSet:
    """The rules again."""
    root, heads, entries = flat
    nodes: list[Expr] = []
    for entry in entries:
        tag = entry[0]
        if tag == "literal":
            nodes.append(Literal(entry[1]))
        elif tag == "class":
            nodes.append(CharClass(entry[1]))
        elif tag == "sequence":
            nodes.append(Sequence(tuple(nodes[i] for i in entry[1])))
        elif tag == "choice":
            nodes.append(Choice(tuple(nodes[i] for i in entry[1])))
        elif tag == "repeat":
            nodes.append(Repeat(nodes[entry[1]], entry[2], entry[3]))
        elif tag == "distinct":
            nodes.append(Distinct(nodes[entry[1]]))
        elif tag == "capture":
            nodes.append(Capture(entry[2], nodes[entry[1]]))
        elif tag == "unordered":
            parts = [nodes[i] for i in entry[1]]
            free = parts.pop() if entry[3] else None
            separator = parts.pop()
            nodes.append(Unordered(tuple(parts), frozenset(entry[2]), separator, free, *entry[4:]))
        elif tag == "graph":
            left = iter(entry[1])
            nodes.append(Graph(tuple([tuple([(nodes[next(left)], to) for to in row]) for row in entry[2]]),
                               frozenset(entry[3])))
        elif tag == "reference":
            nodes.append(Reference(entry[1]))
        elif tag == "token":
            nodes.append(TokenReference(entry[1], entry[2]))
        elif tag == "until":
            nodes.append(AnyTextUntil(*entry[1:]))
        elif tag == "not-followed-by":
            nodes.append(NotFollowedBy(ByteDfa(entry[1], frozenset(entry[2])), frozenset(entry[3])))
        elif tag == "token-budget":
            inner = entry[1]
            nodes.append(TokenBudget(AnyTextUntil(*inner[1:]) if inner[0] == "until"
                                     else ByteDfa(inner[1], frozenset(inner[2])), entry[2]))
        elif tag == "lazy":
            nodes.append(LazyDfa(entry[1]))
        else:
            nodes.append(ByteDfa(entry[1], frozenset(entry[2])))
    return RuleSet({name: nodes[number] for name, number in heads}, root)
