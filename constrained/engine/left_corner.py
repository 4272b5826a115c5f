"""Left recursion rewritten so that entering a rule always ends.

A rule calls another *at its left* when it can do so before its first byte. If those calls form a cycle, entering
would never end and the stack sets would be cyclic. For a group K of rules that reach each other so, each goal A gets
new positions (the left-corner transform of Rosenkrantz and Lewis, 1970, on networks instead of productions):

    start of A        reads the beginning of any C in K that does not begin with a rule of K
    hub (A, C)        a C is complete at the left corner of the A that is wanted: go on, for every D in K that
                      begins with C, behind that C
    end of D          goes to hub (A, D); hub (A, A) is the end of A

The language is the same, calls in the middle of a rule stay calls. Size: |K| copies of the group.

Only grammars with left recursion come here; for others ``kernel.starts`` does the same without groups: every
rule gets a *start position* that has the edges of the entry's closure and never accepts.
"""

from __future__ import annotations

from constrained.errors import GrammarError, GrammarLimitError
from constrained.kernel.network import Network
from constrained.limits import Limits

__all__ = ["remove_left_recursion"]

BYTES, EPSILON, CALLS, TOKENS = range(4)


def remove_left_recursion(net: Network, limits: Limits) -> None:
    """Make the start positions and number the rules, callers at the left first."""
    entries, exits, ranges = net.rules_as_lists()
    _Rewriter(net, limits, entries, exits, ranges).run()


class _Rewriter:
    def __init__(self, net: Network, limits: Limits, entries: list[int], exits: list[int],
                 ranges: list[tuple[int, int]]) -> None:
        self.net = net
        self.limits = limits
        self.entries = entries
        self.exits = exits
        self.ranges = ranges
        self.starts = [0] * len(entries)

    def run(self) -> None:
        closures = [self.closure(entry) for entry in self.entries]
        graph = [self.left_calls(closure) for closure in closures]
        for group in _strong_components(graph):
            if len(group) == 1 and group[0] not in graph[group[0]]:
                self.starts[group[0]] = self.plain_start(closures[group[0]])
            else:
                self.rewrite_group(group, closures)
        left = [self.left_calls(self.closure(start)) for start in self.starts]
        order = [0] * len(self.starts)
        for number, group in enumerate(_strong_components(left)):
            order[group[0]] = len(self.starts) - number  # components come callees first
        self.net.set_starts(self.starts, order, self.exits)

    def closure(self, entry: int) -> list[int]:
        seen = {entry}
        found = [entry]
        for p in found:
            for _, _, to in self.net.edges(p, EPSILON):
                if to not in seen:
                    seen.add(to)
                    found.append(to)
        return found

    def left_calls(self, closure: list[int]) -> set[int]:
        called: set[int] = set()
        for p in closure:
            for rule, _, _ in self.net.edges(p, CALLS):
                called.add(rule)
            loop = self.net.loop(p)
            if loop is not None:
                called.update([item for item, _ in loop[4]] if loop[0] < 0 else [loop[0]])
        return called

    def plain_start(self, closure: list[int]) -> int:
        net = self.net
        start: int = net.new_position(net.origin_of(closure[0]))
        for p in closure:
            for kind in (BYTES, CALLS, TOKENS):
                for a, b, to in net.edges(p, kind):
                    net.new_edge(start, kind, a, b, to)
            if net.loop(p) is not None:
                net.new_edge(start, EPSILON, 0, 0, p)
        return start

    def rewrite_group(self, group: list[int], closures: list[list[int]]) -> None:
        net = self.net
        members = set(group)
        total = sum(high - low for low, high in (self.ranges[rule] for rule in group))
        if net.size() + len(group) * (total + len(group)) > self.limits.max_positions:
            raise GrammarLimitError("max_positions", self.limits.max_positions,
                                    "a left-recursive group of rules is too large")
        exits: dict[int, int] = {}
        for goal in group:
            origin = net.origin_of(self.entries[goal])
            start = net.new_position(origin)
            hubs = {rule: net.new_position(net.origin_of(self.entries[rule])) for rule in group}
            final = net.new_position(origin)
            exits[goal] = final
            net.new_edge(hubs[goal], EPSILON, 0, 0, final)
            for rule in group:
                low, high = self.ranges[rule]
                shift = _copy(net, low, high)
                net.new_edge(self.exits[rule] + shift, EPSILON, 0, 0, hubs[rule])
                for p in closures[rule]:
                    for lo, hi, to in net.edges(p, BYTES):
                        net.new_edge(start, BYTES, lo, hi, to + shift)
                    for tokens, b, to in net.edges(p, TOKENS):
                        net.new_edge(start, TOKENS, tokens, b, to + shift)
                    for callee, b, to in net.edges(p, CALLS):
                        if callee in members:
                            net.new_edge(hubs[callee], EPSILON, 0, 0, to + shift)
                        else:
                            net.new_edge(start, CALLS, callee, b, to + shift)
                    loop = net.loop(p)
                    if loop is None:
                        continue
                    if loop[0] < 0 and members.intersection(item for item, _ in loop[4]):
                        raise GrammarError(
                            f"rule {net.rule_names[origin]!r:.100} begins with a group in any order that begins so",
                            hint="put something before the group, or write the orders out",
                        )
                    if loop[0] in members:
                        net.new_edge(hubs[loop[0]], EPSILON, 0, 0, _loop_after_one(net, loop, shift, origin))
                    else:
                        net.new_edge(start, EPSILON, 0, 0, p + shift)
            self.starts[goal] = start
        for goal in group:
            self.exits[goal] = exits[goal]


def _copy(net: Network, low: int, high: int) -> int:
    """Copy the positions ``low..high-1`` with their edges; returns how far the copy lies behind."""
    shift: int = net.size() - low
    for p in range(low, high):
        net.new_position(net.origin_of(p))
    for p in range(low, high):
        for kind in (BYTES, EPSILON, CALLS, TOKENS):
            for a, b, to in net.edges(p, kind):
                net.new_edge(p + shift, kind, a, b, to + shift)
        loop = net.loop(p)
        if loop is not None:
            rule, least, most, after, items, separator, how = loop
            net.new_loop(p + shift, rule, least, most, after + shift, items, separator, how)
        if p in net.budgets:
            net.budgets[p + shift] = net.budgets[p]
    return shift


def _loop_after_one(net: Network, loop: tuple[int, int, int, int, list[tuple[int, int]], int, int], shift: int,
                    origin: int) -> int:
    """Where a counted loop whose first round was the left corner goes on."""
    rule, least, most, after = loop[:4]
    here: int = net.new_position(origin)
    if least <= 1:
        net.new_edge(here, EPSILON, 0, 0, after + shift)
    if most != 1:
        rest = net.new_position(origin)
        net.new_loop(rest, rule, max(least - 1, 1), most - 1 if most > 0 else most, after + shift, [], -1)
        net.new_edge(here, EPSILON, 0, 0, rest)
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
