# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Under which pending ids a rule can end: the least solution over the positions of a network (``engine.guards``).

A pair (p, c) stands for "at position p, under pending id c"; its *outs* are the pending ids under which the end of p's
rule can be reached. Pairs are numbered: (p, 0) is p, the others as they are met. What one pair has, its *users* have
too; a call's outs tell its callers which pairs to follow. Two stacks: pairs whose edges were not looked at yet, and
outs whose users were not told yet (T. Reps 1995, demand-driven).

    pr_out, pr_user, pr_call   for each pair the head of a list of outs, of users, of (caller, position behind the call)
    pr_mask                    the outs below 63 as bits
    steps[c * n_classes + k]   ``watch.step(c, k)``, UNKNOWN where it was not asked for yet

Cost: 20-50 ns for each pair, out and user; 10 M of them are not rare for a lexer's grammar in 64 columns.
"""

from __future__ import annotations

from array import array

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int, grow_long
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int, grow_long
    from constrained.kernel.network import Network

GUARD = cython.declare(cython.int, -3)
UNKNOWN = cython.declare(cython.int, -2)


def guard_positions(net: Network) -> list:
    """(position, what must not follow: an index into ``guard_dfas``, next position) of every guard."""
    return [(net.l_pos[k], net.l_min[k], net.l_after[k]) for k in range(net.n_loops) if net.l_rule[k] == GUARD]


@cython.final
@cython.cclass
class GuardSurvey:
    """See the module docstring. ``watch`` has ``step``, ``begin`` and ``join`` of pending ids."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.pr_p)
            free(self.pr_c)
            free(self.pr_out)
            free(self.pr_user)
            free(self.pr_call)
            free(self.pr_mask)
            free(self.table)
            free(self.o_next)
            free(self.o_value)
            free(self.u_next)
            free(self.u_pair)
            free(self.c_next)
            free(self.c_pair)
            free(self.c_to)
            free(self.fresh)
            free(self.news_pair)
            free(self.news_out)
            free(self.steps)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.pr_p = self.pr_c = self.pr_out = self.pr_user = self.pr_call = self.pr_mask = self.table = None
            self.o_next = self.o_value = self.u_next = self.u_pair = self.c_next = self.c_pair = self.c_to = None
            self.fresh = self.news_pair = self.news_out = self.steps = None
            self.n_pairs = self.pair_cap = self.table_size = self.n_outs = self.out_cap = self.n_users = 0
            self.user_cap = self.n_calls = self.call_cap = self.n_fresh = self.fresh_cap = self.n_news = 0
            self.news_cap = self.step_rows = 0
            return self

    def __init__(self, net: Network, watch) -> None:
        self.net = net
        self.watch = watch

    def run(self) -> None:
        """Find all outs. Raises what ``watch`` raises."""
        p: cython.int
        self._start()
        for p in range(self.net.n):
            self._push(p)
        while self.n_fresh > 0 or self.n_news > 0:
            if self.n_fresh > 0:
                self.n_fresh -= 1
                self._visit(self.fresh[self.n_fresh])
            else:
                self.n_news -= 1
                self._tell(self.news_pair[self.n_news], self.news_out[self.n_news])

    # ---- what was found ----------------------------------------------------------------------------------

    def outs_at(self, p: cython.int, c: cython.int) -> set:
        """The outs of a pair; none if it was never met."""
        found = set()
        pair: cython.int = self._known(p, c)
        o: cython.int
        if pair >= 0:
            o = self.pr_out[pair]
            while o >= 0:
                found.add(self.o_value[o])
                o = self.o_next[o]
        return found

    def pairs_at(self, p: cython.int) -> list:
        """The pending ids under which position ``p`` was met."""
        return [c for c in range(self.step_rows + 1) if self._known(p, c) >= 0]

    def tables(self) -> tuple:
        """``pair_position``, ``pair_pending``, ``out_offsets`` and ``outs`` of ``engine.guards``."""
        n: cython.int = self.net.n
        i: cython.int
        o: cython.int
        at: cython.int = 0
        order = sorted(range(n, self.n_pairs), key=lambda i: (self.pr_p[i], self.pr_c[i]))
        offsets = array("i", bytes(4 * (self.n_pairs + 1)))
        outs = array("i", bytes(4 * max(1, self.n_outs)))
        offset: cython.int[::1] = offsets
        out: cython.int[::1] = outs
        numbers = array("i", [*range(n), *order])
        number: cython.int[::1] = numbers
        j: cython.int
        k: cython.int
        x: cython.int
        for i in range(self.n_pairs):
            offset[i] = at
            o = self.pr_out[number[i]]
            j = at
            while o >= 0:  # sorted as they come: few
                x = self.o_value[o]
                k = j
                while k > at and out[k - 1] > x:
                    out[k] = out[k - 1]
                    k -= 1
                out[k] = x
                j += 1
                o = self.o_next[o]
            at = j
        offset[self.n_pairs] = at
        if self.n_outs == 0:
            outs = array("i")
        return (array("i", [self.pr_p[i] for i in order]), array("i", [self.pr_c[i] for i in order]), offsets, outs)

    def clear_regions(self) -> None:
        """Leave out the regions of the network in which a guard may let one way live and not another.

        A region's row of tokens knows nothing of the stacks below it. It is right for all that live if its positions,
        and those that a byte leads out to, end under the same pending ids; of a counted loop's body only under 0.
        """
        net: Network = self.net
        count: cython.int = len(net.regions) + 1
        p: cython.int
        e: cython.int
        r: cython.int
        kept = array("i", [1]) * count
        keep: cython.int[::1] = kept
        outs = array("q", bytes(8 * count))
        out: cython.longlong[::1] = outs
        for p in range(net.n):
            r = net.p_region[p]
            if r == 0:
                continue
            if out[r] == 0:
                out[r] = self.pr_mask[p]
            if out[r] != self.pr_mask[p] or self._has_many(p):
                keep[r] = 0
            e = net.head[4 * p]
            while e >= 0:
                if self.pr_mask[net.e_to[e]] != out[r]:
                    keep[r] = 0
                e = net.e_next[e]
        for p in range(net.n_loops):
            r = net.l_region[p]
            if r > 0 and out[r] != 1:
                keep[r] = 0
        for p in range(net.n):
            if not keep[net.p_region[p]]:
                net.p_region[p] = 0
        for p in range(net.n_loops):
            r = net.l_region[p]
            if r > 0 and not keep[r]:
                net.l_region[p] = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _has_many(self, p: cython.int) -> cython.bint:
        """Whether an out of (p, 0) has no bit in ``pr_mask``."""
        o: cython.int = self.pr_out[p]
        while o >= 0:
            if self.o_value[o] >= 63:
                return True
            o = self.o_next[o]
        return False

    # ---- pairs -------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _start(self) -> cython.int:
        """Room for the pairs (p, 0)."""
        i: cython.int
        self._pair_room(self.net.n)
        for i in range(self.net.n):
            self._new_pair(i, 0)
        self.table_size = 1024
        self.table = grow_int(self.table, self.table_size)
        if not self.table:
            raise MemoryError
        for i in range(self.table_size):
            self.table[i] = -1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _pair_room(self, count: cython.int) -> cython.int:
        if self.n_pairs + count > self.pair_cap:
            self.pair_cap = 2 * self.pair_cap if 2 * self.pair_cap > self.n_pairs + count else self.n_pairs + count
            self.pr_p = grow_int(self.pr_p, self.pair_cap)
            self.pr_c = grow_int(self.pr_c, self.pair_cap)
            self.pr_out = grow_int(self.pr_out, self.pair_cap)
            self.pr_user = grow_int(self.pr_user, self.pair_cap)
            self.pr_call = grow_int(self.pr_call, self.pair_cap)
            self.pr_mask = grow_long(self.pr_mask, self.pair_cap)
            if not (self.pr_p and self.pr_c and self.pr_out and self.pr_user and self.pr_call and self.pr_mask):
                raise MemoryError
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _new_pair(self, p: cython.int, c: cython.int) -> cython.int:
        i: cython.int = self.n_pairs
        self._pair_room(1)
        self.pr_p[i] = p
        self.pr_c[i] = c
        self.pr_out[i] = -1
        self.pr_user[i] = -1
        self.pr_call[i] = -1
        self.pr_mask[i] = 0
        self.n_pairs = i + 1
        return i

    @cython.cfunc
    @cython.exceptval(check=False)
    def _place(self, p: cython.int, c: cython.int) -> cython.int:
        """Where in the table a pair is, or would be."""
        h: cython.uint = cython.cast(cython.uint, p) * 1640531527 + cython.cast(cython.uint, c) * 40503
        i: cython.int
        pair: cython.int
        if not cython.compiled:
            h &= 0xFFFFFFFF
        h ^= h >> 15
        i = cython.cast(cython.int, h & (self.table_size - 1))
        while self.table[i] >= 0:
            pair = self.table[i]
            if self.pr_p[pair] == p and self.pr_c[pair] == c:
                break
            i = (i + 1) & (self.table_size - 1)
        return i

    @cython.cfunc
    @cython.exceptval(check=False)
    def _known(self, p: cython.int, c: cython.int) -> cython.int:
        return p if c == 0 else self.table[self._place(p, c)]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _ask(self, p: cython.int, c: cython.int) -> cython.int:
        """The number of a pair; a new one is to be visited."""
        i: cython.int
        pair: cython.int
        if c == 0:
            return p
        i = self._place(p, c)
        if self.table[i] >= 0:
            return self.table[i]
        pair = self._new_pair(p, c)
        self.table[i] = pair
        self._push(pair)
        if 2 * (self.n_pairs - self.net.n) > self.table_size:
            self.table_size *= 4
            self.table = grow_int(self.table, self.table_size)
            if not self.table:
                raise MemoryError
            for i in range(self.table_size):
                self.table[i] = -1
            for i in range(self.net.n, self.n_pairs):
                self.table[self._place(self.pr_p[i], self.pr_c[i])] = i
        return pair

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _push(self, pair: cython.int) -> cython.int:
        if self.n_fresh >= self.fresh_cap:
            self.fresh_cap = 1024 if self.fresh_cap == 0 else 2 * self.fresh_cap
            self.fresh = grow_int(self.fresh, self.fresh_cap)
            if not self.fresh:
                raise MemoryError
        self.fresh[self.n_fresh] = pair
        self.n_fresh += 1
        return 0

    # ---- what is passed on -------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _found(self, pair: cython.int, out: cython.int) -> cython.int:
        """A pair has an out."""
        o: cython.int
        bit: cython.longlong
        if out < 63:
            bit = cython.cast(cython.longlong, 1) << out
            if self.pr_mask[pair] & bit:
                return 0
            self.pr_mask[pair] |= bit
        else:
            o = self.pr_out[pair]
            while o >= 0:
                if self.o_value[o] == out:
                    return 0
                o = self.o_next[o]
        if self.n_outs >= self.out_cap:
            self.out_cap = 1024 if self.out_cap == 0 else 2 * self.out_cap
            self.o_next = grow_int(self.o_next, self.out_cap)
            self.o_value = grow_int(self.o_value, self.out_cap)
            if not (self.o_next and self.o_value):
                raise MemoryError
        self.o_value[self.n_outs] = out
        self.o_next[self.n_outs] = self.pr_out[pair]
        self.pr_out[pair] = self.n_outs
        self.n_outs += 1
        if self.n_news >= self.news_cap:
            self.news_cap = 1024 if self.news_cap == 0 else 2 * self.news_cap
            self.news_pair = grow_int(self.news_pair, self.news_cap)
            self.news_out = grow_int(self.news_out, self.news_cap)
            if not (self.news_pair and self.news_out):
                raise MemoryError
        self.news_pair[self.n_news] = pair
        self.news_out[self.n_news] = out
        self.n_news += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _follow(self, user: cython.int, p: cython.int, c: cython.int) -> cython.int:
        """``user`` has all that (p, c) has."""
        pair: cython.int = self._ask(p, c)
        o: cython.int = self.pr_user[pair]
        if pair == user or (o >= 0 and self.u_pair[o] == user):
            return 0
        if self.n_users >= self.user_cap:
            self.user_cap = 1024 if self.user_cap == 0 else 2 * self.user_cap
            self.u_next = grow_int(self.u_next, self.user_cap)
            self.u_pair = grow_int(self.u_pair, self.user_cap)
            if not (self.u_next and self.u_pair):
                raise MemoryError
        self.u_pair[self.n_users] = user
        self.u_next[self.n_users] = o
        self.pr_user[pair] = self.n_users
        self.n_users += 1
        o = self.pr_out[pair]
        while o >= 0:
            self._found(user, self.o_value[o])
            o = self.o_next[o]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _call(self, user: cython.int, rule: cython.int, to: cython.int) -> cython.int:
        """``user`` calls a rule and goes on at ``to``."""
        pair: cython.int
        o: cython.int
        if rule < 0:
            return 0
        pair = self._ask(self.net.r_start[rule], self.pr_c[user])
        if self.n_calls >= self.call_cap:
            self.call_cap = 1024 if self.call_cap == 0 else 2 * self.call_cap
            self.c_next = grow_int(self.c_next, self.call_cap)
            self.c_pair = grow_int(self.c_pair, self.call_cap)
            self.c_to = grow_int(self.c_to, self.call_cap)
            if not (self.c_next and self.c_pair and self.c_to):
                raise MemoryError
        self.c_pair[self.n_calls] = user
        self.c_to[self.n_calls] = to
        self.c_next[self.n_calls] = self.pr_call[pair]
        self.pr_call[pair] = self.n_calls
        self.n_calls += 1
        o = self.pr_out[pair]
        while o >= 0:
            self._follow(user, to, self.o_value[o])
            o = self.o_next[o]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _tell(self, pair: cython.int, out: cython.int) -> cython.int:
        """Users and callers of a pair learn of an out."""
        i: cython.int = self.pr_user[pair]
        while i >= 0:
            self._found(self.u_pair[i], out)
            i = self.u_next[i]
        i = self.pr_call[pair]
        while i >= 0:
            self._follow(self.c_pair[i], self.c_to[i], out)
            i = self.c_next[i]
        return 0

    # ---- edges -------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-3, check=False)
    def _step(self, c: cython.int, k: cython.int) -> cython.int:
        """The pending id after a byte of class ``k``, -1 if that byte kills."""
        n: cython.int = self.net.n_classes
        i: cython.int
        rows: cython.int
        if c >= self.step_rows:
            rows = c + 16
            self.steps = grow_int(self.steps, rows * n)
            if not self.steps:
                raise MemoryError
            for i in range(self.step_rows * n, rows * n):
                self.steps[i] = UNKNOWN
            self.step_rows = rows
        if self.steps[c * n + k] == UNKNOWN:
            self.steps[c * n + k] = self.watch.step(c, k)
        return self.steps[c * n + k]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _visit(self, pair: cython.int) -> cython.int:
        """Look at the edges of a pair's position."""
        net: Network = self.net
        p: cython.int = self.pr_p[pair]
        c: cython.int = self.pr_c[pair]
        e: cython.int
        i: cython.int
        k: cython.int
        after: cython.int
        if net.accept[p]:
            self._found(pair, c)
        e = net.head[4 * p + 1]
        while e >= 0:
            self._follow(pair, net.e_to[e], c)
            e = net.e_next[e]
        e = net.head[4 * p]
        while e >= 0:
            if c == 0:
                self._follow(pair, net.e_to[e], 0)
            else:
                i = -1
                for k in range(net.e_a[e], net.e_b[e] + 1):
                    if net.byte_class[k] == i:
                        continue
                    i = net.byte_class[k]
                    after = self._step(c, i)
                    if after >= 0:
                        self._follow(pair, net.e_to[e], after)
            e = net.e_next[e]
        e = net.head[4 * p + 2]
        while e >= 0:
            self._call(pair, net.e_a[e], net.e_to[e])
            e = net.e_next[e]
        e = net.head[4 * p + 3]
        while e >= 0:
            self._follow(pair, net.e_to[e], 0)
            e = net.e_next[e]
        k = net.loop_at[p]
        if k >= 0:
            self._visit_loop(pair, p, k)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _visit_loop(self, pair: cython.int, p: cython.int, k: cython.int) -> cython.int:
        net: Network = self.net
        c: cython.int = self.pr_c[pair]
        i: cython.int
        begin: cython.int
        if net.l_rule[k] == GUARD:
            begin = self.watch.begin(net.l_min[k])
            if begin >= 0:
                self._follow(pair, net.l_after[k], self.watch.join(c, begin) if c else begin)
            return 0
        if net.l_rule[k] >= 0:
            self._call(pair, net.l_rule[k], net.l_after[k])
            self._call(pair, net.l_rule[k], p)
            return 0
        for i in range(net.l_items[k], net.l_items[k] + net.l_count[k]):
            self._call(pair, net.i_rule[i], net.l_after[k])
            self._call(pair, net.i_rule[i], p)
        self._call(pair, net.l_sep[k], p)
        return 0
