"""Context-free rules by number, made small and written as IR.

Both modes end here: a ``Template`` holds nonterminals as lists of alternatives, an alternative being a tuple of
symbols: a nonterminal >= 0, or ``~t`` for text t. What cannot be finished is left out, nonterminals that say the same
become one (E. Moore's refinement, on rules instead of states), and then automata over symbols (``graphs``). A
``Sketch`` holds those, and is written: each nonterminal as a rule, or where it is used if that is once. Nothing
recurses.
Cost: about 2 us a symbol and round of refinement; five to fifteen rounds are usual.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from constrained.grammar.ir import Capture, Choice, Expr, Graph, Literal, Reference, RuleSet, Sequence

__all__ = ["Alternative", "Automaton", "Edges", "Sketch", "Symbol", "Template", "refined"]

#: A number, or (in a ``Template``) a tuple whose second part is a nonterminal if the first is "at" or "in".
Symbol = Any
Alternative = tuple[Symbol, ...]
Edges = list[dict[Symbol, int]]
Rows = tuple[list[list[tuple[int, int]]], frozenset[int]]


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """``edges[state]``: symbol to state, deterministic; state 0 starts."""

    edges: Edges
    accepting: frozenset[int]

    def size(self) -> int:
        """How many edges there are."""
        return sum(map(len, self.edges))


class Template:
    """``alternatives[n]`` and ``names[n]`` of nonterminal n; symbols may say which columns they pass on."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.alternatives: list[list[Alternative]] = []
        #: Nonterminals whose text is reported, and under which name.
        self.captures: dict[int, str] = {}

    def new(self, name: str) -> int:
        """A nonterminal without alternatives yet."""
        self.names.append(name)
        self.alternatives.append([])
        return len(self.names) - 1

    def finish(self, root: int) -> bool:
        """Leaves out alternatives that cannot be finished; False if the root cannot be."""
        productive = self._productive()
        self.alternatives = [[one for one in options if all((m := _nonterminal(s)) < 0 or m in productive for s in one)]
                             if n in productive else [] for n, options in enumerate(self.alternatives)]
        return root in productive

    def _productive(self) -> set[int]:
        users: dict[int, list[tuple[int, int]]] = {}
        missing: dict[tuple[int, int], int] = {}
        done: set[int] = set()
        agenda: list[int] = []
        for n, options in enumerate(self.alternatives):
            for i, one in enumerate(options):
                needs = {m for s in one if (m := _nonterminal(s)) >= 0}
                missing[n, i] = len(needs)
                for s in needs:
                    users.setdefault(s, []).append((n, i))
                if not needs and n not in done:
                    done.add(n)
                    agenda.append(n)
        while agenda:
            for n, i in users.get(agenda.pop(), ()):
                missing[n, i] -= 1
                if not missing[n, i] and n not in done:
                    done.add(n)
                    agenda.append(n)
        return done

    def merge(self, root: int) -> int:
        """Nonterminals with the same alternatives, up to this very merging, become the first of them."""
        reached = {root}
        stack = [root]
        while stack:
            for one in self.alternatives[stack.pop()]:
                for s in one:
                    n = _nonterminal(s)
                    if n >= 0 and n not in reached:
                        reached.add(n)
                        stack.append(n)
        members = sorted(reached)
        kinds = [self.captures.get(n) for n in range(len(self.names))]
        block = refined(self.alternatives, members, kinds)
        first: dict[int, int] = {}
        for n in members:
            first.setdefault(block[n], n)
        home = {n: first[block[n]] for n in members}
        merged: list[list[Alternative]] = [[] for _ in self.alternatives]
        for n in first.values():
            merged[n] = list(dict.fromkeys(tuple([_renamed(s, home) for s in one]) for one in self.alternatives[n]))
        self.alternatives = merged
        return home[root]


def refined(alternatives: list[list[Alternative]], members: Iterable[int], kinds: list[Any]) -> dict[int, int]:
    """The coarsest blocks whose members are of one kind and have equal alternatives, up to these very blocks.

    Only users of what moved are looked at again.
    """
    members = list(members)
    users: dict[int, set[int]] = {n: set() for n in members}
    for n in members:
        for one in alternatives[n]:
            for s in one:
                used = _nonterminal(s)
                if used >= 0:
                    users[used].add(n)
    numbers: dict[Any, int] = {}
    block = {n: numbers.setdefault(kinds[n], len(numbers)) for n in members}
    sizes = [0] * len(numbers)
    for number in block.values():
        sizes[number] += 1
    dirty: set[int] = set(members)
    while dirty:
        groups: dict[int, dict[frozenset[Alternative], list[int]]] = {}
        for n in dirty:
            signature = frozenset([tuple([_renamed(s, block) for s in one]) for one in alternatives[n]])
            groups.setdefault(block[n], {}).setdefault(signature, []).append(n)
        dirty = set()
        for old, parts in groups.items():
            found = sorted(parts.values(), key=len)
            if sum(map(len, found)) == sizes[old]:
                found.pop()  # the largest part keeps the number; who was not looked at keeps it anyway
            for part in found:
                sizes[old] -= len(part)
                for n in part:
                    block[n] = len(sizes)
                    dirty |= users[n]
                sizes.append(len(part))
    return block


def _nonterminal(symbol: Symbol) -> int:
    """The nonterminal that a symbol names; negative if it names none."""
    if type(symbol) is int:
        return symbol
    return int(symbol[1]) if symbol[0] != "line" else -1


def _renamed(symbol: Symbol, names: dict[int, int]) -> Symbol:
    if type(symbol) is int:
        return symbol if symbol < 0 else names[symbol]
    return symbol if symbol[0] == "line" else (symbol[0], names[symbol[1]], *symbol[2:])


class Sketch:
    """What is left to be written: for each nonterminal an automaton, or alternatives. Symbols are numbers."""

    def __init__(self) -> None:
        self.names: list[str] = []
        #: Rows of (symbol, next state), and the accepting states.
        self.graphs: dict[int, Rows] = {}
        self.alternatives: dict[int, list[Alternative]] = {}
        self.captures: dict[int, str] = {}

    def new(self, name: str) -> int:
        """A nonterminal of which nothing is known yet."""
        self.names.append(name)
        return len(self.names) - 1

    def symbols(self, n: int) -> Iterator[int]:
        """What a nonterminal is made of, once for each place."""
        made = self.graphs.get(n)
        if made is not None:
            for row in made[0]:
                for s, _ in row:
                    yield s
        for one in self.alternatives.get(n, ()):
            yield from one

    def written(self, root: int, texts: list[Expr]) -> RuleSet:
        """The rules that ``root`` needs; ``texts[t]`` is what symbol ``~t`` reads."""
        return _Writer(self, root, texts).rules()


class _Writer:
    def __init__(self, sketch: Sketch, root: int, texts: list[Expr]) -> None:
        self.sketch, self.texts, self.root = sketch, texts, root
        uses: dict[int, int] = {root: 2}
        recursive: set[int] = set()
        stack = [root]
        reached = [root]
        while stack:
            n = stack.pop()
            for s in sketch.symbols(n):
                if s < 0:
                    continue
                if s == n:
                    recursive.add(n)
                if s not in uses:
                    stack.append(s)
                    reached.append(s)
                uses[s] = uses.get(s, 0) + 1
        self.rule_names: dict[int, str] = {}
        taken: set[str] = set()
        for n in [root, *sorted(reached[1:])]:
            if uses[n] > 1 or n in recursive:
                name = sketch.names[n]
                number = 1
                while name in taken:
                    number += 1
                    name = f"{sketch.names[n]}.{number}"
                taken.add(name)
                self.rule_names[n] = name

    def rules(self) -> RuleSet:
        done: dict[int, Expr] = {}
        captures = self.sketch.captures
        stack: list[tuple[int, bool]] = [(n, False) for n in self.rule_names]
        while stack:
            n, ready = stack.pop()
            if n in done:
                continue
            if not ready:
                stack.append((n, True))
                stack.extend((s, False) for s in self.sketch.symbols(n)
                             if s >= 0 and s not in self.rule_names and s not in done)
                continue
            made = self.sketch.graphs.get(n)
            body = self._choice(self.sketch.alternatives.get(n, []), done) if made is None else self._graph(made, done)
            done[n] = Capture(captures[n], body) if n in captures else body
        return RuleSet({name: done[n] for n, name in self.rule_names.items()}, self.rule_names[self.root])

    def _expression(self, symbol: int, done: dict[int, Expr]) -> Expr:
        if symbol < 0:
            return self.texts[~symbol]
        return Reference(self.rule_names[symbol]) if symbol in self.rule_names else done[symbol]

    def _choice(self, options: list[Alternative], done: dict[int, Expr]) -> Expr:
        made = [_sequence([self._expression(s, done) for s in one]) for one in options]
        return made[0] if len(made) == 1 else Choice(tuple(made))

    def _graph(self, made: Rows, done: dict[int, Expr]) -> Expr:
        """A path as a sequence, two states as a choice, and else a graph: there, what several texts of a state begin
        with (what is ignored before them) is read once."""
        rows, accepting = made
        if accepting == {len(rows) - 1} and not rows[-1]:
            if len(rows) == 2 and all(to == 1 for _, to in rows[0]):
                return self._choice([(s,) for s, _ in rows[0]], done)
            if all(len(row) == 1 and row[0][1] == i + 1 for i, row in enumerate(rows[:-1])):
                return _sequence([self._expression(row[0][0], done) for row in rows[:-1]])
        edges: list[list[tuple[Expr, int]]] = []
        more: list[list[tuple[Expr, int]]] = []
        for row in rows:
            found: list[tuple[Expr, int]] = []
            begun: dict[int, list[tuple[Sequence, int]]] = {}
            for s, to in row:
                one = self._expression(s, done)
                if s < 0 and isinstance(one, Sequence) and len(one.items) > 1 and isinstance(one.items[0], Reference):
                    begun.setdefault(id(one.items[0]), []).append((one, to))
                else:
                    found.append((one, to))
            for same in begun.values():
                if len(same) == 1:
                    found.extend(same)
                    continue
                found.append((same[0][0].items[0], len(rows) + len(more)))
                more.append([(_sequence(list(one.items[1:])), to) for one, to in same])
            edges.append(found)
        return Graph(tuple(map(tuple, edges + more)), accepting)


def _sequence(items: list[Expr]) -> Expr:
    flat: list[Expr] = []
    for item in items:
        flat.extend(item.items if isinstance(item, Sequence) else (item,))
    if not flat:
        return Literal(b"")
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))
