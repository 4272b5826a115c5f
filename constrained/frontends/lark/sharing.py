"""States of different rules from which the same may follow become one.

A lexer's contexts copy rules by how their first terminal is read and by what may follow their last (``contexts``); in
between, the copies are the same. So the states of all automata are refined together (E. Moore), calls by what they
call, and what several nonterminals come to becomes a nonterminal of its own, which is called last in each of them. A
call behind which nothing is left takes no room on the engine's stack, so the states behind it are the same there too:
what is found out about them is found once.

Cost: 2-3 us an edge and round in which its state is looked at.
"""

from __future__ import annotations

from .rules import Alternative, Automaton, Edges, Symbol, Template, refined

__all__ = ["shared"]


def shared(graphs: dict[int, Automaton], root: int, template: Template,
           bare: frozenset[int]) -> tuple[dict[int, Automaton], int]:
    """``graphs`` with what they share as nonterminals of ``template``.

    ``bare``: texts that read nothing; no nonterminal begins with one.
    """
    return _Sharer(graphs, root, template, bare).run()


class _Sharer:
    def __init__(self, graphs: dict[int, Automaton], root: int, template: Template, bare: frozenset[int]) -> None:
        self.graphs, self.root, self.template, self.bare = graphs, root, template, bare
        self.columns = _columns(graphs)
        #: The state of each nonterminal's beginning, what state each is of, and its edges.
        self.start: dict[int, int] = {}
        self.home: list[int] = []
        self.rows: list[list[tuple[Symbol, int]]] = []
        self.final: list[bool] = []
        #: Nonterminals to be written, and their blocks.
        self.twins: list[tuple[int, int]] = []

    def run(self) -> tuple[dict[int, Automaton], int]:
        self._number()
        kinds: list[object] = [self.columns.get(n, 0) for n in self.home]
        for n, name in self.template.captures.items():
            if n in self.start:
                kinds[self.start[n]] = (name, self.columns.get(n, 0))
        alternatives: list[list[Alternative]] = [
            [(s, to) for s, to in row] + ([()] if final else [])
            for row, final in zip(self.rows, self.final, strict=True)]
        self.block = refined(alternatives, range(len(self.rows)), kinds)
        self.first: dict[int, int] = {}
        for state in range(len(self.rows)):
            self.first.setdefault(self.block[state], state)
        self.edges = {b: self._edges(state) for b, state in self.first.items()}
        return self._written()

    def _number(self) -> None:
        """All states of all automata; what is captured begins with a state that nothing leads back to."""
        for n, made in self.graphs.items():
            base = len(self.rows)
            self.start[n] = base
            self.rows += [[(s, base + to) for s, to in row.items()] for row in made.edges]
            self.final += [state in made.accepting for state in range(len(made.edges))]
            if n in self.template.captures:
                self.start[n] = len(self.rows)
                self.rows.append(list(self.rows[base]))
                self.final.append(self.final[base])
            self.home += [n] * (len(self.rows) - base)
        for row in self.rows:
            row[:] = [(self._calls(s), to) for s, to in row]

    def _calls(self, symbol: Symbol) -> Symbol:
        """A symbol that names the state that a nonterminal begins with."""
        if type(symbol) is int:
            return self.start[symbol] if symbol >= 0 else symbol
        return symbol if symbol[0] == "line" else (symbol[0], self.start[symbol[1]], *symbol[2:])

    def _edges(self, state: int) -> list[tuple[Symbol, int]]:
        """The edges of a block: symbols and targets by blocks."""
        found: dict[tuple[Symbol, int], None] = {}
        for s, to in self.rows[state]:
            if type(s) is int:
                s = self.block[s] if s >= 0 else s
            elif s[0] != "line":
                s = (s[0], self.block[s[1]], *s[2:])
            found[s, self.block[to]] = None
        return list(found)

    def _may_begin(self, b: int) -> bool:
        """Whether a block may be a nonterminal."""
        return not any(type(s) is int and s < 0 and ~s in self.bare for s, _ in self.edges[b])

    def _entries(self) -> dict[int, None]:
        """The blocks that become nonterminals: the root, what is called, and what several of these come to."""
        entries = {self.block[self.start[self.root]]: None}
        stack = list(entries)
        seen = set(stack)
        while stack:
            for s, to in self.edges[stack.pop()]:
                called = _called(s)
                if called >= 0:
                    entries[called] = None
                for b in (called, to):
                    if b >= 0 and b not in seen:
                        seen.add(b)
                        stack.append(b)
        while True:
            owner: dict[int, int] = {}
            again: dict[int, None] = {}
            for entry in entries:
                mine = {entry}
                stack = [entry]
                while stack:
                    for _, to in self.edges[stack.pop()]:
                        if to in entries or to in mine or not self.edges[to]:
                            continue
                        if to in owner and self._may_begin(to):
                            again[to] = None
                            continue
                        owner[to] = entry
                        mine.add(to)
                        stack.append(to)
            if not again:
                return entries
            entries |= again

    def _written(self) -> tuple[dict[int, Automaton], int]:
        entries = self._entries()
        number: dict[int, int] = {}
        for n, state in self.start.items():
            b = self.block[state]
            if b in entries and b not in number:
                number[b] = n
        for b in entries:
            if b not in number:
                number[b] = self.template.new(self.template.names[self.home[self.first[b]]])
        root = number[self.block[self.start[self.root]]]
        self.twins = [(n, b) for b, n in number.items()]
        made: dict[int, Automaton] = {}
        for n, b in self.twins:  # grows
            made[n] = self._automaton(b, entries, number)
        return made, root

    def _automaton(self, entry: int, entries: dict[int, None], number: dict[int, int]) -> Automaton:
        """The automaton of an entry; states are blocks, or (entry that is called last,)."""
        place: dict[int, int] = {entry: 0}
        order = [entry]
        edges: Edges = []
        for b in order:
            row: dict[Symbol, int] = {}
            if b != entry and b in entries:
                columns = self.columns.get(self.home[self.first[b]], 0)
                row[("at", number[b], tuple(range(columns))) if columns else number[b]] = -1
                edges.append(row)
                continue
            for s, to in self.edges[b]:
                if to not in place:
                    place[to] = len(order)
                    order.append(to)
                called = _called(s)
                named = _naming(s, number[called]) if called >= 0 else s
                while named in row:  # two that have become one lead to different states
                    number[called] = self.template.new(self.template.names[number[called]])
                    self.twins.append((number[called], called))
                    named = _naming(s, number[called])
                row[named] = place[to]
            edges.append(row)
        last = len(edges)
        accepting = {place[b] for b in order if self.final[self.first[b]] and (b == entry or b not in entries)}
        if any(to < 0 for row in edges for to in row.values()):
            edges = [{s: last if to < 0 else to for s, to in row.items()} for row in edges]
            edges.append({})
            accepting.add(last)
        return Automaton(edges, frozenset(accepting))


def _naming(symbol: Symbol, n: int) -> Symbol:
    """A symbol with what it calls."""
    return n if type(symbol) is int else (symbol[0], n, *symbol[2:])


def _called(symbol: Symbol) -> int:
    """The block that a symbol calls; negative if it calls none."""
    if type(symbol) is int:
        return symbol
    return int(symbol[1]) if symbol[0] != "line" else -1


def _columns(graphs: dict[int, Automaton]) -> dict[int, int]:
    """How many columns each nonterminal is given, where it is any."""
    found: dict[int, int] = {}
    for made in graphs.values():
        for row in made.edges:
            for s in row:
                if type(s) is not int and s[0] != "line":
                    count = len(s[2]) + (s[0] == "in" and bool(s[5]))
                    if count:
                        found[s[1]] = count
    return found
