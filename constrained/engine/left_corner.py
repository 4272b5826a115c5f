"""Rule starts, and left recursion rewritten so that entering a rule always ends.

A rule calls another *at its left* when it can do so before its first byte. If those calls form a cycle, entering
would never end and the stack sets would be cyclic. For a group K of rules that reach each other so, each goal A gets
new positions (the left-corner transform of Rosenkrantz and Lewis, 1970, on networks instead of productions):

    start of A        reads the beginning of any C in K that does not begin with a rule of K
    hub (A, C)        a C is complete at the left corner of the A that is wanted: go on, for every D in K that
                      begins with C, behind that C
    end of D          goes to hub (A, D); hub (A, A) is the end of A

The language is the same, calls in the middle of a rule stay calls. Size: |K| copies of the group.

Every rule also gets a *start position* of its own that has the edges of the entry's closure and never accepts: calls
consume at least one byte (the empty case is an epsilon beside the call).
"""

from __future__ import annotations

from constrained.engine.build import Network
from constrained.errors import GrammarError, GrammarLimitError
from constrained.limits import Limits

__all__ = ["remove_left_recursion"]


def remove_left_recursion(net: Network, limits: Limits) -> tuple[list[int], list[int]]:
    """Make the start positions; returns them and a numbering of the rules with callers at the left first."""
    closures = [_closure(net, entry) for entry in net.rule_entry]
    graph = [_left_calls(net, closure) for closure in closures]
    starts: list[int] = [0] * len(net.rule_entry)
    for group in _strong_components(graph):
        if len(group) == 1 and group[0] not in graph[group[0]]:
            starts[group[0]] = _plain_start(net, closures[group[0]])
        else:
            _rewrite_group(net, group, closures, starts, limits)
    left = [_left_calls(net, _closure(net, start)) for start in starts]
    order = [0] * len(starts)
    for number, group in enumerate(_strong_components(left)):
        order[group[0]] = len(starts) - number  # components come callees first
    return starts, order


def _closure(net: Network, entry: int) -> list[int]:
    seen = {entry}
    found = [entry]
    for p in found:
        for to in net.eps[p]:
            if to not in seen:
                seen.add(to)
                found.append(to)
    return found


def _left_calls(net: Network, closure: list[int]) -> set[int]:
    called: set[int] = set()
    for p in closure:
        for rule, _ in net.call_edges[p]:
            called.add(rule)
        loop = net.loops.get(p)
        if loop is not None:
            called.add(loop[0])
        set_loop = net.sets.get(p)
        if set_loop is not None:
            called.update(set_loop.items)
    return called


def _plain_start(net: Network, closure: list[int]) -> int:
    start = net.position(net.origin[closure[0]])
    for p in closure:
        net.byte_edges[start].extend(net.byte_edges[p])
        net.call_edges[start].extend(net.call_edges[p])
        if p in net.token_edges:
            net.token_edges.setdefault(start, []).extend(net.token_edges[p])
        if p in net.loops or p in net.sets:
            net.eps[start].append(p)
    return start


def _rewrite_group(net: Network, group: list[int], closures: list[list[int]], starts: list[int],
                   limits: Limits) -> None:
    members = set(group)
    total = sum(high - low for low, high in (net.rule_range[rule] for rule in group))
    if len(net.origin) + len(group) * (total + len(group)) > limits.max_positions:
        raise GrammarLimitError("max_positions", limits.max_positions, "a left-recursive group of rules is too large")
    exits: dict[int, int] = {}
    for goal in group:
        origin = net.origin[net.rule_entry[goal]]
        start = net.position(origin)
        hubs = {rule: net.position(net.origin[net.rule_entry[rule]]) for rule in group}
        final = net.position(origin)
        exits[goal] = final
        net.eps[hubs[goal]].append(final)
        for rule in group:
            low, high = net.rule_range[rule]
            shift = _copy(net, low, high)
            net.eps[net.rule_exit[rule] + shift].append(hubs[rule])
            for p in closures[rule]:
                net.byte_edges[start].extend((lo, hi, to + shift) for lo, hi, to in net.byte_edges[p])
                if p in net.token_edges:
                    net.token_edges.setdefault(start, []).extend((t, to + shift) for t, to in net.token_edges[p])
                for callee, to in net.call_edges[p]:
                    if callee in members:
                        net.eps[hubs[callee]].append(to + shift)
                    else:
                        net.call_edges[start].append((callee, to + shift))
                if p in net.sets:
                    if members.intersection(net.sets[p].items):
                        raise GrammarError(
                            f"rule {net.rule_names[origin]!r:.100} begins with a group in any order that begins so",
                            hint="put something before the group, or write the orders out",
                        )
                    net.eps[start].append(p + shift)
                loop = net.loops.get(p)
                if loop is None:
                    continue
                if loop[0] in members:
                    net.eps[hubs[loop[0]]].append(_loop_after_one(net, loop, shift, origin))
                else:
                    net.eps[start].append(p + shift)
        starts[goal] = start
    for goal in group:
        net.rule_exit[goal] = exits[goal]


def _copy(net: Network, low: int, high: int) -> int:
    """Copy the positions ``low..high-1`` with their edges; returns how far the copy lies behind."""
    shift = len(net.origin) - low
    net.origin.extend(net.origin[low:high])
    for p in range(low, high):
        net.byte_edges.append([(lo, hi, to + shift) for lo, hi, to in net.byte_edges[p]])
        net.eps.append([to + shift for to in net.eps[p]])
        net.call_edges.append([(rule, to + shift) for rule, to in net.call_edges[p]])
        if p in net.token_edges:
            net.token_edges[p + shift] = [(t, to + shift) for t, to in net.token_edges[p]]
        if p in net.guards:
            guard, after = net.guards[p]
            net.guards[p + shift] = (guard, after + shift)
        if p in net.loops:
            rule, least, most, after = net.loops[p]
            net.loops[p + shift] = (rule, least, most, after + shift)
        if p in net.sets:
            net.sets[p + shift] = net.sets[p].moved(shift)
    return shift


def _loop_after_one(net: Network, loop: tuple[int, int, int, int], shift: int, origin: int) -> int:
    """Where a counted loop whose first round was the left corner goes on."""
    rule, least, most, after = loop
    here = net.position(origin)
    if least <= 1:
        net.eps[here].append(after + shift)
    if most != 1:
        rest = net.position(origin)
        net.loops[rest] = (rule, max(least - 1, 1), most - 1 if most > 0 else most, after + shift)
        net.eps[here].append(rest)
    return here


def _strong_components(graph: list[set[int]]) -> list[list[int]]:
    """Tarjan (1972) with an explicit stack; components come callees first."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    found: list[list[int]] = []
    for root in range(len(graph)):
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for to in successors:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(graph[to])))
                    break
                if to in on_stack and index[to] < low[node]:
                    low[node] = index[to]
            else:
                work.pop()
                if work and low[node] < low[work[-1][0]]:
                    low[work[-1][0]] = low[node]
                if low[node] == index[node]:
                    group: list[int] = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        group.append(member)
                        if member == node:
                            break
                    found.append(sorted(group))
    return found
