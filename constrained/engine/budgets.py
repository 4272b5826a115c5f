"""Texts with a token budget: ``TokenBudget`` as positions that count.

Each state of the budget's automaton is a position with its byte edges, as the passes of lowering know them. When they
are done, ``mark_budgets`` makes a loop of kind BUDGET out of each such position: within it the automaton carries how
many tokens have something of the text. What it needs to know beside is how many bytes a shortest way to the text's end
takes: when the budget is used up, only edges that shorten it are left. So a budget never leads into a dead end, and it
costs nothing but the count in the state.

The position at which a text begins is an ordinary one, never reached again within the text: entering it sets the count
to zero. Cost: one pass over the edges of the marked positions.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from constrained.engine.text_until import text_until
from constrained.errors import GrammarError
from constrained.grammar.ir import ByteDfa, TokenBudget
from constrained.kernel.network import Network

__all__ = ["mark_budgets", "write_budget"]

_BYTES, _EPSILON = 0, 1


def write_budget(net: Network, node: TokenBudget, start: int, end: int, origin: int) -> None:
    """Spell ``node`` between two positions, and remember in ``net.budgets`` which of its positions count."""
    text = node.text
    dfa = text if isinstance(text, ByteDfa) else text_until(text.stops, text.consume, text.excludes, text.max_chars)
    states = [net.new_position(origin) for _ in dfa.transitions]
    for state, edges in enumerate(dfa.transitions):
        for first, last, to in edges:
            net.new_edge(states[state], _BYTES, first, last, states[to])
            if state == 0:
                net.new_edge(start, _BYTES, first, last, states[to])
        if state in dfa.accepting:
            net.new_edge(states[state], _EPSILON, 0, 0, end)
            if state == 0:
                net.new_edge(start, _EPSILON, 0, 0, end)
        if edges:
            net.budgets[states[state]] = node.maximum


def mark_budgets(net: Network, before: int) -> None:
    """Make loops of the positions in ``net.budgets``. ``before``: the number of positions before regions were found;
    later ones are twins of others, one epsilon away.

    Raises ``GrammarError`` beside ``NotFollowedBy``: what must not follow could take away the end that a budget needs.
    """
    if net.guard_dfas:
        raise GrammarError("token budgets and NotFollowedBy do not go together in one grammar",
                           hint="Lark grammars in scannerless mode have none")
    of: dict[int, int] = {}
    for p in net.budgets:
        of[p] = p
        of.update((to, p) for _, _, to in net.edges(p, _EPSILON) if to >= before)
    for p, left in sorted(_bytes_left(net, of).items()):
        net.new_budget(p, net.budgets[of[p]], left)


def _bytes_left(net: Network, of: dict[int, int]) -> dict[int, int]:
    """Fewest bytes from each position to the end of its text (Dijkstra 1959, all edges alike).

    ``of``: the state of the text that a position stands for: itself, or the position whose twin it is.
    """
    earlier: dict[int, list[int]] = {}
    waiting: list[tuple[int, int]] = []
    for p, state in of.items():
        if any(to not in of for _, _, to in net.edges(p, _EPSILON)):
            waiting.append((0, state))
        for _, _, to in net.edges(p, _BYTES):
            if to in of:
                earlier.setdefault(of[to], []).append(state)
            else:
                waiting.append((1, state))  # the text is complete behind this byte
    left: dict[int, int] = {}
    heapify(waiting)
    while waiting:
        distance, state = heappop(waiting)
        if state not in left:
            left[state] = distance
            for one in earlier.get(state, ()):
                heappush(waiting, (distance + 1, one))
    return {p: left[state] for p, state in of.items() if state in left}
