"""What must not follow: ``NotFollowedBy`` as tables, and which positions survive it.

Idea
    A guard is a byte automaton that watches the text behind its position. While it has not decided, the guarded
    stacks are *pending*: each byte moves the watching automata; one that accepts kills the stacks, one that can no
    longer accept is dropped. A *pending id* is a set of automaton states that watch together, 0 the empty set. Sets are
    found here, once; the automaton only looks them up.

    A position may read on under a pending id and die at its guard in one context and live in another. So that no
    state is a dead end, ``outs`` tells for a position p and a pending id c under which pending ids a text from p can
    reach the end of p's rule (none: p is dead under c). A stack lives if these agree from frame to frame, which the
    automaton asks of its nodes.

Data
    ``step[c * n_classes + k]``   the pending id after a byte of class k, -1 if that byte kills
    ``join[a * n + b]``           the union of two pending ids, -1 if no stack ever needs it
    ``begin[g]``                  the pending id of guard g alone, -1 if it kills whatever follows
    ``may_end[c]``                whether the text may end under c
    ``outs``                      for each pair (p, c) that can occur, the pending ids at the rule's end

Loops are taken as "one round or more" here. Where it matters how many rounds came before (what a round ends with keeps
another from beginning), a counted loop or a group in any order is refused.

Cost: one pass over the positions for the empty set, and for each pending id over the few positions that can be read
under it. Reps 1995 (CFL reachability by summaries) is the method, demand-driven.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from constrained.engine.network_view import NetworkView
from constrained.errors import GrammarError, GrammarLimitError
from constrained.grammar.ir import ByteDfa
from constrained.limits import Limits

__all__ = ["GuardTables", "check_guards", "guard_edges", "guard_tables"]

MAX_CHAIN = 32
"""Guards directly behind each other."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GuardTables:
    """See the module docstring. ``pair_*`` lists the pairs with c > 0; ``outs_0`` has the pairs (p, 0)."""

    n_pending: int
    may_end: array[int]
    step: array[int]
    join: array[int]
    begin: list[int]
    pair_position: array[int]
    pair_pending: array[int]
    out_offsets: array[int]
    """Where ``outs`` of a pair begins: first all (p, 0) by p, then the pairs in order, then the end."""
    outs: array[int]

    def has_text(self, root: int) -> bool:
        """Whether some whole text from position ``root`` survives."""
        return any(self.may_end[c] for c in self.outs[self.out_offsets[root] : self.out_offsets[root + 1]])


NO_GUARDS = GuardTables(1, array("i", [1]), array("i"), array("i"), [], array("i"), array("i"), array("i"), array("i"))


def guard_edges(dfas: list[ByteDfa]) -> list[tuple[tuple[int, int, int], ...]]:
    """The edges of the watching automata: bytes they tell apart are classes of their own."""
    return [row for dfa in dfas for row in dfa.transitions]


def check_guards(net: NetworkView) -> None:
    """Raise ``GrammarError`` for a guard at the very beginning of a rule, and for too many in a row."""
    if not net.guards:
        return
    for entry in net.rule_entry:
        if any(p in net.guards for p in _closure(net, entry)):
            raise GrammarError(
                f"NotFollowedBy stands at the beginning of rule {net.rule_names[net.origin[entry]]!r:.100}",
                hint="put it behind something that is not empty",
            )
    depth: dict[int, int] = {}
    for first in net.guards:
        path = [first]
        while path:
            p = path[-1]
            behind = [q for q in _closure(net, net.guards[p][1]) if q in net.guards]
            missing = [q for q in behind if q not in depth]
            if missing and len(path) <= MAX_CHAIN:
                path.append(missing[0])
                continue
            depth[p] = 1 + max((depth.get(q, 0) for q in behind), default=0)
            if missing or depth[p] > MAX_CHAIN:
                raise GrammarError("NotFollowedBy is repeated without anything between",
                                   hint="put what is repeated behind something that is not empty")
            path.pop()


def _closure(net: NetworkView, start: int) -> list[int]:
    seen = {start}
    found = [start]
    for p in found:
        for to in net.eps[p]:
            if to not in seen:
                seen.add(to)
                found.append(to)
    return found


def guard_tables(net: NetworkView, starts: list[int], byte_class: array[int], class_byte: array[int],
                 limits: Limits) -> GuardTables:
    """The tables of a finished network.

    Raises ``GrammarLimitError`` where too many automata watch in too many combinations.
    """
    if not net.guards:
        return NO_GUARDS
    watch = _Watchers(net.guard_dfas, net.guard_ends, class_byte, limits.max_guard_sets)
    survey = _Survey(net, starts, byte_class, watch)
    survey.run()
    survey.check_counts()
    step: list[int] = []
    c = 0
    while c < len(watch.sets):  # grows while it is read
        step.extend(watch.step(c, k) for k in range(len(class_byte)))
        c += 1
    n = len(watch.sets)
    join = array("i", [-1]) * (n * n)
    for a, watching in enumerate(watch.sets):
        for b in range(a + 1):
            join[a * n + b] = join[b * n + a] = watch.ids.get(watching | watch.sets[b], -1)
    offsets: list[int] = []
    outs: list[int] = []
    for p in range(len(net.origin)):
        offsets.append(len(outs))
        outs.extend(sorted(survey.outs.get((p, 0), ())))
    pairs = sorted(pair for pair in survey.outs if pair[1])
    for pair in pairs:
        offsets.append(len(outs))
        outs.extend(sorted(survey.outs[pair]))
    offsets.append(len(outs))
    may_end = array("i", [int(not any(watch.at_end[state] for state in states)) for states in watch.sets])
    return GuardTables(
        n, may_end, array("i", step), join, [watch.begin(g) for g in range(len(net.guard_dfas))],
        array("i", [p for p, _ in pairs]), array("i", [c for _, c in pairs]), array("i", offsets), array("i", outs),
    )


class _Watchers:
    """Sets of states of the watching automata, numbered as they are met."""

    def __init__(self, dfas: list[ByteDfa], ends: list[frozenset[int]], class_byte: array[int], most: int) -> None:
        self.most = most
        self.class_byte = class_byte
        self.base: list[int] = []
        self.edges: list[tuple[tuple[int, int, int], ...]] = []
        self.accepting: list[bool] = []
        self.live: list[bool] = []
        self.at_end: list[bool] = []
        for dfa, at_end in zip(dfas, ends, strict=True):
            base = len(self.edges)
            self.base.append(base)
            live = _can_reach(dfa, dfa.accepting | at_end)
            for state, row in enumerate(dfa.transitions):
                self.edges.append(tuple((lo, hi, to + base) for lo, hi, to in row))
                self.accepting.append(state in dfa.accepting)
                self.live.append(state in live)
                self.at_end.append(state in at_end)
        self.sets: list[frozenset[int]] = [frozenset()]
        self.ids: dict[frozenset[int], int] = {frozenset(): 0}
        self.steps: dict[tuple[int, int], int] = {}

    def id_of(self, states: frozenset[int]) -> int:
        known = self.ids.get(states)
        if known is None:
            known = self.ids[states] = len(self.sets)
            self.sets.append(states)
            if known > self.most:
                raise GrammarLimitError("max_guard_sets", self.most, "too many NotFollowedBy watch at the same time")
        return known

    def begin(self, guard: int) -> int:
        state = self.base[guard]
        if self.accepting[state]:
            return -1
        return self.id_of(frozenset([state] if self.live[state] else []))

    def step(self, c: int, k: int) -> int:
        if c == 0:
            return 0
        known = self.steps.get((c, k))
        if known is None:
            byte = self.class_byte[k]
            after = set()
            known = 0
            for state in self.sets[c]:
                for lo, hi, to in self.edges[state]:
                    if lo <= byte <= hi:
                        if self.accepting[to]:
                            known = -1
                        elif self.live[to]:
                            after.add(to)
            if known == 0:
                known = self.id_of(frozenset(after))
            self.steps[c, k] = known
        return known

    def join(self, a: int, b: int) -> int:
        return self.id_of(self.sets[a] | self.sets[b])


def _can_reach(dfa: ByteDfa, wanted: frozenset[int]) -> set[int]:
    """The states from which one of ``wanted`` can be reached: in the others there is nothing left to watch for."""
    into: list[list[int]] = [[] for _ in dfa.transitions]
    for state, row in enumerate(dfa.transitions):
        for _, _, to in row:
            into[to].append(state)
    live = set(wanted)
    work = list(live)
    while work:
        for state in into[work.pop()]:
            if state not in live:
                live.add(state)
                work.append(state)
    return live


Pair = tuple[int, int]


class _Survey:
    """The least solution of "from p under c the rule's end is reached under c'", by pairs that are asked for."""

    def __init__(self, net: NetworkView, starts: list[int], byte_class: array[int], watch: _Watchers) -> None:
        self.net = net
        self.starts = starts
        self.byte_class = byte_class
        self.watch = watch
        self.outs: dict[Pair, set[int]] = {}
        self.plain: dict[Pair, list[Pair]] = {}
        """Pairs whose outs are also those of the listed pairs."""
        self.calls: dict[Pair, list[tuple[Pair, tuple[int, ...]]]] = {}
        """Pairs (start of a rule, c): for each caller, its pair and the positions it goes on from."""
        self.fresh: list[Pair] = []
        self.news: list[tuple[Pair, int]] = []

    def run(self) -> None:
        for p in range(len(self.net.origin)):
            self.ask((p, 0))
        while self.fresh or self.news:
            while self.fresh:
                self.visit(self.fresh.pop())
            if self.news:
                pair, out = self.news.pop()
                for user in list(self.plain.get(pair, ())):
                    self.found(user, out)
                for user, targets in list(self.calls.get(pair, ())):
                    for to in targets:
                        self.follow(user, (to, out))

    def check_counts(self) -> None:
        """Refuse counted loops whose rounds are not all alike to the watchers: only "one or more" is exact here."""
        net = self.net
        for p, c in list(self.outs):
            loop, group = net.loops.get(p), net.sets.get(p)
            rules = [] if loop is None or (loop[1] <= 1 and loop[2] < 0) else [loop[0]]
            if group is not None:
                rules = [*group.items, group.separator]
            for rule in rules:
                first = self.outs.get((self.starts[rule], c), set())
                if any(self.outs.get((self.starts[other], out), set()) != self.outs.get((self.starts[other], c), set())
                       for out in first for other in rules):
                    raise GrammarError(
                        f"a counted repetition in rule {net.rule_names[net.origin[p]]!r:.100} ends its rounds with a "
                        "NotFollowedBy that the next round cannot always pass",
                        hint="write something between the rounds that may follow, or write the rounds out")

    def ask(self, pair: Pair) -> None:
        if pair not in self.outs:
            self.outs[pair] = set()
            self.fresh.append(pair)

    def found(self, pair: Pair, out: int) -> None:
        outs = self.outs[pair]
        if out not in outs:
            outs.add(out)
            self.news.append((pair, out))

    def follow(self, user: Pair, pair: Pair) -> None:
        """``user`` has all that ``pair`` has."""
        if pair == user:
            return
        self.ask(pair)
        users = self.plain.setdefault(pair, [])
        if user not in users:
            users.append(user)
            for out in list(self.outs[pair]):
                self.found(user, out)

    def call(self, user: Pair, rule: int, targets: tuple[int, ...]) -> None:
        pair = (self.starts[rule], user[1])
        self.ask(pair)
        self.calls.setdefault(pair, []).append((user, targets))
        for out in list(self.outs[pair]):
            for to in targets:
                self.follow(user, (to, out))

    def visit(self, pair: Pair) -> None:
        net = self.net
        p, c = pair
        if p in net.accept:
            self.found(pair, c)
        for to in net.eps[p]:
            self.follow(pair, (to, c))
        for lo, hi, to in net.byte_edges[p]:
            if c == 0:
                self.follow(pair, (to, 0))
                continue
            for k in {self.byte_class[byte] for byte in range(lo, hi + 1)}:
                after = self.watch.step(c, k)
                if after >= 0:
                    self.follow(pair, (to, after))
        for rule, to in net.call_edges[p]:
            self.call(pair, rule, (to,))
        for _, to in net.token_edges.get(p, ()):
            self.follow(pair, (to, 0))
        loop = net.loops.get(p)
        if loop is not None:
            self.call(pair, loop[0], (loop[3], p))
        group = net.sets.get(p)
        if group is not None:
            for rule in group.items:
                self.call(pair, rule, (group.after, p))
            self.call(pair, group.separator, (p,))
        guard = net.guards.get(p)
        if guard is not None:
            begin = self.watch.begin(guard[0])
            if begin >= 0:
                self.follow(pair, (guard[1], self.watch.join(c, begin) if c else begin))
