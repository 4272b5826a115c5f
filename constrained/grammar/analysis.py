"""What can be said of a grammar before it runs: which rules can be empty, can end, can be reached.

``analyse(rule_set)`` solves two least fixpoints (nullable, productive) on the graph of all expression nodes and
one reachability, each with a worklist: linear in the number of nodes, no recursion, shared nodes counted once.

A rule is *nullable* if it derives the empty text, *productive* if it derives any text at all, *reachable* if a
chain of references leads to it from the root.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UnsatisfiableGrammarError, echo
from .ir import (
    AnyTextUntil,
    ByteDfa,
    CharClass,
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
from .lazy import LazyDfa
from .unfolded import unfolded

__all__ = ["GrammarReport", "analyse", "require_productive"]


@dataclass(frozen=True, slots=True)
class GrammarReport:
    """Rule names, each tuple in the order of the grammar."""

    unproductive: tuple[str, ...]
    unreachable: tuple[str, ...]
    nullable: tuple[str, ...]

    def warnings(self) -> tuple[str, ...]:
        """One line for each rule that is probably a mistake: it can never end, or nothing refers to it."""
        lines = [f"the rule {echo(name)} can never be completed: no text fits it" for name in self.unproductive]
        lines += [f"the rule {echo(name)} is never used: the root does not lead to it" for name in self.unreachable]
        return tuple(lines)


def analyse(rule_set: RuleSet) -> GrammarReport:
    """Nullable, unproductive and unreachable rules. Every reference must name a rule."""
    graph = _Graph(rule_set)
    productive = graph.least([_is_productive(node) for node in graph.nodes])
    nullable = graph.least([_is_nullable(node) for node in graph.nodes])
    reached = _reachable(rule_set)
    return GrammarReport(
        unproductive=tuple(name for name in rule_set.rules if not productive[graph.rule[name]]),
        unreachable=tuple(name for name in rule_set.rules if name not in reached),
        nullable=tuple(name for name in rule_set.rules if nullable[graph.rule[name]]),
    )


def require_productive(rule_set: RuleSet) -> None:
    """Raise ``UnsatisfiableGrammarError`` if the root derives no text, naming the rules that cannot end."""
    graph = _Graph(rule_set)
    productive = graph.least([_is_productive(node) for node in graph.nodes])
    if productive[graph.rule[rule_set.root]]:
        return
    reached = _reachable(rule_set)
    stuck = [name for name in rule_set.rules if name in reached and not productive[graph.rule[name]]]
    shown = ", ".join(echo(name, 60) for name in stuck[:10]) + (", ..." if len(stuck) > 10 else "")
    raise UnsatisfiableGrammarError(
        f"no text fits the grammar: its root {echo(rule_set.root)} can never be completed; rules without end: {shown}",
        hint="give each of them an alternative that does not need itself",
    )


class _Graph:
    """All nodes once, with who uses whom. A sequence needs all of its children, every other node one of them."""

    def __init__(self, rule_set: RuleSet) -> None:
        self._collect(rule_set)
        if any(isinstance(node, Graph) for node in self.nodes):
            self._collect(unfolded(rule_set))

    def _collect(self, rule_set: RuleSet) -> None:
        self.nodes: list[Expr] = []
        self.users: list[list[int]] = []
        number: dict[int, int] = {}
        stack: list[Expr] = list(rule_set.rules.values())
        while stack:
            node = stack.pop()
            if id(node) not in number:
                number[id(node)] = len(self.nodes)
                self.nodes.append(node)
                stack.extend(children(node))
        self.rule = {name: number[id(body)] for name, body in rule_set.rules.items()}
        self.users = [[] for _ in self.nodes]
        for i, node in enumerate(self.nodes):
            if isinstance(node, Reference):
                self.users[self.rule[node.name]].append(i)
            for child in children(node):
                self.users[number[id(child)]].append(i)

    def least(self, known: list[bool]) -> list[bool]:
        """The least solution above ``known``: true for a sequence of true nodes, or for any user of a true node."""
        missing = [len(node.items) if isinstance(node, Sequence) else 1 for node in self.nodes]
        ready = [i for i, value in enumerate(known) if value]
        while ready:
            for user in self.users[ready.pop()]:
                missing[user] -= 1
                if missing[user] == 0 and not known[user]:
                    known[user] = True
                    ready.append(user)
        return known


def _is_productive(node: Expr) -> bool:
    """Whether the node derives some text whatever its children do."""
    if isinstance(node, CharClass):
        return bool(node.ranges)
    if isinstance(node, Sequence):
        return not node.items
    if isinstance(node, Repeat):
        return node.minimum == 0
    if isinstance(node, TokenReference):
        return node.exclude or bool(node.tokens)
    if isinstance(node, AnyTextUntil):
        return bool(node.stops) if node.consume else b"" not in node.stops
    if isinstance(node, LazyDfa):
        return True  # from each of its states a text leads to an end
    if isinstance(node, ByteDfa):
        return _dfa_accepts_something(node)
    if isinstance(node, TokenBudget):
        return _is_productive(node.text)  # one level deep
    if isinstance(node, NotFollowedBy):
        return 0 not in node.dfa.accepting
    return isinstance(node, (Literal, Unordered))  # whether its items suffice is left to compiling


def _is_nullable(node: Expr) -> bool:
    """Whether the node derives the empty text whatever its children do."""
    if isinstance(node, Literal):
        return not node.data
    if isinstance(node, Sequence):
        return not node.items
    if isinstance(node, Repeat):
        return node.minimum == 0
    if isinstance(node, Unordered):
        return not node.required and node.minimum == 0
    if isinstance(node, AnyTextUntil):
        return (b"" in node.stops) == node.consume
    if isinstance(node, NotFollowedBy):
        return 0 not in node.dfa.accepting
    if isinstance(node, TokenBudget):
        return _is_nullable(node.text)  # one level deep
    return isinstance(node, ByteDfa) and 0 in node.accepting


def _dfa_accepts_something(dfa: ByteDfa) -> bool:
    seen, stack = {0}, [0]
    while stack:
        state = stack.pop()
        if state in dfa.accepting:
            return True
        for _, _, target in dfa.transitions[state]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return False


def _reachable(rule_set: RuleSet) -> set[str]:
    reached = {rule_set.root}
    seen: set[int] = set()
    stack = [rule_set.rules[rule_set.root]]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Reference) and node.name not in reached:
            reached.add(node.name)
            stack.append(rule_set.rules[node.name])
        stack.extend(children(node))
    return reached
