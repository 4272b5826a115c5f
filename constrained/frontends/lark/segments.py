"""What stands between two lines of a block, cut out of the rules that know a column.

Rules with columns are written out for each column (``columns``); nearly all that they read does not depend on one:
headers and statements up to where a line begins, another rule with a column is called or a block opens. Such a
*segment*, from one of these places to the next, becomes a nonterminal of its own, so that only the few edges between
segments are copied, and what the engine finds out about a statement serves all columns.

A segment leads from a state to one exit, and is cut once for each of its exits; where the same text leads to several,
all of them are tried side by side. Equal segments are one. Cost: a few us an edge, for each exit.
"""

from __future__ import annotations

from .enclosed import Enclosed
from .graphs import canonical, deterministic, minimal, rewritten
from .rules import Automaton, Symbol, Template

__all__ = ["cut"]

Rows = list[list[tuple[Symbol, int]]]


def cut(graphs: dict[int, Automaton], root: int, template: Template,
        bare: frozenset[int]) -> tuple[dict[int, Automaton], int]:
    """``graphs`` with the segments as nonterminals of ``template``. ``bare``: texts that read nothing, which stay."""
    work = _Cutter(template, bare)
    enclosed = Enclosed(template, bare)
    made: dict[int, Automaton] = {}
    for n, one in graphs.items():
        knows = any(type(s) is not int for row in one.edges for s in row)
        made[n] = work.cut(n, one) if knows else enclosed.cut(n, one)
    segments = {n: enclosed.cut(n, one) for n, one in work.segments.items()}
    made |= segments | enclosed.parts
    return rewritten(template, root, bare, made, frozenset([*segments, *enclosed.parts]))


class _Cutter:
    def __init__(self, template: Template, bare: frozenset[int]) -> None:
        self.template, self.bare = template, bare
        self.segments: dict[int, Automaton] = {}
        self.known: dict[object, int] = {}

    def _stays(self, symbol: Symbol) -> bool:
        return type(symbol) is not int or (symbol < 0 and ~symbol in self.bare)

    def cut(self, n: int, made: Automaton) -> Automaton:
        """The automaton of ``n`` with segments for all paths that know no column.

        Each state is there twice: as it stands behind a segment, and (from ``base`` on) where one may begin.
        """
        base = len(made.edges)
        behind: Rows = [[(s, base + to) for s, to in row.items() if self._stays(s)] for row in made.edges]
        inner: Rows = [[(s, to) for s, to in row.items() if not self._stays(s)] for row in made.edges]
        exits = [state for state, row in enumerate(behind) if row or state in made.accepting]
        first = [0, *(to - base for row in behind for _, to in row)]
        begins: Rows = [list(row) for row in behind]
        for state in dict.fromkeys(first):
            for last in exits:
                symbol = self._segment(n, inner, state, last)
                if symbol is not None:
                    begins[state].append((symbol, last))
        final = made.accepting | {base + state for state in made.accepting}
        found = deterministic(behind + begins, [[] for _ in range(2 * base)], [base], set(final))
        return made if found is None else minimal(found)

    def _segment(self, n: int, inner: Rows, first: int, last: int) -> Symbol | None:
        """What is read from one state to another, as one symbol; None if there is no way."""
        into: dict[int, list[int]] = {}
        seen = {first}
        stack = [first]
        while stack:
            state = stack.pop()
            for _, to in inner[state]:
                into.setdefault(to, []).append(state)
                if to not in seen:
                    seen.add(to)
                    stack.append(to)
        useful: set[int] = set()
        stack = [last] if last in into else []
        useful.update(stack)
        while stack:
            for state in into.get(stack.pop(), ()):
                if state not in useful:
                    useful.add(state)
                    stack.append(state)
        if first not in useful:
            return None
        # the beginning is a state of its own: only behind something may the segment end
        order = [state for state in useful if state != first or state in into]
        number = {state: i + 1 for i, state in enumerate(order)}
        edges = [{s: number[to] for s, to in inner[state] if to in number} for state in [first, *order]]
        made = canonical(minimal(Automaton(edges, frozenset((number[last],)))))
        if len(made.edges) == 2 and len(made.edges[0]) == 1 and not made.edges[1]:
            return next(iter(made.edges[0]))
        key = (tuple([tuple(sorted(row.items())) for row in made.edges]), made.accepting)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.template.new(self.template.names[n])
            self.segments[found] = made
        return found
