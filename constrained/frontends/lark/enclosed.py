"""Parts of automata with one way in and one way out, cut out as nonterminals.

What stands between brackets is such a part, and so is what follows a statement's first word. Behind the opening bracket
every way leads to the closing one: the states between are those that the first of them dominates and whose ways all go
through one state behind them, which post-dominates them (F. Allen, Control flow analysis, 1970). As a call, the part
is written once, however often the automaton around it is written into others, and only these calls are left of a
grammar's nesting.

Cost: dominators as bit masks, a few us a state and round.
"""

from __future__ import annotations

from .graphs import canonical, minimal
from .rules import Automaton, Symbol, Template

__all__ = ["Enclosed"]

#: Edges from which on a part is worth a call: below, the frames it needs cost more than its copies.
LEAST = 40


class Enclosed:
    """Cuts parts out of automata; ``parts`` has the automata of the new nonterminals, equal ones once."""

    def __init__(self, template: Template, bare: frozenset[int]) -> None:
        self.template, self.bare = template, bare
        self.parts: dict[int, Automaton] = {}
        self._known: dict[object, int] = {}

    def cut(self, n: int, made: Automaton) -> Automaton:
        """The automaton of nonterminal ``n`` without its largest parts that know no column."""
        edges = made.edges
        if made.size() <= LEAST:
            return made
        targets = [list(row.values()) for row in edges]
        sources: list[list[int]] = [[] for _ in edges]
        for state, row in enumerate(targets):
            for to in row:
                sources[to].append(state)
        end = len(edges)
        dominators = _dominators(sources, [0])
        behind = _dominators([[*row, *([end] if state in made.accepting else [])]
                              for state, row in enumerate(targets)] + [[]], [end])
        rows = [dict(row) for row in edges]
        order = [0]
        seen = {0}
        for state in order:
            if state != 0:
                for out in _ways_out(state, behind, end):
                    inside = self._inside(state, out, edges, dominators)
                    if inside is not None:
                        rows[state] = {self._part(n, state, out, inside, edges): out}
                        break
            for to in rows[state].values():
                if to not in seen:
                    seen.add(to)
                    order.append(to)
        number = {state: i for i, state in enumerate(order)}
        return minimal(Automaton([{s: number[to] for s, to in rows[state].items()} for state in order],
                                 frozenset(number[state] for state in made.accepting if state in number)))

    def _inside(self, first: int, out: int, edges: list[dict[Symbol, int]], dominators: list[int]) -> list[int] | None:
        """The states from ``first`` to before ``out`` if they are a part that is worth a call."""
        inside = [first]
        seen = {first, out}
        size = 0
        for state in inside:
            size += len(edges[state])
            for s, to in edges[state].items():
                if type(s) is not int or (s < 0 and ~s in self.bare):
                    return None
                if to not in seen:
                    seen.add(to)
                    inside.append(to)
        if size < LEAST or not all(dominators[state] >> first & 1 for state in inside):
            return None
        return inside

    def _part(self, n: int, first: int, out: int, inside: list[int], edges: list[dict[Symbol, int]]) -> int:
        number = {state: i for i, state in enumerate(inside)}
        number[out] = len(inside)
        rows = [{s: number[to] for s, to in edges[state].items()} for state in inside]
        made = canonical(minimal(Automaton([*rows, {}], frozenset((len(inside),)))))
        key = (tuple([tuple(row.items()) for row in made.edges]), made.accepting)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.template.new(self.template.names[n])
            self.parts[found] = made
        return found


def _ways_out(state: int, behind: list[int], end: int) -> list[int]:
    """The states that all ways from ``state`` lead through, the nearest first; none if all are dead ends."""
    if not behind[end] & behind[state] or behind[state] == (2 << end) - 1:
        return []
    others = behind[state] & ~(1 << state) & ~(1 << end)
    found = [one for one in range(end) if others >> one & 1]
    return sorted(found, key=lambda one: -behind[one].bit_count())


def _dominators(sources: list[list[int]], roots: list[int]) -> list[int]:
    """For each state, as bits, the states that every way from ``roots`` to it goes through."""
    everything = (1 << len(sources)) - 1
    found = [everything] * len(sources)
    for root in roots:
        found[root] = 1 << root
    changed = True
    while changed:
        changed = False
        for state, row in enumerate(sources):
            if state in roots:
                continue
            common = everything
            for source in row:
                common &= found[source]
            common |= 1 << state
            if common != found[state]:
                found[state] = common
                changed = True
    return found
