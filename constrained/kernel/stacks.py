# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Interned sets of stacks, in canonical form: the states of the automaton.

Data
    node       an interned, sorted list of elements ``(det, count, tail)``: the stacks whose top is one of the det's
               positions and whose rest is one of the stacks of node ``tail``. 0 is no stack at all (the dead state), 1
               the one that is END, 2 the one that is HOLE, which stands for any stack.
    count      of an element: the rounds of a counted loop, the register of a set loop (``kernel.registers``), the
               tokens of a budget, the pending id of a guard; else 0.
    n_table    an open table of nodes, each one more than its number, 0 where none is
    it_*       elements under construction, as a stack: a node is made of ``it[base:]``.

Canonical form (without it equal states get different ints and every cache starves)
    - A node is closed under returning: where a det accepts, the elements of its tail are in the node too, and what has
      nothing left but to return is dropped (so right recursion runs in constant stack).
    - Each position, or (loop, count), occurs in one element only; where two stacks share the top their tails are
      united, recursively (an explicit stack and a memo, no native recursion).
    - Elements with equal tails are one element.

    ``kernel.unions`` has the union of two nodes.

Where there are guards, ``canonical`` drops the elements that every continuation kills (``kernel.pending``).

Cost: most nodes are found by ``push`` or ``unite`` in the memo; a new one is made in 50-300 ns an element.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.dets import Dets
    from cython.cimports.constrained.kernel.far_counts import far_bits, make_ranges, may_be_far
    from cython.cimports.constrained.kernel.guard_tables import GuardTables
    from cython.cimports.constrained.kernel.hashing import mix, sort_triples
    from cython.cimports.constrained.kernel.item_choice import add_open, is_open, load_choices
    from cython.cimports.constrained.kernel.memory import (
        drop_int,
        grow_int,
        moved,
        moved_longs,
        out_of_memory,
        unset_ints,
        wider,
        zero_ints,
        zeroed_ints,
    )
    from cython.cimports.constrained.kernel.pending import drop_dead, enter_guard
    from cython.cimports.constrained.kernel.position_sets import (
        BUDGET,
        END_DET,
        FAR_COUNT,
        FAR_ENOUGH,
        GUARD,
        HOLE_DET,
    )
    from cython.cimports.constrained.kernel.registers import Registers
    from cython.cimports.constrained.kernel.set_loops import load_orders
    from cython.cimports.constrained.kernel.unions import unite
else:
    from constrained.kernel.dets import Dets
    from constrained.kernel.far_counts import far_bits, make_ranges, may_be_far
    from constrained.kernel.guard_tables import GuardTables
    from constrained.kernel.hashing import mix, sort_triples
    from constrained.kernel.item_choice import add_open, is_open, load_choices
    from constrained.kernel.memory import (
        drop_int,
        grow_int,
        moved,
        moved_longs,
        out_of_memory,
        unset_ints,
        wider,
        zero_ints,
        zeroed_ints,
    )
    from constrained.kernel.pending import drop_dead, enter_guard
    from constrained.kernel.position_sets import BUDGET, END_DET, FAR_COUNT, FAR_ENOUGH, GUARD, HOLE_DET
    from constrained.kernel.registers import Registers
    from constrained.kernel.set_loops import load_orders
    from constrained.kernel.unions import unite

ROOT_NODE = cython.declare(cython.int, 1)
HOLE_NODE = cython.declare(cython.int, 2)
FAR_LOW = cython.declare(cython.int, 0x3FFFFFF0)
FAR_HIGH = cython.declare(cython.int, 0x3FFFFFF4)
MAX_NODES = cython.declare(cython.int, 1 << 24)  # so many have handles
FEW_NODES = cython.declare(cython.int, 64)
MANY_NODES = cython.declare(cython.int, 2048)
AT_ONCE = cython.declare(cython.int, 8)
"""Nodes that each new one brings into a table that grew: all are there long before it grows again."""


class ThreadLimitReached(Exception):
    """A node would hold more alternatives than ``max_threads``; args: (live elements, rule or -1)."""


@cython.cclass
class Stacks(Dets):
    """The nodes of one lowered grammar. See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            self._drop_nodes()
            drop_int(self.n_table)
            drop_int(self.n_old)
            drop_int(self.it_piece)
            drop_int(self.un_a)
            drop_int(self.un_b)
            drop_int(self.mn_node)
            drop_int(self.l_far)
            drop_int(self.l_open)
            drop_int(self.l_open_det)
            drop_int(self.i_open)
            drop_int(self.i_stop)
            drop_int(self.i_left)
            drop_int(self.i_hint)
            drop_int(self.p_item)

    else:

        def __new__(cls, *args):
            self = Dets.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load_stacks(self, max_threads: cython.int) -> cython.int:
        """Once the program is loaded. ``max_threads``: largest number of elements of one node."""
        i: cython.int
        self.max_threads = max_threads
        self.far = 1 << 30
        make_ranges(self)
        if self.registers is None:
            self.registers = Registers()
            self.guards = GuardTables()
        self.guards.load(self.program.guards)
        self.guard_loop = -1
        self.guard_det = -1
        self.budgets = False
        for i in range(self.n_loops):
            if self.l_rule[i] == GUARD and self.guard_loop < 0:
                self.guard_loop = i
            elif self.l_rule[i] == BUDGET:
                self.budgets = True
        load_orders(self)
        load_choices(self)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _drop_nodes(self) -> cython.void:
        """Give back what an epoch has grown, so that the next one starts small."""
        self.n_piece = drop_int(self.n_piece)
        self.el_piece = drop_int(self.el_piece)
        self.n_cap = 0
        self.el_cap = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget_nodes(self) -> cython.int:
        """Once the dets are forgotten: the dead node, END and HOLE are all there is."""
        self.registers.clear()
        self.n_hints = 0
        if self.choices:
            unset_ints(self.l_open_det, 0, self.n_loops)
        self.n_generation = 0
        self.n_count = 0
        self.el_len = 0
        self.it_len = 0
        self.un_len = 0
        self.mn_len = 0
        self.guards.n_todo = 0
        self.n_old = drop_int(self.n_old)
        if self.n_table_size != FEW_NODES:
            self.n_table = drop_int(self.n_table)
        self.n_table_size = FEW_NODES
        self.n_table = grow_int(self.n_table, FEW_NODES)
        if not self.n_table:
            out_of_memory()
        zero_ints(self.n_table, 0, FEW_NODES)
        self.canonical(0)
        self.add_item(END_DET, 0, 0)
        self.canonical(0)
        self.add_item(HOLE_DET, 0, 0)
        self.canonical(0)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear_stacks(self) -> cython.void:
        """Empty the stacks of work in progress, after an exception."""
        self.it_len = 0
        self.tr_len = 0
        self.un_len = 0
        self.mn_len = 0
        self.guards.n_todo = 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_of_nodes(self) -> cython.longlong:
        """Bytes held by the tables, capacity counted."""
        return (40 * cython.cast(cython.longlong, self.n_cap) + 12 * cython.cast(cython.longlong, self.el_cap)
                + 4 * cython.cast(cython.longlong, self.n_table_size) + self.registers.bytes_held())

    # ---- elements under construction ---------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_item(self, d: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """Append an element to the list under construction."""
        i: cython.int = self.it_len
        if i >= self.it_cap:
            self._grow_items(32 if self.it_cap == 0 else self.it_cap * 2)
        self.it_d[i] = d
        self.it_c[i] = c
        self.it_n[i] = n
        self.it_len = i + 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_items(self, cap: cython.int) -> cython.int:
        """Room for ``cap`` elements under construction."""
        n: cython.int = self.it_len
        at: cython.Py_ssize_t = cap
        piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 3 * at)
        if not piece:
            out_of_memory()
        self.it_d = moved(piece, 0, self.it_d, n, cap)
        self.it_c = moved(piece, cap, self.it_c, n, cap)
        self.it_n = moved(piece, 2 * at, self.it_n, n, cap)
        drop_int(self.it_piece)
        self.it_piece = piece
        self.it_cap = cap
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_pair(self, d: cython.int, n: cython.int) -> cython.int:
        """Append what det ``d`` over the stacks ``n`` stands for: itself, its loops, and ``n`` if it accepts.

        Where an item of a set loop is being read and not told yet, see ``kernel.item_choice``.
        """
        i: cython.int
        p: cython.int
        core: cython.int
        if self.choices and is_open(self, n):
            return add_open(self, d, n)
        core = self.d_core[d]
        if core < 0:
            core = self.core_of(d)
        if core != 0:
            self.add_item(core, 0, n)
        if self.d_flags[d] & 16:
            for i in range(self.d_len[d]):
                p = self.d_pool[self.d_off[d] + i]
                if self.p_loop[p] >= 0:
                    if self.l_rule[self.p_loop[p]] == GUARD:
                        enter_guard(self, self.p_loop[p], n)
                        continue
                    p = self.loop_det(self.p_loop[p])
                    self.add_item(p, 0, n)
        if self.d_flags[d] & 1:
            self.add_elements(n)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_elements(self, n: cython.int) -> cython.int:
        i: cython.int
        for i in range(self.n_off[n], self.n_off[n] + self.n_len[n]):
            self.add_item(self.el_d[i], self.el_c[i], self.el_n[i])
        return 0

    # ---- canonical form ----------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def canonical(self, base: cython.int) -> cython.int:
        """The node of the elements ``it[base:]``, which are consumed. Element order does not matter."""
        n: cython.int
        i: cython.int
        w: cython.int
        if self.guard_loop >= 0:
            drop_dead(self, base)
        n = self.it_len - base
        if n > 1:
            sort_triples(self.it_d, self.it_c, self.it_n, base, self.it_len)
            w = base + 1
            for i in range(base + 1, self.it_len):
                if (
                    self.it_d[i] != self.it_d[w - 1]
                    or self.it_c[i] != self.it_c[w - 1]
                    or self.it_n[i] != self.it_n[w - 1]
                ):
                    self.it_d[w] = self.it_d[i]
                    self.it_c[w] = self.it_c[i]
                    self.it_n[w] = self.it_n[i]
                    w += 1
            self.it_len = w
            if w - base > 1 and self._in_conflict(base):
                self._factor(base)
        if self.it_len - base > self.max_threads:
            w = -1
            for i in range(base, self.it_len):
                if self.d_loop[self.it_d[i]] >= 0 and self.it_d[i] != self.guard_det:
                    w = self.d_loop[self.it_d[i]]
                    break
            i = self.it_len - base
            self.it_len = base
            with cython.gil:
                raise ThreadLimitReached(i, w)
        return self._intern_node(base)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _in_conflict(self, base: cython.int) -> cython.bint:
        """Whether a position, a (loop, count) or a tail occurs in two elements of ``it[base:]``."""
        i: cython.int
        j: cython.int
        d: cython.int
        p: cython.int
        self.generation += 1
        self.n_generation += 1
        for i in range(base, self.it_len):
            d = self.it_d[i]
            if self.d_loop[d] >= 0:
                if i > base and self.it_d[i - 1] == d and self.it_c[i - 1] == self.it_c[i]:
                    return True
                continue
            if self.n_mark[self.it_n[i]] == self.n_generation:
                return True
            self.n_mark[self.it_n[i]] = self.n_generation
            for j in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
                p = self.d_pool[j]
                if self.mark[p] == self.generation:
                    return True
                self.mark[p] = self.generation
        return False

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def spread(self, d: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """Append one triple for each position of an element; plain positions carry count -1."""
        j: cython.int
        if self.d_loop[d] >= 0:
            self.add_triple(self.d_pool[self.d_off[d]], c, n)
        else:
            for j in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
                self.add_triple(self.d_pool[j], -1, n)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _factor(self, base: cython.int) -> cython.int:
        """Bring ``it[base:]`` into canonical form: unite the tails of each position, then group by tail."""
        tb: cython.int = self.tr_len
        i: cython.int
        w: cython.int
        n: cython.int
        p: cython.int
        c: cython.int
        for i in range(base, self.it_len):
            self.spread(self.it_d[i], self.it_c[i], self.it_n[i])
        self.it_len = base
        sort_triples(self.tr_p, self.tr_c, self.tr_n, tb, self.tr_len)
        w = tb
        i = tb
        while i < self.tr_len:
            p = self.tr_p[i]
            c = self.tr_c[i]
            n = self.tr_n[i]
            i += 1
            while i < self.tr_len and self.tr_p[i] == p and self.tr_c[i] == c:
                n = unite(self, n, self.tr_n[i])
                i += 1
            self.tr_p[w] = p
            self.tr_c[w] = c
            self.tr_n[w] = n
            w += 1
        self.tr_len = w
        sort_triples(self.tr_n, self.tr_c, self.tr_p, tb, w)
        i = tb
        while i < self.tr_len:
            n = self.tr_n[i]
            if self.tr_c[i] >= 0:
                p = self.loop_det(self.p_loop[self.tr_p[i]])
                self.add_item(p, self.tr_c[i], n)
                i += 1
                continue
            w = 0
            while i < self.tr_len and self.tr_n[i] == n and self.tr_c[i] < 0:
                self.need_buf(w + 1)
                self.buf[w] = self.tr_p[i]
                w += 1
                i += 1
            p = self.intern_det(w)
            self.add_item(p, 0, n)
        self.tr_len = tb
        sort_triples(self.it_d, self.it_c, self.it_n, base, self.it_len)
        return 0

    # ---- interning ---------------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _intern_node(self, base: cython.int) -> cython.int:
        """The id of the sorted element list ``it[base:]``, which is consumed."""
        n: cython.int = self.it_len - base
        i: cython.int
        j: cython.int
        off: cython.int
        node: cython.int
        same: cython.bint
        h: cython.ulonglong = self._hash(self.it_d, self.it_c, self.it_n, base, self.it_len)
        j = cython.cast(cython.int, h & (self.n_table_size - 1))
        while self.n_table[j] != 0:
            node = self.n_table[j] - 1
            if self.n_len[node] == n:
                off = self.n_off[node]
                same = True
                for i in range(n):
                    if (
                        self.el_d[off + i] != self.it_d[base + i]
                        or self.el_c[off + i] != self.it_c[base + i]
                        or self.el_n[off + i] != self.it_n[base + i]
                    ):
                        same = False
                        break
                if same:
                    self.it_len = base
                    return node
            j = (j + 1) & (self.n_table_size - 1)
        if self.n_old:
            node = self._old_node(base, h)
            if node >= 0:
                self.it_len = base
                return node
            self._move_nodes(AT_ONCE)
            while self.n_table[j] != 0:
                j = (j + 1) & (self.n_table_size - 1)
        node = self.n_count
        self._need_node(n)
        off = self.el_len
        for i in range(n):
            self.el_d[off + i] = self.it_d[base + i]
            self.el_c[off + i] = self.it_c[base + i]
            self.el_n[off + i] = self.it_n[base + i]
        self.it_len = base
        self.el_len = off + n
        self.n_off[node] = off
        self.n_len[node] = n
        self.n_row[node] = -1
        self.n_exp[node] = -1
        self.n_nexp[node] = 0
        self.n_mask[node] = -1
        self.n_mark[node] = 0
        self.n_min[node] = -1
        self.n_far[node] = self._far_bits(node) if self.has_far else 0
        self.n_count = node + 1
        self.n_table[j] = node + 1
        if self.n_count * 2 >= self.n_table_size:
            self._grow_node_table()
        return node

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _old_node(self, base: cython.int, h: cython.ulonglong) -> cython.int:
        """The node of ``it[base:]``, whose hash is ``h``, in the table before; -1 if it is not there."""
        n: cython.int = self.it_len - base
        i: cython.int
        j: cython.int = cython.cast(cython.int, h & (self.n_old_size - 1))
        off: cython.int
        node: cython.int
        while self.n_old[j] != 0:
            node = self.n_old[j] - 1
            if self.n_len[node] == n:
                off = self.n_off[node] - base
                for i in range(base, self.it_len):
                    if (self.el_d[off + i] != self.it_d[i] or self.el_c[off + i] != self.it_c[i]
                            or self.el_n[off + i] != self.it_n[i]):
                        break
                else:
                    return node
            j = (j + 1) & (self.n_old_size - 1)
        return -1

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _far_bits(self, node: cython.int) -> cython.int:
        """``n_far`` of a new node; see ``far_counts``."""
        i: cython.int
        bits: cython.int = 0
        for i in range(self.n_off[node], self.n_off[node] + self.n_len[node]):
            bits |= self.n_far[self.el_n[i]]
            if may_be_far(self, self.d_loop[self.el_d[i]]):
                bits |= far_bits(self, self.d_loop[self.el_d[i]], self.el_c[i])
        return bits

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_node(self, n: cython.int) -> cython.int:
        if self.n_count >= self.n_cap:
            if self.n_count >= MAX_NODES:
                out_of_memory()
            self._grow_nodes(64 if self.n_cap == 0 else wider(self.n_cap, 10))
        if self.el_len + n > self.el_cap:
            self._grow_elements(wider(self.el_len + n + 32, 3))
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_nodes(self, cap: cython.int) -> cython.int:
        """Room for ``cap`` nodes, an even number."""
        n: cython.int = self.n_count
        at: cython.Py_ssize_t = cap
        piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 10 * at)
        if not piece:
            out_of_memory()
        self.n_min = moved_longs(piece, 0, self.n_min, n, cap)
        self.n_off = moved(piece, 2 * at, self.n_off, n, cap)
        self.n_len = moved(piece, 3 * at, self.n_len, n, cap)
        self.n_row = moved(piece, 4 * at, self.n_row, n, cap)
        self.n_exp = moved(piece, 5 * at, self.n_exp, n, cap)
        self.n_nexp = moved(piece, 6 * at, self.n_nexp, n, cap)
        self.n_mask = moved(piece, 7 * at, self.n_mask, n, cap)
        self.n_mark = moved(piece, 8 * at, self.n_mark, n, cap)
        self.n_far = moved(piece, 9 * at, self.n_far, n, cap)
        drop_int(self.n_piece)
        self.n_piece = piece
        self.n_cap = cap
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_elements(self, cap: cython.int) -> cython.int:
        """Room for ``cap`` elements."""
        n: cython.int = self.el_len
        at: cython.Py_ssize_t = cap
        piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 3 * at)
        if not piece:
            out_of_memory()
        self.el_d = moved(piece, 0, self.el_d, n, cap)
        self.el_c = moved(piece, cap, self.el_c, n, cap)
        self.el_n = moved(piece, 2 * at, self.el_n, n, cap)
        drop_int(self.el_piece)
        self.el_piece = piece
        self.el_cap = cap
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _hash(self, d: cython.p_int, c: cython.p_int, n: cython.p_int, lo: cython.int,
              hi: cython.int) -> cython.ulonglong:
        """By which the table is searched for the elements ``lo <= i < hi`` of three arrays."""
        h: cython.ulonglong = 84696351
        i: cython.int
        for i in range(lo, hi):
            h = mix(mix(mix(h, d[i]), c[i]), n[i])
        return h

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_node_table(self) -> cython.int:
        """A larger table. Many nodes come into it a few at a time: until then ``n_old`` has them."""
        table: cython.p_int = zeroed_ints(4 * cython.cast(cython.Py_ssize_t, self.n_table_size))
        if not table:
            out_of_memory()
        if self.n_old:
            self._move_nodes(self.n_old_count)
        self.n_old = self.n_table
        self.n_old_size = self.n_table_size
        self.n_old_count = self.n_count
        self.n_moved = 0
        self.n_table = table
        self.n_table_size = 4 * self.n_table_size
        if self.n_count < MANY_NODES:
            self._move_nodes(self.n_old_count)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _move_nodes(self, count: cython.int) -> cython.void:
        """Enter the next ``count`` nodes of ``n_old``; after the last one it is given back."""
        node: cython.int
        j: cython.int
        hi: cython.int = min(self.n_moved + count, self.n_old_count)
        for node in range(self.n_moved, hi):
            j = cython.cast(cython.int, self._hash(self.el_d, self.el_c, self.el_n, self.n_off[node],
                                                   self.n_off[node] + self.n_len[node]) & (self.n_table_size - 1))
            while self.n_table[j] != 0:
                j = (j + 1) & (self.n_table_size - 1)
            self.n_table[j] = node + 1
        self.n_moved = hi
        if hi == self.n_old_count:
            self.n_old = drop_int(self.n_old)

    # ---- frames ------------------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def push(self, d: cython.int, n: cython.int) -> cython.int:
        """The node of "return to det ``d``, then to the stacks ``n``"."""
        base: cython.int
        r: cython.int = self.memo.get(1, d, n)
        if r == -2:
            base = self.it_len
            self.add_pair(d, n)
            r = self.canonical(base)
            self.memo.put(1, d, n, r)
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def loop_return(self, loop: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """The node after ``c`` rounds of ``loop``: go round again, or on when enough are done."""
        base: cython.int = self.it_len
        d: cython.int
        last: cython.int = self.l_max[loop]
        if c >= FAR_COUNT:
            d = self.loop_det(loop)
            self.add_item(d, c, n)
            if c >= FAR_ENOUGH:
                self.add_pair(self.next_det(loop), n)
            return self.canonical(base)
        if c > FAR_LOW:
            # only in hole nodes: a count so far from its bounds that no token reaches them does not change
            c = FAR_LOW if c == FAR_LOW + 1 else FAR_HIGH
            last = -1
        elif n == HOLE_NODE and c >= self.l_min[loop] and (last < 0 or last - c > self.far):
            c = FAR_HIGH
            last = -1
        elif last < 0 and c > self.l_min[loop]:
            c = self.l_min[loop]
        if last < 0 or c < last:
            d = self.loop_det(loop)
            self.add_item(d, c, n)
        if c >= self.l_min[loop] and c != FAR_LOW:
            self.add_pair(self.next_det(loop), n)
        return self.canonical(base)


# Uncompiled, attributes do not exist until they are set; compiled, stacks.pxd declares them.
_COUNTERS = """
max_threads far has_far choices guard_loop guard_det budgets n_generation n_count n_cap n_table_size el_len el_cap
n_old_size n_old_count n_moved
it_len it_cap un_len un_cap mn_len mn_cap
n_hints hint_cap far_cap open_cap
""".split()
_POINTERS = """
registers guards
n_piece n_off n_len n_row n_exp n_nexp n_mask n_mark n_far n_min n_table n_old
el_piece el_d el_c el_n it_piece it_d it_c it_n un_a un_b mn_node
l_far l_open l_open_det i_open i_stop i_left i_hint p_item
""".split()
