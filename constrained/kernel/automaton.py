# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The interned, lazily built pushdown automaton over bytes.

Idea
    What is still to be read is a set of stacks. Each stack is a *position* of the lowered grammar on top of
    the places to return to. Such a set is hash-consed, so a state is an int, equal sets get the same int,
    and everything that follows from a state (its next states, its masks) is remembered by that int.
    **States and stack sets are the same thing**: a tail is the state that the machine is in when the callee has
    ended, so returning is a union.

Layers, each a class that extends the one before
    ``kernel.position_sets``   dets: interned sets of positions
    ``kernel.dets``            what a byte does with a det, within one rule
    ``kernel.stacks``          nodes: sets of stacks of dets, in canonical form
    this file                  threads, rows and epochs: what a byte does to a state

    What only some grammars need stands beside them: ``set_loops``, ``pending`` (guards), ``token_budgets``; ``holes``
    and ``distance`` answer questions about nodes.

Data
    thread     one way to read a byte from a node: ``(det, tail)`` after all calls are entered, five ints in ``exp``;
               for a round of a counted loop also the loop's det (negative if it is in no region), count and tail;
               for a guard its pending id, for a budget the tokens so far, as count.
    pending    rules that are called, each with the union of its return stacks, in a heap: callers first.
    row        ``rows[r + class]``: the row of the next node, 0 dead, -1 not built yet. Rows are only made
               for nodes that are stepped from.

Lowering guarantees: a call consumes at least one byte (nullable calls have an epsilon beside them), no rule
reaches itself by calls before its first byte (left recursion is rewritten), every position can be completed.
So the entry of calls ends, and no reachable node is a dead end.

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
    from cython.cimports.constrained.kernel.hashing import bit
    from cython.cimports.constrained.kernel.item_choice import is_open, part_of
    from cython.cimports.constrained.kernel.memory import (
        drop_int,
        grow_int,
        moved,
        out_of_memory,
        unset_ints,
        wider,
        zero_ints,
    )
    from cython.cimports.constrained.kernel.pending import add_guarded
    from cython.cimports.constrained.kernel.position_sets import BUDGET, END_DET, GUARD
    from cython.cimports.constrained.kernel.program import Program
    from cython.cimports.constrained.kernel.set_entry import enter_open, enter_set, first_open
    from cython.cimports.constrained.kernel.stacks import ROOT_NODE, Stacks
    from cython.cimports.constrained.kernel.token_budgets import step_budget
    from cython.cimports.constrained.kernel.unions import unite
else:
    from constrained.kernel.hashing import bit
    from constrained.kernel.item_choice import is_open, part_of
    from constrained.kernel.memory import drop_int, grow_int, moved, out_of_memory, unset_ints, wider, zero_ints
    from constrained.kernel.pending import add_guarded
    from constrained.kernel.position_sets import BUDGET, END_DET, GUARD
    from constrained.kernel.set_entry import enter_open, enter_set, first_open
    from constrained.kernel.stacks import ROOT_NODE, Stacks
    from constrained.kernel.token_budgets import step_budget
    from constrained.kernel.unions import unite

from constrained.kernel.stacks import ThreadLimitReached  # noqa: E402, F401 - a Python name in both modes

WORD = cython.declare(cython.longlong, 0xFFFFFFFF)
MAPPED = cython.declare(cython.longlong, 1 << 23)
"""Half of what ``memory.wider`` makes of an array that has become large."""


@cython.final
@cython.cclass
class Automaton(Stacks):
    """One lowered grammar and everything that has been found out about it. See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            self._drop_rows()
            drop_int(self.pend_tail)

    else:

        def __new__(cls, *args):
            self = Stacks.__new__(cls)
            self.lock = cython.pymutex()
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            self.may = [0] * 8
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load(self, program: Program, max_threads: cython.int) -> cython.int:
        """Read ``program``; this comes first. ``max_threads``: largest number of elements of one node."""
        self.load_program(program)
        self.load_stacks(max_threads)
        if self.n_rules >= self.pend_cap:
            self.pend_cap = self.n_rules + 32
            self.pend_tail = grow_int(self.pend_tail, 2 * self.pend_cap)
            if not self.pend_tail:
                out_of_memory()
            self.heap = moved(self.pend_tail, self.pend_cap, self.heap, 0, self.pend_cap)
            zero_ints(self.pend_tail, 0, self.pend_cap)
        if self.n_count == 0:
            self._forget()
        self.epoch = 0
        return self._start()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def leave(self, most: cython.longlong) -> cython.int:
        """Forget the program: ``load`` may bring another one. Tables stay, if they are not larger than ``most`` bytes.

        Not of a program with guards, sets of a loop that are read together, or positions that are made.
        """
        self.clear_scratch()
        if self.memory_bytes() > most:
            self._drop_rows()
        self._forget()
        self.program = None
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _drop_rows(self) -> cython.void:
        """Give back what an epoch has grown, so that the next one starts small."""
        self._drop_dets()
        self._drop_nodes()
        self.exp = drop_int(self.exp)
        self.rows = drop_int(self.rows)
        self.row_piece = drop_int(self.row_piece)
        self.exp_cap = 0
        self.rows_cap = 0
        self.rows_room = 0
        self.row_cap = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _forget(self) -> cython.int:
        """Forget every det, node and row. What is left is the same for every program."""
        self.exp_len = 0
        self.rows_len = 0
        self.forget_dets()
        self.forget_nodes()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _start(self) -> cython.int:
        """Find the first state, all else forgotten."""
        i: cython.int
        self.unset_names()
        if self.guard_loop >= 0:
            self.guard_det = self.loop_det(self.guard_loop)
        self.rows_cap = min(self.rows_room, self.row_cap * self.n_classes)
        self._new_row(-1)
        zero_ints(self.rows, 0, self.n_classes)
        self.buf[0] = self.program.start
        i = self.closure(1)
        i = self.intern_det(i)
        self.add_pair(i, ROOT_NODE)
        self.start = self.canonical(0)
        self.epoch += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_epoch(self) -> cython.int:
        """Forget every det, node and row. Called with the lock held."""
        self._drop_rows()
        self._forget()
        return self._start()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear_scratch(self) -> cython.void:
        """Empty the stacks of work in progress, after an exception."""
        self.clear_stacks()
        self.heap_len = 0
        zero_ints(self.pend_tail, 0, self.n_rules)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def memory_bytes(self) -> cython.longlong:
        """Bytes held by what was found out, capacity counted; the program, and what is as large as it, is not."""
        rows: cython.longlong = self.rows_cap - _idle(self.rows_cap, self.rows_len, 1)
        idle: cython.longlong = (
            _idle(self.exp_cap, self.exp_len, 1) + _idle(self.n_cap, self.n_count, 10)
            + _idle(self.el_cap, self.el_len, 3) + _idle(self.d_cap, self.d_count, 12)
            + _idle(self.d_pool_cap, self.d_pool_len, 1) + _idle(self.d_rows_cap, self.d_rows_len, 1)
            + _idle(self.firsts_cap, self.firsts_len, 1) + _idle(self.calls_cap, self.calls_len, 1)
            + _idle(self.split_cap, self.split_len, 1)
            + _idle(self.registers.pool_cap, self.registers.pool_len, 1))
        return (self.bytes_of_dets() + self.bytes_of_nodes()
                + 4 * (cython.cast(cython.longlong, self.exp_cap) + rows + 2 * (rows // self.n_classes) - idle))

    # ---- threads: entering calls -------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _add_thread(self, d: cython.int, n: cython.int, loop: cython.int, c: cython.int,
                    below: cython.int) -> cython.int:
        i: cython.int = self.exp_len
        if i + 5 > self.exp_cap:
            self.exp_cap = 1280 if self.exp_cap == 0 else wider(self.exp_cap, 1)
            self.exp = grow_int(self.exp, self.exp_cap)
            if not self.exp:
                out_of_memory()
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
            enter_set(self, loop, c, n)
            if self.l_open[loop] != 0:
                enter_open(self, loop, c, n)
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
                self.pend(rule, k)
            return 0
        if self.d_flags[d] & 10:
            self._add_thread(d, n, 0, 0, 0)
        if self.d_flags[d] & 4:
            self.det_calls(d)
            for i in range(self.d_ncall[d]):
                k = self.push(self.calls[self.d_call[d] + 2 * i + 1], n)
                if k != 0:
                    self.pend(self.calls[self.d_call[d] + 2 * i], k)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def pend(self, rule: cython.int, n: cython.int) -> cython.int:
        """Remember that ``rule`` is called with return stacks ``n``; rules wait in a heap, callers first."""
        i: cython.int
        up: cython.int
        if self.pend_tail[rule] != 0:
            n = unite(self, self.pend_tail[rule], n)
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

    # ---- steps -------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _new_row(self, node: cython.int) -> cython.int:
        r: cython.int = self.rows_len
        n: cython.int = self.n_classes
        if r + n > self.rows_cap:
            self._grow_rows(wider(r + n + 512, 1))
        unset_ints(self.rows, r, n)
        self.row_node[r // n] = node
        self.row_open[r // n] = 0
        self.rows_len = r + n
        return r

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_rows(self, cap: cython.int) -> cython.int:
        """Room for ``cap`` cells."""
        n: cython.int = self.rows_len // self.n_classes
        most: cython.int = cap // self.n_classes + 2
        piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 2 * most)
        rows: cython.p_int = grow_int(self.rows, cap)
        if rows:
            self.rows = rows
        if not (piece and rows):
            drop_int(piece)
            out_of_memory()
        self.row_node = moved(piece, 0, self.row_node, n, most)
        self.row_open = moved(piece, most, self.row_open, n, most)
        drop_int(self.row_piece)
        self.row_piece = piece
        self.rows_cap = cap
        self.rows_room = cap
        self.row_cap = most - 2
        return 0

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
        i: cython.int
        bits: cython.uint
        n: cython.int = self.n_classes
        rows: cython.p_int
        zero_ints(self.may, 0, 8)
        self.first_classes(node, self.may)
        rows = self.rows
        zero_ints(rows, row, n)
        for i in range((n + 31) >> 5):
            bits = cython.cast(cython.uint, self.may[i] & WORD)
            k = row + 32 * i
            while bits != 0:
                if bits & 1:
                    rows[k] = -1
                bits = bits >> 1
                k += 1
        self.row_open[row // n] = 1
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
            c = self.guards.step[c * self.n_classes + k]
            if c < 0:
                return 0
            k = self.step(self.row_of(n), k)  # no guards in the node: one level deep
            if k != 0:
                add_guarded(self, c, self.row_node[k // self.n_classes])
            return 0
        if self.budgets and self.d_loop[d] >= 0 and self.l_rule[self.d_loop[d]] == BUDGET:
            return step_budget(self, d, n, c, k)
        row: cython.int = self.d_row[d]
        to: cython.int = -1
        if row >= 0:
            to = self.d_rows[row + k]
        if to < 0:
            to = self.det_step(d, k)
        if to != 0:
            self.add_pair(to, n)
        return 0

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
                            self.need_buf(n + 1)
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

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def first_classes(self, node: cython.int, out: cython.p_int) -> cython.int:
        """OR into the eight words ``out`` the byte classes that can follow ``node``."""
        i: cython.int
        j: cython.int
        f: cython.int
        firsts: cython.p_int
        self.expand(node)
        for i in range(self.n_nexp[node]):
            f = self.n_exp[node] + 5 * i
            if self.exp[f] == self.guard_det:
                self.first_guarded(self.exp[f + 3], self.exp[f + 1], out)
                continue
            if self.choices and is_open(self, self.exp[f + 1]):
                j = part_of(self, self.exp[f + 1], False)
                first_open(self, self.exp[f], part_of(self, self.exp[f + 1], True), out)
                if j == 0:
                    continue
            f = self.det_first(self.exp[f])
            firsts = self.firsts
            for j in range(8):
                out[j] = out[j] | firsts[f + j]
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
                if (self.firsts[f + (k >> 5)] >> (k & 31)) & 1 and self.guards.step[c * self.n_classes + k] >= 0:
                    out[k >> 5] = out[k >> 5] | bit(k & 31)
        return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _idle(cap: cython.longlong, used: cython.longlong, width: cython.int) -> cython.longlong:
    """Of so large an array that it is mapped (``memory.wider``) the ints that were never written: they take nothing."""
    return (cap - used) * width if cap * width > MAPPED else 0


# Uncompiled, attributes do not exist until they are set; compiled, automaton.pxd declares them.
_COUNTERS = "epoch start exp_len exp_cap rows_len rows_cap rows_room row_cap heap_len pend_cap".split()
_POINTERS = "pend_tail heap exp rows row_piece row_node row_open".split()
