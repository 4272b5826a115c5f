# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The interned, lazily built pushdown automaton over bytes.

Idea
    What is still to be read is a set of stacks. Each stack is a *position* of the lowered grammar on top of
    the places to return to. Such a set is hash-consed, so a state is an int, equal sets get the same int,
    and everything that follows from a state (its next states, its masks) is remembered by that int.

Data
    position   a point of a rule, with edges: bytes ``lo..hi``, epsilon, call of a rule, token set; or a
               counted loop. Made by ``engine.lowering``; immutable here. 1 is END, 2 is HOLE (see below).
    det        an interned, sorted, epsilon-closed set of positions that share one stack below them.
               Bit flags say whether it accepts (its rule may end) and which edges it has.
    node       an interned, sorted list of elements ``(det, count, tail)``: the stacks whose top is one of
               the det's positions and whose rest is one of the stacks of node ``tail``. ``count`` is the
               register of a counted loop, else 0. **States and stack sets are the same thing**: a tail is
               the state that the machine is in when the callee has ended, so returning is a union.
    thread     one way to read a byte from a node: ``(det, tail)`` after all calls are entered; for a round of a
               counted loop also the loop's det (negative if it is in no region), count and tail.
    budget     an element (position of a text with a token budget, tokens so far, node): its bytes are read as from any
               position, and the count goes on with it. ``after_token`` counts; a budget that is used up leaves a
               shortest way to the text's end.
    guard      an element (guard, pending id, node): the stacks of the node, as long as what must not follow does not
               (``engine.guards``). Its node has no guards itself and no END, which stands beside it.
    row        ``rows[r + class]``: the row of the next node, 0 dead, -1 not built yet. Rows are only made
               for nodes that are stepped from.

Canonical form (without it equal states get different ints and every cache starves)
    - A node is closed under returning: where a det accepts, the elements of its tail are in the node too,
      and what has nothing left but to return is dropped (so right recursion runs in constant stack).
    - Each position, or (loop, count), occurs in one element only; where two stacks share the top their
      tails are united, recursively (an explicit stack and a memo, no native recursion).
    - Elements with equal tails are one element.

Lowering guarantees: a call consumes at least one byte (nullable calls have an epsilon beside them), no rule
reaches itself by calls before its first byte (left recursion is rewritten), every position can be completed.
So the entry of calls ends, and no reachable node is a dead end. Where there are guards, ``canonical`` drops the
elements that every continuation kills, by the tables of ``engine.guards``.

Cost: a known step is one load. A first step is 50-300 ns for each live thread.
Invariants: ids only grow within an epoch; nothing is dropped while ``epoch`` stays the same. ``lock`` guards
all of it; methods of this class expect it to be held.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import copy_ints, grow_int, grow_long
    from cython.cimports.constrained.kernel.program import Program
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import copy_ints, grow_int, grow_long

END_DET = cython.declare(cython.int, 1)
HOLE_DET = cython.declare(cython.int, 2)
ROOT_NODE = cython.declare(cython.int, 1)
HOLE_NODE = cython.declare(cython.int, 2)
MIX = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
FAR = cython.declare(cython.longlong, 1 << 60)
CHOOSING = cython.declare(cython.int, 1 << 28)
GUARD = cython.declare(cython.int, -3)
BUDGET = cython.declare(cython.int, -5)
FAR_LOW = cython.declare(cython.int, 0x3FFFFFF0)
FAR_HIGH = cython.declare(cython.int, 0x3FFFFFF4)


class ThreadLimitReached(Exception):
    """A node would hold more alternatives than ``max_threads``; args: (live elements, rule or -1)."""


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sort_triples(a: cython.p_int, b: cython.p_int, c: cython.p_int, lo: cython.int, hi: cython.int) -> cython.void:
    """Sort the triples ``lo <= i < hi`` lexicographically in place (shell sort: no recursion, no memory)."""
    gap: cython.int = 1
    i: cython.int
    j: cython.int
    x: cython.int
    y: cython.int
    z: cython.int
    while gap < (hi - lo) // 3:
        gap = gap * 3 + 1
    while gap > 0:
        for i in range(lo + gap, hi):
            x = a[i]
            y = b[i]
            z = c[i]
            j = i
            while j >= lo + gap and (
                a[j - gap] > x or (a[j - gap] == x and (b[j - gap] > y or (b[j - gap] == y and c[j - gap] > z)))
            ):
                a[j] = a[j - gap]
                b[j] = b[j - gap]
                c[j] = c[j - gap]
                j -= gap
            a[j] = x
            b[j] = y
            c[j] = z
        gap = gap // 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sort_ints(a: cython.p_int, lo: cython.int, hi: cython.int) -> cython.void:
    """Sort ``a[lo:hi]`` in place."""
    gap: cython.int = 1
    i: cython.int
    j: cython.int
    x: cython.int
    while gap < (hi - lo) // 3:
        gap = gap * 3 + 1
    while gap > 0:
        for i in range(lo + gap, hi):
            x = a[i]
            j = i
            while j >= lo + gap and a[j - gap] > x:
                a[j] = a[j - gap]
                j -= gap
            a[j] = x
        gap = gap // 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mix(h: cython.ulonglong, x: cython.int) -> cython.ulonglong:
    """One round of a 64-bit multiplicative hash; masked so that both modes agree."""
    h = (h ^ cython.cast(cython.uint, x)) * MIX
    if not cython.compiled:
        h &= 0xFFFFFFFFFFFFFFFF
    return h ^ (h >> 29)


@cython.final
@cython.cclass
class Automaton:
    """One lowered grammar and everything that has been found out about it. See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            self._release()

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.lock = cython.pymutex()
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    def __init__(self, program, max_threads: cython.int):
        """``program``: a ``kernel.program.Program``. ``max_threads``: largest number of elements of one node."""
        self.max_threads = max_threads
        self.far = 1 << 30
        self._load(program)
        self._reset()

    # ---- the lowered grammar -------------------------------------------------------------------------

    def _load(self, program: Program):
        """Read the program's arrays where they are (see ``kernel.program``)."""
        i: cython.int
        self.program = program
        self.n_positions = program.n_positions
        self.n_rules = program.n_rules
        self.n_loops = program.n_loops
        self.n_classes = program.n_classes
        self.start_position = program.start
        self.p_off = program.p_off
        self.e_a = program.e_a
        self.e_b = program.e_b
        self.e_to = program.e_to
        self.p_accept = program.p_accept
        self.p_loop = program.p_loop
        self.p_region = program.p_region
        self.p_min = program.p_min
        self.r_start = program.r_start
        self.r_order = program.r_order
        self.r_min = program.r_min
        self.l_pos = program.l_pos
        self.l_rule = program.l_rule
        self.l_min = program.l_min
        self.l_max = program.l_max
        self.l_next = program.l_next
        self.l_region = program.l_region
        self.l_items = program.l_items
        self.l_sep = program.l_sep
        self.l_bare = program.l_bare
        self.l_required = program.l_required
        self.i_rule = program.i_rule
        self.i_required = program.i_required
        self.i_cheap = program.i_cheap
        self.cls = program.cls
        self.cls_rep = program.cls_rep
        self.n_pending = 1
        self.n_pairs = 0
        self.guard_loop = -1
        self.budgets = False
        for i in range(self.n_loops):
            if self.l_rule[i] == GUARD and self.guard_loop < 0:
                self.guard_loop = i
            elif self.l_rule[i] == BUDGET:
                self.budgets = True
        if program.guards is not None:
            self._load_guards(program.guards)
        self.mark = grow_int(self.mark, self.n_positions + 1)
        self.pend_tail = grow_int(self.pend_tail, self.n_rules + 1)
        self.heap = grow_int(self.heap, self.n_rules + 1)
        if not (self.mark and self.pend_tail and self.heap):
            raise MemoryError
        for i in range(self.n_positions):
            self.mark[i] = 0
        self.generation = 0
        for i in range(self.n_rules):
            self.pend_tail[i] = 0

    def _load_guards(self, guards):
        """Copy the tables of ``engine.guards``."""
        self.n_pending = guards.n_pending
        self.n_pairs = len(guards.pair_position)
        self.q_end = copy_ints(self.q_end, guards.may_end)
        self.q_step = copy_ints(self.q_step, guards.step)
        self.q_join = copy_ints(self.q_join, guards.join)
        self.q_pair_p = copy_ints(self.q_pair_p, guards.pair_position)
        self.q_pair_c = copy_ints(self.q_pair_c, guards.pair_pending)
        self.q_off = copy_ints(self.q_off, guards.out_offsets)
        self.q_outs = copy_ints(self.q_outs, guards.outs)

    def _release(self):
        if cython.compiled:
            free(self.l_det)
            free(self.l_next_det)
            free(self.r_det)
            free(self.g_off)
            free(self.g_len)
            free(self.g_pool)
            free(self.g_table)
            free(self.q_end)
            free(self.q_step)
            free(self.q_join)
            free(self.q_pair_p)
            free(self.q_pair_c)
            free(self.q_off)
            free(self.q_outs)
            free(self.mark)
            free(self.pend_tail)
            free(self.heap)
            free(self.d_off)
            free(self.d_len)
            free(self.d_flags)
            free(self.d_core)
            free(self.d_loop)
            free(self.d_row)
            free(self.d_call)
            free(self.d_ncall)
            free(self.d_first)
            free(self.d_split)
            free(self.d_pool)
            free(self.d_table)
            free(self.d_rows)
            free(self.calls)
            free(self.firsts)
            free(self.n_off)
            free(self.n_len)
            free(self.n_row)
            free(self.n_exp)
            free(self.n_nexp)
            free(self.n_mask)
            free(self.n_mark)
            free(self.n_table)
            free(self.el_d)
            free(self.el_c)
            free(self.el_n)
            free(self.exp)
            free(self.rows)
            free(self.row_node)
            free(self.row_open)
            free(self.it_d)
            free(self.it_c)
            free(self.it_n)
            free(self.tr_p)
            free(self.tr_c)
            free(self.tr_n)
            free(self.un_a)
            free(self.un_b)
            free(self.lv_c)
            free(self.lv_n)
            free(self.mn_node)
            free(self.may)
            free(self.m_kind)
            free(self.m_a)
            free(self.m_b)
            free(self.m_value)
            free(self.buf)
            free(self.split)
            free(self.d_min)
            free(self.n_min)

    def _shrink(self):
        """Give back what an epoch has grown, so that the next one starts small."""
        if cython.compiled:
            free(self.d_off)
            free(self.d_len)
            free(self.d_flags)
            free(self.d_core)
            free(self.d_loop)
            free(self.d_row)
            free(self.d_call)
            free(self.d_ncall)
            free(self.d_first)
            free(self.d_split)
            free(self.d_pool)
            free(self.d_rows)
            free(self.calls)
            free(self.firsts)
            free(self.n_off)
            free(self.n_len)
            free(self.n_row)
            free(self.n_exp)
            free(self.n_nexp)
            free(self.n_mask)
            free(self.n_mark)
            free(self.el_d)
            free(self.el_c)
            free(self.el_n)
            free(self.exp)
            free(self.rows)
            free(self.row_node)
            free(self.row_open)
            free(self.split)
            free(self.g_off)
            free(self.g_len)
            free(self.g_pool)
            free(self.d_min)
            free(self.n_min)
            self.d_off = cython.NULL
            self.d_len = cython.NULL
            self.d_flags = cython.NULL
            self.d_core = cython.NULL
            self.d_loop = cython.NULL
            self.d_row = cython.NULL
            self.d_call = cython.NULL
            self.d_ncall = cython.NULL
            self.d_first = cython.NULL
            self.d_split = cython.NULL
            self.d_pool = cython.NULL
            self.d_rows = cython.NULL
            self.calls = cython.NULL
            self.firsts = cython.NULL
            self.n_off = cython.NULL
            self.n_len = cython.NULL
            self.n_row = cython.NULL
            self.n_exp = cython.NULL
            self.n_nexp = cython.NULL
            self.n_mask = cython.NULL
            self.n_mark = cython.NULL
            self.el_d = cython.NULL
            self.el_c = cython.NULL
            self.el_n = cython.NULL
            self.exp = cython.NULL
            self.rows = cython.NULL
            self.row_node = cython.NULL
            self.row_open = cython.NULL
            self.split = cython.NULL
            self.g_off = cython.NULL
            self.g_len = cython.NULL
            self.g_pool = cython.NULL
            self.d_min = cython.NULL
            self.n_min = cython.NULL
        else:
            for name in _GROWN:
                setattr(self, name, None)
        self.d_cap = 0
        self.d_pool_cap = 0
        self.d_rows_cap = 0
        self.calls_cap = 0
        self.firsts_cap = 0
        self.n_cap = 0
        self.el_cap = 0
        self.exp_cap = 0
        self.rows_cap = 0
        self.split_cap = 0
        self.g_cap = 0
        self.g_pool_cap = 0

    def _reset(self):
        """Begin an epoch: forget every det, node and row. Called with the lock held, or before sharing."""
        i: cython.int
        self._shrink()
        self.d_count = 0
        self.d_pool_len = 0
        self.d_rows_len = 0
        self.calls_len = 0
        self.firsts_len = 0
        self.n_count = 0
        self.el_len = 0
        self.exp_len = 0
        self.rows_len = 0
        self.it_len = 0
        self.tr_len = 0
        self.un_len = 0
        self.lv_len = 0
        self.mn_len = 0
        self.m_count = 0
        self.split_len = 0
        self.g_count = 0
        self.g_pool_len = 0
        self.g_table_size = 64
        self.g_table = grow_int(self.g_table, self.g_table_size)
        if not self.g_table:
            raise MemoryError
        for i in range(self.g_table_size):
            self.g_table[i] = -1
        self.d_table_size = 256
        self.d_table = grow_int(self.d_table, self.d_table_size)
        self.n_table_size = 1024
        self.n_table = grow_int(self.n_table, self.n_table_size)
        self.m_size = 1024
        self.m_kind = grow_int(self.m_kind, self.m_size)
        self.m_a = grow_int(self.m_a, self.m_size)
        self.m_b = grow_int(self.m_b, self.m_size)
        self.m_value = grow_int(self.m_value, self.m_size)
        if not (self.d_table and self.n_table and self.m_kind and self.m_a and self.m_b and self.m_value):
            raise MemoryError
        for i in range(self.d_table_size):
            self.d_table[i] = -1
        for i in range(self.n_table_size):
            self.n_table[i] = -1
        for i in range(self.m_size):
            self.m_kind[i] = 0
        self.l_det = grow_int(self.l_det, self.n_loops + 1)
        self.l_next_det = grow_int(self.l_next_det, self.n_loops + 1)
        self.r_det = grow_int(self.r_det, self.n_rules + 1)
        for i in range(self.n_loops):
            self.l_det[i] = -1
            self.l_next_det[i] = -1
        for i in range(self.n_rules):
            self.r_det[i] = -1
        self.may = grow_int(self.may, 8)
        if not self.may:
            raise MemoryError
        self._need_buf(64)
        self.intern_det(0)
        self.buf[0] = END_DET
        self.intern_det(1)
        self.buf[0] = HOLE_DET
        self.intern_det(1)
        self.guard_det = -1 if self.guard_loop < 0 else self.loop_det(self.guard_loop)
        for i in range(self.n_pairs):
            self.memo_put(9, self.q_pair_p[i], self.q_pair_c[i], self.n_positions + i)
        self._new_row(-1)
        for i in range(self.n_classes):
            self.rows[i] = 0
        self.canonical(0)
        self.add_item(END_DET, 0, 0)
        self.canonical(0)
        self.add_item(HOLE_DET, 0, 0)
        self.canonical(0)
        self.buf[0] = self.start_position
        i = self.closure(1)
        i = self.intern_det(i)
        self.add_pair(i, ROOT_NODE)
        self.start = self.canonical(0)
        self.epoch += 1

    # ---- memory --------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear_scratch(self) -> cython.void:
        """Empty the stacks of work in progress, after an exception."""
        i: cython.int
        self.it_len = 0
        self.tr_len = 0
        self.un_len = 0
        self.lv_len = 0
        self.mn_len = 0
        self.heap_len = 0
        for i in range(self.n_rules):
            self.pend_tail[i] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _out_of_memory(self) -> cython.int:
        with cython.gil:
            raise MemoryError("the automaton could not grow")

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_buf(self, n: cython.int) -> cython.int:
        if n > self.buf_cap:
            self.buf_cap = n * 2
            self.buf = grow_int(self.buf, self.buf_cap)
            if not self.buf:
                self._out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_item(self, d: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """Append an element to the list under construction."""
        i: cython.int = self.it_len
        if i >= self.it_cap:
            self.it_cap = 64 if self.it_cap == 0 else self.it_cap * 2
            self.it_d = grow_int(self.it_d, self.it_cap)
            self.it_c = grow_int(self.it_c, self.it_cap)
            self.it_n = grow_int(self.it_n, self.it_cap)
            if not (self.it_d and self.it_c and self.it_n):
                self._out_of_memory()
        self.it_d[i] = d
        self.it_c[i] = c
        self.it_n[i] = n
        self.it_len = i + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_triple(self, p: cython.int, c: cython.int, n: cython.int) -> cython.int:
        i: cython.int = self.tr_len
        if i >= self.tr_cap:
            self.tr_cap = 256 if self.tr_cap == 0 else self.tr_cap * 2
            self.tr_p = grow_int(self.tr_p, self.tr_cap)
            self.tr_c = grow_int(self.tr_c, self.tr_cap)
            self.tr_n = grow_int(self.tr_n, self.tr_cap)
            if not (self.tr_p and self.tr_c and self.tr_n):
                self._out_of_memory()
        self.tr_p[i] = p
        self.tr_c[i] = c
        self.tr_n[i] = n
        self.tr_len = i + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def memory_bytes(self) -> cython.longlong:
        """Bytes held by the tables, capacity counted."""
        total: cython.longlong = 0
        total += cython.cast(cython.longlong, self.n_positions) * 48
        total += cython.cast(cython.longlong, self.d_cap) * 48 + self.d_pool_cap * 4 + self.d_table_size * 4
        total += cython.cast(cython.longlong, self.d_rows_cap) * 4 + self.calls_cap * 8 + self.firsts_cap * 4
        total += cython.cast(cython.longlong, self.n_cap) * 40 + cython.cast(cython.longlong, self.el_cap) * 12
        total += cython.cast(cython.longlong, self.exp_cap) * 4 + cython.cast(cython.longlong, self.rows_cap) * 4
        total += cython.cast(cython.longlong, self.n_table_size) * 4 + cython.cast(cython.longlong, self.m_size) * 16
        return total

    # ---- memo of functions of two ints ---------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def memo_get(self, kind: cython.int, a: cython.int, b: cython.int) -> cython.int:
        """The remembered value of ``kind(a, b)``, or -2.

        Kinds: 1 push, 2 union, 4, 11, 14 and 15 guard_holes, 5 fill_hole, 6 and 7 restrict, 8 and 9 guards,
        10 byte_det, 12 after_token, 13 uncounted, from 16 on masks.
        """
        h: cython.ulonglong = mix(mix(kind, a), b)
        i: cython.int = cython.cast(cython.int, h & (self.m_size - 1))
        while self.m_kind[i] != 0:
            if self.m_a[i] == a and self.m_b[i] == b and self.m_kind[i] == kind:
                return self.m_value[i]
            i = (i + 1) & (self.m_size - 1)
        return -2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def memo_put(self, kind: cython.int, a: cython.int, b: cython.int, value: cython.int) -> cython.int:
        old_kind: cython.p_int
        old_a: cython.p_int
        old_b: cython.p_int
        old_value: cython.p_int
        old_size: cython.int = self.m_size
        i: cython.int
        if self.m_count * 2 >= self.m_size:
            old_kind = self.m_kind
            old_a = self.m_a
            old_b = self.m_b
            old_value = self.m_value
            self.m_size = old_size * 2
            self.m_kind = grow_int(cython.NULL if cython.compiled else None, self.m_size)
            self.m_a = grow_int(cython.NULL if cython.compiled else None, self.m_size)
            self.m_b = grow_int(cython.NULL if cython.compiled else None, self.m_size)
            self.m_value = grow_int(cython.NULL if cython.compiled else None, self.m_size)
            if not (self.m_kind and self.m_a and self.m_b and self.m_value):
                self._out_of_memory()
            for i in range(self.m_size):
                self.m_kind[i] = 0
            for i in range(old_size):
                if old_kind[i] != 0:
                    self._memo_store(old_kind[i], old_a[i], old_b[i], old_value[i])
            if cython.compiled:
                free(old_kind)
                free(old_a)
                free(old_b)
                free(old_value)
        self._memo_store(kind, a, b, value)
        self.m_count += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _memo_store(self, kind: cython.int, a: cython.int, b: cython.int, value: cython.int) -> cython.int:
        h: cython.ulonglong = mix(mix(kind, a), b)
        i: cython.int = cython.cast(cython.int, h & (self.m_size - 1))
        while self.m_kind[i] != 0:
            i = (i + 1) & (self.m_size - 1)
        self.m_kind[i] = kind
        self.m_a[i] = a
        self.m_b[i] = b
        self.m_value[i] = value
        return 0

    # ---- dets ----------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def closure(self, n: cython.int) -> cython.int:
        """Replace the seeds ``buf[:n]`` by their sorted epsilon closure; returns its size.

        Positions with nothing but epsilon edges are left out, so that equal behaviour gives equal sets.
        """
        gen: cython.int
        i: cython.int
        j: cython.int
        p: cython.int
        q: cython.int
        count: cython.int = 0
        kept: cython.int = 0
        self.generation += 1
        gen = self.generation
        for i in range(n):
            p = self.buf[i]
            if self.mark[p] != gen:
                self.mark[p] = gen
                self.buf[count] = p
                count += 1
        i = 0
        while i < count:
            p = self.buf[i]
            i += 1
            for j in range(self.p_off[4 * p + 1], self.p_off[4 * p + 2]):
                q = self.e_to[j]
                if self.mark[q] != gen:
                    self.mark[q] = gen
                    self._need_buf(count + 1)
                    self.buf[count] = q
                    count += 1
        for i in range(count):
            p = self.buf[i]
            if (
                self.p_accept[p]
                or self.p_loop[p] >= 0
                or self.p_off[4 * p] != self.p_off[4 * p + 1]
                or self.p_off[4 * p + 2] != self.p_off[4 * p + 4]
            ):
                self.buf[kept] = p
                kept += 1
        sort_ints(self.buf, 0, kept)
        return kept

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def intern_det(self, n: cython.int) -> cython.int:
        """The id of the sorted set ``buf[:n]``."""
        h: cython.ulonglong = 1469598103
        i: cython.int
        j: cython.int
        p: cython.int
        d: cython.int
        off: cython.int
        flags: cython.int = 0
        least: cython.longlong = FAR
        same: cython.bint
        for i in range(n):
            h = mix(h, self.buf[i])
        j = cython.cast(cython.int, h & (self.d_table_size - 1))
        while self.d_table[j] >= 0:
            d = self.d_table[j]
            if self.d_len[d] == n:
                off = self.d_off[d]
                same = True
                for i in range(n):
                    if self.d_pool[off + i] != self.buf[i]:
                        same = False
                        break
                if same:
                    return d
            j = (j + 1) & (self.d_table_size - 1)
        d = self.d_count
        self._need_det(n)
        off = self.d_pool_len
        for i in range(n):
            p = self.buf[i]
            self.d_pool[off + i] = p
            if self.p_accept[p]:
                flags |= 1
            if self.p_off[4 * p] != self.p_off[4 * p + 1]:
                flags |= 2
            if self.p_off[4 * p + 2] != self.p_off[4 * p + 3]:
                flags |= 4
            if self.p_off[4 * p + 3] != self.p_off[4 * p + 4]:
                flags |= 8
            if self.p_loop[p] >= 0:
                flags |= 16
            if self.p_min[p] < least:
                least = self.p_min[p]
        self.d_off[d] = off
        self.d_len[d] = n
        self.d_flags[d] = flags
        self.d_core[d] = -1
        self.d_loop[d] = self.p_loop[self.buf[0]] if n == 1 else -1
        self.d_row[d] = -1
        self.d_call[d] = -1
        self.d_ncall[d] = 0
        self.d_first[d] = -1
        self.d_split[d] = -1
        self.d_min[d] = least
        self.d_pool_len = off + n
        self.d_count = d + 1
        self.d_table[j] = d
        if self.d_count * 2 >= self.d_table_size:
            self._rehash_dets()
        return d

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_det(self, n: cython.int) -> cython.int:
        if self.d_count >= self.d_cap:
            self.d_cap = 64 if self.d_cap == 0 else self.d_cap * 2
            self.d_off = grow_int(self.d_off, self.d_cap)
            self.d_len = grow_int(self.d_len, self.d_cap)
            self.d_flags = grow_int(self.d_flags, self.d_cap)
            self.d_core = grow_int(self.d_core, self.d_cap)
            self.d_loop = grow_int(self.d_loop, self.d_cap)
            self.d_row = grow_int(self.d_row, self.d_cap)
            self.d_call = grow_int(self.d_call, self.d_cap)
            self.d_ncall = grow_int(self.d_ncall, self.d_cap)
            self.d_first = grow_int(self.d_first, self.d_cap)
            self.d_split = grow_int(self.d_split, self.d_cap)
            self.d_min = grow_long(self.d_min, self.d_cap)
            if not (
                self.d_off and self.d_len and self.d_flags and self.d_core and self.d_loop and self.d_row
                and self.d_call and self.d_ncall and self.d_first and self.d_split and self.d_min
            ):
                self._out_of_memory()
        if self.d_pool_len + n > self.d_pool_cap:
            self.d_pool_cap = (self.d_pool_len + n) * 2 + 256
            self.d_pool = grow_int(self.d_pool, self.d_pool_cap)
            if not self.d_pool:
                self._out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _rehash_dets(self) -> cython.int:
        h: cython.ulonglong
        d: cython.int
        i: cython.int
        j: cython.int
        self.d_table_size = self.d_table_size * 2
        self.d_table = grow_int(self.d_table, self.d_table_size)
        if not self.d_table:
            self._out_of_memory()
        for i in range(self.d_table_size):
            self.d_table[i] = -1
        for d in range(self.d_count):
            h = 1469598103
            for i in range(self.d_len[d]):
                h = mix(h, self.d_pool[self.d_off[d] + i])
            j = cython.cast(cython.int, h & (self.d_table_size - 1))
            while self.d_table[j] >= 0:
                j = (j + 1) & (self.d_table_size - 1)
            self.d_table[j] = d
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def core_of(self, d: cython.int) -> cython.int:
        """The subset with edges: no loops, and nothing that can only return."""
        i: cython.int
        p: cython.int
        n: cython.int = 0
        if self.d_core[d] < 0:
            self._need_buf(self.d_len[d])
            for i in range(self.d_len[d]):
                p = self.d_pool[self.d_off[d] + i]
                if self.p_loop[p] < 0 and (
                    p <= HOLE_DET
                    or self.p_off[4 * p] != self.p_off[4 * p + 1]
                    or self.p_off[4 * p + 2] != self.p_off[4 * p + 4]
                ):
                    self.buf[n] = p
                    n += 1
            n = self.intern_det(n)
            self.d_core[d] = n
        return self.d_core[d]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def loop_det(self, loop: cython.int) -> cython.int:
        """The det that stands for "inside counted loop ``loop``" in elements."""
        if self.l_det[loop] < 0:
            self.buf[0] = self.l_pos[loop]
            self.l_det[loop] = self.intern_det(1)
        return self.l_det[loop]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def det_step(self, d: cython.int, k: cython.int) -> cython.int:
        """The det after a byte of class ``k`` within the rule, 0 if there is none."""
        i: cython.int
        j: cython.int
        p: cython.int
        b: cython.int
        n: cython.int = 0
        row: cython.int = self.d_row[d]
        if row < 0:
            row = self.d_rows_len
            if row + self.n_classes > self.d_rows_cap:
                self.d_rows_cap = (row + self.n_classes) * 2
                self.d_rows = grow_int(self.d_rows, self.d_rows_cap)
                if not self.d_rows:
                    self._out_of_memory()
            for i in range(self.n_classes):
                self.d_rows[row + i] = -1
            self.d_rows_len = row + self.n_classes
            self.d_row[d] = row
        if self.d_rows[row + k] >= 0:
            return self.d_rows[row + k]
        b = self.cls_rep[k]
        for i in range(self.d_len[d]):
            p = self.d_pool[self.d_off[d] + i]
            for j in range(self.p_off[4 * p], self.p_off[4 * p + 1]):
                if self.e_a[j] <= b and b <= self.e_b[j]:
                    self._need_buf(n + 1)
                    self.buf[n] = self.e_to[j]
                    n += 1
        if n > 0:
            n = self.closure(n)
            n = self.intern_det(n)
        self.d_rows[row + k] = n
        return n

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def det_row(self, d: cython.int) -> cython.int:
        """Where ``d_rows`` holds the steps of ``d``, all of them found."""
        i: cython.int
        k: cython.int
        t: cython.int
        b: cython.int
        p: cython.int
        row: cython.int
        self.det_step(d, 0)
        row = self.d_row[d]
        if self.d_len[d] != 1:
            for k in range(self.n_classes):
                if self.d_rows[row + k] < 0:
                    self.det_step(d, k)
            return row
        p = self.d_pool[self.d_off[d]]
        for i in range(self.p_off[4 * p], self.p_off[4 * p + 1]):
            t = -1
            for b in range(self.e_a[i], self.e_b[i] + 1):
                k = row + self.cls[b]
                if self.d_rows[k] < 0:
                    if t < 0:  # another edge may read the same bytes, so it is asked for by class
                        t = self.det_step(d, self.cls[b])
                        if self._overlap(p):
                            t = -1
                    else:
                        self.d_rows[k] = t
        for k in range(row, row + self.n_classes):
            if self.d_rows[k] < 0:
                self.d_rows[k] = 0
        return row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _overlap(self, p: cython.int) -> cython.bint:
        """Whether two edges of a position read the same byte; they are sorted where they do not."""
        i: cython.int
        for i in range(self.p_off[4 * p] + 1, self.p_off[4 * p + 1]):
            if self.e_a[i] <= self.e_b[i - 1]:
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def byte_det(self, d: cython.int) -> cython.int:
        """The subset that reads bytes itself."""
        i: cython.int
        p: cython.int
        n: cython.int = 0
        r: cython.int
        if not self.d_flags[d] & 12:
            return d
        r = self.memo_get(10, d, 0)
        if r == -2:
            self._need_buf(self.d_len[d])
            for i in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
                p = self.d_pool[i]
                if self.p_off[4 * p] != self.p_off[4 * p + 1]:
                    self.buf[n] = p
                    n += 1
            r = self.intern_det(n)
            self.memo_put(10, d, 0, r)
        return r

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def det_calls(self, d: cython.int) -> cython.int:
        """Where ``calls`` lists the pairs (rule, det to return to) of ``d``; ``d_ncall[d]`` of them."""
        i: cython.int
        j: cython.int
        q: cython.int
        p: cython.int
        n: cython.int = 0
        k: cython.int
        tb: cython.int = self.tr_len
        if self.d_call[d] >= 0:
            return self.d_call[d]
        for i in range(self.d_len[d]):
            p = self.d_pool[self.d_off[d] + i]
            for j in range(self.p_off[4 * p + 2], self.p_off[4 * p + 3]):
                self.add_triple(self.e_a[j], self.e_to[j], 0)
        sort_triples(self.tr_p, self.tr_c, self.tr_n, tb, self.tr_len)
        self.d_call[d] = self.calls_len
        i = tb
        while i < self.tr_len:
            k = self.tr_p[i]
            n = 0
            while i < self.tr_len and self.tr_p[i] == k:
                self._need_buf(n + 1)
                self.buf[n] = self.tr_c[i]
                n += 1
                i += 1
            n = self.closure(n)
            q = self.intern_det(n)
            if self.calls_len + 2 > self.calls_cap:
                self.calls_cap = 64 if self.calls_cap == 0 else self.calls_cap * 2
                self.calls = grow_int(self.calls, self.calls_cap)
                if not self.calls:
                    self._out_of_memory()
            self.calls[self.calls_len] = k
            self.calls[self.calls_len + 1] = q
            self.calls_len += 2
            self.d_ncall[d] += 1
        self.tr_len = tb
        return self.d_call[d]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def det_first(self, d: cython.int) -> cython.int:
        """Where ``firsts`` holds eight words of bits: the byte classes ``d`` can read itself."""
        i: cython.int
        j: cython.int
        k: cython.int
        b: cython.int
        p: cython.int
        at: cython.int = self.firsts_len
        if self.d_first[d] >= 0:
            return self.d_first[d]
        if at + 8 > self.firsts_cap:
            self.firsts_cap = 512 if self.firsts_cap == 0 else self.firsts_cap * 2
            self.firsts = grow_int(self.firsts, self.firsts_cap)
            if not self.firsts:
                self._out_of_memory()
        for i in range(8):
            self.firsts[at + i] = 0
        for i in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
            p = self.d_pool[i]
            for j in range(self.p_off[4 * p], self.p_off[4 * p + 1]):
                for b in range(self.e_a[j], self.e_b[j] + 1):
                    k = self.cls[b]
                    self.firsts[at + (k >> 5)] = self.firsts[at + (k >> 5)] | _bit(k & 31)
        self.d_first[d] = at
        self.firsts_len = at + 8
        return at

    # ---- nodes ---------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_pair(self, d: cython.int, n: cython.int) -> cython.int:
        """Append what det ``d`` over the stacks ``n`` stands for: itself, its loops, and ``n`` if it accepts."""
        i: cython.int
        p: cython.int
        core: cython.int = self.d_core[d]
        if core < 0:
            core = self.core_of(d)
        if core != 0:
            self.add_item(core, 0, n)
        if self.d_flags[d] & 16:
            for i in range(self.d_len[d]):
                p = self.d_pool[self.d_off[d] + i]
                if self.p_loop[p] >= 0:
                    if self.l_rule[self.p_loop[p]] == GUARD:
                        self._guard(self.p_loop[p], n)
                        continue
                    p = self.loop_det(self.p_loop[p])
                    self.add_item(p, 0, n)
        if self.d_flags[d] & 1:
            self.add_elements(n)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_elements(self, n: cython.int) -> cython.int:
        i: cython.int
        for i in range(self.n_off[n], self.n_off[n] + self.n_len[n]):
            self.add_item(self.el_d[i], self.el_c[i], self.el_n[i])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def canonical(self, base: cython.int) -> cython.int:
        """The node of the elements ``it[base:]``, which are consumed. Element order does not matter."""
        n: cython.int
        i: cython.int
        w: cython.int
        if self.guard_loop >= 0:
            self._drop_dead(base)
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

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _spread(self, d: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """Append one triple for each position of an element; plain positions carry count -1."""
        j: cython.int
        if self.d_loop[d] >= 0:
            self.add_triple(self.d_pool[self.d_off[d]], c, n)
        else:
            for j in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
                self.add_triple(self.d_pool[j], -1, n)
        return 0

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
            self._spread(self.it_d[i], self.it_c[i], self.it_n[i])
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
                n = self.union(n, self.tr_n[i])
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
                self._need_buf(w + 1)
                self.buf[w] = self.tr_p[i]
                w += 1
                i += 1
            p = self.intern_det(w)
            self.add_item(p, 0, n)
        self.tr_len = tb
        sort_triples(self.it_d, self.it_c, self.it_n, base, self.it_len)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def union(self, a: cython.int, b: cython.int) -> cython.int:
        """The node of the stacks of ``a`` and ``b``. An explicit stack of pairs; each is built once."""
        base: cython.int = self.un_len
        tb: cython.int
        i: cython.int
        x: cython.int
        y: cython.int
        missing: cython.bint
        x = self._union_known(a, b)
        if x != -2:
            return x
        self._push_union(a, b)
        while self.un_len > base:
            a = self.un_a[self.un_len - 1]
            b = self.un_b[self.un_len - 1]
            if self._union_known(a, b) != -2:
                self.un_len -= 1
                continue
            tb = self.tr_len
            for i in range(self.n_off[a], self.n_off[a] + self.n_len[a]):
                self._spread(self.el_d[i], self.el_c[i], self.el_n[i])
            for i in range(self.n_off[b], self.n_off[b] + self.n_len[b]):
                self._spread(self.el_d[i], self.el_c[i], self.el_n[i])
            sort_triples(self.tr_p, self.tr_c, self.tr_n, tb, self.tr_len)
            missing = False
            for i in range(tb + 1, self.tr_len):
                if self.tr_p[i] == self.tr_p[i - 1] and self.tr_c[i] == self.tr_c[i - 1]:
                    if self._union_known(self.tr_n[i - 1], self.tr_n[i]) == -2:
                        missing = True
                        self._push_union(self.tr_n[i - 1], self.tr_n[i])
            self.tr_len = tb
            if missing:
                continue
            y = self.it_len
            self.add_elements(a)
            self.add_elements(b)
            y = self.canonical(y)
            self.memo_put(2, a, b, y)
            self.un_len -= 1
            x = y
        return x

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _union_known(self, a: cython.int, b: cython.int) -> cython.int:
        if a == b or b == 0:
            return a
        if a == 0:
            return b
        return self.memo_get(2, min(a, b), max(a, b))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_union(self, a: cython.int, b: cython.int) -> cython.int:
        if self.un_len >= self.un_cap:
            self.un_cap = 64 if self.un_cap == 0 else self.un_cap * 2
            self.un_a = grow_int(self.un_a, self.un_cap)
            self.un_b = grow_int(self.un_b, self.un_cap)
            if not (self.un_a and self.un_b):
                self._out_of_memory()
        self.un_a[self.un_len] = min(a, b)
        self.un_b[self.un_len] = max(a, b)
        self.un_len += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _intern_node(self, base: cython.int) -> cython.int:
        """The id of the sorted element list ``it[base:]``, which is consumed."""
        n: cython.int = self.it_len - base
        h: cython.ulonglong = 84696351
        i: cython.int
        j: cython.int
        off: cython.int
        node: cython.int
        same: cython.bint
        for i in range(base, self.it_len):
            h = mix(mix(mix(h, self.it_d[i]), self.it_c[i]), self.it_n[i])
        j = cython.cast(cython.int, h & (self.n_table_size - 1))
        while self.n_table[j] >= 0:
            node = self.n_table[j]
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
        self.n_count = node + 1
        self.n_table[j] = node
        if self.n_count * 2 >= self.n_table_size:
            self._rehash_nodes()
        return node

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def minimum(self, node: cython.int) -> cython.longlong:
        """Fewest bytes from a node to the end. An explicit stack: tails come first."""
        base: cython.int = self.mn_len
        i: cython.int
        t: cython.int
        rest: cython.longlong
        least: cython.longlong
        missing: cython.bint
        if self.n_min[node] >= 0:
            return self.n_min[node]
        self._push_minimum(node)
        while self.mn_len > base:
            t = self.mn_node[self.mn_len - 1]
            if self.n_min[t] >= 0:
                self.mn_len -= 1
                continue
            missing = False
            for i in range(self.n_off[t], self.n_off[t] + self.n_len[t]):
                if self.n_min[self.el_n[i]] < 0 and self.el_n[i] != 0:
                    self._push_minimum(self.el_n[i])
                    missing = True
            if missing:
                continue
            least = 0 if self.n_len[t] == 0 else FAR
            for i in range(self.n_off[t], self.n_off[t] + self.n_len[t]):
                rest = self._element_min(self.el_d[i], self.el_c[i])
                if self.el_n[i] != 0:
                    rest += self.n_min[self.el_n[i]]
                if rest < least:
                    least = rest
            self.n_min[t] = least
            self.mn_len -= 1
        return self.n_min[node]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_minimum(self, node: cython.int) -> cython.int:
        if self.mn_len >= self.mn_cap:
            self.mn_cap = 64 if self.mn_cap == 0 else self.mn_cap * 2
            self.mn_node = grow_int(self.mn_node, self.mn_cap)
            if not self.mn_node:
                self._out_of_memory()
        self.mn_node[self.mn_len] = node
        self.mn_len += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _element_min(self, d: cython.int, c: cython.int) -> cython.longlong:
        """Fewest bytes until the element's rule ends. An element inside a loop goes round at least once more."""
        loop: cython.int = self.d_loop[d]
        rounds: cython.longlong
        total: cython.longlong
        if loop < 0:
            return self.d_min[d]
        if self.l_rule[loop] == BUDGET:
            return self.d_min[d]
        if self.l_rule[loop] == GUARD:
            return 0  # the rest is its node's; a lower bound, for the guard may kill the shortest way
        if self.l_rule[loop] < 0:
            return self._set_min(loop, c)
        rounds = self.l_min[loop] - c
        if rounds < 1:
            rounds = 1
        if self.r_min[self.l_rule[loop]] > FAR // rounds:
            return FAR
        total = rounds * self.r_min[self.l_rule[loop]] + self.p_min[self.l_next[loop]]
        return total if total < FAR else FAR

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_node(self, n: cython.int) -> cython.int:
        if self.n_count >= self.n_cap:
            self.n_cap = 256 if self.n_cap == 0 else self.n_cap * 2
            self.n_off = grow_int(self.n_off, self.n_cap)
            self.n_len = grow_int(self.n_len, self.n_cap)
            self.n_row = grow_int(self.n_row, self.n_cap)
            self.n_exp = grow_int(self.n_exp, self.n_cap)
            self.n_nexp = grow_int(self.n_nexp, self.n_cap)
            self.n_mask = grow_int(self.n_mask, self.n_cap)
            self.n_mark = grow_int(self.n_mark, self.n_cap)
            self.n_min = grow_long(self.n_min, self.n_cap)
            if not (
                self.n_off and self.n_len and self.n_row and self.n_exp and self.n_nexp and self.n_mask
                and self.n_mark and self.n_min
            ):
                self._out_of_memory()
        if self.el_len + n > self.el_cap:
            self.el_cap = (self.el_len + n) * 2 + 256
            self.el_d = grow_int(self.el_d, self.el_cap)
            self.el_c = grow_int(self.el_c, self.el_cap)
            self.el_n = grow_int(self.el_n, self.el_cap)
            if not (self.el_d and self.el_c and self.el_n):
                self._out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _rehash_nodes(self) -> cython.int:
        h: cython.ulonglong
        node: cython.int
        i: cython.int
        j: cython.int
        self.n_table_size = self.n_table_size * 2
        self.n_table = grow_int(self.n_table, self.n_table_size)
        if not self.n_table:
            self._out_of_memory()
        for i in range(self.n_table_size):
            self.n_table[i] = -1
        for node in range(self.n_count):
            h = 84696351
            for i in range(self.n_off[node], self.n_off[node] + self.n_len[node]):
                h = mix(mix(mix(h, self.el_d[i]), self.el_c[i]), self.el_n[i])
            j = cython.cast(cython.int, h & (self.n_table_size - 1))
            while self.n_table[j] >= 0:
                j = (j + 1) & (self.n_table_size - 1)
            self.n_table[j] = node
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def push(self, d: cython.int, n: cython.int) -> cython.int:
        """The node of "return to det ``d``, then to the stacks ``n``"."""
        base: cython.int
        r: cython.int = self.memo_get(1, d, n)
        if r == -2:
            base = self.it_len
            self.add_pair(d, n)
            r = self.canonical(base)
            self.memo_put(1, d, n, r)
        return r

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def loop_return(self, loop: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """The node after ``c`` rounds of ``loop``: go round again, or on when enough are done."""
        base: cython.int = self.it_len
        d: cython.int
        last: cython.int = self.l_max[loop]
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
            if self.l_next_det[loop] < 0:
                self.buf[0] = self.l_next[loop]
                d = self.closure(1)
                self.l_next_det[loop] = self.intern_det(d)
            self.add_pair(self.l_next_det[loop], n)
        return self.canonical(base)

    # ---- guards: what must not follow ----------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _guard(self, loop: cython.int, n: cython.int) -> cython.int:
        """Append what guard position ``loop`` over the stacks ``n`` stands for."""
        d: cython.int
        if self.l_min[loop] < 0:
            return 0
        if self.l_next_det[loop] < 0:
            self.buf[0] = self.l_next[loop]
            d = self.closure(1)
            self.l_next_det[loop] = self.intern_det(d)
        n = self.push(self.l_next_det[loop], n)  # calls itself once for each guard right behind: few
        return self.add_guarded(self.l_min[loop], n)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_guarded(self, c: cython.int, n: cython.int) -> cython.int:
        """Append the stacks ``n`` under pending id ``c``: END beside them or gone, guards in them joined with ``c``."""
        i: cython.int
        d: cython.int
        base: cython.int
        mixed: cython.bint = False
        if n == 0:
            return 0
        if c == 0:
            return self.add_elements(n)
        for i in range(self.n_off[n], self.n_off[n] + self.n_len[n]):
            d = self.el_d[i]
            if d == END_DET:
                if self.q_end[c]:
                    self.add_item(END_DET, 0, 0)
                mixed = True
            elif d == self.guard_det:
                self.add_item(d, self._joined(c, self.el_c[i]), self.el_n[i])
                mixed = True
        if not mixed:
            return self.add_item(self.guard_det, c, n)
        base = self.it_len
        for i in range(self.n_off[n], self.n_off[n] + self.n_len[n]):
            d = self.el_d[i]
            if d != END_DET and d != self.guard_det:
                self.add_item(d, self.el_c[i], self.el_n[i])
        n = self.canonical(base)
        if n != 0:
            self.add_item(self.guard_det, c, n)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _joined(self, a: cython.int, b: cython.int) -> cython.int:
        c: cython.int = self.q_join[a * self.n_pending + b]
        if c < 0:
            with cython.gil:
                raise RuntimeError("two guards meet that were not expected to")
        return c

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _drop_dead(self, base: cython.int) -> cython.int:
        """Drop from ``it[base:]`` what can only be killed."""
        i: cython.int
        w: cython.int = base
        for i in range(base, self.it_len):
            if self._lives(self.it_d[i], self.it_c[i], self.it_n[i]):
                self.it_d[w] = self.it_d[i]
                self.it_c[w] = self.it_c[i]
                self.it_n[w] = self.it_n[i]
                w += 1
        self.it_len = w
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _lives(self, d: cython.int, c: cython.int, n: cython.int) -> cython.bint:
        """Whether some text from this element reaches the end without being killed."""
        if d <= HOLE_DET:
            return True
        if n == 0:
            return False
        if d == self.guard_det:
            return self._node_lives(c, n)
        return self._plain_lives(d, n)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _plain_lives(self, d: cython.int, n: cython.int) -> cython.bint:
        """``_lives`` for an element that is no guard: it does if a pair that it can end with does."""
        i: cython.int
        j: cython.int
        p: cython.int
        for i in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
            p = self.d_pool[i]
            for j in range(self.q_off[p], self.q_off[p + 1]):
                if self.q_outs[j] == 0:
                    return True
        for i in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
            p = self.d_pool[i]
            for j in range(self.q_off[p], self.q_off[p + 1]):
                if self._node_lives(self.q_outs[j], n):
                    return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _frame_lives(self, d: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """1 or 0 for det ``d`` under ``c`` over the stacks ``n``; 2 if pairs were pushed that must be known first."""
        i: cython.int
        j: cython.int
        p: cython.int
        r: cython.int
        unknown: cython.bint = False
        for i in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
            p = self.d_pool[i]
            p = self.memo_get(9, p, c)
            if p < 0:
                # What stands under a guard is also asked about without it, which the survey need not have met. The
                # guard's own question is the one that counts.
                return 1
            for j in range(self.q_off[p], self.q_off[p + 1]):
                if self.q_outs[j] == 0:
                    return 1
                r = self.memo_get(8, self.q_outs[j], n)
                if r == 1:
                    return 1
                if r == -2:
                    unknown = True
        if not unknown:
            return 0
        for i in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
            p = self.memo_get(9, self.d_pool[i], c)
            for j in range(self.q_off[p], self.q_off[p + 1]):
                if self.memo_get(8, self.q_outs[j], n) == -2:
                    self._push_lives(self.q_outs[j], n)
        return 2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_lives(self, c: cython.int, n: cython.int) -> cython.int:
        if self.lv_len >= self.lv_cap:
            self.lv_cap = 64 if self.lv_cap == 0 else self.lv_cap * 2
            self.lv_c = grow_int(self.lv_c, self.lv_cap)
            self.lv_n = grow_int(self.lv_n, self.lv_cap)
            if not (self.lv_c and self.lv_n):
                self._out_of_memory()
        self.lv_c[self.lv_len] = c
        self.lv_n[self.lv_len] = n
        self.lv_len += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _node_lives(self, c: cython.int, n: cython.int) -> cython.bint:
        """Whether the stacks ``n`` have a continuation that survives pending id ``c``. An explicit stack of pairs.

        Tails are older than what stands on them, so the pairs have no cycle.
        """
        base: cython.int = self.lv_len
        i: cython.int
        d: cython.int
        r: cython.int
        found: cython.int
        self._push_lives(c, n)
        while self.lv_len > base:
            c = self.lv_c[self.lv_len - 1]
            n = self.lv_n[self.lv_len - 1]
            if self.memo_get(8, c, n) != -2:
                self.lv_len -= 1
                continue
            found = 0
            for i in range(self.n_off[n], self.n_off[n] + self.n_len[n]):
                d = self.el_d[i]
                if d <= HOLE_DET:
                    if d == END_DET and not self.q_end[c]:
                        continue
                    if d == HOLE_DET and self.el_n[i] != 0 and self.memo_get(14, self.el_n[i], c) == 1:
                        continue  # see guard_holes
                    found = 1
                    break
                if d == self.guard_det:
                    r = self._joined(c, self.el_c[i])
                    if self.memo_get(8, r, self.el_n[i]) == -2:
                        self._push_lives(r, self.el_n[i])
                        r = 2
                    else:
                        r = self.memo_get(8, r, self.el_n[i])
                else:
                    r = self._frame_lives(d, c, self.el_n[i])
                if r == 1:
                    found = 1
                    break
                if r == 2:
                    found = 2
            if found < 2:
                self.memo_put(8, c, n, found)
                self.lv_len -= 1
        return self.memo_get(8, self.lv_c[base], self.lv_n[base]) == 1

    # ---- set loops: each item once, in any order -----------------------------------------------------
    #
    # The count of a set loop's element is the id of an interned *register*: how many things are written (saturated
    # where no bound can tell), and one bit for each item that is. Id 0 means nothing is written yet. CHOOSING is added
    # while the separator is written already and an item must follow, so that it is read once for all items.

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _register(self, words: cython.int) -> cython.int:
        """The id of the register ``buf[:words]`` (count first); 1 and up."""
        h: cython.ulonglong = 77
        i: cython.int
        j: cython.int
        g: cython.int
        same: cython.bint
        for i in range(words):
            h = mix(h, self.buf[i])
        j = cython.cast(cython.int, h & (self.g_table_size - 1))
        while self.g_table[j] >= 0:
            g = self.g_table[j]
            if self.g_len[g] == words:
                same = True
                for i in range(words):
                    if self.g_pool[self.g_off[g] + i] != self.buf[i]:
                        same = False
                        break
                if same:
                    return g + 1
            j = (j + 1) & (self.g_table_size - 1)
        g = self.g_count
        if g >= self.g_cap:
            self.g_cap = 64 if self.g_cap == 0 else self.g_cap * 2
            self.g_off = grow_int(self.g_off, self.g_cap)
            self.g_len = grow_int(self.g_len, self.g_cap)
            if not (self.g_off and self.g_len):
                self._out_of_memory()
        if self.g_pool_len + words > self.g_pool_cap:
            self.g_pool_cap = (self.g_pool_len + words) * 2
            self.g_pool = grow_int(self.g_pool, self.g_pool_cap)
            if not self.g_pool:
                self._out_of_memory()
        self.g_off[g] = self.g_pool_len
        self.g_len[g] = words
        for i in range(words):
            self.g_pool[self.g_pool_len + i] = self.buf[i]
        self.g_pool_len += words
        self.g_count = g + 1
        self.g_table[j] = g
        if self.g_count * 2 >= self.g_table_size:
            self._rehash_registers()
        return g + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _rehash_registers(self) -> cython.int:
        h: cython.ulonglong
        g: cython.int
        i: cython.int
        j: cython.int
        self.g_table_size = self.g_table_size * 2
        self.g_table = grow_int(self.g_table, self.g_table_size)
        if not self.g_table:
            self._out_of_memory()
        for i in range(self.g_table_size):
            self.g_table[i] = -1
        for g in range(self.g_count):
            h = 77
            for i in range(self.g_len[g]):
                h = mix(h, self.g_pool[self.g_off[g] + i])
            j = cython.cast(cython.int, h & (self.g_table_size - 1))
            while self.g_table[j] >= 0:
                j = (j + 1) & (self.g_table_size - 1)
            self.g_table[j] = g
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _written(self, c: cython.int, i: cython.int) -> cython.bint:
        """Whether register ``c`` has item ``i``."""
        if c == 0:
            return False
        return (self.g_pool[self.g_off[c - 1] + 1 + (i >> 5)] >> (i & 31)) & 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _unwritten(self, loop: cython.int, c: cython.int) -> cython.int:
        """How many required items register ``c`` lacks."""
        lo: cython.int = self.l_items[loop]
        i: cython.int
        lacking: cython.int = 0
        if self.l_required[loop] == 0:
            return 0
        for i in range(lo, self.l_items[loop + 1]):
            if self.i_required[i] and not self._written(c, i - lo):
                lacking += 1
        return lacking

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _may_write(self, loop: cython.int, c: cython.int, i: cython.int, lacking: cython.int) -> cython.bint:
        """Whether item ``i`` may come next and leaves room for what is required. ``lacking`` of ``c`` as above."""
        lo: cython.int = self.l_items[loop]
        count: cython.int = 0 if c == 0 else self.g_pool[self.g_off[c - 1]]
        last: cython.int = self.l_max[loop]
        free: cython.bint = self.l_rule[loop] == -2 and lo + i == self.l_items[loop + 1] - 1
        if self.i_rule[lo + i] < 0 or (c != 0 and self.l_sep[loop] < 0 and not self.l_bare[loop]):
            return False
        if not free and self._written(c, i):
            return False
        if last < 0:
            return True
        if self.i_required[lo + i]:
            lacking -= 1
        return count + 1 + lacking <= last

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _with_item(self, loop: cython.int, c: cython.int, i: cython.int) -> cython.int:
        """Register ``c`` after item ``i`` is written."""
        lo: cython.int = self.l_items[loop]
        n: cython.int = self.l_items[loop + 1] - lo
        words: cython.int = 1 + (n + 31) // 32
        j: cython.int
        most: cython.int = self.l_max[loop]
        self._need_buf(words)
        for j in range(words):
            self.buf[j] = 0 if c == 0 else self.g_pool[self.g_off[c - 1] + j]
        if most >= 0 or self.buf[0] < self.l_min[loop]:
            self.buf[0] += 1
        if not (self.l_rule[loop] == -2 and i == n - 1):
            self.buf[1 + (i >> 5)] = self.buf[1 + (i >> 5)] | _bit(i & 31)
        return self._register(words)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _set_return(self, loop: cython.int, c: cython.int, n: cython.int, lacking: cython.int) -> cython.int:
        """The node after something was written: more, or on when what is required is there (``lacking``: is not)."""
        base: cython.int = self.it_len
        i: cython.int
        d: cython.int
        for i in range(self.l_items[loop + 1] - self.l_items[loop]):
            if self._may_write(loop, c, i, lacking):
                d = self.loop_det(loop)
                self.add_item(d, c, n)
                break
        if lacking == 0 and self.g_pool[self.g_off[c - 1]] >= self.l_min[loop]:
            if self.l_next_det[loop] < 0:
                self.buf[0] = self.l_next[loop]
                d = self.closure(1)
                self.l_next_det[loop] = self.intern_det(d)
            self.add_pair(self.l_next_det[loop], n)
        return self.canonical(base)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _enter_set(self, loop: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """The separator is called, or every item that may come next, each with its own return."""
        lo: cython.int = self.l_items[loop]
        i: cython.int
        k: cython.int
        lacking: cython.int
        if c != 0 and c < CHOOSING:
            if self.l_sep[loop] >= 0:
                i = self.it_len
                k = self.loop_det(loop)
                self.add_item(k, c + CHOOSING, n)
                k = self.canonical(i)
                if k != 0:
                    self._pend(self.l_sep[loop], k)
            if not self.l_bare[loop]:
                return 0
        if c >= CHOOSING:
            c -= CHOOSING
        lacking = self._unwritten(loop, c)
        for i in range(self.l_items[loop + 1] - lo):
            if self._may_write(loop, c, i, lacking):
                k = self._with_item(loop, c, i)
                k = self._set_return(loop, k, n, lacking - (1 if self.i_required[lo + i] else 0))
                if k != 0:
                    self._pend(self.i_rule[lo + i], k)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _set_min(self, loop: cython.int, c: cython.int) -> cython.longlong:
        """Fewest bytes from "one more is written" to the rule's end: what is required, filled up with the cheapest."""
        lo: cython.int = self.l_items[loop]
        hi: cython.int = self.l_items[loop + 1]
        i: cython.int
        j: cython.int
        gap: cython.longlong = 0
        cost: cython.longlong
        total: cython.longlong = 0
        count: cython.int
        choosing: cython.bint = c >= CHOOSING
        chosen: cython.int = 0
        need: cython.int
        same: cython.int
        if choosing:
            c -= CHOOSING
        count = 0 if c == 0 else self.g_pool[self.g_off[c - 1]]
        if not self.l_bare[loop]:
            gap = FAR if self.l_sep[loop] < 0 else self.r_min[self.l_sep[loop]]
        if self.l_required[loop] > 0:
            for i in range(lo, hi):
                if self.i_required[i] and not self._written(c, i - lo):
                    if self.i_rule[i] < 0:
                        return FAR
                    total += self.r_min[self.i_rule[i]]
                    chosen += 1
        need = self.l_min[loop] - count - chosen
        if need < 1 and chosen == 0:
            need = 1
        # the cheapest optional items; the free one fills any number of places
        for j in range(lo, hi):
            if need <= 0:
                break
            i = self.i_cheap[j]
            if self.i_rule[i] < 0 or self.i_required[i] or self._written(c, i - lo):
                continue
            cost = self.r_min[self.i_rule[i]]
            if cost >= FAR:
                return FAR
            same = need if self.l_rule[loop] == -2 and i == hi - 1 else 1
            total += cost * same
            chosen += same
            need -= same
        if need > 0:
            return FAR
        if count == 0 or choosing:
            chosen -= 1  # no separator before the first of them
        if chosen > 0:
            if gap > FAR // chosen:
                return FAR
            total += gap * chosen
        total += self.p_min[self.l_next[loop]]
        return total if total < FAR else FAR

    # ---- threads: entering calls ---------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def rule_det(self, rule: cython.int) -> cython.int:
        if self.r_det[rule] < 0:
            self.buf[0] = self.r_start[rule]
            self.r_det[rule] = self.intern_det(self.closure(1))
        return self.r_det[rule]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _add_thread(self, d: cython.int, n: cython.int, loop: cython.int, c: cython.int,
                    below: cython.int) -> cython.int:
        i: cython.int = self.exp_len
        if i + 5 > self.exp_cap:
            self.exp_cap = 1280 if self.exp_cap == 0 else self.exp_cap * 2
            self.exp = grow_int(self.exp, self.exp_cap)
            if not self.exp:
                self._out_of_memory()
        self.exp[i] = d
        self.exp[i + 1] = n
        self.exp[i + 2] = loop
        self.exp[i + 3] = c
        self.exp[i + 4] = below
        self.exp_len = i + 5
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _enter(self, d: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """One element becomes a thread, and the rules it calls become pending with their return stacks."""
        i: cython.int
        k: cython.int
        rule: cython.int
        loop: cython.int = self.d_loop[d]
        if loop >= 0 and self.l_rule[loop] == GUARD:
            self._add_thread(d, n, 0, c, 0)
            return 0
        if loop >= 0 and self.l_rule[loop] == BUDGET:
            self._add_thread(d, n, 0, c, 0)
            return 0
        if loop >= 0 and self.l_rule[loop] < 0:
            self._enter_set(loop, c, n)
            return 0
        if loop >= 0:
            rule = self.l_rule[loop]
            k = self.loop_return(loop, c + 1, n)
            if k == 0:
                return 0
            i = self.rule_det(rule)
            if self.l_region[loop] > 0:
                i = self.core_of(i)
                self._add_thread(i, k, d, c, n)
            elif self.d_flags[i] & 28 == 0:
                i = self.core_of(i)
                self._add_thread(i, k, -d, c, n)
            else:
                self._pend(rule, k)
            return 0
        if self.d_flags[d] & 10:
            self._add_thread(d, n, 0, 0, 0)
        if self.d_flags[d] & 4:
            self.det_calls(d)
            for i in range(self.d_ncall[d]):
                k = self.push(self.calls[self.d_call[d] + 2 * i + 1], n)
                if k != 0:
                    self._pend(self.calls[self.d_call[d] + 2 * i], k)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _pend(self, rule: cython.int, n: cython.int) -> cython.int:
        """Remember that ``rule`` is called with return stacks ``n``; rules wait in a heap, callers first."""
        i: cython.int
        up: cython.int
        if self.pend_tail[rule] != 0:
            n = self.union(self.pend_tail[rule], n)
            self.pend_tail[rule] = n
            return 0
        self.pend_tail[rule] = n
        i = self.heap_len
        self.heap_len += 1
        while i > 0:
            up = (i - 1) >> 1
            if self.r_order[self.heap[up]] <= self.r_order[rule]:
                break
            self.heap[i] = self.heap[up]
            i = up
        self.heap[i] = rule
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _pop_pending(self) -> cython.int:
        top: cython.int = self.heap[0]
        i: cython.int = 0
        j: cython.int
        last: cython.int
        self.heap_len -= 1
        last = self.heap[self.heap_len]
        while 2 * i + 1 < self.heap_len:
            j = 2 * i + 1
            if j + 1 < self.heap_len and self.r_order[self.heap[j + 1]] < self.r_order[self.heap[j]]:
                j += 1
            if self.r_order[last] <= self.r_order[self.heap[j]]:
                break
            self.heap[i] = self.heap[j]
            i = j
        self.heap[i] = last
        return top

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def expand(self, node: cython.int) -> cython.int:
        """Build the threads of ``node`` (``exp[n_exp[node]:]``, five ints each) if they are not there yet.

        Callers come before callees in ``rule_order``, so each rule is entered once with all its returns.
        """
        i: cython.int
        j: cython.int
        d: cython.int
        rule: cython.int
        n: cython.int
        start: cython.int
        if self.n_exp[node] >= 0:
            return 0
        self.heap_len = 0
        start = self.exp_len
        for i in range(self.n_len[node]):
            j = self.n_off[node] + i
            self._enter(self.el_d[j], self.el_c[j], self.el_n[j])
        while self.heap_len > 0:
            rule = self._pop_pending()
            n = self.pend_tail[rule]
            self.pend_tail[rule] = 0
            d = self.rule_det(rule)
            i = self.core_of(d)
            if i != 0:
                self._enter(i, 0, n)
            if self.d_flags[d] & 16:
                for i in range(self.d_len[d]):
                    j = self.p_loop[self.d_pool[self.d_off[d] + i]]
                    if j >= 0:
                        j = self.loop_det(j)
                        self._enter(j, 0, n)
        self.n_exp[node] = start
        self.n_nexp[node] = (self.exp_len - start) // 5
        return 0

    # ---- steps ---------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _new_row(self, node: cython.int) -> cython.int:
        r: cython.int = self.rows_len
        i: cython.int
        if r + self.n_classes > self.rows_cap:
            self.rows_cap = (r + self.n_classes) * 2 + 1024
            self.rows = grow_int(self.rows, self.rows_cap)
            self.row_node = grow_int(self.row_node, self.rows_cap // self.n_classes + 2)
            self.row_open = grow_int(self.row_open, self.rows_cap // self.n_classes + 2)
            if not (self.rows and self.row_node and self.row_open):
                self._out_of_memory()
        for i in range(self.n_classes):
            self.rows[r + i] = -1
        self.row_node[r // self.n_classes] = node
        self.row_open[r // self.n_classes] = 0
        self.rows_len = r + self.n_classes
        return r

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def row_of(self, node: cython.int) -> cython.int:
        """The offset of the node's row; the dead node's is 0."""
        r: cython.int
        if node == 0:
            return 0
        if self.n_row[node] < 0:
            r = self._new_row(node)
            self.n_row[node] = r
        return self.n_row[node]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _open_row(self, row: cython.int, node: cython.int) -> cython.int:
        """Before the first byte from ``node``: most lead nowhere, and what can follow tells which."""
        k: cython.int
        for k in range(8):
            self.may[k] = 0
        self.first_classes(node, self.may)
        for k in range(self.n_classes):
            if not (self.may[k >> 5] >> (k & 31)) & 1:
                self.rows[row + k] = 0
        self.row_open[row // self.n_classes] = 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def build(self, row: cython.int, k: cython.int) -> cython.int:
        """Fill ``rows[row + k]``; returns it."""
        node: cython.int = self.row_node[row // self.n_classes]
        base: cython.int
        i: cython.int
        off: cython.int
        if self.row_open[row // self.n_classes] == 0:
            self._open_row(row, node)
            if self.rows[row + k] == 0:
                return 0
        base = self.it_len
        for i in range(self.n_nexp[node]):
            off = self.n_exp[node] + 5 * i
            self.step_thread(self.exp[off], self.exp[off + 1], self.exp[off + 3], k)
        i = self.row_of(self.canonical(base))
        self.rows[row + k] = i
        return i

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def step_thread(self, d: cython.int, n: cython.int, c: cython.int, k: cython.int) -> cython.int:
        """Append what a thread becomes with a byte of class ``k``; ``c``: a guard's pending id, or tokens so far."""
        if d == self.guard_det:
            c = self.q_step[c * self.n_classes + k]
            if c < 0:
                return 0
            k = self.step(self.row_of(n), k)  # no guards in the node: one level deep
            if k != 0:
                self.add_guarded(c, self.row_node[k // self.n_classes])
            return 0
        if self.budgets and self.d_loop[d] >= 0 and self.l_rule[self.d_loop[d]] == BUDGET:
            return self._step_budget(d, n, c, k)
        d = self.det_step(d, k)
        if d != 0:
            self.add_pair(d, n)
        return 0

    # ---- token budgets -------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_used_up(self, d: cython.int, c: cython.int) -> cython.bint:
        """Whether an element is within a text whose token budget is used up."""
        loop: cython.int = self.d_loop[d]
        return self.budgets and loop >= 0 and self.l_rule[loop] == BUDGET and c >= self.l_max[loop]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _step_budget(self, d: cython.int, n: cython.int, c: cython.int, k: cython.int) -> cython.int:
        """``step_thread`` within a text that has a budget, ``c`` tokens of which are written."""
        loop: cython.int = self.d_loop[d]
        i: cython.int
        p: cython.int
        q: cython.int
        m: cython.int
        used_up: cython.bint = c >= self.l_max[loop]
        d = self.det_step(d, k)
        for i in range(self.d_len[d]):
            q = self.p_loop[self.d_pool[self.d_off[d] + i]]
            if q < 0 or self.l_rule[q] != BUDGET:
                continue
            # used up: on a shortest way only, and nothing more once the text may end
            if not used_up or (0 < self.l_sep[q] and self.l_sep[q] < self.l_sep[loop]):
                p = self.loop_det(q)
                self.add_item(p, c, n)
        m = 0
        self._need_buf(self.d_len[d])
        for i in range(self.d_len[d]):
            p = self.d_pool[self.d_off[d] + i]
            if self.p_loop[p] < 0 or self.l_rule[self.p_loop[p]] != BUDGET:
                self.buf[m] = p
                m += 1
        if m > 0:
            d = self.intern_det(m)
            self.add_pair(d, n)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def after_token(self, node: cython.int) -> cython.int:
        """The node when a token is complete: each budget whose text has something of that token is one smaller."""
        r: cython.int
        base: cython.int
        i: cython.int
        d: cython.int
        loop: cython.int
        if not self.budgets or node == 0:
            return node
        r = self.memo_get(12, node, 0)
        if r != -2:
            return r
        base = self.it_len
        for i in range(self.n_off[node], self.n_off[node] + self.n_len[node]):
            d = self.el_d[i]
            loop = self.d_loop[d]
            if loop < 0 or self.l_rule[loop] != BUDGET:
                self.add_item(d, self.el_c[i], self.el_n[i])
            elif self.el_c[i] + 1 < self.l_max[loop]:
                self.add_item(d, self.el_c[i] + 1, self.el_n[i])
            elif self.l_sep[loop] > 0:  # else the text may end, and what follows it stands beside this element
                self.add_item(d, self.l_max[loop], self.el_n[i])
        r = self.canonical(base)
        self.memo_put(12, node, 0, r)
        return r

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def uncounted(self, node: cython.int) -> cython.int:
        """The node with the same mask whose budgets have no token yet: within one token only used-up ones matter."""
        r: cython.int
        base: cython.int
        i: cython.int
        c: cython.int
        loop: cython.int
        r = self.memo_get(13, node, 0)
        if r != -2:
            return r
        base = self.it_len
        for i in range(self.n_off[node], self.n_off[node] + self.n_len[node]):
            loop = self.d_loop[self.el_d[i]]
            c = self.el_c[i]
            if loop >= 0 and self.l_rule[loop] == BUDGET and c < self.l_max[loop]:
                c = 0
            self.add_item(self.el_d[i], c, self.el_n[i])
        r = self.canonical(base)
        self.memo_put(13, node, 0, r)
        return r

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def step(self, row: cython.int, k: cython.int) -> cython.int:
        """The row after a byte of class ``k``."""
        t: cython.int = self.rows[row + k]
        return t if t >= 0 else self.build(row, k)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def step_token(self, node: cython.int, token_set: cython.int) -> cython.int:
        """The node after a token of ``token_set``; 0 if no live position names that set."""
        base: cython.int
        i: cython.int
        j: cython.int
        q: cython.int
        d: cython.int
        p: cython.int
        n: cython.int
        off: cython.int
        self.expand(node)
        base = self.it_len
        for i in range(self.n_nexp[node]):
            off = self.n_exp[node] + 5 * i
            d = self.exp[off]
            if d == self.guard_det:
                n = self.step_token(self.exp[off + 1], token_set)  # no guards in it: one level deep
                self.add_elements(n)
                continue
            if self.d_flags[d] & 8:
                n = 0
                for j in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
                    p = self.d_pool[j]
                    for q in range(self.p_off[4 * p + 3], self.p_off[4 * p + 4]):
                        if self.e_a[q] == token_set:
                            self._need_buf(n + 1)
                            self.buf[n] = self.e_to[q]
                            n += 1
                if n > 0:
                    n = self.intern_det(self.closure(n))
                    self.add_pair(n, self.exp[off + 1])
        return self.canonical(base)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_complete(self, node: cython.int) -> cython.bint:
        """Whether the text may end here. END sorts first, its det being the smallest."""
        return self.n_len[node] > 0 and self.el_d[self.n_off[node]] == END_DET

    # ---- regions: nodes over HOLE, see mask_walk -----------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def split_det(self, d: cython.int) -> cython.int:
        """Where ``split`` holds ``d`` by regions: (rest, number of parts, then region and det for each part)."""
        i: cython.int
        j: cython.int
        p: cython.int
        n: cython.int = 0
        at: cython.int
        tb: cython.int
        if self.d_split[d] >= 0:
            return self.d_split[d]
        tb = self.tr_len
        for i in range(self.d_len[d]):
            p = self.d_pool[self.d_off[d] + i]
            if self.p_off[4 * p] != self.p_off[4 * p + 1]:
                self.add_triple(self.p_region[p], p, 0)
        sort_triples(self.tr_p, self.tr_c, self.tr_n, tb, self.tr_len)
        at = self.split_len
        if at + 2 + 2 * (self.tr_len - tb) > self.split_cap:
            self.split_cap = (at + 2 + 2 * (self.tr_len - tb)) * 2 + 256
            self.split = grow_int(self.split, self.split_cap)
            if not self.split:
                self._out_of_memory()
        self.split[at] = 0
        self.split[at + 1] = 0
        self.split_len = at + 2
        i = tb
        while i < self.tr_len:
            p = self.tr_p[i]
            n = 0
            while i < self.tr_len and self.tr_p[i] == p:
                self._need_buf(n + 1)
                self.buf[n] = self.tr_c[i]
                n += 1
                i += 1
            j = self.intern_det(n)
            if p == 0:
                self.split[at] = j
            else:
                self.split[self.split_len] = p
                self.split[self.split_len + 1] = j
                self.split_len += 2
                self.split[at + 1] += 1
        self.tr_len = tb
        self.d_split[d] = at
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def restrict(self, u: cython.int, region: cython.int, inside: cython.bint) -> cython.int:
        """The elements of hole node ``u`` that are inside ``region``, or the others."""
        r: cython.int = self.memo_get(6 if inside else 7, u, region)
        base: cython.int
        i: cython.int
        j: cython.int
        n: cython.int
        p: cython.int
        d: cython.int
        loop: cython.int
        if r != -2:
            return r
        base = self.it_len
        for i in range(self.n_off[u], self.n_off[u] + self.n_len[u]):
            d = self.el_d[i]
            loop = self.d_loop[d]
            if loop >= 0:
                if (self.l_region[loop] == region and self.el_n[i] == HOLE_NODE) == inside:
                    self.add_item(d, self.el_c[i], self.el_n[i])
            elif d <= HOLE_DET or self.el_n[i] != HOLE_NODE:
                if (d > HOLE_DET and self.p_region[self.d_pool[self.d_off[d]]] == region) == inside:
                    self.add_item(d, self.el_c[i], self.el_n[i])
            else:
                n = 0
                self._need_buf(self.d_len[d])
                for j in range(self.d_len[d]):
                    p = self.d_pool[self.d_off[d] + j]
                    if (self.p_region[p] == region) == inside:
                        self.buf[n] = p
                        n += 1
                if n > 0:
                    n = self.intern_det(n)
                    self.add_item(n, 0, self.el_n[i])
        r = self.canonical(base)
        self.memo_put(6 if inside else 7, u, region, r)
        return r

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def fill_hole(self, v: cython.int, n: cython.int) -> cython.int:
        """Hole node ``v`` over the stacks ``n``.

        HOLE stands for all of ``n``, directly below elements, or one frame deeper (in the round of a counted loop, in
        a guard), never deeper: so this calls itself at most three times.
        """
        r: cython.int
        base: cython.int
        i: cython.int
        k: cython.int
        if v == HOLE_NODE:
            return n
        r = self.memo_get(5, v, n)
        if r != -2:
            return r
        base = self.it_len
        for i in range(self.n_off[v], self.n_off[v] + self.n_len[v]):
            if self.el_d[i] == HOLE_DET:
                self.add_elements(n)
            elif self.el_d[i] == self.guard_det:
                k = self.fill_hole(self.el_n[i], n)
                self.add_guarded(self.el_c[i], k)
            elif self.el_n[i] == HOLE_NODE:
                self.add_item(self.el_d[i], self.el_c[i], n)
            else:
                k = self.fill_hole(self.el_n[i], n)
                self.add_item(self.el_d[i], self.el_c[i], k)
        r = self.canonical(base)
        self.memo_put(5, v, n, r)
        return r

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def has_frames(self, v: cython.int) -> cython.bint:
        """Whether hole node ``v`` has an element whose rest is more than HOLE: it stands in a round of its loop."""
        i: cython.int
        for i in range(self.n_off[v], self.n_off[v] + self.n_len[v]):
            if self.el_d[i] > HOLE_DET and self.el_n[i] != HOLE_NODE and self.el_d[i] != self.guard_det:
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def recount(self, v: cython.int, loop: cython.int, c: cython.int) -> cython.int:
        """Hole node ``v``, met under a far count, as it is when ``c`` rounds are done at the end of its round."""
        base: cython.int = self.it_len
        i: cython.int
        n: cython.int
        for i in range(self.n_off[v], self.n_off[v] + self.n_len[v]):
            n = self.el_n[i]
            if self.el_d[i] > HOLE_DET and n != HOLE_NODE and self.el_d[i] != self.guard_det:
                n = self.loop_return(loop, c, HOLE_NODE)
            self.add_item(self.el_d[i], self.el_c[i], n)
        return self.canonical(base)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def first_classes(self, node: cython.int, out: cython.p_int) -> cython.int:
        """OR into the eight words ``out`` the byte classes that can follow ``node``."""
        i: cython.int
        j: cython.int
        f: cython.int
        self.expand(node)
        for i in range(self.n_nexp[node]):
            f = self.n_exp[node] + 5 * i
            if self.exp[f] == self.guard_det:
                self.first_guarded(self.exp[f + 3], self.exp[f + 1], out)
                continue
            f = self.det_first(self.exp[f])
            for j in range(8):
                out[j] = out[j] | self.firsts[f + j]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def first_guarded(self, c: cython.int, node: cython.int, out: cython.p_int) -> cython.int:
        """OR into ``out`` the classes that can follow ``node`` and do not kill under pending id ``c``."""
        i: cython.int
        k: cython.int
        f: cython.int
        self.expand(node)
        for i in range(self.n_nexp[node]):
            f = self.det_first(self.exp[self.n_exp[node] + 5 * i])
            for k in range(self.n_classes):
                if (self.firsts[f + (k >> 5)] >> (k & 31)) & 1 and self.q_step[c * self.n_classes + k] >= 0:
                    out[k >> 5] = out[k >> 5] | _bit(k & 31)
        return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _bit(k: cython.int) -> cython.int:
    """``1 << k`` as a signed 32-bit word."""
    return (1 << k) if k < 31 else -2147483648


# Uncompiled, attributes do not exist until they are set; compiled, automaton.pxd declares them.
_COUNTERS = """
epoch far max_threads n_positions n_rules n_loops n_classes start_position start generation
n_generation d_count d_cap d_pool_len d_pool_cap d_table_size d_rows_len d_rows_cap calls_len calls_cap
firsts_len firsts_cap n_count n_cap el_len el_cap n_table_size exp_len exp_cap rows_len rows_cap it_len it_cap
tr_len tr_cap un_len un_cap g_count g_cap g_pool_len g_pool_cap g_table_size m_size m_count buf_cap heap_len
split_len split_cap lv_len lv_cap mn_len mn_cap n_pending n_pairs guard_loop guard_det budgets
""".split()
_POINTERS = """
p_off e_a e_b e_to p_accept p_loop p_region l_pos l_rule l_min l_max l_next l_region l_det l_next_det r_start
r_order r_det cls cls_rep l_items l_sep l_bare l_required i_rule i_required i_cheap g_off g_len g_pool g_table mark
pend_tail heap d_off d_len d_flags d_core d_loop d_row d_call d_ncall d_first d_split d_pool d_table d_rows calls firsts
n_off n_len n_row n_exp n_nexp n_mask n_mark n_table el_d el_c el_n exp rows row_node it_d it_c it_n tr_p tr_c
tr_n un_a un_b m_kind m_a m_b m_value buf split p_min r_min d_min n_min
lv_c lv_n mn_node may row_open q_end q_step q_join q_pair_p q_pair_c q_off q_outs
""".split()
_GROWN = """
d_off d_len d_flags d_core d_loop d_row d_call d_ncall d_first d_split d_pool d_rows calls firsts n_off n_len
n_row n_exp n_nexp n_mask n_mark el_d el_c el_n exp rows row_node row_open split g_off g_len g_pool d_min
n_min
""".split()
