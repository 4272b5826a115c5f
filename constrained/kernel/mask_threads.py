# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which records belong to a mask: those of a node's threads, and of the threads below them.

Idea
    A node's threads are read at the root of the trie. Where a record has an exit group, the threads below are read at
    that group, down to where no token reaches. Met on the way are the records of a *signature* (``signatures``): most
    nodes are new combinations of known records.

Data
    todo         pairs (exit group, node) to read, each once: ``outer`` of a mask, ``inner`` of a part
    stamp        the mask in the making, or (below 0) the part: a record that has it is signed already
    part         ``part_pool[at ..]``: how many records, how many exits; the records; (pending id, group) of each exit.
                 What an element of a node reads over HOLE with all the calls that it enters, where there are guards:
                 then a lexer was at work, and most states make the same calls. Found by (group, det), or (group, hole
                 node) with a guard pending or ends that the stacks below do not survive

Cost: 20-50 ns a thread whose record is known; a known part is one question, and its records and exits.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.choice_records import ChoiceRecords
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.exit_groups import ROOT_GROUP
    from cython.cimports.constrained.kernel.holes import fill_hole
    from cython.cimports.constrained.kernel.item_choice import add_told, is_open, part_of
    from cython.cimports.constrained.kernel.mask_store import NONE
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from cython.cimports.constrained.kernel.pair_list import PairList
    from cython.cimports.constrained.kernel.position_sets import HOLE_DET
    from cython.cimports.constrained.kernel.signatures import Signatures
    from cython.cimports.constrained.kernel.stacks import ROOT_NODE
else:
    from constrained.kernel.choice_records import ChoiceRecords
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.exit_groups import ROOT_GROUP
    from constrained.kernel.holes import fill_hole
    from constrained.kernel.item_choice import add_told, is_open, part_of
    from constrained.kernel.mask_store import NONE
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from constrained.kernel.pair_list import PairList
    from constrained.kernel.position_sets import HOLE_DET
    from constrained.kernel.signatures import Signatures
    from constrained.kernel.stacks import ROOT_NODE


@cython.cclass
class MaskThreads(ChoiceRecords):
    """See the module docstring. ``make_threads`` comes first."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.part_pool)

    else:

        def __new__(cls, *args):
            self = ChoiceRecords.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            self.inner = None
            return self

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make_threads(self) -> cython.int:
        """Once the records are made; ``forget_threads`` and ``load_threads`` come next."""
        self.signatures = Signatures()
        self.outer = PairList()
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load_threads(self) -> cython.int:
        """Once the records have their program."""
        if self.a.guard_loop >= 0:
            self.inner = PairList()
        self.load_counted()
        return self.load_choices()

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def forget_threads(self) -> cython.int:
        """Forget parts and signatures: their records are gone."""
        self.part_len = 0
        self.signatures.forget()
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def sign_node(self, node: cython.int) -> cython.int:
        """A new signature: all that ``node`` reads."""
        self.outer.clear()  # an exception may have left some
        if self.a.guard_loop >= 0:
            self.inner.clear()
        self.stamp += 1
        self.signatures.begin()
        self.signatures.add(1 if self.a.is_complete(node) else 0)
        self.outer.add(ROOT_GROUP, node)
        if self.a.guard_loop >= 0 and not self.a.budgets:
            self._read_elements()
        else:
            self._read_places(self.outer)
        self.outer.clear()
        return 0

    # ---- threads -------------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_places(self, todo: PairList) -> cython.int:
        """Read all threads at the places of ``todo``, and what comes to be read by that."""
        i: cython.int = 0
        j: cython.int
        m: cython.int
        at: cython.int
        g: cython.int
        k: cython.int
        while i < todo.count:
            g = todo.one[i]
            k = todo.other[i]
            i += 1
            self.a.expand(k)
            for j in range(self.a.n_nexp[k]):
                at = self.a.n_exp[k] + 5 * j
                if self.a.exp[at] != self.a.guard_det:
                    self._read_thread(todo, g, at, 0)
                    continue
                m = self.a.exp[at + 1]
                self.a.expand(m)
                self._read_guarded(todo, g, m, self.a.exp[at + 3])
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_guarded(self, todo: PairList, g: cython.int, node: cython.int, c: cython.int) -> cython.int:
        """Read the threads of a guard's node, which has no guards itself, under pending id ``c``."""
        j: cython.int
        for j in range(self.a.n_nexp[node]):
            self._read_thread(todo, g, self.a.n_exp[node] + 5 * j, c)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_thread(self, todo: PairList, g: cython.int, at: cython.int, c: cython.int) -> cython.int:
        """Sign what thread ``exp[at]`` reads at group ``g`` under pending id ``c``; what is below it is to be read."""
        d: cython.int = self.a.exp[at]
        n: cython.int = self.a.exp[at + 1]
        count: cython.int = 0
        dead: cython.int = 0
        i: cython.int
        m: cython.int
        r: cython.int
        if self.a.exp[at + 2] != 0:
            d = abs(self.a.exp[at + 2])
            n = self.a.exp[at + 4]
            count = self.r.clamp(self.a.d_loop[d], self.a.exp[at + 3])
        elif not self.a.d_flags[d] & 2:
            return 0
        elif self.a.budgets:
            count = self.a.exp[at + 3]
        elif self.a.choices and is_open(self.a, n):
            self._read_open(todo, g, d, part_of(self.a, n, True))
            n = part_of(self.a, n, False)
            if n == 0:
                return 0
        if self.a.exp[at + 2] == 0 and self.a.d_flags[d] & 64 and self.walk.plain:
            d = self._read_counted(todo, g, d, n)
            if not self.a.d_flags[d] & 2:
                return 0
        if self.a.guard_loop >= 0:
            if self.a.exp[at + 2] == 0:
                d = self.a.byte_det(d)
            dead = self.holes.dead_set(d, c, n)
        if c != 0 or dead != 0:
            r = self.node_record(g, self.holes.thread_node(d, count, c, dead), n != ROOT_NODE)
        elif self.a.exp[at + 2] != 0 or count != 0:
            r = self.node_record(g, self.r.hole_node(d, count), n != ROOT_NODE)
        else:
            r = self.record_of(g, d, n != ROOT_NODE)
        if r == 0:
            return 0
        self._sign(todo, r, n)
        if n == ROOT_NODE:
            return 0
        if self.rc_group[r] != 0:
            todo.add(self.rc_group[r], n)
        if self.rc_more[r] != 0:
            for i in range(self.pg_pool[self.rc_more[r]]):
                at = self.rc_more[r] + 1 + 2 * i
                m = self.holes.under(self.pg_pool[at], n)
                if m != 0 and self.pg_pool[at + 1] != 0:
                    todo.add(self.pg_pool[at + 1], m)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _sign(self, todo: PairList, r: cython.int, n: cython.int) -> cython.int:
        """Record ``r`` of a thread over ``n`` belongs to the mask; what goes on behind its literal is to be read."""
        m: cython.int
        if self.rc_stamp[r] != self.stamp:
            self.rc_stamp[r] = self.stamp
            if self.rc_len[r] != 0 or self.rc_base[r] != NONE:
                self.signatures.add(r)
        if self.rc_next[2 * r] != 0:
            m = fill_hole(self.a, self.rc_next[2 * r + 1], n)
            if m != 0:
                todo.add(self.rc_next[2 * r], m)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_open(self, todo: PairList, g: cython.int, d: cython.int, n: cython.int) -> cython.int:
        """The same of a thread over the open tail ``n``: where an item is told, what goes on is to be read."""
        i: cython.int
        t: cython.int
        x: cython.int
        r: cython.int = self.choice_record(g, d, n)
        if r != 0:
            self.signatures.add(r)
        for i in range(self.telling.count):
            t = self.a.it_len
            add_told(self.a, self.telling.other[i], n)
            t = self.a.canonical(t)
            x = self.telling.one[i]
            if t != 0 and self.t.end[x] > x + 1:
                self.groups.begin()
                self.groups.add_node(x)
                todo.add(self.groups.finish(), t)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_counted(self, todo: PairList, g: cython.int, d: cython.int, n: cython.int) -> cython.int:
        """Sign what the positions of det ``d`` read at group ``g`` that are beside a counter; returns the others."""
        i: cython.int
        p: cython.int
        r: cython.int
        rest: cython.int
        kept: cython.int = 0
        for i in range(self.a.d_len[d]):
            p = self.a.d_pool[self.a.d_off[d] + i]
            if self.a.p_off[4 * p] == self.a.p_off[4 * p + 1] or self.a.e_to[self.a.p_off[4 * p]] >= -1:
                continue
            r = self.a.automaton_of(p)
            r = self.counted_record(g, r, cython.cast(CountedAnnex, self.a.c_annex[r]), self.a.place_of_position(p))
            self._sign(todo, r, n)
        rest = self.a.memo.get(18, d, 1)
        if rest < 0:
            self.a.need_buf(self.a.d_len[d])
            for i in range(self.a.d_len[d]):
                p = self.a.d_pool[self.a.d_off[d] + i]
                if self.a.p_off[4 * p] == self.a.p_off[4 * p + 1] or self.a.e_to[self.a.p_off[4 * p]] >= -1:
                    self.a.buf[kept] = p
                    kept += 1
            rest = self.a.intern_det(kept)
            self.a.memo.put(18, d, 1, rest)
        return rest

    # ---- parts ---------------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_elements(self) -> cython.int:
        """The same for all places of ``outer``, element by element: what each reads over HOLE is a known part."""
        i: cython.int = 0
        j: cython.int
        m: cython.int
        e: cython.int
        g: cython.int
        k: cython.int
        while i < self.outer.count:
            g = self.outer.one[i]
            k = self.outer.other[i]
            i += 1
            for e in range(self.a.n_off[k], self.a.n_off[k] + self.a.n_len[k]):
                if self.a.el_d[e] != self.a.guard_det:
                    self._read_element(g, e, 0)
                    continue
                m = self.a.el_n[e]
                for j in range(self.a.n_off[m], self.a.n_off[m] + self.a.n_len[m]):
                    self._read_element(g, j, self.a.el_c[e])
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_element(self, g: cython.int, e: cython.int, c: cython.int) -> cython.int:
        """Sign what element ``e`` of a node reads at group ``g`` under pending id ``c``; what is below comes later."""
        d: cython.int = self.a.el_d[e]
        n: cython.int = self.a.el_n[e]
        i: cython.int
        m: cython.int
        r: cython.int
        part: cython.int
        u: cython.int
        if d <= HOLE_DET:
            return 0
        if self.a.d_loop[d] >= 0:
            i = self.a.it_len
            self.a.add_item(d, self.a.el_c[e], n)
            u = self.a.canonical(i)
            self.a.expand(u)
            return self._read_guarded(self.outer, g, u, c)
        m = self.holes.dead_set(d, c, n)
        if c == 0 and m == 0:
            part = self.a.memo.get(16 + 5 * self.generation + 1000000000, g, d)
            if part < 0:
                part = self._part(g, self.r.hole_node(d, 0))
                self.a.memo.put(16 + 5 * self.generation + 1000000000, g, d, part)
        else:
            u = self.holes.thread_node(d, 0, c, m)
            part = self.a.memo.get(17 + 5 * self.generation + 1000000000, g, u)
            if part < 0:
                part = self._part(g, u)
                self.a.memo.put(17 + 5 * self.generation + 1000000000, g, u, part)
        for i in range(part + 2, part + 2 + self.part_pool[part]):
            r = self.part_pool[i]
            if self.rc_stamp[r] != self.stamp:
                self.rc_stamp[r] = self.stamp
                self.signatures.add(r)
        if n == ROOT_NODE:
            return 0
        i = part + 2 + self.part_pool[part]
        part = i + 2 * self.part_pool[part + 1]
        while i < part:
            m = self.holes.under(self.part_pool[i], n) if self.part_pool[i] != 0 else n
            if m != 0:
                self.outer.add(self.part_pool[i + 1], m)
            i += 2
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _part(self, g: cython.int, u: cython.int) -> cython.int:
        """Where ``part_pool`` has what hole node ``u`` reads at group ``g``, calls entered, made here.

        What is in the signature in the making is of another part, or of the whole: it is put aside.
        """
        i: cython.int
        k: cython.int
        e: cython.int
        at: cython.int
        stamp: cython.int = self.stamp
        begun: cython.int = self.signatures.pool_len
        records: cython.int
        exits: cython.int = 0
        self.stamps += 1
        self.stamp = -self.stamps
        self.inner.add(g, u)
        self._read_places(self.inner)
        records = self.signatures.pool_len - begun
        for i in range(1, self.inner.count):  # at the first one what is below is read by itself
            k = self.inner.other[i]
            for e in range(self.a.n_off[k], self.a.n_off[k] + self.a.n_len[k]):
                if self.a.el_d[e] == HOLE_DET:
                    exits += 1
                elif self.a.el_d[e] == self.a.guard_det:
                    exits += 1
        if self.part_len + 2 + records + 2 * exits > self.part_cap:
            self.part_cap = 2 * (self.part_len + 2 + records + 2 * exits) + 1024
            self.part_pool = grow_int(self.part_pool, self.part_cap)
            if not self.part_pool:
                out_of_memory()
        at = self.part_len
        for i in range(records):
            self.part_pool[at + 2 + i] = self.signatures.pool[begun + i]
        self.part_len = at + 2 + records
        for i in range(1, self.inner.count):
            k = self.inner.other[i]
            for e in range(self.a.n_off[k], self.a.n_off[k] + self.a.n_len[k]):
                if self.a.el_d[e] == HOLE_DET:
                    self.part_pool[self.part_len] = 0
                elif self.a.el_d[e] == self.a.guard_det and self._over_hole(self.a.el_n[e]):
                    self.part_pool[self.part_len] = self.a.el_c[e]
                else:
                    continue
                self.part_pool[self.part_len + 1] = self.inner.one[i]
                self.part_len += 2
        self.part_pool[at] = records
        self.part_pool[at + 1] = (self.part_len - at - 2 - records) // 2
        self.inner.clear()
        self.signatures.pool_len = begun
        self.stamp = stamp
        return at

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _over_hole(self, node: cython.int) -> cython.bint:
        """Whether HOLE is one of a node's elements."""
        e: cython.int
        for e in range(self.a.n_off[node], self.a.n_off[node] + self.a.n_len[node]):
            if self.a.el_d[e] == HOLE_DET:
                return True
        return False


# Uncompiled, attributes do not exist until they are set; compiled, mask_threads.pxd declares them.
_COUNTERS = ("stamp", "stamps", "part_len", "part_cap")
_POINTERS = ("part_pool",)
