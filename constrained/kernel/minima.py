# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Fewest bytes from each position of a program to its rule's end, and of each rule (Knuth 1977: Dijkstra on grammars).

Only whoever asks how long a text must become needs them, and most who generate never do: so they are found at the first
question (``PositionSets.need_minima``), not when a grammar is compiled.

Edges are followed backwards from the ends. Costs are counted in buckets of one byte each for the next ``BUCKETS``
costs; what costs more waits in a list that is sorted in when those are done. Rules are settled in the order of their
costs, so a set loop takes what it needs as it comes: whatever comes first is cheapest. A guard is passed over as if it
were not there. Of an automaton that is met state by state only the door is known, from its source or its annex.

``find_minima`` fills ``p_min`` and ``r_min``, with ``FAR`` where there is no way to an end. Finite costs end at
``FAR - 1``: long is not impossible. A token that is named costs ``TOKEN_COST``.
Cost: 20-40 ns a position and edge.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.arena import Arena
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.program import Program
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.arena import Arena
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.memory import grow_int
    from constrained.kernel.program import Program

FAR = cython.declare(cython.longlong, 1 << 60)
TOKEN_COST = cython.declare(cython.longlong, 1_000_000)
BUCKETS = cython.declare(cython.int, 512)
GUARD = cython.declare(cython.int, -3)
BUDGET = cython.declare(cython.int, -5)


@cython.cfunc
@cython.exceptval(-1, check=False)
def find_minima(program: Program, p_min: cython.p_longlong, r_min: cython.p_longlong,
                most: cython.longlong) -> cython.int:
    """See the module docstring. ``most``: bytes that a source may say lead to its end."""
    work: Search = Search()
    work.begin(program, p_min, r_min)
    work.doors(most)
    return work.run()


@cython.final
@cython.cclass
class Search:
    """One run's tables, most of which are in ``room``."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.q_pos)
            free(self.q_next)

    else:

        def __new__(cls):
            self = object.__new__(cls)
            self.n_needs = self.q_base = self.q_late = self.q_used = self.q_cap = 0
            self.q_pos = self.q_next = None
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin(self, program: Program, p_min: cython.p_longlong, r_min: cython.p_longlong) -> cython.int:
        """Search a program."""
        n: cython.Py_ssize_t = program.n_positions
        edges: cython.Py_ssize_t = program.p_off[4 * n]
        rules: cython.int = program.n_rules
        loops: cython.int = program.n_loops
        needs: cython.int = program.l_items[loops] + 2 * loops
        i: cython.int
        room: Arena = Arena()
        self.room = room
        self.program = program
        self.p_min = p_min
        self.r_min = r_min
        room.reserve(4 * n + 5 * edges + 3 * rules + 5 * loops + 3 * needs + BUCKETS, 20)
        self.total = room.longs(loops)
        self.into = room.ints(n)
        self.done = room.ints(n)
        self.start_head = room.ints(n)
        self.after_head = room.ints(n)
        self.start_next = room.ints(rules)
        self.call_head = room.ints(rules)
        self.need_head = room.ints(rules)
        self.after_next = room.ints(loops)
        self.lacking = room.ints(loops)
        self.wanting = room.ints(loops)
        self.need_next = room.ints(needs)
        self.need_loop = room.ints(needs)
        self.need_item = room.ints(needs)
        self.q_head = room.ints(BUCKETS)
        self.into_next = room.ints(edges)
        self.into_from = room.ints(edges)
        self.call_next = room.ints(edges)
        self.call_from = room.ints(edges)
        self.call_to = room.ints(edges)
        for i in range(BUCKETS):
            self.q_head[i] = -1
        self._turn_edges()
        self._index_rules()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _turn_edges(self) -> cython.int:
        """The edges by their targets: from ``into[p]`` on by ``into_next``; ``into_from`` is 4 * source + kind."""
        program: Program = self.program
        off: cython.p_int = program.p_off
        n: cython.int = program.n_positions
        p: cython.int
        e: cython.int
        i: cython.int
        to: cython.int
        calls: cython.int = 0
        for p in range(n):
            self.into[p] = -1
            self.p_min[p] = FAR
            self.done[p] = 0
            self.start_head[p] = -1
            self.after_head[p] = -1
        for i in range(program.n_rules):
            self.r_min[i] = FAR
            self.call_head[i] = -1
        for i in range(4 * n):
            for e in range(off[i], off[i + 1]):
                to = program.e_to[e]
                if to < 0:
                    continue  # only its automaton knows where to
                self.into_from[e] = i
                self.into_next[e] = self.into[to]
                self.into[to] = e
                if i & 3 == 2:  # by the rules that are called, too
                    self.call_from[calls] = i >> 2
                    self.call_to[calls] = to
                    self.call_next[calls] = self.call_head[program.e_a[e]]
                    self.call_head[program.e_a[e]] = calls
                    calls += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _index_rules(self) -> cython.int:
        """Which rules start at a position, which loops need a rule, and where loops lead."""
        program: Program = self.program
        p: cython.int
        k: cython.int
        i: cython.int
        rule: cython.int
        for rule in range(program.n_rules):
            self.need_head[rule] = -1
            p = program.r_start[rule]
            self.start_next[rule] = self.start_head[p]
            self.start_head[p] = rule
        for k in range(program.n_loops):
            self.total[k] = 0
            self.lacking[k] = 0
            self.wanting[k] = 0
            if program.l_rule[k] == BUDGET:
                continue  # has its edges
            p = program.l_next[k]
            self.after_next[k] = self.after_head[p]
            self.after_head[p] = k
            if program.l_rule[k] >= 0:
                self.lacking[k] = 1
                self._need(program.l_rule[k], k, -1)
                continue
            if program.l_rule[k] == GUARD:
                continue
            self.wanting[k] = program.l_min[k]
            for i in range(program.l_items[k], program.l_items[k + 1]):
                if program.i_required[i]:
                    self.lacking[k] += 1
                    self.wanting[k] -= 1
                if program.i_rule[i] >= 0:
                    self._need(program.i_rule[i], k, i)
            if self._written(k) > 1 and program.l_how[k] & 1 == 0:
                self.lacking[k] += 1
                if program.l_sep[k] >= 0:
                    self._need(program.l_sep[k], k, -1)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _need(self, rule: cython.int, loop: cython.int, item: cython.int) -> cython.int:
        i: cython.int = self.n_needs
        self.need_loop[i] = loop
        self.need_item[i] = item
        self.need_next[i] = self.need_head[rule]
        self.need_head[rule] = i
        self.n_needs = i + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _offer(self, p: cython.int, cost: cython.longlong) -> cython.int:
        """``p`` can be completed with ``cost`` bytes."""
        i: cython.int
        k: cython.int
        if cost >= FAR:
            cost = FAR - 1
        if cost >= self.p_min[p]:
            return 0
        self.p_min[p] = cost
        i = self.q_used
        if i >= self.q_cap:
            self.q_cap = 2 * i + 256
            self.q_pos = grow_int(self.q_pos, self.q_cap)
            self.q_next = grow_int(self.q_next, self.q_cap)
            if not (self.q_pos and self.q_next):
                raise MemoryError
        self.q_used = i + 1
        self.q_pos[i] = p
        if cost < self.q_base + BUCKETS:
            k = cython.cast(cython.int, cost - self.q_base)
            self.q_next[i] = self.q_head[k]
            self.q_head[k] = i
        else:
            self.q_next[i] = self.q_late - 1
            self.q_late = i + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _sort_late(self) -> cython.int:
        """Begin anew at the least cost that waits."""
        i: cython.int = self.q_late - 1
        k: cython.int
        p: cython.int
        after: cython.int
        least: cython.longlong = FAR
        while i >= 0:
            p = self.q_pos[i]
            if not self.done[p] and self.p_min[p] < least:
                least = self.p_min[p]
            i = self.q_next[i]
        i = self.q_late - 1
        self.q_late = 0
        self.q_base = least
        while i >= 0:
            after = self.q_next[i]
            p = self.q_pos[i]
            if not self.done[p]:
                if self.p_min[p] < least + BUCKETS:
                    k = cython.cast(cython.int, self.p_min[p] - least)
                    self.q_next[i] = self.q_head[k]
                    self.q_head[k] = i
                else:
                    self.q_next[i] = self.q_late - 1
                    self.q_late = i + 1
            i = after
        return 0

    # ---- rules and loops ---------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _settle(self, rule: cython.int, cost: cython.longlong) -> cython.int:
        """A rule's shortest text is known."""
        program: Program = self.program
        i: cython.int
        k: cython.int
        item: cython.int
        self.r_min[rule] = cost
        i = self.call_head[rule]
        while i >= 0:
            if self.done[self.call_to[i]]:
                self._offer(self.call_from[i], cost + self.p_min[self.call_to[i]])
            i = self.call_next[i]
        i = self.need_head[rule]
        while i >= 0:
            k = self.need_loop[i]
            item = self.need_item[i]
            if item < 0 or program.i_required[item]:
                self.lacking[k] -= 1
                if item >= 0:
                    self._add(k, cost, 1)
            elif self.wanting[k] > 0:
                if program.l_rule[k] == -2 and item == program.l_items[k + 1] - 1:
                    self._add(k, cost, self.wanting[k])  # the free one, any number of times
                    self.wanting[k] = 0
                else:
                    self._add(k, cost, 1)
                    self.wanting[k] -= 1
            self._offer_loop(k)
            i = self.need_next[i]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _add(self, k: cython.int, cost: cython.longlong, times: cython.longlong) -> cython.int:
        if cost > 0 and times > (FAR - 1 - self.total[k]) // cost:
            self.total[k] = FAR - 1
        else:
            self.total[k] += cost * times
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _offer_loop(self, k: cython.int) -> cython.int:
        """A loop can be left once what is written in it and what follows are known."""
        program: Program = self.program
        after: cython.int = program.l_next[k]
        rule: cython.int = program.l_rule[k]
        written: cython.int
        if self.lacking[k] > 0 or self.wanting[k] > 0 or not self.done[after]:
            return 0
        if self.p_min[program.l_pos[k]] < FAR:
            return 0
        if rule >= 0:
            self._add(k, self.r_min[rule], program.l_min[k])
        elif rule != GUARD and program.l_how[k] & 1 == 0:
            written = self._written(k)
            if written > 1:
                self._add(k, self.r_min[program.l_sep[k]], written - 1)
        return self._offer(program.l_pos[k], self.total[k] + self.p_min[after])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _written(self, k: cython.int) -> cython.int:
        """How many items the shortest text of a set loop has."""
        return max(self.program.l_required[k], self.program.l_min[k])

    # ---- the search --------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def doors(self, most: cython.longlong) -> cython.int:
        """What is left from each door to where its automaton ends, into ``door_left``: (door, end, bytes)."""
        annex: CountedAnnex
        e: cython.int
        p: cython.int
        rest: cython.longlong
        self.door_left = [(p, end, min(source.left(source.start()), most)) for p, source, end in self.program.lazy]
        for p, annex, end in self.program.counted:
            rest = FAR
            for e in range(self.program.p_off[4 * p], self.program.p_off[4 * p + 1]):
                rest = min(rest, annex.left(-2 - self.program.e_to[e]) + 1)
            if rest < FAR:
                self.door_left.append((p, end, rest))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def run(self) -> cython.int:
        """Settle everything that can be completed."""
        program: Program = self.program
        p: cython.int
        q: cython.int
        e: cython.int
        i: cython.int
        k: cython.int
        at: cython.int = 0
        after: cython.int
        rule: cython.int
        cost: cython.longlong
        self._offer(1, 0)
        self._offer(2, 0)
        for p in range(program.n_positions):
            if program.p_accept[p]:
                self._offer(p, 0)
        while True:
            while at < BUCKETS and self.q_head[at] < 0:
                at += 1
            if at == BUCKETS:
                if self.q_late == 0:
                    break
                self._sort_late()
                at = 0
                continue
            i = self.q_head[at]
            self.q_head[at] = self.q_next[i]
            p = self.q_pos[i]
            cost = self.q_base + at
            if self.done[p] or self.p_min[p] != cost:
                continue
            self.done[p] = 1
            after = self.into[p]
            while after >= 0:
                e = after
                after = self.into_next[e]
                q = self.into_from[e] >> 2
                if self.done[q]:
                    continue
                k = self.into_from[e] & 3
                if k == 0:
                    self._offer(q, cost + 1)
                elif k == 1:
                    self._offer(q, cost)
                elif k == 2:
                    if self.r_min[program.e_a[e]] < FAR:
                        self._offer(q, cost + self.r_min[program.e_a[e]])
                elif program.token_sets[program.e_a[e]]:
                    self._offer(q, cost + TOKEN_COST)
            for door, end, rest in self.door_left:
                if end == p:
                    self._offer(door, cost + rest)
            i = self.after_head[p]
            while i >= 0:
                self._offer_loop(i)
                i = self.after_next[i]
            rule = self.start_head[p]
            while rule >= 0:
                if self.r_min[rule] >= FAR:
                    self._settle(rule, cost)
                rule = self.start_next[rule]
        return 0
