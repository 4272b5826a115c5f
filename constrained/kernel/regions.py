# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The wide regions of a grammar.

A loop over many bytes (a string's body, an identifier, free text) allows a large part of the vocabulary, and which
tokens stay inside depends on that loop alone. Its positions are a *region*: a strongly connected set of positions under
byte and epsilon edges in which some position has at least ``WIDE`` bytes, with the positions that lead only into it; or
the body of a counted loop. A region carries the partition of the bytes that its edges make; the vocabulary seen through
such a partition is a trie of a few hundred nodes (``kernel.token_trie``), shared by every grammar that has the same
partition.

Regions steer only how a mask is found, never what it is: anything may be left out.

The members of a region are a linked list in the order in which they were found: ``first``, ``last`` by region,
``after`` by position. Results go to ``net``: ``p_region``, ``l_region`` and the partitions in ``regions``; region 0 is
none.
Cost: 10-20 ns a position and edge, 200 ns a region.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.network import Network, new_network
    from cython.cimports.constrained.kernel.partition import ByteSets, Partition, sets_of
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.blocks import Block
    from constrained.kernel.memory import grow_int
    from constrained.kernel.network import Network, new_network
    from constrained.kernel.partition import ByteSets, Partition, sets_of

WIDE = cython.declare(cython.int, 32)
"""Bytes that a position must be able to read for its loop to be a region."""
NEAR = cython.declare(cython.int, 16)
"""Positions looked at between two regions that reach one another without reading."""
LEAD_IN = cython.declare(cython.int, 16)
"""Bytes that a position outside the loop must have to be counted in."""
MAX_BODY = cython.declare(cython.int, 2000)
"""Positions of a counted loop's body that is a region."""
KEPT = cython.declare(cython.int, 4)
"""Searches whose tables are kept for the next one,"""
KEPT_POSITIONS = cython.declare(cython.int, 50_000)
"""unless they have room for more than this."""

_spare: list = []


@cython.ccall
@cython.exceptval(-1, check=False)
def find_regions(net: Network) -> cython.int:
    """Fill the regions of ``net``. May split positions."""
    work: Regions
    try:
        work = _spare.pop()
    except IndexError:
        work = Regions()
    work.begin(net)
    work.find()
    return work.end()


@cython.cfunc
@cython.exceptval(-1, check=False)
def mark_region(block: Block) -> cython.int:
    """Fill ``inside`` and ``region`` of a block that stands for itself: none, if it has not just one wide region."""
    net: Network = new_network(block.n + 1000)
    base: cython.int = net.n + 2
    i: cython.int
    block.write(net, net.add_position(-1), net.add_position(-1), -1)
    find_regions(net)
    inside: cython.p_int = grow_int(cython.NULL if cython.compiled else None, block.n)
    if not inside:
        raise MemoryError
    for i in range(block.n):
        inside[i] = 1 if net.p_region[base + i] == 1 else 0
    if len(net.regions) == 2:
        block.region = net.regions[1]
    block.inside = inside
    net.give_back()
    return 0


@cython.final
@cython.cclass
class Regions:
    """The search's tables."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.width)
            free(self.after)
            free(self.first)
            free(self.last)
            free(self.by_rule)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.cap = self.region_cap = self.rule_cap = self.n_regions = self.n_wide = 0
            self.marked = self.has_counted = False
            self.width = self.after = self.first = self.last = self.by_rule = None
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin(self, net: Network) -> cython.int:
        """Search a network."""
        self.net = net
        self.marked = False
        self.has_counted = False
        self.n_regions = 0
        self.n_wide = 0
        self._room()
        self._new_region()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def end(self) -> cython.int:
        """The tables serve the next search, unless they are large."""
        self.net = None
        self.held = None
        if self.cap <= KEPT_POSITIONS and len(_spare) < KEPT:
            _spare.append(self)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _room(self) -> cython.int:
        net: Network = self.net
        n: cython.int = net.n
        if n > self.cap:
            self.cap = n + n // 4 + 16
            self.width = grow_int(self.width, self.cap)
            self.after = grow_int(self.after, self.cap)
            if not (self.width and self.after):
                raise MemoryError
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _new_region(self) -> cython.int:
        """A region without members."""
        number: cython.int = self.n_regions
        if number >= self.region_cap:
            self.region_cap = 2 * number + 16
            self.first = grow_int(self.first, self.region_cap)
            self.last = grow_int(self.last, self.region_cap)
            if not (self.first and self.last):
                raise MemoryError
        self.first[number] = -1
        self.last[number] = -1
        self.n_regions = number + 1
        return number

    @cython.cfunc
    @cython.exceptval(check=False)
    def _add(self, number: cython.int, p: cython.int) -> cython.void:
        """Put a position into a region."""
        self.net.p_region[p] = number
        self.after[p] = -1
        if self.first[number] < 0:
            self.first[number] = p
        else:
            self.after[self.last[number]] = p
        self.last[number] = p

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find(self) -> cython.int:
        """Fill the regions of the network."""
        net: Network = self.net
        p: cython.int
        e: cython.int
        k: cython.int
        n: cython.int = 0
        wide: cython.p_int
        width: cython.p_int = self.width
        head: cython.p_int = net.head
        after: cython.p_int = net.e_next
        low: cython.p_int = net.e_a
        high: cython.p_int = net.e_b
        found: Partition
        sets: ByteSets
        net._scratch()
        wide = net.s_f
        for p in range(net.n):
            net.p_region[p] = 0
        for p in range(net.n):
            k = 0
            e = head[4 * p]
            while e >= 0:
                k += high[e] - low[e] + 1
                e = after[e]
            width[p] = k
            if k >= WIDE and head[4 * p + 2] < 0 and head[4 * p + 3] < 0:
                wide[n] = p
                n += 1
        self.n_wide = n
        self._leave_counted_out()
        self._loop_regions()
        if self.n_wide:
            self._components()
        net.regions = [b""]
        if self.n_regions == 1:
            return 0
        sets = sets_of(net)
        self._neighbours()
        self._loop_outs()
        self._lead_ins(sets)
        for k in range(1, self.n_regions):
            found = self._partition_of(k, sets)
            net.regions.append(found.text)
        sets.end()
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _leave_counted_out(self) -> cython.void:
        """Counted blocks go round nowhere: their positions are not wide, and no search enters them."""
        net: Network = self.net
        p: cython.int
        i: cython.int
        n: cython.int = 0
        for i in range(net.n_spans):
            if net.sp_top[i] < 0:
                continue
            for p in range(net.sp_base[i], net.sp_base[i] + net.sp_size[i]):
                self.width[p] = 0
            self.has_counted = True
        if self.has_counted:
            for i in range(self.n_wide):
                p = net.s_f[i]
                if self.width[p] > 0:
                    net.s_f[n] = p
                    n += 1
            self.n_wide = n

    @cython.cfunc
    def _partition_of(self, number: cython.int, sets: ByteSets) -> Partition:
        p: cython.int = self.first[number]
        sets.clear()
        while p >= 0:
            sets.take(p)
            p = self.after[p]
        return sets.region_partition()

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_narrow(self, p: cython.int) -> cython.bint:
        """Whether a position reads few bytes, ASCII only: escapes, and their digits. They are left out of regions.

        They would split the letters of every word into hexadecimal and other ones. Left out, an escape is a way out of
        the region, walked from its backslash; the parts of longer characters stay in.
        """
        e: cython.int
        if self.width[p] == 0 or self.width[p] >= WIDE:
            return False
        e = self.net.head[4 * p]
        while e >= 0:
            if self.net.e_b[e] >= 0x80:
                return False
            e = self.net.e_next[e]
        return True

    # ---- counted loops -----------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _loop_regions(self) -> cython.int:
        """A counted loop whose body is bytes only and begins wide is a region: all loops over one body share it.

        So is one that repeats a single narrow set of bytes (whitespace, digits): there a count makes each place another
        state, while as a region one walk serves all places, counts and grammars.
        """
        net: Network = self.net
        i: cython.int
        k: cython.int
        n: cython.int
        rule: cython.int
        number: cython.int
        narrow: cython.bint
        body: cython.p_int = net.s_b
        if net.n_rules > self.rule_cap:
            self.rule_cap = 2 * net.n_rules
            self.by_rule = grow_int(self.by_rule, self.rule_cap)
            if not self.by_rule:
                raise MemoryError
        for rule in range(net.n_rules):
            self.by_rule[rule] = -1
        for k in range(net.n_loops):
            net.l_region[k] = 0
            rule = net.l_rule[k]
            if rule < 0 or net.loop_at[net.l_pos[k]] != k:
                continue
            if self.by_rule[rule] < 0:
                self.by_rule[rule] = 0
                n = 0
                narrow = self._is_narrow(net.r_start[rule])
                if narrow or self.width[net.r_start[rule]] >= WIDE:
                    n = self._bytes_only(net.r_start[rule])
                if narrow and n != 2:
                    n = 0
                if n > 0:
                    # every round begins with all the edges of the start, so they belong to the partition
                    number = self._new_region()
                    self.by_rule[rule] = number
                    for i in range(n):
                        if narrow or not self._is_narrow(body[i]):
                            self._add(number, body[i])
                        elif body[i] != net.r_start[rule]:
                            self.width[body[i]] = 0  # nor is it a lead-in
            net.l_region[k] = self.by_rule[rule]
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _bytes_only(self, start: cython.int) -> cython.int:
        """The positions reachable within the rule, into ``s_b``; 0 if it makes calls, counts something or is large."""
        net: Network = self.net
        mark: cython.p_int = net.s_a
        found: cython.p_int = net.s_b
        p: cython.int
        e: cython.int
        k: cython.int
        i: cython.int = 0
        n: cython.int = 1
        whole: cython.bint = True
        if not self.marked:
            self.marked = True
            for p in range(net.n):
                mark[p] = 0
        found[0] = start
        mark[start] = 1
        while i < n:
            p = found[i]
            i += 1
            if net.head[4 * p + 2] >= 0 or net.head[4 * p + 3] >= 0 or net.loop_at[p] >= 0 or i > MAX_BODY:
                whole = False
                break
            for k in range(2):
                e = net.head[4 * p + k]
                while e >= 0:
                    if not mark[net.e_to[e]]:
                        mark[net.e_to[e]] = 1
                        found[n] = net.e_to[e]
                        n += 1
                    e = net.e_next[e]
        for i in range(n):
            mark[found[i]] = 0
        return n if whole else 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _loop_outs(self) -> cython.int:
        """Count in what a counted loop goes on with where that is wide too: `[a-z-]{0,61}[a-z]`.

        Left out, the end of the loop would be a way out at each byte, and every token would be walked from each.
        """
        net: Network = self.net
        k: cython.int
        q: cython.int
        e: cython.int
        for k in range(net.n_loops):
            q = net.l_after[k]
            if net.l_region[k] == 0 or q < 0 or self.width[net.r_start[net.l_rule[k]]] < WIDE:
                continue
            e = net.head[4 * q + 1]
            self._join(k, q)
            while e >= 0:
                self._join(k, net.e_to[e])
                e = net.e_next[e]
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _join(self, loop: cython.int, q: cython.int) -> cython.void:
        """Put position ``q`` into the region of a loop, or that region into the one of ``q``."""
        net: Network = self.net
        number: cython.int = net.l_region[loop]
        other: cython.int = net.p_region[q]
        if self.width[q] < WIDE or other == number:
            return
        if other == 0:
            if net.loop_at[q] < 0 and net.head[4 * q + 2] < 0 and net.head[4 * q + 3] < 0:
                self._add(number, q)
            return
        self._unite(number, other)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _unite(self, number: cython.int, other: cython.int) -> cython.void:
        """Put all of region ``number`` into region ``other``."""
        net: Network = self.net
        k: cython.int
        p: cython.int = self.first[number]
        while p >= 0:
            net.p_region[p] = other
            p = self.after[p]
        if self.first[number] >= 0:
            if self.first[other] < 0:
                self.first[other] = self.first[number]
            else:
                self.after[self.last[other]] = self.first[number]
            self.last[other] = self.last[number]
            self.first[number] = -1
            self.last[number] = -1
        for k in range(net.n_loops):
            if net.l_region[k] == number:
                net.l_region[k] = other

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _neighbours(self) -> cython.int:
        """Make one of two regions where much leads from one into the other: `[a-z]*` before any character, `.*.*`.

        Left apart, the way from one to the other would stand open at most tokens, which are walked from there. The
        regions of counted loops stay what they are.
        """
        net: Network = self.net
        looped: cython.p_int = net.s_a
        waiting: cython.p_int = net.s_b
        count: cython.int
        steps: cython.int
        k: cython.int
        p: cython.int
        e: cython.int
        f: cython.int
        number: cython.int
        other: cython.int
        width: cython.int
        for k in range(self.n_regions):
            looped[k] = 0
        for k in range(net.n_loops):
            looped[net.l_region[k]] = 1
        for p in range(net.n):
            if net.p_region[p] == 0 or looped[net.p_region[p]]:
                continue
            # what it reaches without reading, through positions of no region
            waiting[0] = p
            count = 1
            steps = 0
            while count > 0:
                count -= 1
                e = net.head[4 * waiting[count] + 1]
                while e >= 0:
                    other = net.p_region[net.e_to[e]]
                    if other == 0:
                        self._bridge(p, net.e_to[e], looped)
                        if steps < NEAR and count < net.n:
                            waiting[count] = net.e_to[e]
                            count += 1
                            steps += 1
                    elif other != net.p_region[p] and not looped[other]:
                        self._unite(net.p_region[p], other)
                    e = net.e_next[e]
            e = net.head[4 * p]
            while e >= 0:
                number = net.p_region[p]
                other = net.p_region[net.e_to[e]]
                if other != 0 and other != number and not looped[other]:
                    width = 0
                    f = e
                    while f >= 0:
                        if net.p_region[net.e_to[f]] == other:
                            width += net.e_b[f] - net.e_a[f] + 1
                        f = net.e_next[f]
                    if width >= LEAD_IN:
                        self._unite(number, other)
                e = net.e_next[e]
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _bridge(self, p: cython.int, q: cython.int, looped: cython.p_int) -> cython.void:
        """Make one region of that of ``p`` and one that ``q``, reached from there, reads into with many bytes.

        So are the two ends of an unanchored pattern's first letter, which may stand anywhere in a text.
        """
        net: Network = self.net
        e: cython.int = net.head[4 * q]
        f: cython.int
        width: cython.int
        other: cython.int
        if e < 0 or net.p_region[q] != 0 or self.width[q] < LEAD_IN or net.loop_at[q] >= 0 or (
                net.head[4 * q + 2] >= 0 or net.head[4 * q + 3] >= 0):
            return
        while e >= 0:
            other = self._region_of(net.e_to[e])
            if other != 0 and not looped[other]:
                width = 0
                f = e
                while f >= 0:
                    if self._region_of(net.e_to[f]) == other:
                        width += net.e_b[f] - net.e_a[f] + 1
                    f = net.e_next[f]
                if width >= LEAD_IN:
                    if other != net.p_region[p]:
                        self._unite(net.p_region[p], other)
                    self._add(other, q)
                    return
            e = net.e_next[e]

    # ---- cycles ------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(check=False)
    def _next(self, p: cython.int, e: cython.int) -> cython.int:
        """The edge of ``p`` behind ``e`` (-2: before the first), bytes first, then epsilon; -1 at the end."""
        net: Network = self.net
        if e == -2:
            return net.head[4 * p] if net.head[4 * p] >= 0 else net.head[4 * p + 1]
        if e == net.tail[4 * p]:
            return net.head[4 * p + 1]
        return net.e_next[e]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _components(self) -> cython.int:
        """The cycles of byte and epsilon edges that wide positions are on, without calls (Tarjan 1972)."""
        net: Network = self.net
        number: cython.p_int = net.s_a
        low: cython.p_int = net.s_b  # 0 once the position's component is complete
        path: cython.p_int = net.s_c
        work_p: cython.p_int = net.s_d
        work_e: cython.p_int = net.s_e
        p: cython.int
        q: cython.int
        e: cython.int
        i: cython.int
        to: cython.int
        start: cython.int
        depth: cython.int
        above: cython.int
        size: cython.int
        region: cython.int
        has_wide: cython.bint
        calls: cython.bint
        count: cython.int = 0
        on_path: cython.int = 0
        for p in range(net.n):
            number[p] = 0
            low[p] = 0
        for i in range(net.n_spans):
            if net.sp_top[i] >= 0:
                for p in range(net.sp_base[i], net.sp_base[i] + net.sp_size[i]):
                    number[p] = 1  # as if it were complete
        for i in range(self.n_wide):
            start = net.s_f[i]
            if number[start] or net.p_region[start]:
                continue
            count += 1
            number[start] = count
            low[start] = count
            path[0] = start
            on_path = 1
            work_p[0] = start
            work_e[0] = -2
            depth = 1
            while depth > 0:
                p = work_p[depth - 1]
                e = self._next(p, work_e[depth - 1])
                if e >= 0:
                    work_e[depth - 1] = e
                    to = net.e_to[e]
                    if not number[to]:
                        count += 1
                        number[to] = count
                        low[to] = count
                        path[on_path] = to
                        on_path += 1
                        work_p[depth] = to
                        work_e[depth] = -2
                        depth += 1
                    elif low[to] and number[to] < low[p]:
                        low[p] = number[to]
                    continue
                depth -= 1
                if low[p] != number[p]:
                    above = work_p[depth - 1]
                    if low[p] < low[above]:
                        low[above] = low[p]
                    continue
                size = 0
                has_wide = False
                calls = False
                while True:
                    on_path -= 1
                    q = path[on_path]
                    low[q] = 0
                    size += 1
                    if net.head[4 * q + 2] >= 0 or net.head[4 * q + 3] >= 0:
                        calls = True
                    elif self.width[q] >= WIDE and net.p_region[q] == 0:
                        has_wide = True
                    if q == p:
                        break
                if has_wide and not calls and (size > 1 or self._loops(p)):
                    region = self._new_region()
                    for q in range(on_path, on_path + size):
                        if not self._is_narrow(path[q]):
                            self._add(region, path[q])
                        else:
                            self.width[path[q]] = 0  # nor is it a lead-in
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _loops(self, p: cython.int) -> cython.bint:
        """Whether an edge of ``p`` leads back to it."""
        e: cython.int = self._next(p, -2)
        while e >= 0:
            if self.net.e_to[e] == p:
                return True
            e = self._next(p, e)
        return False

    # ---- what leads in -----------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(check=False)
    def _region_of(self, p: cython.int) -> cython.int:
        """The region of ``p`` or of what it comes to by an epsilon, or by several where there is one way only."""
        net: Network = self.net
        e: cython.int
        steps: cython.int
        if net.p_region[p]:
            return net.p_region[p]
        for steps in range(NEAR):
            e = net.head[4 * p + 1]
            while e >= 0:
                if net.p_region[net.e_to[e]]:
                    return net.p_region[net.e_to[e]]
                e = net.e_next[e]
            e = net.head[4 * p + 1]
            if e < 0 or net.e_next[e] >= 0 or net.head[4 * p] >= 0 or net.head[4 * p + 2] >= 0 or (
                    net.head[4 * p + 3] >= 0 or net.loop_at[p] >= 0):
                break
            p = net.e_to[e]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _lead_ins(self, sets: ByteSets) -> cython.int:
        """Count in the positions that lead into one region, and split those that do so with a part of their bytes.

        The first letter of an identifier often shares its position with a quote or a keyword. What goes into the region
        then moves to a position of its own, one epsilon away: the same paths, but a set that can be told apart.
        """
        net: Network = self.net
        p: cython.int
        e: cython.int
        i: cython.int
        j: cython.int
        k: cython.int
        n: cython.int = 0
        width: cython.int
        number: cython.int
        rounds: cython.int = 0
        n_seen: cython.int
        changed: cython.bint = True
        only: cython.bint
        candidates: cython.p_int = net.s_f
        seen: cython.p_int = net.s_a
        ahead: cython.p_int = net.s_b
        held: Partition
        for p in range(net.n):
            if self.width[p] >= LEAD_IN and net.p_region[p] == 0:
                candidates[n] = p
                n += 1
        self.held = [None] * self.n_regions
        while changed and rounds < 4:  # a character has four bytes: one round for each
            changed = False
            rounds += 1
            for i in range(n):
                p = candidates[i]
                if net.p_region[p]:
                    continue
                only = self._look_ahead(p) and net.head[4 * p + 2] < 0 and net.head[4 * p + 3] < 0
                n_seen = 0
                k = 0
                e = net.head[4 * p]
                while e >= 0:
                    j = 0
                    while j < n_seen and seen[j] != ahead[k]:
                        j += 1
                    if j == n_seen and ahead[k] != 0:
                        seen[j] = ahead[k]
                        n_seen += 1
                    k += 1
                    e = net.e_next[e]
                for j in range(n_seen):
                    number = seen[j]
                    width = 0
                    k = 0
                    e = net.head[4 * p]
                    while e >= 0:
                        if ahead[k] == number:
                            width += net.e_b[e] - net.e_a[e] + 1
                        k += 1
                        e = net.e_next[e]
                    if width < LEAD_IN:
                        continue
                    if self.held[number] is None:
                        self.held[number] = self._partition_of(number, sets)
                    held = self.held[number]
                    if self._splinters(p, number, held, sets):
                        continue
                    changed = True
                    if only:
                        self._add(number, p)
                    else:
                        self._move(p, number)
                        self._look_ahead(p)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _look_ahead(self, p: cython.int) -> cython.bint:
        """Put the region that each byte edge of ``p`` leads to into ``s_b``; whether it is the same for all."""
        net: Network = self.net
        e: cython.int = net.head[4 * p]
        k: cython.int = 0
        same: cython.bint = True
        while e >= 0:
            net.s_b[k] = self._region_of(net.e_to[e])
            if net.s_b[k] != net.s_b[0]:
                same = False
            k += 1
            e = net.e_next[e]
        return same

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _move(self, p: cython.int, number: cython.int) -> cython.int:
        """Move the edges of ``p`` into region ``number`` to a position of their own, one epsilon away."""
        net: Network = self.net
        e: cython.int
        f: cython.int
        after: cython.int
        twin: cython.int = net.add_position(net.origin[p])
        self._room()
        self.width[twin] = 0
        self._add(number, twin)
        e = net.head[4 * p]
        net.head[4 * p] = -1
        net.tail[4 * p] = -1
        while e >= 0:
            after = net.e_next[e]
            net.e_next[e] = -1
            f = 4 * (twin if self._region_of(net.e_to[e]) == number else p)
            if net.head[f] < 0:
                net.head[f] = e
            else:
                net.e_next[net.tail[f]] = e
            net.tail[f] = e
            e = after
        net.add_edge(p, 1, 0, 0, twin)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _splinters(self, p: cython.int, number: cython.int, held: Partition, sets: ByteSets) -> cython.bint:
        """Whether counting in the edges of ``p`` into region ``number`` would cut single bytes off its classes.

        "Any character but the next letter of a key" does; a partition of its own for every schema would be the result,
        and partitions are worth their class tries only because grammars share them.
        """
        net: Network = self.net
        e: cython.int = net.head[4 * p]
        while e >= 0:
            if self._region_of(net.e_to[e]) == number and sets.gather(p, e):
                sets.gather_others(p, net.e_to[e])
                if held.splinters(sets.work, sets.others):
                    return True
            e = net.e_next[e]
        return False
