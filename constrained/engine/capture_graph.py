"""The rules of a grammar as a graph that threads of captures run through.

A *place* is a list of operations, the preferred first: epsilon, leaf (a byte automaton), call, open and close of a
capture, counted loop, group in any order, token, guard, return. Each operation is a tuple whose first item is its
kind; what follows is said where it is made. Made once for a grammar, immutable then.

Raises ``GrammarError`` for left recursion, which has no threads. Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constrained.engine.text_until import text_until
from constrained.engine.utf8 import char_template
from constrained.errors import GrammarError
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
    walk,
)

__all__ = ["CaptureGraph", "has_captures"]

EPS, LEAF, CALL, OPEN, CLOSE, LOOP, ROUND, GROUP, ITEM, GAP, TOKEN, GUARD, RETURN, ACCEPT = range(14)
Rows = tuple[tuple[tuple[int, int, int], ...], ...]


def has_captures(rules: RuleSet) -> bool:
    """Whether anything is named."""
    return any(isinstance(node, Capture) for rule in rules.rules.values() for node in walk(rule))


class CaptureGraph:
    """The rules as places. ``ops[p]``: operations, the preferred first. Made once for a grammar; immutable."""

    def __init__(self, rules: RuleSet, resolve: Callable[[TokenReference], frozenset[int]] | None) -> None:
        self.rules = rules
        self.resolve = resolve
        self.ops: list[list[tuple[Any, ...]]] = []
        self.leaves: list[tuple[Rows, frozenset[int]]] = []
        self.known_leaves: dict[Any, int] = {}
        self.at_end: dict[int, frozenset[int]] = {}
        """States of a guard's automaton in which the text may not end."""
        self.entries: dict[str, int] = {}
        self.waiting: list[tuple[Expr, int, int]] = []
        self.start = self.place()
        end = self.place()
        self.ops[self.start].append((CALL, self.rule(rules.root), end))
        self.ops[end].append((ACCEPT,))
        while self.waiting:
            self.spell(*self.waiting.pop())
        self.nullable = self._nullable()
        self._refuse_left_recursion()

    def place(self) -> int:
        self.ops.append([])
        return len(self.ops) - 1

    def rule(self, name: str) -> int:
        entry = self.entries.get(name)
        if entry is None:
            entry = self.entries[name] = self.body(self.rules.rules[name], (RETURN,))
        return entry

    def body(self, expr: Expr, last: tuple[Any, ...]) -> int:
        """A part with an entry and an exit of its own, whose exit does ``last``."""
        entry, end = self.place(), self.place()
        self.ops[end].append(last)
        self.waiting.append((expr, entry, end))
        return entry

    def leaf(self, key: Any, make: Callable[[], tuple[Rows, frozenset[int]]]) -> int:
        number = self.known_leaves.get(key)
        if number is None:
            number = self.known_leaves[key] = len(self.leaves)
            self.leaves.append(make())
        return number

    def spell(self, expr: Expr, start: int, end: int) -> None:
        ops = self.ops[start]
        if isinstance(expr, Literal):
            data = expr.data
            rows = tuple(((byte, byte, i + 1),) for i, byte in enumerate(data))
            ops.append((LEAF, self.leaf(("literal", data), lambda: ((*rows, ()), frozenset([len(data)]))), end)
                       if data else (EPS, end))
        elif isinstance(expr, CharClass):
            ops.append((LEAF, self.leaf(("class", expr.ranges), lambda: _class_leaf(expr.ranges)), end))
        elif isinstance(expr, (AnyTextUntil, ByteDfa, TokenBudget)):
            text = expr.text if isinstance(expr, TokenBudget) else expr  # how many tokens moves no part of the text
            key: Any = ("dfa", id(text))  # the rules keep it
            if isinstance(text, AnyTextUntil):
                key = (text.stops, text.consume, text.excludes, text.max_chars)
                dfa = text_until(*key)
            else:
                dfa = text
            ops.append((LEAF, self.leaf(key, lambda: (dfa.transitions, dfa.accepting)), end))
            if 0 in dfa.accepting:
                ops.append((EPS, end))
        elif isinstance(expr, Sequence):
            here = start
            for i, item in enumerate(expr.items):
                there = end if i == len(expr.items) - 1 else self.place()
                self.waiting.append((item, here, there))
                here = there
            if not expr.items:
                ops.append((EPS, end))
        elif isinstance(expr, Graph):
            places = [self.place() for _ in expr.edges]
            ops.append((EPS, places[0]))
            for here, row in zip(places, expr.edges, strict=True):
                for one, to in row:
                    there = self.place()
                    self.ops[here].append((EPS, there))
                    self.waiting.append((one, there, places[to]))
            for state in sorted(expr.accepting):
                self.ops[places[state]].append((EPS, end))
        elif isinstance(expr, Choice):
            for option in expr.options:
                here = self.place()
                ops.append((EPS, here))
                self.waiting.append((option, here, end))
        elif isinstance(expr, Reference):
            ops.append((CALL, self.rule(expr.name), end))
        elif isinstance(expr, Capture):
            opened, closed = self.place(), self.place()
            ops.append((OPEN, expr.name, opened))
            self.ops[closed].append((CLOSE, expr.name, end))
            self.waiting.append((expr.body, opened, closed))
        elif isinstance(expr, Distinct):  # what it forbids the matcher has not let through
            self.waiting.append((expr.body, start, end))
        elif isinstance(expr, Repeat):
            self.repeat(expr, start, end)
        elif isinstance(expr, Unordered):
            self.unordered(expr, start, end)
        elif isinstance(expr, TokenReference):
            ops.append((TOKEN, self.resolve(expr) if self.resolve is not None else frozenset(
                one for one in expr.tokens if isinstance(one, int)), end))
        else:
            assert isinstance(expr, NotFollowedBy)
            leaf = self.leaf(("guard", id(expr.dfa), expr.at_end), lambda: (expr.dfa.transitions, expr.dfa.accepting))
            self.at_end[leaf] = expr.at_end
            ops.append((GUARD, leaf, end))

    def repeat(self, expr: Repeat, start: int, end: int) -> None:
        least, most = expr.minimum, expr.maximum
        if most is None and least <= 1:
            head = self.place()
            self.ops[start].append((EPS, head))
            again = self.place()
            self.waiting.append((expr.body, head, again))
            self.ops[again] += [(EPS, head), (EPS, end)]
            if least == 0:
                self.ops[start].append((EPS, end))
            return
        number = self.place()  # a number of its own for the loop's frames
        entry = self.body(expr.body, (ROUND, number))
        self.ops[number].append((LOOP, entry, least, most, end))
        if most != 0:
            self.ops[start].append((EPS, number))
        if least == 0:
            self.ops[start].append((EPS, end))

    def unordered(self, expr: Unordered, start: int, end: int) -> None:
        number = self.place()
        items = [self.body(item, (ITEM, number)) for item in expr.items]
        free = None if expr.free is None else self.body(expr.free, (ITEM, number))
        gap = self.body(expr.separator, (GAP, number))
        need = sum(1 << i for i in expr.required)
        self.ops[number].append((GROUP, items, free, gap, need, expr.minimum, expr.maximum, end, expr.in_order))
        self.ops[start].append((EPS, number))
        if not expr.required and expr.minimum == 0:
            self.ops[start].append((EPS, end))

    def _left(self, place: int, done: Callable[[int], bool]) -> tuple[set[int], set[int]]:
        """The operations' places, and the entries of parts, that are reached from ``place`` before a byte is read."""
        seen: set[int] = {place}
        parts: set[int] = set()
        stack = [place]
        while stack:
            for op in self.ops[stack.pop()]:
                targets: list[int] = []
                kind = op[0]
                if kind == EPS:
                    targets = [op[1]]
                elif kind in (OPEN, CLOSE, GUARD):
                    targets = [op[2]]
                elif kind == CALL:
                    parts.add(op[1])
                    targets = [op[2]] if done(op[1]) else []
                elif kind == LOOP:
                    parts.add(op[1])
                    targets = [op[4]] if done(op[1]) else []
                elif kind == GROUP:
                    items = op[1] if op[2] is None else [*op[1], op[2]]
                    parts.update(items)
                    if any(map(done, items)):
                        parts.add(op[3])
                        targets = [op[7]]
                for to in targets:
                    if to not in seen:
                        seen.add(to)
                        stack.append(to)
        return seen, parts

    def _parts(self) -> list[int]:
        """The entries of all rules and parts."""
        found = set(self.entries.values())
        for ops in self.ops:
            for op in ops:
                if op[0] == LOOP:
                    found.add(op[1])
                elif op[0] == GROUP:
                    found.update((*op[1], op[3], *(() if op[2] is None else (op[2],))))
        return sorted(found)

    def _nullable(self) -> set[int]:
        """The parts that have the empty text: their exit, which returns, is reached without a byte."""
        parts = self._parts()
        ends = (RETURN, ROUND, ITEM, GAP)
        nullable: set[int] = set()
        changed = True
        while changed:
            changed = False
            for entry in parts:
                if entry not in nullable:
                    seen, _ = self._left(entry, nullable.__contains__)
                    if any(op[0] in ends for place in seen for op in self.ops[place]):
                        nullable.add(entry)
                        changed = True
        return nullable

    def _refuse_left_recursion(self) -> None:
        calls = {entry: self._left(entry, self.nullable.__contains__)[1] for entry in self._parts()}
        waiting = {entry: len(called) for entry, called in calls.items()}
        callers: dict[int, list[int]] = {}
        for entry, called in calls.items():
            for one in called:
                callers.setdefault(one, []).append(entry)
        ready = [entry for entry, count in waiting.items() if count == 0]
        done = 0
        while ready:
            done += 1
            for caller in callers.get(ready.pop(), ()):
                waiting[caller] -= 1
                if waiting[caller] == 0:
                    ready.append(caller)
        if done < len(waiting):
            names = [name for name, entry in self.entries.items() if waiting[entry]]
            raise GrammarError(
                f"captures are not followed where rules refer to themselves before they read anything: {names[:5]}",
                hint="write the repetition as item*, or recurse on the right")


def _class_leaf(ranges: tuple[tuple[int, int], ...]) -> tuple[Rows, frozenset[int]]:
    count, edges = char_template(ranges)
    rows: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    for state, lo, hi, to in edges:
        rows[state].append((lo, hi, to))
    return tuple(tuple(sorted(row)) for row in rows), frozenset([1])
