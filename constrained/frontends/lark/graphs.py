"""Rules as automata over symbols: what is no real recursion is written into the rule that uses it.

A grammar for a parser has a nonterminal for each level of precedence and for each item of a production; to the engine
every level is a stack frame, and the states after ``a + b`` and ``a * b`` are different ones although the same may
follow. Here each nonterminal becomes the least automaton of its *sentential language*: symbols stand for themselves,
but nonterminals that do not need themselves are replaced by their own automata, and left and right recursion by loops
(A. Aho, R. Sethi, J. Ullman, Compilers, 4.2; M. Johnson, Left corner transforms and finite state approximations, 1998,
without the approximation). Only real nesting (brackets, blocks) stays a call. The language is the same.

Data: an ``Automaton`` is ``edges[state]`` = {symbol: state} and the accepting states; state 0 starts. Symbols are those
of ``rules.Template``; a nonterminal called with columns (``"at"``) gives them to what it is replaced by.
Cost: about 2 us an edge, each nonterminal determinised and minimised (E. Moore) once.
"""

from __future__ import annotations

from .rules import Automaton, Edges, Symbol, Template

__all__ = ["automata", "canonical", "deterministic", "merged", "minimal", "rewritten"]

#: A nonterminal is written into each of its users up to so many edges, or so many in all of them together.
SMALL, IN_ALL = 8, 320
#: The same once parts are cut out.
SMALL_OF_PARTS, IN_ALL_OF_PARTS = 120, 4000
#: States beyond which nothing is written into a nonterminal.
MOST_STATES = 1_000


def automata(template: Template, root: int, bare: frozenset[int]) -> tuple[dict[int, Automaton], int]:
    """The automaton of each nonterminal that is left, and the root: equal ones are one.

    ``bare``: texts that read nothing; a nonterminal that begins with one is always written into its users.
    """
    return _Maker(template, bare).run(root)


def rewritten(template: Template, root: int, bare: frozenset[int], made: dict[int, Automaton],
              parts: frozenset[int]) -> tuple[dict[int, Automaton], int]:
    """The same from automata of which ``parts`` have been cut out, which stay calls: then more can be written in."""
    return _Maker(template, bare, made, parts).run(root)


class _Maker:
    def __init__(self, template: Template, bare: frozenset[int], made: dict[int, Automaton] | None = None,
                 parts: frozenset[int] = frozenset()) -> None:
        self.template = template
        self.bare = bare
        self.sources = made or {}
        self.parts = parts
        self.small, self.in_all = (SMALL, IN_ALL) if made is None else (SMALL_OF_PARTS, IN_ALL_OF_PARTS)
        self.done: dict[int, Automaton] = {}
        self.written: set[int] = set()
        self.uses: dict[int, int] = {}

    def run(self, root: int) -> tuple[dict[int, Automaton], int]:
        for n in self._order(root):
            self._make(n, root)
        return merged(self.done, self.template.captures, root)

    def _order(self, root: int) -> list[int]:
        """Nonterminals behind what they use, as far as they do not need themselves; parts behind all others."""
        used: dict[int, list[int]] = {}
        found: list[int] = []
        stack = [root]
        parts: dict[int, None] = {}
        on_path: set[int] = set()
        while stack or parts:
            if not stack:
                stack.append(parts.popitem()[0])
            n = stack[-1]
            if n not in used:
                used[n] = [m for s in self._symbols(n) if (m := _nonterminal(s)) >= 0]
                for m in used[n]:
                    self.uses[m] = self.uses.get(m, 0) + 1
                used[n].reverse()
                on_path.add(n)
            if used[n]:
                m = used[n].pop()
                if m not in used and m in self.parts:
                    parts[m] = None
                elif m not in used:
                    stack.append(m)
                continue
            stack.pop()
            if n in on_path:
                on_path.discard(n)
                found.append(n)
        return found

    def _symbols(self, n: int) -> list[Symbol]:
        """What a nonterminal is made of, once for each place."""
        source = self.sources.get(n)
        if source is not None:
            return [s for row in source.edges for s in row]
        return [s for one in self.template.alternatives[n] for s in one]

    def _make(self, n: int, root: int) -> None:
        made = self._determined(n, True) or self._determined(n, False)
        assert made is not None
        made = minimal(made)
        captured = n in self.template.captures  # each round is a capture of its own
        head = None if captured else next((s for s in made.edges[0] if _is_self(s, n)), None)
        if head is not None:
            made = minimal(_without_left_recursion(made, head))
        if not captured:
            made = _without_right_recursion(made, n)
        self.done[n] = made
        size = made.size()
        small = size <= self.small or size * self.uses.get(n, 0) <= max(self.in_all, size)
        begins_bare = any(type(s) is int and s < 0 and ~s in self.bare for s in made.edges[0])
        if (n != root and not captured and (begins_bare or (small and n not in self.parts))
                and not any(_nonterminal(s) == n for row in made.edges for s in row)):
            self.written.add(n)

    def _determined(self, n: int, inline: bool) -> Automaton | None:
        """The automaton of the alternatives, those of what is written into it in their places; None: too large."""
        edges: list[list[tuple[Symbol, int]]] = [[], []]
        empty: list[list[int]] = [[], []]

        def new() -> int:
            edges.append([])
            empty.append([])
            return len(edges) - 1

        def step(here: int, symbol: Symbol, after: int) -> None:
            m = _target(symbol)
            if not inline or m not in self.written:
                edges[here].append((symbol, after))
                return
            part = self.done[m]
            base = len(edges)
            slots = symbol[2] if type(symbol) is not int else None
            for row in part.edges:
                edges.append([(s if slots is None else _moved(s, slots), base + to) for s, to in row.items()])
                empty.append([])
            empty[here].append(base)
            for state in part.accepting:
                empty[base + state].append(after)

        source = self.sources.get(n)
        if source is not None:
            states = [new() for _ in source.edges]
            empty[0].append(states[0])
            for here, row in zip(states, source.edges, strict=True):
                for symbol, to in row.items():
                    step(here, symbol, states[to])
            for state in source.accepting:
                empty[states[state]].append(1)
            return deterministic(edges, empty, [0], {1})
        for one in self.template.alternatives[n]:
            here = 0
            for i, symbol in enumerate(one):
                after = 1 if i == len(one) - 1 else new()
                step(here, symbol, after)
                here = after
            if not one:
                empty[0].append(1)
        return deterministic(edges, empty, [0], {1})


def _nonterminal(symbol: Symbol) -> int:
    """The nonterminal that a symbol names; negative if it names none."""
    if type(symbol) is int:
        return symbol
    return int(symbol[1]) if symbol[0] != "line" else -1


def _target(symbol: Symbol) -> int:
    """The nonterminal that a symbol calls and that may be written in its place; negative if there is none."""
    if type(symbol) is int:
        return symbol
    return int(symbol[1]) if symbol[0] == "at" else -1


def _is_self(symbol: Symbol, n: int) -> bool:
    """Whether a symbol calls ``n`` with its own columns."""
    if type(symbol) is int:
        return symbol == n
    return bool(symbol[0] == "at" and symbol[1] == n and symbol[2] == tuple(range(len(symbol[2]))))


def _moved(symbol: Symbol, slots: tuple[int, ...]) -> Symbol:
    """A symbol of a nonterminal that is called with the columns ``slots``, where it is called."""
    if type(symbol) is int:
        return symbol
    if symbol[0] == "at":
        return ("at", symbol[1], tuple([_slot(slots, s) for s in symbol[2]]))
    if symbol[0] == "line":
        return ("line", symbol[1], _slot(slots, symbol[2]))
    kind, target, passed, line, top, passes = symbol
    return (kind, target, tuple([_slot(slots, s) for s in passed]), line, _slot(slots, top), passes)


def _slot(slots: tuple[int, ...], slot: int) -> int:
    return -1 if slot < 0 else slots[slot]


def deterministic(edges: list[list[tuple[Symbol, int]]], empty: list[list[int]], start: list[int],
                   final: set[int]) -> Automaton | None:
    """The subset construction; None beyond ``MOST_STATES``."""
    closures: dict[int, frozenset[int]] = {}

    def closed(states: list[int]) -> frozenset[int]:
        if len(states) == 1:
            known = closures.get(states[0])
            if known is not None:
                return known
        seen = set(states)
        stack = list(states)
        while stack:
            for to in empty[stack.pop()]:
                if to not in seen:
                    seen.add(to)
                    stack.append(to)
        found = frozenset(s for s in seen if edges[s] or s in final)
        if len(states) == 1:
            closures[states[0]] = found
        return found

    first = closed(start)
    number = {first: 0}
    order = [first]
    made: Edges = []
    for states in order:
        moves: dict[Symbol, list[int]] = {}
        for state in states:
            for symbol, to in edges[state]:
                moves.setdefault(symbol, []).append(to)
        row: dict[Symbol, int] = {}
        for symbol, targets in moves.items():
            after = closed(targets)
            known = number.get(after)
            if known is None:
                known = number[after] = len(order)
                order.append(after)
                if known > MOST_STATES:
                    return None
            row[symbol] = known
        made.append(row)
    return Automaton(made, frozenset(i for i, states in enumerate(order) if not final.isdisjoint(states)))


def minimal(made: Automaton) -> Automaton:
    """Equal states joined; states in the order in which they are met."""
    edges, accepting = made.edges, made.accepting
    block = [int(state in accepting) for state in range(len(edges))]
    count = len(set(block))
    while True:
        known: dict[tuple[int, frozenset[tuple[Symbol, int]]], int] = {}
        block = [known.setdefault((block[state], frozenset([(s, block[to]) for s, to in row.items()])), len(known))
                 for state, row in enumerate(edges)]
        if len(known) == count:
            break
        count = len(known)
    if count == len(edges):
        return made
    first: dict[int, int] = {}
    for state in range(len(edges)):
        first.setdefault(block[state], state)
    number = {block[state]: i for i, state in enumerate(first.values())}
    return Automaton([{s: number[block[to]] for s, to in edges[state].items()} for state in first.values()],
                     frozenset(number[block[state]] for state in accepting))


def canonical(made: Automaton) -> Automaton:
    """The states numbered breadth first, symbols in order: equal automata over numbers are written alike."""
    number = {0: 0}
    order = [0]
    for state in order:
        for _, to in sorted(made.edges[state].items()):
            if to not in number:
                number[to] = len(order)
                order.append(to)
    return Automaton([{s: number[to] for s, to in sorted(made.edges[state].items())} for state in order],
                     frozenset(number[state] for state in made.accepting))


def _without_left_recursion(made: Automaton, head: Symbol) -> Automaton:
    """``L = B | L T`` is ``B T*``: behind each end follows what followed the nonterminal itself."""
    edges = [list(row.items()) for row in made.edges]
    after = made.edges[0][head]
    edges.append([(s, to) for s, to in edges[0] if s != head])
    start = len(edges) - 1
    empty: list[list[int]] = [[] for _ in edges]
    final = set(made.accepting)
    if 0 in final:
        final.add(start)
    for state in final:
        empty[state].append(after)
    found = deterministic(edges, empty, [start], final)
    return made if found is None else found


def _without_right_recursion(made: Automaton, n: int) -> Automaton:
    """A call of the nonterminal itself behind which nothing is left goes to the beginning instead."""
    ends = {state for state in made.accepting if not made.edges[state]}
    if not any(to in ends and _is_self(s, n) for row in made.edges for s, to in row.items()):
        return made
    edges = [[(s, to) for s, to in row.items() if not (to in ends and _is_self(s, n))] for row in made.edges]
    empty = [[0] if any(to in ends and _is_self(s, n) for s, to in row.items()) else [] for row in made.edges]
    found = deterministic(edges, empty, [0], set(made.accepting))
    return made if found is None else minimal(found)


def merged(done: dict[int, Automaton], captures: dict[int, str], root: int) -> tuple[dict[int, Automaton], int]:
    """What the root reaches; nonterminals whose automata are the same become one, as often as that makes others so."""
    home = {n: n for n in done}
    reached = {root}
    stack = [root]
    while stack:
        for row in done[stack.pop()].edges:
            for s in row:
                m = _nonterminal(s)
                if m >= 0 and m not in reached:
                    reached.add(m)
                    stack.append(m)
    left = {n: done[n] for n in sorted(reached)}
    while True:
        known: dict[object, int] = {}
        again: dict[int, int] = {}
        for n, made in left.items():
            key = (captures.get(n), tuple([frozenset(row.items()) for row in made.edges]), made.accepting)
            first = known.setdefault(key, n)
            if first != n:
                again[n] = first
        if not again:
            break
        home = {n: again.get(m, m) for n, m in home.items()}
        left = {n: _with_names(made, again) for n, made in left.items() if n not in again}
    return left, home[root]


def _with_names(made: Automaton, names: dict[int, int]) -> Automaton:
    edges = [[(_renamed(s, names), to) for s, to in row.items()] for row in made.edges]
    if all(len({s for s, _ in row}) == len(row) for row in edges):
        return Automaton([dict(row) for row in edges], made.accepting)
    found = deterministic(edges, [[] for _ in edges], [0], set(made.accepting))
    assert found is not None  # no more states than there were, but for those that two names now lead to at once
    return minimal(found)


def _renamed(symbol: Symbol, names: dict[int, int]) -> Symbol:
    if type(symbol) is int:
        return names.get(symbol, symbol)
    return symbol if symbol[0] == "line" else (symbol[0], names.get(symbol[1], symbol[1]), *symbol[2:])
