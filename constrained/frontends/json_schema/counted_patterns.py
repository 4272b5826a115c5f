r"""Patterns beside lengths, where the product of automaton and counter written out over bytes would be too large.

The product is made over characters, from its last layer to the first: layer ``c`` holds the states that ``c``
characters lead to, and states that go on alike are one, in whatever layers they are (they form no cycle, so comparing
targets is enough: D. Revuz, Minimisation of acyclic deterministic automata, 1992). So what a pattern counts by itself
(``[a-z]{1,1024}``) is merged with the count of all characters.

It is written as a ``Graph`` whose edges read characters: those of one byte as they are, all others by a reference to a
rule for the set, which is there once and not in the middle of every step. ``character_rules`` names these rules to
whoever writes the grammar.

Cost: 1 us a state of the product, 5 us a state that is left and its edges. Bounds: ``PRODUCT`` and ``MERGED`` times
``Limits.max_dfa_states``.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.spelling import PLAIN, spelled_class
from constrained.grammar.ir import CharClass, Expr, Graph, Reference, Sequence
from constrained.limits import Limits
from constrained.regex.charset import Ranges, intersection, normalise, subtract
from constrained.regex.dfa import DEAD, Dfa, minimise

__all__ = ["character_rules", "counted_graph"]

PRODUCT = 25
"""States of the product that are looked at, for each of ``max_dfa_states``."""

MERGED = 3
"""States that may be left of them."""

_Ints = np.ndarray[Any, np.dtype[np.int64]]

_sets: dict[str, tuple[Ranges, str]] = {}
"""What the names of rules for characters mean; a name holds what it means."""


def counted_graph(dfa: Dfa, minimum: int, maximum: int | None, escapes: str, limits: Limits) -> Graph | None:
    """The bodies of the strings of ``dfa`` of ``minimum`` to ``maximum`` characters; None: there are none.

    Raises GrammarLimitError (``max_dfa_states``).
    """
    dfa = minimise(dfa)
    top = minimum if maximum is None else maximum
    rows: _Ints = np.array(dfa.rows, dtype=np.int64)
    size = len(dfa.rows)
    rows[rows == DEAD] = size
    accepting = np.zeros(size + 1, dtype=np.int64)
    accepting[sorted(dfa.accepting)] = 1
    layers = _layers(rows, top, limits)
    number: dict[tuple[int, ...], int] = {}  # of what a state does: targets by class, and whether it accepts
    found: list[tuple[int, ...]] = [()]  # by number; 0 is dead
    following = np.zeros(size + 1, dtype=np.int64)
    if maximum is None:  # behind the last layer the automaton goes on without counting
        following[:size] = range(1, size + 1)
        found += map(tuple, np.concatenate((following[rows], accepting[:size, None]), axis=1).tolist())
        layers.pop()
    for count in range(len(layers) - 1, -1, -1):
        states = layers[count]
        done = following[rows[states]]
        ends = accepting[states, None] if count >= minimum else np.zeros((len(states), 1), dtype=np.int64)
        here = np.zeros(size + 1, dtype=np.int64)
        does = np.concatenate((done, ends), axis=1)
        alive = does.any(axis=1)
        numbers: list[int] = []
        for row in map(tuple, does[alive].tolist()):
            known = number.get(row)
            if known is None:
                known = number[row] = len(found)
                found.append(row)
            numbers.append(known)
        here[states[alive]] = numbers
        if len(found) > MERGED * limits.max_dfa_states + size:
            raise _too_large(limits)
        following = here
    start = int(following[0])
    return _written(found, start, dfa.classes, escapes) if start else None


def _layers(rows: _Ints, top: int, limits: Limits) -> list[_Ints]:
    """The states that each number of characters leads to, up to ``top``."""
    size = len(rows)
    now: _Ints = np.zeros(1, dtype=np.int64)
    layers = [now]
    total = 1
    for _ in range(top):
        reached = np.zeros(size + 1, dtype=np.bool_)
        reached[rows[now].ravel()] = True
        after = reached[:size].nonzero()[0]
        if len(after) != len(now) or not np.array_equal(after, now):
            now = after
        layers.append(now)
        total += len(now)
        if total > PRODUCT * limits.max_dfa_states:
            raise _too_large(limits)
    return layers


def _too_large(limits: Limits) -> GrammarLimitError:
    return GrammarLimitError("max_dfa_states", limits.max_dfa_states, "a pattern beside a length takes too many states")


def _written(found: list[tuple[int, ...]], start: int, classes: tuple[Ranges, ...], escapes: str) -> Graph:
    """The states that ``start`` leads to, as edges."""
    place = [-1] * len(found)
    place[start] = 0
    order = [start]
    bits = [1 << index for index in range(len(classes))]
    labels: dict[int, tuple[Expr, ...]] = {}
    edges: list[tuple[tuple[Expr, int], ...]] = []
    accepting: list[int] = []
    for here, state in enumerate(order):
        does = found[state]
        if does[-1]:
            accepting.append(here)
        read: dict[int, int] = {}
        for bit, target in zip(bits, does, strict=False):  # does[-1] says whether it accepts
            if target:
                read[target] = read[target] | bit if target in read else bit
        row: list[tuple[Expr, int]] = []
        for target, members in read.items():
            to = place[target]
            if to < 0:
                to = place[target] = len(order)
                order.append(target)
            label = labels.get(members)
            if label is None:
                label = labels[members] = _label(normalise(
                    pair for index, ranges in enumerate(classes) if members >> index & 1 for pair in ranges), escapes)
            for one in label:
                row.append((one, to))
        edges.append(tuple(row))
    return Graph(tuple(edges), frozenset(accepting))


def _label(ranges: Ranges, escapes: str) -> tuple[Expr, ...]:
    """What reads one character of ``ranges``: those of one byte and one spelling, and a rule for the others."""
    plain = intersection(ranges, PLAIN) if escapes != "any" else ()
    others = subtract(ranges, plain)
    found: list[Expr] = [CharClass(plain)] if plain else []
    if others:
        found.append(Reference(_name(others, escapes)))
    return tuple(found)


def _name(ranges: Ranges, escapes: str) -> str:
    text = ",".join(f"{first:x}-{last:x}" for first, last in ranges)
    if len(text) > 60:
        text = hashlib.sha256(text.encode()).hexdigest()
    name = f"character {text} {escapes}"
    _sets[name] = ranges, escapes
    return name


@lru_cache(maxsize=256)
def _names_in(graph: Graph) -> frozenset[str]:
    labels = {id(one): one for row in graph.edges for one, _ in row}  # few, each made once
    return frozenset(one.name for one in labels.values() if isinstance(one, Reference))


def character_rules(expr: Expr) -> dict[str, Expr]:
    """The rules that a string made of ``counted_graph`` refers to; none for any other."""
    if not isinstance(expr, Sequence):
        return {}
    return {name: spelled_class(*_sets[name]) for part in expr.items if isinstance(part, Graph)
            for name in sorted(_names_in(part))}
