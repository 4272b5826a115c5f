# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which tokens can be read from a node, found by walking the vocabulary's trie.

Idea
    A walk begins at the root of the trie, or behind the places of an exit group, with a node of the automaton. Small
    subtrees are read node by node. In a large one the threads in *regions* are served by ``HoleRegions`` (a finished
    row and a few exits), the others go on by their first bytes.

Beside a region
    "Any string but these keys" is no region while the text may still become one of the keys, and it reads nearly what
    the string's body reads. Where most bytes lead from a det ``p`` to the det ``q`` of a region, both are read side by
    side along the few bytes where they differ. As long as ``p`` does what ``q`` does inside the region, ``q``'s row is
    the right one. Where ``p`` cannot follow, ``q``'s tokens below are ``cut``; the trie nodes that only ``q`` reaches
    are ``excluded`` from its exits; and what only ``p`` can do is walked. Where ``p`` goes on to something else while
    ``q`` is inside, this does not apply, and ``p`` is walked like any other.

Literals
    A key's bytes are followed down the trie without states, up to the first position that does anything else. What is
    read from there begins a new record, at the group of the ``places`` reached, so that all keys share it.

Result
    ``tk[:n_tk]`` tokens (some perhaps twice); ``wb[:n_wb]`` wides whose rows belong to it, without the tokens
    ``cuts[wb_lo[i]:wb_hi[i]]``; ``dense``: ``marks`` has more. With ``hook``, for a node over HOLE, where the stacks
    below go on is told to ``groups``.

Cost: 2-3 ns a trie node; 1.4 in large walks without a hook.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.exit_groups import ROOT_GROUP, ExitGroups
    from cython.cimports.constrained.kernel.hole_regions import HoleRegions
    from cython.cimports.constrained.kernel.holes import fill_hole
    from cython.cimports.constrained.kernel.memory import copy_ints, grow_int
    from cython.cimports.constrained.kernel.pending import lives
    from cython.cimports.constrained.kernel.stacks import HOLE_NODE
    from cython.cimports.constrained.kernel.token_budgets import is_used_up
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free, realloc
    from cython.cimports.libc.string import memset
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.exit_groups import ROOT_GROUP, ExitGroups
    from constrained.kernel.hole_regions import HoleRegions
    from constrained.kernel.holes import fill_hole
    from constrained.kernel.memory import copy_ints, grow_int
    from constrained.kernel.pending import lives
    from constrained.kernel.stacks import HOLE_NODE
    from constrained.kernel.token_budgets import is_used_up
    from constrained.kernel.token_trie import TokenTrie

from array import array

SMALL_SUBTREE = cython.declare(cython.int, 1500)
SMALL_WITHOUT_REGIONS = cython.declare(cython.int, 20_000)
LARGE_SUBTREE = cython.declare(cython.int, 1000)
MANY_NODES = cython.declare(cython.int, 30_000)
FEW_BYTES = cython.declare(cython.int, 32)
MANY_PAIRS = cython.declare(cython.int, 20_000)
MANY_CUT = cython.declare(cython.int, 60_000)
HOLE = cython.declare(cython.int, 2)
NEAR = cython.declare(cython.int, 16)
FEW_POSITIONS = cython.declare(cython.int, 8)


class WalkLimitReached(Exception):
    """One mask walked subtrees of more than ``max_walk_nodes`` trie nodes in all."""


@cython.final
@cython.cclass
class TokenWalk:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.path)
            free(self.path_b)
            free(self.path_c)
            free(self.path_d)
            free(self.run_x)
            free(self.run_row)
            free(self.task_x)
            free(self.task_node)
            free(self.rest_d)
            free(self.rest_n)
            free(self.rest_c)
            free(self.first)
            free(self.tk)
            free(self.wb)
            free(self.wb_lo)
            free(self.wb_hi)
            free(self.cuts)
            free(self.cut)
            free(self.places)
            free(self.excluded)
            free(self.pair_x)
            free(self.pair_p)
            free(self.pair_q)
            free(self.only_x)
            free(self.only_d)
            free(self.side)
            free(self.class_off)
            free(self.class_bytes)
            free(self.marks)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    def __init__(self, automaton: Automaton, trie: TokenTrie, regions: HoleRegions, groups: ExitGroups,
                 max_walk_nodes: cython.longlong):
        self.a = automaton
        self.t = trie
        self.r = regions
        self.groups = groups
        self.max_walk_nodes = max_walk_nodes
        self.plain = automaton.guard_loop < 0 and not automaton.budgets
        self.small = SMALL_SUBTREE if len(regions.regions) > 1 else SMALL_WITHOUT_REGIONS
        self.path = grow_int(self.path, trie.max_depth + 2)
        self.first = grow_int(self.first, 8)
        n: cython.int = 0
        b: cython.int
        k: cython.int
        offsets = array("i")
        members = array("i")
        for k in range(automaton.n_classes):
            offsets.append(n)
            for b in range(256):
                if automaton.cls[b] == k:
                    members.append(b)
                    n += 1
        offsets.append(n)
        self.class_off = copy_ints(self.class_off, offsets)
        self.class_bytes = copy_ints(self.class_bytes, members)
        if not (self.path and self.first and self.class_off and self.class_bytes):
            raise MemoryError

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """A new epoch: dets have other numbers."""
        self.side_len = 0
        self.read_q = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _out_of_memory(self) -> cython.int:
        with cython.gil:
            raise MemoryError("the walk could not grow")

    # ---- a walk --------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _begin(self, hook: cython.bint) -> cython.void:
        self.hook = hook
        self.n_tk = 0
        self.n_wb = 0
        self.n_tasks = 0
        self.n_runs = 0
        self.run_nodes = 0
        self.n_places = 0
        self.rest = 0
        self.n_cuts = 0
        self.beside = False
        self.has_beside = False
        self.dense = False
        self.groups.begin()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def from_root(self, node: cython.int, hook: cython.bint) -> cython.int:
        """Walk from ``node`` at the root of the trie."""
        self._begin(hook)
        self._push_task(0, node)
        return self._work()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def from_group(self, g: cython.int, node: cython.int, hook: cython.bint) -> cython.int:
        """Walk from ``node`` behind the places of exit group ``g`` (2 and up)."""
        row: cython.int = self.a.row_of(node)
        at: cython.int = self.groups.g_off[g]
        kinds: cython.int = self.groups.pool[at + 8]
        lo: cython.int = at + 10 + 2 * kinds
        hi: cython.int
        i: cython.int
        j: cython.int
        k: cython.int
        t: cython.int
        bars: cython.int
        nodes: cython.p_int
        self._begin(hook)
        for i in range(8):
            self.first[i] = 0
        self.a.first_classes(node, self.first)
        for i in range(kinds):
            hi = at + self.groups.pool[at + 10 + 2 * i]
            k = self.a.cls[self.groups.pool[at + 9 + 2 * i]]
            if (self.first[k >> 5] >> (k & 31)) & 1:
                t = self.a.step(row, k)
                if t != 0:
                    for j in range(lo, hi):
                        self._reach(self.groups.pool[j], t)
            lo = hi
        hi = lo + self.groups.pool[at + 9 + 2 * kinds]
        bars = hi
        while lo < hi:
            for k in range(self.a.n_classes):
                if not (self.first[k >> 5] >> (k & 31)) & 1:
                    continue
                t = self.a.step(row, k)
                if t == 0:
                    continue
                for i in range(self.class_off[k], self.class_off[k + 1]):
                    j = self.r.exit_list(self.groups.pool[lo], self.class_bytes[i])
                    nodes = self.r.xl[j]
                    for j in range(self.r.xl_len[2 * j], self.r.xl_len[2 * j + 1]):
                        if self.groups.pool[bars] == 0 or not self.groups.is_barred(
                                bars, self.groups.pool[lo], nodes[j]):
                            self._reach(nodes[j], t)
            lo += 1
        return self._work()

    # ---- literals ------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_literal(self, d: cython.int) -> cython.bint:
        """Whether all edges of det ``d`` read the same byte."""
        i: cython.int
        j: cython.int
        p: cython.int
        b: cython.int = -1
        if self.a.d_len[d] > FEW_POSITIONS:
            return False
        for i in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d]):
            p = self.a.d_pool[i]
            for j in range(self.a.p_off[4 * p], self.a.p_off[4 * p + 1]):
                if self.a.e_a[j] != self.a.e_b[j] or (b >= 0 and self.a.e_a[j] != b):
                    return False
                b = self.a.e_a[j]
        return b >= 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _goes_on(self, p: cython.int) -> cython.bint:
        """Whether position ``p`` reads one byte and does nothing else."""
        at: cython.int = self.a.p_off[4 * p]
        return (at + 1 == self.a.p_off[4 * p + 1] and at + 1 == self.a.p_off[4 * p + 4]
                and self.a.e_a[at] == self.a.e_b[at] and self.a.p_loop[p] < 0 and not self.a.p_accept[p]
                and self.a.p_region[p] == 0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _skip(self, p: cython.int) -> cython.int:
        """What position ``p`` comes to where it has one epsilon and nothing else."""
        i: cython.int
        at: cython.int
        for i in range(NEAR):
            at = self.a.p_off[4 * p + 1]
            if not (self.a.p_off[4 * p] == at and at + 1 == self.a.p_off[4 * p + 2]
                    and at + 1 == self.a.p_off[4 * p + 4] and self.a.p_loop[p] < 0 and not self.a.p_accept[p]):
                break
            p = self.a.e_to[at]
        return p

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _add_place(self, x: cython.int) -> cython.int:
        """Trie node ``x`` has been read by the literal: take its token, and go on below it."""
        if self.t.token[x] != self.t.spare:
            self._need_tokens(1)
            self.tk[self.n_tk] = self.t.token[x]
            self.n_tk += 1
        if self.t.end[x] > x + 1:
            if self.n_places >= self.place_cap:
                self.place_cap = 64 if self.place_cap == 0 else self.place_cap * 2
                self.places = grow_int(self.places, self.place_cap)
                if not self.places:
                    self._out_of_memory()
            self.places[self.n_places] = x
            self.n_places += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def follow(self, g: cython.int, d: cython.int, hook: cython.bint) -> cython.int:
        """Read what literal det ``d`` reads at group ``g``, without states, up to where something else begins.

        That is node ``rest`` over HOLE at the trie nodes ``places``; 0 where nothing is left.
        """
        p: cython.int
        b: cython.int = -1
        i: cython.int
        j: cython.int
        n: cython.int
        c: cython.int
        at: cython.int
        lo: cython.int
        nodes: cython.p_int
        self._begin(hook)
        for i in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d]):
            p = self.a.d_pool[i]
            if self.a.p_off[4 * p] != self.a.p_off[4 * p + 1]:
                b = self.a.e_a[self.a.p_off[4 * p]]
        if g == ROOT_GROUP:
            c = self.t.children[self.t.child_table(0) + b]
            if c != 0:
                self._add_place(c)
        else:
            at = self.groups.g_off[g]
            n = self.groups.pool[at + 8]
            lo = at + 10 + 2 * n
            for i in range(n):
                j = at + self.groups.pool[at + 10 + 2 * i]
                if self.groups.pool[at + 9 + 2 * i] == b:
                    while lo < j:
                        self._add_place(self.groups.pool[lo])
                        lo += 1
                lo = j
            at = lo + self.groups.pool[at + 9 + 2 * n]
            while lo < at:
                i = self.r.exit_list(self.groups.pool[lo], b)
                nodes = self.r.xl[i]
                for j in range(self.r.xl_len[2 * i], self.r.xl_len[2 * i + 1]):
                    if self.groups.pool[at] == 0 or not self.groups.is_barred(at, self.groups.pool[lo], nodes[j]):
                        self._add_place(nodes[j])
                lo += 1
        n = 0
        for i in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d]):
            p = self.a.d_pool[i]
            for j in range(self.a.p_off[4 * p], self.a.p_off[4 * p + 1]):
                self.a.need_buf(n + 1)
                self.a.buf[n] = self.a.e_to[j]
                n += 1
        p = self._skip(self.a.buf[0])
        while n == 1 and self.n_places > 0 and self._goes_on(p):
            b = self.a.e_a[self.a.p_off[4 * p]]
            at = self.n_places
            self.n_places = 0
            for i in range(at):  # not more are added than were read
                c = self.t._child(self.places[i], b)
                if c != 0:
                    self._add_place(c)
            p = self._skip(self.a.e_to[self.a.p_off[4 * p]])
        self.rest = 0
        if self.n_places == 0:
            return 0
        if n == 1:
            self.a.buf[0] = p
        n = self.a.closure(n)
        d = self.a.intern_det(n)
        at = self.a.it_len
        self.a.add_pair(d, HOLE_NODE)
        self.rest = self.a.canonical(at)
        if self.rest == HOLE_NODE:
            self.rest = 0
            if hook:
                for i in range(self.n_places):
                    self.groups.add_node(self.places[i])
            return 0
        n = 0
        for i in range(self.n_places):
            c = self.places[i]
            if self.t.end[c] - c > self.small:  # with a region below one finished row serves it all
                self._push_task(c, self.rest)
                if hook and self.stands(self.rest):
                    self.groups.add_node(c)
            else:
                self.places[n] = c
                n += 1
        self.n_places = n
        if n == 0:
            self.rest = 0
        return self._work()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def stands(self, node: cython.int) -> cython.bint:
        """Whether what is below a node over HOLE may go on: HOLE is its first element then, or a guard is."""
        d: cython.int
        if self.a.n_len[node] == 0:
            return False
        d = self.a.el_d[self.a.n_off[node]]
        return d == HOLE or d == self.a.guard_det

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _tell(self, x: cython.int, node: cython.int) -> cython.int:
        """Tell ``groups`` of trie node ``x``, or exit ``~x``, at which ``node`` stands."""
        i: cython.int
        m: cython.int
        for i in range(self.a.n_off[node], self.a.n_off[node] + self.a.n_len[node]):
            if self.a.el_d[i] == HOLE:
                if x >= 0:
                    self.groups.add_node(x)
                else:
                    self.groups.add_exit(~x)
            elif self.a.el_d[i] == self.a.guard_det:
                m = self.a.el_n[i]
                if self.a.el_d[self.a.n_off[m]] == HOLE:
                    self.groups.set_aside(self.a.el_c[i], x)
            else:
                break
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _take(self, x: cython.int, row: cython.int) -> cython.int:
        """Trie node ``x`` has been read and led to ``row``."""
        if self.t.token[x] != self.t.spare:
            self._need_tokens(1)
            self.tk[self.n_tk] = self.t.token[x]
            self.n_tk += 1
        if self.hook and self.t.end[x] > x + 1 and self.stands(self.a.row_node[row // self.a.n_classes]):
            self._tell(x, self.a.row_node[row // self.a.n_classes])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _reach(self, x: cython.int, row: cython.int) -> cython.int:
        """``_take``, and see to what is below."""
        size: cython.int = self.t.end[x] - x
        self._take(x, row)
        if size > self.small:
            self._push_task(x, self.a.row_node[row // self.a.n_classes])
        elif size > 1:
            self._push_run(x, row)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_tokens(self, more: cython.int) -> cython.int:
        if self.n_tk + more >= self.tk_cap:
            self.tk_cap = 2 * (self.n_tk + more) + 256
            self.tk = grow_int(self.tk, self.tk_cap)
            if not self.tk:
                self._out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _work(self) -> cython.int:
        """Do what waits. Tasks are (trie node, state), runs (trie node, row)."""
        x: cython.int
        c: cython.int
        k: cython.int
        t: cython.int
        b: cython.int
        row: cython.int
        table: cython.int
        node: cython.int
        wide: cython.bint
        while self.n_tasks > 0:
            self.n_tasks -= 1
            x = self.task_x[self.n_tasks]
            node = self.task_node[self.n_tasks]
            row = self.a.row_of(node)
            if self.t.end[x] - x <= self.small:
                self._push_run(x, row)
                continue
            if self.visited > self.max_walk_nodes:
                with cython.gil:
                    raise WalkLimitReached(self.visited)
            wide = self._split(node, x)
            table = self.t.child_table(x)
            for k in range(8):
                self.first[k] = 0
            if wide:
                self._first_of_rest()
            else:
                self.a.first_classes(node, self.first)
            for k in range(self.a.n_classes):
                if not (self.first[k >> 5] >> (k & 31)) & 1:
                    continue
                t = self._step_rest(k) if wide else self.a.step(row, k)
                if t == 0:
                    continue
                for b in range(self.class_off[k], self.class_off[k + 1]):
                    c = self.t.children[table + self.class_bytes[b]]
                    if c != 0:
                        self._reach(c, t)
        self._run_all()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def collect(self, x: cython.int, row: cython.int) -> cython.int:
        """Take the tokens below trie node ``x`` that the automaton can read from ``row``.

        The hot loop: no branch on tokens (nodes without one are overwritten), one on dead-or-unbuilt.
        """
        word: cython.p_int = self.t.word
        end: cython.p_int = self.t.end
        token: cython.p_int = self.t.token
        cls: cython.p_int = self.a.cls
        rows: cython.p_int = self.a.rows
        path: cython.p_int = self.path
        out: cython.p_int
        spare: cython.int = self.t.spare
        hook: cython.bint = self.hook
        n: cython.int = x + 1
        hi: cython.int = end[x]
        m: cython.int = self.n_tk
        w: cython.int
        d: cython.int
        t: cython.int
        self._need_tokens(hi - x)
        out = self.tk
        path[word[x] >> 8] = row
        while n < hi:
            w = word[n]
            d = w >> 8
            t = rows[path[d - 1] + cls[w & 255]]
            if t <= 0:
                if t < 0:
                    t = self.a.build(path[d - 1], cls[w & 255])
                    if t < 0:
                        return -1
                    rows = self.a.rows
                if t == 0:
                    n = end[n]
                    continue
            path[d] = t
            out[m] = token[n]
            m += token[n] != spare
            if hook and end[n] > n + 1 and self.stands(self.a.row_node[t // self.a.n_classes]):
                self._tell(n, self.a.row_node[t // self.a.n_classes])
            n += 1
        self.n_tk = m
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_run(self, x: cython.int, row: cython.int) -> cython.int:
        """Remember a subtree for ``_run_all``. Skipped nodes count as visited: counting one by one costs 5 %."""
        if self.n_runs >= self.run_cap:
            self.run_cap = 256 if self.run_cap == 0 else self.run_cap * 2
            self.run_x = grow_int(self.run_x, self.run_cap)
            self.run_row = grow_int(self.run_row, self.run_cap)
            if not (self.run_x and self.run_row):
                self._out_of_memory()
        self.run_x[self.n_runs] = x
        self.run_row[self.n_runs] = row
        self.n_runs += 1
        self.run_nodes += self.t.end[x] - x
        self.visited += self.t.end[x] - x
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _run_all(self) -> cython.int:
        """Walk the subtrees that were put off."""
        i: cython.int
        if self.visited > self.max_walk_nodes and self.run_nodes > SMALL_SUBTREE:
            with cython.gil:
                raise WalkLimitReached(self.visited)
        if self.run_nodes > MANY_NODES and not self.hook:
            self._run_lanes()
            return 0
        for i in range(self.n_runs):
            self.collect(self.run_x[i], self.run_row[i])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _run_lanes(self) -> cython.int:
        """``collect`` on all runs, four at a time, one byte a token.

        A node waits for its parent's row, which was stored a moment ago; four walks in turn hide that. Whole bytes are
        stored without being read first; ``pack_marks`` makes bits of them.
        """
        word: cython.p_int = self.t.word
        end: cython.p_int = self.t.end
        token: cython.p_int = self.t.token
        cls: cython.p_int = self.a.cls
        rows: cython.p_int = self.a.rows
        pa: cython.p_int = self.path
        pb: cython.p_int
        pc: cython.p_int
        pd: cython.p_int
        marks: cython.p_uchar
        q: cython.int = 0
        x: cython.int
        a: cython.int = 0
        b: cython.int = 0
        c: cython.int = 0
        d: cython.int = 0
        end_a: cython.int = 0
        end_b: cython.int = 0
        end_c: cython.int = 0
        end_d: cython.int = 0
        if not self.marks:
            self._make_marks()
        pb = self.path_b
        pc = self.path_c
        pd = self.path_d
        marks = self.marks
        while q < self.n_runs:
            x = self.run_x[q]
            if a >= end_a:
                pa[word[x] >> 8] = self.run_row[q]
                a = x + 1
                end_a = end[x]
                q += 1
            elif b >= end_b:
                pb[word[x] >> 8] = self.run_row[q]
                b = x + 1
                end_b = end[x]
                q += 1
            elif c >= end_c:
                pc[word[x] >> 8] = self.run_row[q]
                c = x + 1
                end_c = end[x]
                q += 1
            elif d >= end_d:
                pd[word[x] >> 8] = self.run_row[q]
                d = x + 1
                end_d = end[x]
                q += 1
            while a < end_a and b < end_b and c < end_c and d < end_d:
                a = _advance(a, word, end, token, cls, rows, pa, marks)
                b = _advance(b, word, end, token, cls, rows, pb, marks)
                c = _advance(c, word, end, token, cls, rows, pc, marks)
                d = _advance(d, word, end, token, cls, rows, pd, marks)
                if (a | b | c | d) < 0:
                    a = self._ready(a, pa)
                    b = self._ready(b, pb)
                    c = self._ready(c, pc)
                    d = self._ready(d, pd)
                    rows = self.a.rows
        self._finish_lane(a, end_a, pa)
        self._finish_lane(b, end_b, pb)
        self._finish_lane(c, end_c, pc)
        self._finish_lane(d, end_d, pd)
        self.dense = True
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _finish_lane(self, n: cython.int, hi: cython.int, path: cython.p_int) -> cython.int:
        while n < hi:
            n = _advance(n, self.t.word, self.t.end, self.t.token, self.a.cls, self.a.rows, path, self.marks)
            if n < 0:
                n = self._ready(n, path)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _ready(self, n: cython.int, path: cython.p_int) -> cython.int:
        """The node to go on with: ``n``, or after ``-1 - n`` from ``_advance`` node ``n``, its row being built now."""
        w: cython.int
        if n < 0:
            n = -1 - n
            w = self.t.word[n]
            self.a.build(path[(w >> 8) - 1], self.a.cls[w & 255])
        return n

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _make_marks(self) -> cython.int:
        n: cython.int = 32 * self.t.words + 8
        i: cython.int
        self.path_b = grow_int(self.path_b, self.t.max_depth + 2)
        self.path_c = grow_int(self.path_c, self.t.max_depth + 2)
        self.path_d = grow_int(self.path_d, self.t.max_depth + 2)
        if cython.compiled:
            self.marks = cython.cast(cython.p_uchar, realloc(self.marks, n))
        else:
            self.marks = [0] * n
        if not (self.path_b and self.path_c and self.path_d and self.marks):
            self._out_of_memory()
        for i in range(n):
            self.marks[i] = 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pack_marks(self, out: cython.p_uint) -> cython.void:
        """OR the marks into the row ``out``, and clear them."""
        marks: cython.p_uchar = self.marks
        i: cython.int
        k: cython.int
        w: cython.uint
        if cython.compiled:
            eight: cython.p_ulonglong = cython.cast(cython.p_ulonglong, marks)
            gather: cython.ulonglong = 0x0102040810204080
            eight[0] = 1
            if marks[0] == 1:  # the lowest byte comes first: eight marks become eight bits by one multiplication
                marks[0] = 0
                for i in range(self.t.words):
                    w = 0
                    for k in range(4):
                        w |= cython.cast(cython.uint, (eight[4 * i + k] * gather) >> 56) << (8 * k)
                    out[i] |= w
                memset(marks, 0, 32 * self.t.words)
                return
            eight[0] = 0
        for i in range(self.t.words):
            w = 0
            for k in range(32):
                w |= cython.cast(cython.uint, marks[32 * i + k]) << k
                marks[32 * i + k] = 0
            out[i] |= w

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_task(self, x: cython.int, node: cython.int) -> cython.int:
        if self.n_tasks >= self.task_cap:
            self.task_cap = 256 if self.task_cap == 0 else self.task_cap * 2
            self.task_x = grow_int(self.task_x, self.task_cap)
            self.task_node = grow_int(self.task_node, self.task_cap)
            if not (self.task_x and self.task_node):
                self._out_of_memory()
        self.task_x[self.n_tasks] = x
        self.task_node[self.n_tasks] = node
        self.n_tasks += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _add_rest(self, d: cython.int, n: cython.int, c: cython.int) -> cython.int:
        if self.n_rest >= self.rest_cap:
            self.rest_cap = 64 if self.rest_cap == 0 else self.rest_cap * 2
            self.rest_d = grow_int(self.rest_d, self.rest_cap)
            self.rest_n = grow_int(self.rest_n, self.rest_cap)
            self.rest_c = grow_int(self.rest_c, self.rest_cap)
            if not (self.rest_d and self.rest_n and self.rest_c):
                self._out_of_memory()
        self.rest_d[self.n_rest] = d
        self.rest_n[self.n_rest] = n
        self.rest_c[self.n_rest] = c
        self.n_rest += 1
        return 0

    # ---- threads in regions and others ---------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _split(self, node: cython.int, x: cython.int) -> cython.bint:
        """Serve the threads of ``node`` that are in regions; the others become the rest. False: there are none."""
        i: cython.int
        j: cython.int
        at: cython.int
        d: cython.int
        s: cython.int
        found: cython.bint = False
        self.n_rest = 0
        self.a.expand(node)
        for i in range(self.a.n_nexp[node]):
            at = self.a.n_exp[node] + 5 * i
            if self.a.exp[at + 2] > 0:
                found = True
            elif not is_used_up(self.a, self.a.exp[at], self.a.exp[at + 3]):
                s = self.a.split_det(self.a.exp[at])
                if self.a.split[s + 1] != 0 or self.beside_of(self.a.split[s]) != 0:
                    found = True
        if not found:
            return False
        for i in range(self.a.n_nexp[node]):
            at = self.a.n_exp[node] + 5 * i
            d = self.a.exp[at + 2]
            if d > 0:
                s = self.a.l_region[self.a.d_loop[d]]
                self._wide(self.r.hole_node(d, self.r.clamp(self.a.d_loop[d], self.a.exp[at + 3])), s,
                           self.a.exp[at + 4], x)
                continue
            if self.a.exp[at] == self.a.guard_det or is_used_up(self.a, self.a.exp[at], self.a.exp[at + 3]):
                self._add_rest(self.a.exp[at], self.a.exp[at + 1], self.a.exp[at + 3])
                continue
            # how many tokens of a budget are left does not matter within one token
            s = self.a.split_det(self.a.exp[at])
            if self.a.split[s] != 0 and not self._beside(self.a.split[s], self.a.exp[at + 1], x):
                self._add_rest(self.a.split[s], self.a.exp[at + 1], 0)
                s = self.a.split_det(self.a.exp[at])
            for j in range(self.a.split[s + 1]):
                d = self.a.split[s + 3 + 2 * j]
                # another part of the det may be the one that guards let live
                if self.a.guard_loop < 0 or lives(self.a, d, 0, self.a.exp[at + 1]):
                    self._wide(self.r.hole_node(d, 0), self.a.split[s + 2 + 2 * j], self.a.exp[at + 1], x)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _first_of_rest(self) -> cython.int:
        """OR into ``first`` the byte classes that the threads outside regions can read."""
        i: cython.int
        j: cython.int
        f: cython.int
        for i in range(self.n_rest):
            if self.rest_d[i] == self.a.guard_det:
                self.a.first_guarded(self.rest_c[i], self.rest_n[i], self.first)
                continue
            f = self.a.det_first(self.rest_d[i])
            for j in range(8):
                self.first[j] = self.first[j] | self.a.firsts[f + j]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _step_rest(self, k: cython.int) -> cython.int:
        """The row after a byte of class ``k`` from the threads outside regions."""
        base: cython.int = self.a.it_len
        i: cython.int
        for i in range(self.n_rest):
            self.a.step_thread(self.rest_d[i], self.rest_n[i], self.rest_c[i], k)
        return self.a.row_of(self.a.canonical(base))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _wide(self, u: cython.int, region: cython.int, n: cython.int, x: cython.int) -> cython.int:
        """Take what hole node ``u`` over the stacks ``n`` can read below trie node ``x``; ``beside``: but for what
        ``differ`` has found that it must not."""
        w: cython.int = self.r.wide_of(u, region, x)
        i: cython.int
        j: cython.int
        k: cython.int
        e: cython.int
        m: cython.int
        t: cython.int
        b: cython.int
        row: cython.int
        last: cython.int
        standing: cython.bint
        nodes: cython.p_int
        self._add_wide(w)
        for e in range(self.r.w_exit[w], self.r.w_exit[w] + self.r.w_nexit[w]):
            m = fill_hole(self.a, self.r.x_v[e], n)
            if m == 0:
                continue
            if self.hook and self.stands(m):
                if not self.beside:
                    self._tell(~e, m)
                elif self.groups.add_exit(e):  # no guards: see ``_find_side``
                    for i in range(self.n_excluded):
                        self.groups.bar(e, self.excluded[2 * i], self.excluded[2 * i + 1])
            for i in range(8):
                self.first[i] = 0
            self.a.first_classes(m, self.first)
            row = self.a.row_of(m)
            for k in range(self.a.n_classes):
                if not (self.first[k >> 5] >> (k & 31)) & 1:
                    continue
                t = self.a.step(row, k)
                if t == 0:
                    continue
                standing = self.hook and self.stands(self.a.row_node[t // self.a.n_classes])
                for b in range(self.class_off[k], self.class_off[k + 1]):
                    i = self.r.exit_list(e, self.class_bytes[b])
                    nodes = self.r.xl[i]
                    last = self.r.xl_len[2 * i + 1]
                    for j in range(self.r.xl_len[2 * i], last):
                        i = nodes[j]
                        if self.beside and self._is_excluded(i):
                            continue
                        self._need_tokens(1)
                        self.tk[self.n_tk] = self.t.token[i]
                        self.n_tk += self.t.token[i] != self.t.spare
                        if self.t.end[i] > i + 1:
                            if standing:
                                self._tell(i, self.a.row_node[t // self.a.n_classes])
                            self.visited += self.t.end[i] - i
                            self.collect(i, t)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _is_excluded(self, x: cython.int) -> cython.bint:
        i: cython.int
        for i in range(self.n_excluded):
            if self.excluded[2 * i] <= x and x < self.excluded[2 * i + 1]:
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _add_wide(self, w: cython.int) -> cython.int:
        """Take the row of wide ``w``; ``beside``: without the tokens that are ``cut``."""
        i: cython.int
        cutting: cython.bint = self.beside and self.n_cut > 0
        for i in range(self.n_wb):
            if self.wb[i] == w:
                if not cutting:
                    self.wb_hi[i] = self.wb_lo[i]
                if self.wb_hi[i] == self.wb_lo[i]:
                    return 0
        if self.n_wb >= self.wb_cap:
            self.wb_cap = 16 if self.wb_cap == 0 else self.wb_cap * 2
            self.wb = grow_int(self.wb, self.wb_cap)
            self.wb_lo = grow_int(self.wb_lo, self.wb_cap)
            self.wb_hi = grow_int(self.wb_hi, self.wb_cap)
            if not (self.wb and self.wb_lo and self.wb_hi):
                self._out_of_memory()
        self.wb[self.n_wb] = w
        self.wb_lo[self.n_wb] = self.n_cuts
        if cutting:
            if self.n_cuts + self.n_cut > self.cuts_cap:
                self.cuts_cap = 2 * (self.n_cuts + self.n_cut) + 16
                self.cuts = grow_int(self.cuts, self.cuts_cap)
                if not self.cuts:
                    self._out_of_memory()
            for i in range(self.n_cut):
                self.cuts[self.n_cuts] = self.cut[i]
                self.n_cuts += 1
        self.wb_hi[self.n_wb] = self.n_cuts
        self.n_wb += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_rows(self, out: cython.p_uint) -> cython.void:
        """OR the rows of the wides into ``out``, which is empty."""
        i: cython.int
        j: cython.int
        k: cython.int
        bit: cython.uint
        row: cython.p_uint
        for i in range(self.n_wb):
            row = self.r.w_row[self.wb[i]]
            for j in range(self.wb_lo[i], self.wb_hi[i]):
                k = self.cuts[j]
                if (out[k >> 5] >> (k & 31)) & 1:
                    self.cuts[j] = self.t.spare  # another row has it
            for j in range(self.t.words):
                out[j] |= row[j]
            for j in range(self.wb_lo[i], self.wb_hi[i]):
                k = self.cuts[j]
                if k != self.t.spare:
                    bit = cython.cast(cython.uint, 1) << (k & 31)
                    out[k >> 5] = (out[k >> 5] | bit) ^ bit

    # ---- beside a region -----------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def beside_of(self, p: cython.int) -> cython.int:
        """The det in a region to which most bytes lead from det ``p``, itself in none; 0 if there is none."""
        i: cython.int
        if p >= self.side_cap:
            self.side_cap = 2 * p + 64
            self.side = grow_int(self.side, self.side_cap)
            if not self.side:
                self._out_of_memory()
        while self.side_len <= p:
            self.side[self.side_len] = -1
            self.side_len += 1
        if self.side[p] < 0:
            i = self._find_side(p)
            self.side[p] = i
        return self.side[p]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _find_side(self, p: cython.int) -> cython.int:
        """A vote of the bytes (Boyer and Moore 1981); who wins is then looked at."""
        k: cython.int
        n: cython.int
        q: cython.int = 0
        votes: cython.int = 0
        f: cython.int
        if p == 0 or self.a.d_flags[p] != 2 or self.r.n_regions < 2 or self.a.guard_loop >= 0:
            return 0  # with guards, two ways to one end may differ in what they survive
        f = self.a.split_det(p)
        if self.a.split[f + 1] != 0:
            return 0
        f = self.a.det_first(p)
        n = 0
        for k in range(self.a.n_classes):
            if (self.a.firsts[f + (k >> 5)] >> (k & 31)) & 1:
                n += self.class_off[k + 1] - self.class_off[k]
        if n < FEW_BYTES:
            return 0
        f = self.a.det_row(p)
        for k in range(self.a.n_classes):
            if self.a.d_rows[f + k] == 0:
                continue
            n = self.class_off[k + 1] - self.class_off[k]
            if self.a.d_rows[f + k] == q:
                votes += n
            elif votes >= n:
                votes -= n
            else:
                votes = n - votes
                q = self.a.d_rows[f + k]
        if q == 0 or q == p or self.a.d_flags[q] != 2:
            return 0
        n = 0
        for k in range(self.a.d_off[q], self.a.d_off[q] + self.a.d_len[q]):
            f = self.a.p_region[self.a.d_pool[k]]
            if f != 0:
                if n != 0 and n != f:
                    return 0
                n = f
        return q if n != 0 else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_pair(self, x: cython.int, p: cython.int, q: cython.int) -> cython.int:
        if self.n_pairs >= self.pair_cap:
            self.pair_cap = 64 if self.pair_cap == 0 else self.pair_cap * 2
            self.pair_x = grow_int(self.pair_x, self.pair_cap)
            self.pair_p = grow_int(self.pair_p, self.pair_cap)
            self.pair_q = grow_int(self.pair_q, self.pair_cap)
            if not (self.pair_x and self.pair_p and self.pair_q):
                self._out_of_memory()
        self.pair_x[self.n_pairs] = x
        self.pair_p[self.n_pairs] = p
        self.pair_q[self.n_pairs] = q
        self.n_pairs += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_only(self, x: cython.int, d: cython.int) -> cython.int:
        if self.n_only >= self.only_cap:
            self.only_cap = 16 if self.only_cap == 0 else self.only_cap * 2
            self.only_x = grow_int(self.only_x, self.only_cap)
            self.only_d = grow_int(self.only_d, self.only_cap)
            if not (self.only_x and self.only_d):
                self._out_of_memory()
        self.only_x[self.n_only] = x
        self.only_d[self.n_only] = d
        self.n_only += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _exclude(self, lo: cython.int, hi: cython.int) -> cython.int:
        """Of the trie nodes behind ``q``'s exits those from ``lo`` to below ``hi`` do not count."""
        if self.n_excluded > 0 and self.excluded[2 * self.n_excluded - 1] == lo:
            self.excluded[2 * self.n_excluded - 1] = hi
            return 0
        if self.n_excluded >= self.excluded_cap:
            self.excluded_cap = 16 if self.excluded_cap == 0 else self.excluded_cap * 2
            self.excluded = grow_int(self.excluded, 2 * self.excluded_cap)
            if not self.excluded:
                self._out_of_memory()
        self.excluded[2 * self.n_excluded] = lo
        self.excluded[2 * self.n_excluded + 1] = hi
        self.n_excluded += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _cut(self, lo: cython.int, hi: cython.int) -> cython.int:
        """Of ``q``'s row the tokens at trie nodes from ``lo`` to below ``hi`` do not count."""
        x: cython.int
        if self.n_cut + hi - lo > self.cut_cap:
            self.cut_cap = 2 * (self.n_cut + hi - lo) + 16
            self.cut = grow_int(self.cut, self.cut_cap)
            if not self.cut:
                self._out_of_memory()
        for x in range(lo, hi):
            if self.t.token[x] != self.t.spare:
                self.cut[self.n_cut] = self.t.token[x]
                self.n_cut += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def differ(self, p: cython.int, q: cython.int, x: cython.int) -> cython.int:
        """Read ``p`` beside ``q`` below trie node ``x``. 0: ``p`` cannot follow; 1: it does what ``q`` does; 2: else.

        Fills ``excluded``, ``cut``, and ``only`` with (trie node, det) to walk: also where both leave right at ``x``,
        for a region's exits begin behind its first byte. What was found last is kept.
        """
        if self.read_p != p or self.read_q != q or self.read_x != x:
            self.read_q = 0  # should memory run out
            self.read = self._differ(p, q, x)
            self.read_p = p
            self.read_q = q
            self.read_x = x
        return self.read

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _differ(self, p: cython.int, q: cython.int, x: cython.int) -> cython.int:
        inside: cython.int
        out: cython.int
        b: cython.int
        c: cython.int
        k: cython.int
        s: cython.int
        t: cython.int
        region: cython.int
        table: cython.int
        goes_on: cython.bint
        leaves: cython.bint
        seen: cython.int = 0
        found: cython.int = 1
        self.n_pairs = 0
        self.n_only = 0
        self.n_excluded = 0
        self.n_cut = 0
        s = self.a.split_det(q)
        region = self.a.split[s + 2]
        self._push_pair(x, p, q)
        while self.n_pairs > 0:
            self.n_pairs -= 1
            x = self.pair_x[self.n_pairs]
            p = self.pair_p[self.n_pairs]
            q = self.pair_q[self.n_pairs]
            seen += 1
            s = self.a.split_det(q)
            if seen > MANY_PAIRS or self.a.split[s + 1] > 1 or (
                    self.a.split[s + 1] == 1 and self.a.split[s + 2] != region):
                return 0
            out = self.a.split[s]
            inside = self.a.split[s + 3] if self.a.split[s + 1] == 1 else 0
            table = self.t.child_table(x) if x == 0 or self.t.end[x] - x > LARGE_SUBTREE else -1
            self.a.det_row(p)  # each may move the rows of the others
            self.a.det_row(q)
            self.a.det_row(inside)
            for k in range(self.a.n_classes):
                s = self.a.d_rows[self.a.d_row[p] + k]
                t = self.a.d_rows[self.a.d_row[q] + k]
                goes_on = inside != 0 and self.a.d_rows[self.a.d_row[inside] + k] != 0
                if s == t and (seen > 1 or s == 0 or goes_on):
                    continue
                leaves = False
                if goes_on:
                    c = self.a.split_det(t)
                    leaves = self.a.split[c + 1] == 0 and not self.a.d_flags[t] & 16
                for b in range(self.class_off[k], self.class_off[k + 1]):
                    if table >= 0:
                        c = self.t.children[table + self.class_bytes[b]]
                    else:
                        c = self.t._child(x, self.class_bytes[b])
                    if c == 0:
                        continue
                    if goes_on and out != 0 and self.a.det_step(out, k) != 0:
                        return 0
                    if leaves:  # with this byte, so from ``c`` on both are outside
                        found = 2
                        self._exclude(c + 1, self.t.end[c])
                        if s != 0:
                            self._push_only(c, s)
                        else:
                            self._cut(c, c + 1)
                        continue
                    if goes_on and s == 0:  # nothing that ``q`` reads below ``c`` is right
                        if self.n_cut + self.t.end[c] - c > MANY_CUT:
                            return 0
                        found = 2
                        self._exclude(c, self.t.end[c])
                        self._cut(c, self.t.end[c])
                        continue
                    if goes_on:
                        if self.a.d_flags[s] != 2 or self.a.d_flags[t] != 2:
                            return 0
                        self._push_pair(c, s, t)
                        continue
                    if s != t:
                        found = 2
                        if t != 0 and seen > 1:
                            self._exclude(c, c + 1)
                    if s != 0:
                        self._push_only(c, s)
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _beside(self, p: cython.int, n: cython.int, x: cython.int) -> cython.bint:
        """Serve thread (p, n) below trie node ``x`` beside a region; False: it has to be walked."""
        i: cython.int
        v: cython.int
        q: cython.int = self.beside_of(p)
        s: cython.int
        base: cython.int
        if q == 0 or (self.hook and self.has_beside):  # groups know one such exit
            return False
        if not self.differ(p, q, x):
            self.side[p] = 0
            return False
        self.has_beside = True
        s = self.a.split_det(q)
        v = self.r.hole_node(self.a.split[s + 3], 0)
        self.beside = True
        self._wide(v, self.a.split[s + 2], n, x)
        self.beside = False
        for i in range(self.n_only):
            base = self.a.it_len
            self.a.add_pair(self.only_d[i], n)
            v = self.a.canonical(base)
            if v != 0:
                self._reach(self.only_x[i], self.a.row_of(v))
        return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _advance(n: cython.int, word: cython.p_int, end: cython.p_int, token: cython.p_int, cls: cython.p_int,
             rows: cython.p_int, path: cython.p_int, marks: cython.p_uchar) -> cython.int:
    """One node of a walk: the node to go on with, or ``-1 - n`` if the row is not built yet."""
    w: cython.int = word[n]
    d: cython.int = w >> 8
    t: cython.int = rows[path[d - 1] + cls[w & 255]]
    if t > 0:
        path[d] = t
        marks[token[n]] = 1
        return n + 1
    if t == 0:
        return end[n]
    return -1 - n


_COUNTERS = """
small max_walk_nodes visited n_tasks task_cap n_rest rest_cap n_runs run_cap run_nodes n_tk tk_cap n_wb wb_cap
n_excluded excluded_cap n_pairs pair_cap n_only only_cap side_len side_cap hook dense plain beside has_beside
n_cuts cuts_cap n_cut cut_cap n_places place_cap rest read read_p read_q read_x
""".split()
_POINTERS = """
path path_b path_c path_d run_x run_row task_x task_node rest_d rest_n rest_c first tk wb wb_lo wb_hi cuts cut excluded
places pair_x pair_p pair_q only_x only_d side class_off class_bytes marks
""".split()
