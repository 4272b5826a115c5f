"""A network as lists and dictionaries by position: for the passes that are rare enough to be written in Python."""

from __future__ import annotations

from typing import NamedTuple

from constrained.grammar.ir import ByteDfa
from constrained.kernel.network import Network
from constrained.kernel.program import GUARD

__all__ = ["NetworkView", "SetLoop"]


class SetLoop(NamedTuple):
    """What may be written in any order: rules."""

    items: list[int]
    separator: int
    after: int


class NetworkView:
    """A copy; changes are not written back."""

    def __init__(self, net: Network) -> None:
        positions = range(net.size())
        self.byte_edges: list[list[tuple[int, int, int]]] = [net.edges(p, 0) for p in positions]
        self.eps: list[list[int]] = [[to for _, _, to in net.edges(p, 1)] for p in positions]
        self.call_edges: list[list[tuple[int, int]]] = [[(a, to) for a, _, to in net.edges(p, 2)] for p in positions]
        self.token_edges: dict[int, list[tuple[int, int]]] = {
            p: [(a, to) for a, _, to in edges] for p in positions if (edges := net.edges(p, 3))}
        self.loops: dict[int, tuple[int, int, int, int]] = {}
        """Position -> (body rule, minimum, maximum or -1, next position)."""
        self.sets: dict[int, SetLoop] = {}
        self.guards: dict[int, tuple[int, int]] = {}
        """Position -> (what must not follow: an index into ``guard_dfas``, next position)."""
        for p in positions:
            loop = net.loop(p)
            if loop is None:
                continue
            rule, least, most, after, items, separator = loop
            if rule == GUARD:
                self.guards[p] = (least, after)
            elif rule < 0:
                self.sets[p] = SetLoop([item for item, _ in items], separator, after)
            else:
                self.loops[p] = (rule, least, most, after)
        self.guard_dfas: list[ByteDfa] = net.guard_dfas
        self.guard_ends: list[frozenset[int]] = net.guard_ends
        """States of each in which the text must not end."""
        self.origin: list[int] = [net.origin_of(p) for p in positions]
        self.accept: set[int] = {p for p in positions if net.accepts(p)}
        self.rule_names: list[str] = net.rule_names
        self.rule_entry: list[int] = net.rules_as_lists()[0]
