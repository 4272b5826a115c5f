# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Fewest bytes from each position to its rule's end, and of each rule (Knuth 1977: Dijkstra on grammars).

Edges are followed backwards from the ends. Costs are counted in buckets of one byte each for the next ``BUCKETS``
costs; what costs more waits in a list that is sorted in when those are done. Rules are settled in the order of their
costs, so a set loop takes what it needs as it comes: whatever comes first is cheapest.

The positions of a block (``kernel.blocks``) are as far from where it is left as its states are from an end, so its
edges are not looked at: when the place behind it is settled, its positions are. Of an annex only the door is known, and
of a rule with an image its shortest text.

``settle_all(net)`` fills ``p_min`` and ``r_min``, with ``FAR`` where there is no way to an end. It is asked where the
few walks of ``kernel.minima`` do not suffice: here each position is looked at once, whatever leads where.
Cost: 20-40 ns a position and edge.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import Annex
    from cython.cimports.constrained.kernel.arena import Arena
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.annexes import Annex
    from constrained.kernel.arena import Arena
    from constrained.kernel.blocks import Block
    from constrained.kernel.images import Image
    from constrained.kernel.memory import grow_int
    from constrained.kernel.network import Network

FAR = cython.declare(cython.longlong, 1 << 60)
TOKEN_COST = cython.declare(cython.longlong, 1_000_000)
BUCKETS = cython.declare(cython.int, 512)
NO_END = cython.declare(cython.int, 1 << 29)
KEPT = cython.declare(cython.int, 4)
"""Searches whose tables are kept for the next one,"""
KEPT_INTS = cython.declare(cython.Py_ssize_t, 1_000_000)
"""unless one of them has room for more than this."""

_spare: list = []


@cython.cfunc
@cython.exceptval(-1, check=False)
def settle_all(net: Network) -> cython.int:
    """See the module docstring."""
    work: Shortest
    try:
        work = _spare.pop()
    except IndexError:
        work = Shortest()
    work.begin(net)
    work.run()
    return work.end()


@cython.cfunc
@cython.exceptval(check=False)
def measure_counted(block: Block, boundary: cython.int, least: cython.int, top: cython.int,
                    away: cython.p_int) -> cython.void:
    """Fill ``away`` for a counted block, the highest count first. Two equal layers: all below are equal too."""
    n: cython.int = block.n
    count: cython.int
    at: cython.int
    i: cython.int
    k: cython.int
    cost: cython.int
    changed: cython.bint
    steady: cython.bint = False
    for count in range(top, -1, -1):
        at = count * n
        if steady and count >= least:
            for i in range(n):
                away[at + i] = away[at + n + i]
            continue
        for i in range(n):
            away[at + i] = 0 if block.away[i] == 0 and count >= least else NO_END
        changed = True
        while changed:
            changed = False
            for i in range(n - 1, -1, -1):
                cost = away[at + i]
                for k in range(block.first[i], block.first[i + 1]):
                    if block.to[k] >= boundary:
                        if away[at + block.to[k]] + 1 < cost:
                            cost = away[at + block.to[k]] + 1
                    elif count < top and away[at + n + block.to[k]] + 1 < cost:
                        cost = away[at + n + block.to[k]] + 1
                if cost < away[at + i]:
                    away[at + i] = cost
                    changed = True
        steady = count < top - 1
        for i in range(n):
            if steady and away[at + i] != away[at + n + i]:
                steady = False


@cython.final
@cython.cclass
class Shortest:
    """One run's tables, most of which are in ``room``."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.q_pos)
            free(self.q_next)
            free(self.away)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.net = None
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    def __init__(self):
        self.room = Arena()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin(self, net: Network) -> cython.int:
        """Search a network."""
        n: cython.Py_ssize_t = net.n
        edges: cython.Py_ssize_t = net.e
        rules: cython.int = net.n_rules
        loops: cython.int = net.n_loops
        needs: cython.int = net.n_items + 2 * loops
        i: cython.int
        room: Arena = self.room
        self.net = net
        self.n_needs = 0
        self.q_base = 0
        self.q_late = 0
        self.q_used = 0
        room.reserve(5 * n + 5 * edges + 3 * rules + 5 * loops + 3 * needs + BUCKETS + net.n_spans, 22)
        self.total = room.longs(loops)
        self.into = room.ints(n)
        self.done = room.ints(n)
        self.start_head = room.ints(n)
        self.after_head = room.ints(n)
        self.span_head = room.ints(n)
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
        self.span_next = room.ints(net.n_spans)
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
    def end(self) -> cython.int:
        """The tables serve the next search, unless they are large."""
        self.net = None
        if (self.room.room <= KEPT_INTS and self.q_cap <= KEPT_INTS and self.away_cap <= KEPT_INTS
                and len(_spare) < KEPT):
            _spare.append(self)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _turn_edges(self) -> cython.int:
        """The edges by their targets: from ``into[p]`` on by ``into_next``; ``into_from`` is 4 * source + list.

        Those within spans are left out.
        """
        net: Network = self.net
        n: cython.int = net.n
        p: cython.int
        e: cython.int
        i: cython.int
        k: cython.int
        to: cython.int
        last: cython.int
        calls: cython.int = 0
        for p in range(n):
            self.into[p] = -1
            net.p_min[p] = FAR
            self.done[p] = 0
            self.start_head[p] = -1
            self.after_head[p] = -1
            self.span_head[p] = -1
        for i in range(net.n_rules):
            net.r_min[i] = FAR
            self.call_head[i] = -1
        p = 0
        for i in range(net.n_spans + 1):
            last = net.sp_base[i] if i < net.n_spans else n
            while p < last:
                for k in range(4):
                    e = net.head[4 * p + k]
                    while e >= 0:
                        to = net.e_to[e]
                        self.into_from[e] = 4 * p + k
                        self.into_next[e] = self.into[to]
                        self.into[to] = e
                        if k == 2:  # by the rules that are called, too
                            self.call_from[calls] = p
                            self.call_to[calls] = to
                            self.call_next[calls] = self.call_head[net.e_a[e]]
                            self.call_head[net.e_a[e]] = calls
                            calls += 1
                        e = net.e_next[e]
                p += 1
            if i < net.n_spans:
                p += net.sp_size[i]
                self.span_next[i] = self.span_head[net.sp_end[i]]
                self.span_head[net.sp_end[i]] = i
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _index_rules(self) -> cython.int:
        """Which rules start at a position, which loops need a rule, and where loops lead."""
        net: Network = self.net
        p: cython.int
        k: cython.int
        i: cython.int
        rule: cython.int
        for rule in range(net.n_rules):
            self.need_head[rule] = -1
            p = net.r_start[rule]
            self.start_next[rule] = self.start_head[p]
            self.start_head[p] = rule
        for k in range(net.n_loops):
            p = net.l_after[k]
            self.after_next[k] = self.after_head[p]
            self.after_head[p] = k
            self.total[k] = 0
            self.lacking[k] = 0
            self.wanting[k] = 0
            if net.l_rule[k] >= 0:
                self.lacking[k] = 1
                self._need(net.l_rule[k], k, -1)
                continue
            if net.l_rule[k] == -3:
                continue  # a guard: as if it were not there
            self.wanting[k] = net.l_min[k]
            for i in range(net.l_items[k], net.l_items[k] + net.l_count[k]):
                if net.i_required[i]:
                    self.lacking[k] += 1
                    self.wanting[k] -= 1
                self._need(net.i_rule[i], k, i)
            if self.lacking[k] + self.wanting[k] > 1 and net.l_how[k] & 1 == 0:
                self.lacking[k] += 1
                self._need(net.l_sep[k], k, -1)
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
        net: Network = self.net
        i: cython.int
        k: cython.int
        if cost >= FAR:
            cost = FAR - 1  # long is not impossible
        if cost >= net.p_min[p]:
            return 0
        net.p_min[p] = cost
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
        net: Network = self.net
        i: cython.int = self.q_late - 1
        k: cython.int
        p: cython.int
        after: cython.int
        least: cython.longlong = FAR
        while i >= 0:
            p = self.q_pos[i]
            if not self.done[p] and net.p_min[p] < least:
                least = net.p_min[p]
            i = self.q_next[i]
        i = self.q_late - 1
        self.q_late = 0
        self.q_base = least
        while i >= 0:
            after = self.q_next[i]
            p = self.q_pos[i]
            if not self.done[p]:
                if net.p_min[p] < least + BUCKETS:
                    k = cython.cast(cython.int, net.p_min[p] - least)
                    self.q_next[i] = self.q_head[k]
                    self.q_head[k] = i
                else:
                    self.q_next[i] = self.q_late - 1
                    self.q_late = i + 1
            i = after
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _settle(self, rule: cython.int, cost: cython.longlong) -> cython.int:
        """A rule's shortest text is known."""
        net: Network = self.net
        i: cython.int
        k: cython.int
        item: cython.int
        net.r_min[rule] = cost
        i = self.call_head[rule]
        while i >= 0:
            if self.done[self.call_to[i]]:
                self._offer(self.call_from[i], cost + net.p_min[self.call_to[i]])
            i = self.call_next[i]
        i = self.need_head[rule]
        while i >= 0:
            k = self.need_loop[i]
            item = self.need_item[i]
            if item < 0 or net.i_required[item]:
                self.lacking[k] -= 1
                if item >= 0:
                    self._add(k, cost, 1)
            elif self.wanting[k] > 0:
                if net.l_rule[k] == -2 and item == net.l_items[k] + net.l_count[k] - 1:
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
        net: Network = self.net
        after: cython.int = net.l_after[k]
        rule: cython.int = net.l_rule[k]
        written: cython.int
        if self.lacking[k] > 0 or self.wanting[k] > 0 or not self.done[after]:
            return 0
        if net.p_min[net.l_pos[k]] < FAR:
            return 0
        if rule >= 0:
            self._add(k, net.r_min[rule], net.l_min[k])
        elif rule != -3 and net.l_how[k] & 1 == 0:
            written = self._written(k)
            if written > 1:
                self._add(k, net.r_min[net.l_sep[k]], written - 1)
        return self._offer(net.l_pos[k], self.total[k] + net.p_min[after])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _written(self, k: cython.int) -> cython.int:
        """How many items the shortest text of a set loop has."""
        net: Network = self.net
        i: cython.int
        required: cython.int = 0
        for i in range(net.l_items[k], net.l_items[k] + net.l_count[k]):
            required += net.i_required[i]
        return max(required, net.l_min[k])

    # ---- blocks ------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _settle_span(self, span: cython.int, cost: cython.longlong) -> cython.int:
        """Where span ``span`` is left costs ``cost``: so all of it is known."""
        net: Network = self.net
        block: Block
        annex: Annex
        base: cython.int = net.sp_base[span]
        away: cython.p_int
        i: cython.int
        if net.sp_top[span] == -2:
            annex = net.blocks[span]
            i = annex.measure()
            return 0 if i >= NO_END else self._offer(base, cost + i)
        block = net.blocks[span]
        away = block.away
        if net.sp_top[span] >= 0:
            if net.sp_size[span] > self.away_cap:
                self.away_cap = net.sp_size[span]
                self.away = grow_int(self.away, self.away_cap)
                if not self.away:
                    raise MemoryError
            measure_counted(block, net.sp_boundary[span], net.sp_least[span], net.sp_top[span], self.away)
            away = self.away
        for i in range(net.sp_size[span]):
            if away[i] < NO_END:
                self._leave(base + i, cost + away[i])
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _leave(self, p: cython.int, cost: cython.longlong) -> cython.int:
        """A position within a span; nobody need be told of most of them. What has no edges is never reached."""
        net: Network = self.net
        if net.head[4 * p] < 0 and net.head[4 * p + 1] < 0:
            return 0
        if self.into[p] >= 0 or self.start_head[p] >= 0 or self.after_head[p] >= 0:
            return self._offer(p, cost)
        net.p_min[p] = cost if cost < FAR else FAR - 1
        self.done[p] = 1
        return 0

    # ---- the search --------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def run(self) -> cython.int:
        """Settle everything that can be completed."""
        net: Network = self.net
        p: cython.int
        q: cython.int
        e: cython.int
        i: cython.int
        k: cython.int
        at: cython.int = 0
        after: cython.int
        rule: cython.int
        cost: cython.longlong
        image: Image
        net.p_min[1] = 0
        net.p_min[2] = 0
        for p in range(net.n):
            if net.accept[p]:
                self._offer(p, 0)
        for i in range(cython.cast(cython.int, len(net.images))):
            image = net.images[i]
            p = net.image_rules[i]
            self._offer(net.r_start[p], image.shortest)
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
            if self.done[p] or net.p_min[p] != cost:
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
                    if net.r_min[net.e_a[e]] < FAR:
                        self._offer(q, cost + net.r_min[net.e_a[e]])
                elif net.token_sets[net.e_a[e]]:
                    self._offer(q, cost + TOKEN_COST)
            i = self.span_head[p]
            while i >= 0:
                self._settle_span(i, cost)
                i = self.span_next[i]
            i = self.after_head[p]
            while i >= 0:
                self._offer_loop(i)
                i = self.after_next[i]
            rule = self.start_head[p]
            while rule >= 0:
                if net.r_min[rule] >= FAR:
                    self._settle(rule, cost)
                rule = self.start_next[rule]
        return 0


_COUNTERS = "n_needs q_base q_late q_used q_cap away_cap".split()
_POINTERS = """
into into_next into_from done start_head start_next after_head after_next call_head call_next call_from call_to
need_head need_next need_loop need_item lacking wanting q_head q_pos q_next total span_head span_next away
""".split()
