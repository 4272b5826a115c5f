# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Hole nodes of automata with guards: what a thread reads although a guard looks through the stack.

Idea
    What a thread reads does not depend on the stacks below it, so it is run over HOLE (``mask_records``). With guards
    (``engine.guards``) two things do: a pending guard goes along with the thread, and a thread whose rule can only end
    under pending ids that the stacks below do not survive is dead. The first becomes part of the hole node: it is
    guarded itself. Of the second only a few answers count, whether the stacks survive the pending ids with which the
    thread's rule can end at all; those that they do not are the *dead set* of the hole.

Data
    dead set    a node that is never read, ``(END, number, 0)``, 0 for none; HOLE has it for a tail. Memo 14 of the
                automaton tells (dead set, pending id) that are in it, memo 15 the set with one more; memo 16 the dead
                set of (ends, stacks), memo 17 the node of (det, pending id) without one
    ends        ``pool[at] .. + pool[at - 1]``: the pending ids but 0 with which a det's rule can end under a pending
                id, sorted; ``at`` is memo 11 of (det, pending id)

Nearly all dead sets are empty, so that threads share what is found. Cost: 20 ns for each end of a thread.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.hashing import sort_ints
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.pending import add_guarded, node_lives
    from cython.cimports.constrained.kernel.position_sets import END_DET, HOLE_DET
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.hashing import sort_ints
    from constrained.kernel.memory import grow_int
    from constrained.kernel.pending import add_guarded, node_lives
    from constrained.kernel.position_sets import END_DET, HOLE_DET


@cython.final
@cython.no_gc
@cython.cclass
class GuardHoles:
    """See the module docstring. ``make`` comes first; the automaton's lock is held by every other caller."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.pool)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.epoch = self.n_sets = self.pool_len = self.pool_cap = 0
            self.pool = None
            return self

    @cython.cfunc
    @cython.exceptval(check=False)
    def make(self, automaton: Automaton) -> cython.void:
        self.a = automaton

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """Nodes and dets have other numbers if there is a new epoch."""
        if self.epoch != self.a.epoch:
            self.epoch = self.a.epoch
            self.pool_len = 0
            self.n_sets = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _out_of_memory(self) -> cython.int:
        with cython.gil:
            raise MemoryError("the ends of guarded rules could not grow")

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _ends(self, d: cython.int, c: cython.int) -> cython.int:
        """Where ``pool`` has the pending ids with which the rule of det ``d`` can end under ``c``."""
        at: cython.int = self.a.memo.get(11, d, c)
        i: cython.int
        j: cython.int
        k: cython.int
        p: cython.int
        if at != -2:
            return at
        at = self.pool_len + 1
        k = at
        for i in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d]):
            p = self.a.d_pool[i]
            p = self.a.guards.pair(p, c)
            if p < 0:  # not met by the survey: it does not get there
                continue
            for j in range(self.a.guards.out_offsets[p], self.a.guards.out_offsets[p + 1]):
                if self.a.guards.outs[j] != 0:
                    if k >= self.pool_cap:
                        self.pool_cap = 2 * k + 64
                        self.pool = grow_int(self.pool, self.pool_cap)
                        if not self.pool:
                            self._out_of_memory()
                    self.pool[k] = self.a.guards.outs[j]
                    k += 1
        if k == at:
            at = 0
        else:
            sort_ints(self.pool, at, k)
            j = at
            for i in range(at, k):
                if j == at or self.pool[i] != self.pool[j - 1]:
                    self.pool[j] = self.pool[i]
                    j += 1
            self.pool[at - 1] = j - at
            self.pool_len = j
        self.a.memo.put(11, d, c, at)
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def dead_set(self, d: cython.int, c: cython.int, n: cython.int) -> cython.int:
        """Which ends of det ``d`` under pending id ``c`` the stacks ``n`` do not survive."""
        at: cython.int = self._ends(d, c)
        i: cython.int
        found: cython.int = 0
        if at == 0:
            return 0
        i = self.a.memo.get(16, at, n)
        if i >= 0:
            return i
        for i in range(at, at + self.pool[at - 1]):
            if not node_lives(self.a, self.pool[i], n):
                found = self._with(found, self.pool[i])
        self.a.memo.put(16, at, n, found)
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _with(self, dead: cython.int, c: cython.int) -> cython.int:
        """A dead set with one more. They are put together in order, so that equal ones are one."""
        more: cython.int = self.a.memo.get(15, dead, c)
        base: cython.int
        i: cython.int
        if more != -2:
            return more
        self.n_sets += 1
        base = self.a.it_len
        self.a.add_item(END_DET, self.n_sets, 0)
        more = self.a.canonical(base)
        for i in range(self.a.guards.n_pending):
            if i == c or (dead != 0 and self.a.memo.get(14, dead, i) == 1):
                self.a.memo.put(14, more, i, 1)
        self.a.memo.put(15, dead, c, more)
        return more

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def thread_node(self, d: cython.int, count: cython.int, c: cython.int, dead: cython.int) -> cython.int:
        """Det ``d`` (a loop's with ``count``) under pending id ``c`` over HOLE with a dead set; 0: it is dead."""
        base: cython.int = self.a.it_len
        n: cython.int
        if count == 0 and dead == 0:
            n = self.a.memo.get(17, d, c)
            if n != -2:
                return n
        self.a.add_item(HOLE_DET, 0, dead)
        n = self.a.canonical(base)
        self.a.add_item(d, count, n)
        n = self.a.canonical(base)
        if c != 0:
            n = self.under(c, n)
        if count == 0 and dead == 0:
            self.a.memo.put(17, d, c, n)
        return n

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def under(self, c: cython.int, n: cython.int) -> cython.int:
        """The stacks ``n`` under pending id ``c``."""
        r: cython.int = self.a.memo.get(4, c, n)
        base: cython.int
        if r == -2:
            base = self.a.it_len
            add_guarded(self.a, c, n)
            r = self.a.canonical(base)
            self.a.memo.put(4, c, n, r)
        return r
