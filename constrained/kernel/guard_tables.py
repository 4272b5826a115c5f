# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The tables of ``engine.guards`` as the automaton reads them, and the stack of questions about them.

A *pending id* is a set of guards that are open, with how far each has read; 0 is none.

    may_end[c]                       the text may end while ``c`` is pending
    step[c * n_classes + k]          the pending id after a byte of class ``k``; negative: what stands under it is dead
    join[c * n_pending + d]          both are pending; negative: they were not expected to meet
    pair_first[p] .. pair_first[p + 1]   the pairs of position ``p`` that the survey has met, by pending id
    pair_pending[i]                  the pending id of a pair
    outs[out_offsets[i] .. out_offsets[i + 1]]   with which pending ids the rule can end that is read from ``i``: a
                                     position with nothing pending, or ``n_positions + j`` for pair ``j``
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import copy_ints, drop_int, grow_int, out_of_memory
else:
    from constrained.kernel.memory import copy_ints, drop_int, grow_int, out_of_memory


@cython.final
@cython.cclass
class GuardTables:
    """See the module docstring. Without guards there is one pending id, 0, and no table. ``load`` comes first."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.may_end)
            drop_int(self.step)
            drop_int(self.join)
            drop_int(self.pair_first)
            drop_int(self.pair_pending)
            drop_int(self.out_offsets)
            drop_int(self.outs)
            drop_int(self.todo_c)
            drop_int(self.todo_n)

    else:

        def __new__(cls):
            self = object.__new__(cls)
            self.may_end = self.step = self.join = self.pair_first = self.pair_pending = None
            self.out_offsets = self.outs = self.todo_c = self.todo_n = None
            self.todo_cap = self.n_todo = 0
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load(self, guards) -> cython.int:
        """``guards``: the tables of ``engine.guards``, or None."""
        p: cython.int = 0
        i: cython.int
        n_pairs: cython.int
        self.n_pending = 1
        self.n_positions = 0
        if guards is None:
            return 0
        self.n_pending = guards.n_pending
        n_pairs = len(guards.pair_position)
        self.n_positions = len(guards.out_offsets) - 1 - n_pairs
        positions: cython.int[::1] = guards.pair_position
        self.may_end = copy_ints(self.may_end, guards.may_end)
        self.step = copy_ints(self.step, guards.step)
        self.join = copy_ints(self.join, guards.join)
        self.pair_first = grow_int(self.pair_first, self.n_positions + 1)
        self.pair_pending = copy_ints(self.pair_pending, guards.pair_pending)
        self.out_offsets = copy_ints(self.out_offsets, guards.out_offsets)
        self.outs = copy_ints(self.outs, guards.outs)
        if not (self.may_end and self.step and self.join and self.pair_first and self.pair_pending
                and self.out_offsets and self.outs):
            out_of_memory()
        for i in range(n_pairs):
            while p <= positions[i]:
                self.pair_first[p] = i
                p += 1
        while p <= self.n_positions:
            self.pair_first[p] = n_pairs
            p += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pair(self, p: cython.int, c: cython.int) -> cython.int:
        """Where ``out_offsets`` has position ``p`` under pending id ``c``; -1 for a pair that was not met."""
        i: cython.int
        if c == 0:
            return p
        for i in range(self.pair_first[p], self.pair_first[p + 1]):
            if self.pair_pending[i] == c:
                return self.n_positions + i
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def push(self, c: cython.int, n: cython.int) -> cython.int:
        """Ask whether the stacks ``n`` live under ``c``, before what waits for it (see ``kernel.pending``)."""
        if self.n_todo >= self.todo_cap:
            self.todo_cap = 64 if self.todo_cap == 0 else self.todo_cap * 2
            self.todo_c = grow_int(self.todo_c, self.todo_cap)
            self.todo_n = grow_int(self.todo_n, self.todo_cap)
            if not (self.todo_c and self.todo_n):
                out_of_memory()
        self.todo_c[self.n_todo] = c
        self.todo_n[self.n_todo] = n
        self.n_todo += 1
        return 0
