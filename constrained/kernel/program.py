"""The lowered grammar as flat integer arrays: what ``Automaton`` reads and ``engine.lowering`` writes.

Edges of a position lie together in four runs: bytes, epsilon, calls, token sets. The runs begin at
``position_offsets[4 p .. 4 p + 3]``; the next position's first run begins where the last one ends.

    bytes      edge_a..edge_b inclusive, to edge_to
    epsilon    to edge_to
    call       rule edge_a, return to edge_to
    token set  set edge_a, to edge_to

A loop is counted (``loop_rules`` names its body) or a set loop (-1, or -2 if its last item is free to repeat), whose
items are ``loop_items[l] .. loop_items[l + 1]``: a rule (-1: cannot be written) and whether it must be written. Between
two stands the rule ``loop_separator`` (-1: cannot be written), or nothing where ``loop_bare`` is set.

A guard (GUARD) is a loop without rounds: ``loop_minimum`` is the pending id it starts with (-1: nothing passes),
``loop_next`` what it guards; the other tables of guards are those of ``engine.guards``.

A position of a text with a token budget (BUDGET) has its byte edges as any other, and is a loop beside:
``loop_maximum`` is the budget, ``loop_separator`` how many bytes the text needs from here at least (see
``engine.budgets``).

Positions 1 and 2 are END and HOLE; they have no edges. All arrays are ``array('i')``, but for the minima in bytes,
which are ``array('q')``.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

__all__ = ["BUDGET", "FAR", "GUARD", "Program"]

FAR = 1 << 60
"""Stands for "no way to an end" in minima."""

GUARD = -3
"""``loop_rules`` of a guard."""

BUDGET = -5
"""``loop_rules`` of a position in a text with a token budget."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """See the module docstring. ``regions`` are byte partitions of wide loops, see ``kernel.byte_sets``."""

    start: int
    position_offsets: array[int]
    edge_a: array[int]
    edge_b: array[int]
    edge_to: array[int]
    position_accept: array[int]
    position_loop: array[int]
    position_region: array[int]
    position_min: array[int]
    rule_starts: array[int]
    rule_order: array[int]
    rule_min: array[int]
    rule_names: list[str]
    position_rule: array[int]
    loop_positions: array[int]
    loop_rules: array[int]
    loop_minimum: array[int]
    loop_maximum: array[int]
    loop_next: array[int]
    loop_region: array[int]
    loop_items: array[int]
    loop_separator: array[int]
    loop_bare: array[int]
    item_rule: array[int]
    item_required: array[int]
    item_cheap: array[int]
    """The items of each loop, those with the shortest texts first: indices into the two arrays above."""
    loop_required: array[int]
    """How many items of each loop are required."""
    n_classes: int
    byte_class: array[int]
    class_byte: array[int]
    regions: list[bytes]
    token_sets: list[frozenset[int]]
    n_pending: int
    pending_end: array[int]
    pending_step: array[int]
    pending_join: array[int]
    pair_position: array[int]
    pair_pending: array[int]
    out_offsets: array[int]
    outs: array[int]

    @property
    def n_token_sets(self) -> int:
        return len(self.token_sets)
