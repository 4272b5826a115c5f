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
under it; ``kernel.guard_survey`` does it (Reps 1995, CFL reachability by summaries, demand-driven).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from constrained.errors import GrammarError, GrammarLimitError
from constrained.grammar.ir import ByteDfa
from constrained.kernel.guard_survey import GuardSurvey, guard_positions
from constrained.kernel.network import Network
from constrained.kernel.program import GUARD
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


def guard_edges(dfas: list[ByteDfa]) -> list[tuple[tuple[int, int, int], ...]]:
    """The edges of the watching automata: bytes they tell apart are classes of their own."""
    return [row for dfa in dfas for row in dfa.transitions]


def check_guards(net: Network) -> None:
    """Raise ``GrammarError`` for a guard at the very beginning of a rule, and for too many in a row."""
    guards = {p: after for p, _, after in guard_positions(net)}
    if not guards:
        return
    for entry in net.rules_as_lists()[0]:
        if any(p in guards for p in _closure(net, entry)):
            raise GrammarError(
                f"NotFollowedBy stands at the beginning of rule {net.rule_names[net.origin_of(entry)]!r:.100}",
                hint="put it behind something that is not empty",
            )
    depth: dict[int, int] = {}
    for first in guards:
        path = [first]
        while path:
            p = path[-1]
            behind = [q for q in _closure(net, guards[p]) if q in guards]
            missing = [q for q in behind if q not in depth]
            if missing and len(path) <= MAX_CHAIN:
                path.append(missing[0])
                continue
            depth[p] = 1 + max((depth.get(q, 0) for q in behind), default=0)
            if missing or depth[p] > MAX_CHAIN:
                raise GrammarError("NotFollowedBy is repeated without anything between",
                                   hint="put what is repeated behind something that is not empty")
            path.pop()


def _closure(net: Network, start: int) -> list[int]:
    seen = {start}
    found = [start]
    for p in found:
        for _, _, to in net.edges(p, 1):
            if to not in seen:
                seen.add(to)
                found.append(to)
    return found


def guard_tables(net: Network, limits: Limits) -> GuardTables | None:
    """The tables of a finished network; None where no guard is left in it. Regions that guards divide are left out.

    Raises ``GrammarLimitError`` where too many automata watch in too many combinations.
    """
    if not guard_positions(net):
        return None
    _, class_byte = net.classes()
    watch = _Watchers(net.guard_dfas, net.guard_ends, class_byte, limits.max_guard_sets)
    survey = GuardSurvey(net, watch)
    survey.run()
    survey.clear_regions()
    _check_counts(net, survey, net.starts())
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
    may_end = array("i", [int(not any(watch.at_end[state] for state in states)) for states in watch.sets])
    return GuardTables(n, may_end, array("i", step), join, [watch.begin(g) for g in range(len(net.guard_dfas))],
                       *survey.tables())


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


def _check_counts(net: Network, survey: GuardSurvey, starts: list[int]) -> None:
    """Refuse counted loops whose rounds are not all alike to the watchers: only "one or more" is exact here."""
    for p in range(net.size()):
        loop = net.loop(p)
        if loop is None or loop[0] == GUARD:
            continue
        rule, least, most, _, items, separator, _ = loop
        if rule >= 0 and least <= 1 and most < 0:
            continue
        rules = [rule] if rule >= 0 else [one for one in (*(item for item, _ in items), separator) if one >= 0]
        for c in survey.pairs_at(p):
            for rule in rules:
                first = survey.outs_at(starts[rule], c)
                if any(survey.outs_at(starts[other], out) != survey.outs_at(starts[other], c)
                       for out in first for other in rules):
                    raise GrammarError(
                        f"a counted repetition in rule {net.rule_names[net.origin_of(p)]!r:.100} ends its rounds with "
                        "a NotFollowedBy that the next round cannot always pass",
                        hint="write something between the rounds that may follow, or write the rounds out")
