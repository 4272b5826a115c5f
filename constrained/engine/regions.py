"""Wide regions: the parts of a grammar whose masks are worth a class trie.

A loop over many bytes (a string's body, an identifier, free text) allows a large part of the vocabulary, and which
tokens stay inside depends on that loop alone. Its positions are a *region*: a strongly connected set of positions under
byte and epsilon edges in which some position has at least ``WIDE`` bytes, with the positions that lead only into
it; or the body of a counted loop. A region carries the partition of the bytes that its edges make; the vocabulary
seen through such a partition is a trie of a few hundred nodes (``kernel.token_trie``), shared by every grammar
that has the same partition.

Regions steer only how a mask is found, never what it is: anything may be left out.
"""

from __future__ import annotations

from constrained.engine.build import Network
from constrained.engine.byte_classes import class_sets, partition_bytes

__all__ = ["WIDE", "find_regions"]

WIDE = 32
"""Bytes that a position must be able to read for its loop to be a region."""

LEAD_IN = 16
"""Bytes that a position outside the loop must have to be counted in."""

SPLINTER = 8
"""A lead-in may not cut fewer bytes than this off a class of its region."""


def find_regions(net: Network, starts: list[int]) -> tuple[list[bytes], list[int], dict[int, int]]:
    """Partitions (256 class numbers each, index 0 unused), the region of each position (0 none), and of each loop."""
    n = len(net.origin)
    region = [0] * n
    members: list[list[int]] = [[]]
    width = [0] * n
    for p, edges in enumerate(net.byte_edges):
        if len(edges) == 1:
            width[p] = edges[0][1] - edges[0][0] + 1
        elif edges:
            width[p] = sum(hi - lo + 1 for lo, hi, _ in edges)
    wide = [p for p in range(n) if width[p] >= WIDE and not net.call_edges[p] and p not in net.token_edges]
    loop_region = _loop_regions(net, starts, width, region, members)
    for component in _components(net, [p for p in wide if region[p] == 0]):
        component = _without_narrow(net, component, width)
        members.append(component)
        for q in component:
            region[q] = len(members) - 1
    _lead_ins(net, width, region, members)
    partitions = [partition_bytes([net.byte_edges[p] for p in positions]) for positions in members[1:]]
    return [b"", *partitions], region, loop_region


def _without_narrow(net: Network, positions: list[int], width: list[int]) -> list[int]:
    """Leave out what reads few ASCII bytes: escapes, and their digits.

    They would split the letters of every word into hexadecimal and other ones. Left out, an escape is a way out of
    the region, walked from its backslash; the parts of longer characters stay in.
    """
    return [p for p in positions
            if width[p] == 0 or width[p] >= WIDE or any(hi >= 0x80 for _, hi, _ in net.byte_edges[p])]


def _components(net: Network, wide: list[int]) -> list[list[int]]:
    """The cycles of byte and epsilon edges that ``wide`` positions are on, but for those that call (Tarjan 1972)."""
    n = len(net.origin)
    number = [0] * n
    low = [0] * n  # 0 once the position's component is complete
    count = 0
    components: list[list[int]] = []
    wanted = set(wide)
    for start in wide:
        if number[start]:
            continue
        path: list[int] = [start]
        count += 1
        number[start] = low[start] = count
        work = [(start, iter(_successors(net, start)))]
        while work:
            p, successors = work[-1]
            for to in successors:
                if not number[to]:
                    count += 1
                    number[to] = low[to] = count
                    path.append(to)
                    work.append((to, iter(_successors(net, to))))
                    break
                if low[to] and number[to] < low[p]:
                    low[p] = number[to]
            else:
                work.pop()
                if low[p] != number[p]:
                    above = work[-1][0]
                    low[above] = min(low[above], low[p])
                    continue
                at = len(path) - 1
                while path[at] != p:
                    at -= 1
                component = path[at:]
                del path[at:]
                for q in component:
                    low[q] = 0
                if wanted.isdisjoint(component) or (len(component) == 1 and p not in _successors(net, p)):
                    continue
                if not any(net.call_edges[q] or q in net.token_edges for q in component):
                    components.append(component)
    return components


def _successors(net: Network, p: int) -> list[int]:
    edges = net.byte_edges[p]
    if len(edges) == 1:
        return [edges[0][2], *net.eps[p]]
    return [to for _, _, to in edges] + net.eps[p]


def _loop_regions(net: Network, starts: list[int], width: list[int], region: list[int],
                  members: list[list[int]]) -> dict[int, int]:
    """A counted loop whose body is bytes only and begins wide is a region: all loops over one body share it."""
    by_rule: dict[int, int] = {}
    found: dict[int, int] = {}
    for p, (rule, _, _, _) in net.loops.items():
        known = by_rule.get(rule)
        if known is None:
            known = 0
            body = _bytes_only(net, starts[rule])
            if body is not None and width[starts[rule]] >= WIDE:
                # every round begins with all the edges of the start, so they belong to the partition
                body = _without_narrow(net, body, width)
                known = len(members)
                members.append(body)
                for q in body:
                    region[q] = known
            by_rule[rule] = known
        if known:
            found[p] = known
    return found


def _bytes_only(net: Network, start: int, most: int = 2000) -> list[int] | None:
    """The positions reachable within the rule, if it makes no calls, counts nothing and is small."""
    seen = {start}
    found = [start]
    for p in found:
        if net.call_edges[p] or p in net.token_edges or p in net.loops or p in net.sets or p in net.guards \
                or len(found) > most:
            return None
        for to in _successors(net, p):
            if to not in seen:
                seen.add(to)
                found.append(to)
    return found


def _lead_ins(net: Network, width: list[int], region: list[int], members: list[list[int]]) -> None:
    """Count in the positions that lead into one region, and split those that do so with a part of their bytes.

    The first letter of an identifier often shares its position with a quote or a keyword. What goes into the region
    then moves to a position of its own, one epsilon away: the same paths, but a set that can be told apart.
    """
    if len(members) == 1:
        return
    changed = True
    rounds = 0
    partitions: dict[int, list[int]] = {}
    candidates = [p for p in range(len(width)) if width[p] >= LEAD_IN and region[p] == 0]
    while changed and rounds < 4:  # a character has four bytes: one round for each
        changed = False
        rounds += 1
        for p in candidates:
            if region[p]:
                continue
            parts: dict[int, list[tuple[int, int, int]]] = {}
            for edge in net.byte_edges[p]:
                parts.setdefault(_region_of(net, edge[2], region), []).append(edge)
            plain = not net.call_edges[p] and p not in net.token_edges
            for number, edges in parts.items():
                if number == 0 or sum(hi - lo + 1 for lo, hi, _ in edges) < LEAD_IN:
                    continue
                if number not in partitions:
                    partitions[number] = class_sets([net.byte_edges[q] for q in members[number]])
                if _splinters(edges, partitions[number]):
                    continue
                changed = True
                if len(parts) == 1 and plain:
                    region[p] = number
                    members[number].append(p)
                    continue
                twin = net.position(net.origin[p])
                net.byte_edges[twin] = edges
                net.byte_edges[p] = [edge for edge in net.byte_edges[p] if edge not in edges]
                net.eps[p].append(twin)
                region.append(number)
                width.append(0)
                members[number].append(twin)


def _splinters(edges: list[tuple[int, int, int]], classes: list[int]) -> bool:
    """Whether counting these edges in would cut single bytes off the region's classes.

    "Any character but the next letter of a key" does; a partition of its own for every schema would be the result, and
    partitions are worth their class tries only because grammars share them.
    """
    by_target: dict[int, int] = {}
    for lo, hi, to in edges:
        by_target[to] = by_target.get(to, 0) | ((1 << (hi + 1)) - (1 << lo))
    for mask in by_target.values():
        for part in classes:
            inside = part & mask
            if inside and inside != part and min(inside.bit_count(), (part ^ inside).bit_count()) < SPLINTER:
                return True
    return False


def _region_of(net: Network, p: int, region: list[int]) -> int:
    """The region of ``p`` or of what it reaches by one epsilon."""
    if region[p]:
        return region[p]
    for to in net.eps[p]:
        if region[to]:
            return region[to]
    return 0
