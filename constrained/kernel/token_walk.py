# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which tokens can be read from a node, found by walking the vocabulary's trie.

A walk begins at the root of the trie, or behind the places of an exit group, with a node of the automaton. Small
subtrees are read node by node. In a large one the threads in *regions* are served by ``HoleRegions`` (a finished row
and a few exits), those *beside* a region nearly so (``BesideRegion``), and the others go on by their first bytes. Of a
literal and of a tree of words the bytes are followed without states (``Literals``); what comes behind a literal is a
record of its own.

    found            the tokens, and the wides whose rows belong to them
    lanes            where ``used``: marks of more tokens, those of a large walk
    groups           with ``hook``, for a node over HOLE: where the stacks below go on
    rest             the node over HOLE that goes on where ``literals`` has ended, or 0

Cost: 2-3 ns a trie node; 1.4-2 in large walks without guards.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.beside import BesideRegion
    from cython.cimports.constrained.kernel.exit_groups import ExitGroups
    from cython.cimports.constrained.kernel.found_tokens import FoundTokens
    from cython.cimports.constrained.kernel.hole_regions import HoleRegions
    from cython.cimports.constrained.kernel.holes import fill_hole
    from cython.cimports.constrained.kernel.literals import Literals
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory, zero_ints
    from cython.cimports.constrained.kernel.pending import lives
    from cython.cimports.constrained.kernel.stacks import HOLE_NODE
    from cython.cimports.constrained.kernel.token_budgets import is_used_up
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.walk_lanes import WalkLanes
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.beside import BesideRegion
    from constrained.kernel.exit_groups import ExitGroups
    from constrained.kernel.found_tokens import FoundTokens
    from constrained.kernel.hole_regions import HoleRegions
    from constrained.kernel.holes import fill_hole
    from constrained.kernel.literals import Literals
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory, zero_ints
    from constrained.kernel.pending import lives
    from constrained.kernel.stacks import HOLE_NODE
    from constrained.kernel.token_budgets import is_used_up
    from constrained.kernel.token_trie import TokenTrie
    from constrained.kernel.walk_lanes import WalkLanes

SMALL_SUBTREE = cython.declare(cython.int, 5000)
SMALL_WITHOUT_REGIONS = cython.declare(cython.int, 20_000)
MANY_NODES = cython.declare(cython.int, 30_000)
HOLE = cython.declare(cython.int, 2)


class WalkLimitReached(Exception):
    """One mask walked subtrees of more than ``max_walk_nodes`` trie nodes in all."""


@cython.final
@cython.no_gc
@cython.cclass
class TokenWalk:
    """See the module docstring. ``make`` comes first, then ``load``."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.path)
            drop_int(self.run_x)
            drop_int(self.run_row)
            drop_int(self.task_x)
            drop_int(self.task_node)
            drop_int(self.rest_d)
            drop_int(self.rest_n)
            drop_int(self.rest_c)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            self.first = [0] * 8
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make(self, automaton: Automaton, trie: TokenTrie, regions: HoleRegions, groups: ExitGroups) -> cython.int:
        """Walk ``trie`` with ``automaton``, whose ``regions`` and places' ``groups`` these are; ``load`` comes next."""
        self.a = automaton
        self.t = trie
        self.r = regions
        self.groups = groups
        self.found = FoundTokens()
        self.found.make(trie, regions)
        self.lanes = WalkLanes()
        self.lanes.make(automaton, trie)
        self.side = BesideRegion()
        self.side.make(automaton, trie, regions)
        self.literals = Literals()
        self.literals.make(automaton, trie, groups)
        self.path = grow_int(self.path, trie.max_depth + 2)
        if not self.path:
            raise MemoryError
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, max_walk_nodes: cython.longlong) -> cython.void:
        """Once the automaton and its regions have their program."""
        self.max_walk_nodes = max_walk_nodes
        self.plain = self.a.guard_loop < 0 and not self.a.budgets
        self.small = SMALL_SUBTREE if self.r.n_regions > 1 else SMALL_WITHOUT_REGIONS

    # ---- a walk --------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _begin(self, hook: cython.bint) -> cython.void:
        self.hook = hook
        self.n_tasks = 0
        self.n_runs = 0
        self.run_nodes = 0
        self.rest = 0
        self.beside = False
        self.has_beside = False
        self.found.begin()
        self.lanes.begin()
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
        i: cython.int
        j: cython.int
        k: cython.int
        t: cython.int
        lo: cython.int
        hi: cython.int
        self._begin(hook)
        zero_ints(self.first, 0, 8)
        self.a.first_classes(node, self.first)
        self.groups.open(g)
        if self.groups.is_listed():  # the bytes that lead on from it are mostly fewer than those of the classes
            hi = at + 11 + 2 * self.groups.pool[at + 8]
            for i in range(at + 11, hi, 2):
                lo = hi
                hi = at + self.groups.pool[i + 1]
                k = self.a.cls[self.groups.pool[i]]
                if not (self.first[k >> 5] >> (k & 31)) & 1:
                    continue
                t = self.a.step(row, k)
                if t != 0:
                    for j in range(lo, hi):
                        self._reach(self.groups.pool[j], t)
            return self._work()
        self.a.need_classes()
        for k in range(self.a.n_classes):
            if not (self.first[k >> 5] & self.groups.pool[at + (k >> 5)]) >> (k & 31) & 1:
                continue
            t = self.a.step(row, k)
            if t == 0:
                continue
            for i in range(self.a.class_off[k], self.a.class_off[k + 1]):
                for j in range(self.groups.behind(self.a.class_bytes[i])):
                    self._reach(self.groups.found[j], t)
        return self._work()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def follow(self, g: cython.int, d: cython.int, hook: cython.bint) -> cython.int:
        """Read what literal det ``d`` reads at group ``g``; what is left is ``rest`` at ``literals.places``."""
        i: cython.int
        n: cython.int = 0
        x: cython.int
        node: cython.int
        self._begin(hook)
        node = self.literals.follow(g, d, self.found)
        for i in range(self.literals.n_places):
            x = self.literals.places[i]
            if node != HOLE_NODE and self.t.end[x] - x > self.small:  # a region's finished row may serve it
                self._push_task(x, node)
                if hook and self.stands(node):
                    self.groups.add_node(x)
            elif node != HOLE_NODE:
                self.literals.places[n] = x
                n += 1
            elif hook:
                self.groups.add_node(x)
        self.literals.n_places = n
        self.rest = node if n > 0 else 0
        return self._work()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def branch(self, g: cython.int, d: cython.int, hook: cython.bint) -> cython.int:
        """Read what fork det ``d`` reads at group ``g``."""
        i: cython.int
        n: cython.int
        x: cython.int
        row: cython.int = 0
        node: cython.int = 0
        last: cython.int = -1
        self._begin(hook)
        self.literals.branch(g, d, self.found)
        self.visited += self.literals.n_read
        for i in range(self.literals.n_ends):
            x = self.literals.ends[2 * i]
            if self.literals.ends[2 * i + 1] != last:
                last = self.literals.ends[2 * i + 1]
                self.a.buf[0] = last
                n = self.a.closure(1)
                n = self.a.intern_det(n)
                node = self.a.it_len
                self.a.add_pair(n, HOLE_NODE)
                node = self.a.canonical(node)
                row = self.a.row_of(node) if node != HOLE_NODE else 0
            if node != HOLE_NODE:
                self._reach(x, row)
                continue
            self.found.add_at(x)
            if hook and self.t.end[x] > x + 1:
                self.groups.add_node(x)
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
    def _row_stands(self, row: cython.int) -> cython.bint:
        """``stands`` of the node that a row is of: looked up."""
        self.lanes.room()
        if self.lanes.kind[row] == 0:
            self.lanes.learn(row)
        return self.lanes.kind[row] == 2

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
        self.found.add_at(x)
        if self.hook and self.t.end[x] > x + 1 and self._row_stands(row):
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
            self.a.need_classes()
            zero_ints(self.first, 0, 8)
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
                for b in range(self.a.class_off[k], self.a.class_off[k + 1]):
                    c = self.t.children[table + self.a.class_bytes[b]]
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
        kind: cython.p_uchar
        spare: cython.int = self.t.spare
        hook: cython.bint = self.hook
        n: cython.int = x + 1
        hi: cython.int = end[x]
        m: cython.int = self.found.n_tk
        w: cython.int
        d: cython.int
        t: cython.int
        self.found.need(hi - x)
        if hook:
            self.lanes.room()
        kind = self.lanes.kind
        out = self.found.tk
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
                    if hook:
                        self.lanes.room()
                        kind = self.lanes.kind
                if t == 0:
                    n = end[n]
                    continue
            path[d] = t
            out[m] = token[n]
            m += token[n] != spare
            if hook and end[n] > n + 1:
                if kind[t] == 0:
                    self.lanes.learn(t)
                if kind[t] == 2:
                    self._tell(n, self.a.row_node[t // self.a.n_classes])
            n += 1
        self.found.n_tk = m
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
                out_of_memory()
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
        if self.run_nodes > MANY_NODES and (self.plain or not self.hook):
            self.lanes.run(self.run_x, self.run_row, self.n_runs, self.hook)
            if self.hook:
                self.groups.mark()
                self.lanes.pack_stood(self.groups.marks)
            return 0
        for i in range(self.n_runs):
            self.collect(self.run_x[i], self.run_row[i])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_task(self, x: cython.int, node: cython.int) -> cython.int:
        if self.n_tasks >= self.task_cap:
            self.task_cap = 256 if self.task_cap == 0 else self.task_cap * 2
            self.task_x = grow_int(self.task_x, self.task_cap)
            self.task_node = grow_int(self.task_node, self.task_cap)
            if not (self.task_x and self.task_node):
                out_of_memory()
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
                out_of_memory()
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
        """Serve the threads of ``node`` that are in regions; the others become the rest. False: none was served."""
        i: cython.int
        j: cython.int
        at: cython.int
        d: cython.int
        s: cython.int
        found: cython.bint = False
        served: cython.bint = False
        self.n_rest = 0
        self.a.expand(node)
        for i in range(self.a.n_nexp[node]):
            at = self.a.n_exp[node] + 5 * i
            if self.a.exp[at + 2] > 0:
                found = True
            elif not is_used_up(self.a, self.a.exp[at], self.a.exp[at + 3]):
                s = self.a.split_det(self.a.exp[at])
                if self.a.split[s + 1] != 0 or self.side.region_of(self.a.split[s]) != 0:
                    found = True
        if not found:
            return False
        for i in range(self.a.n_nexp[node]):
            at = self.a.n_exp[node] + 5 * i
            d = self.a.exp[at + 2]
            if d > 0:
                served = True
                s = self.a.l_region[self.a.d_loop[d]]
                self._wide(self.r.hole_node(d, self.r.clamp(self.a.d_loop[d], self.a.exp[at + 3])), s,
                           self.a.exp[at + 4], x)
                continue
            if self.a.exp[at] == self.a.guard_det or is_used_up(self.a, self.a.exp[at], self.a.exp[at + 3]):
                self._add_rest(self.a.exp[at], self.a.exp[at + 1], self.a.exp[at + 3])
                continue
            # how many tokens of a budget are left does not matter within one token
            s = self.a.split_det(self.a.exp[at])
            if self.a.split[s] != 0:
                if self._beside(self.a.split[s], self.a.exp[at + 1], x):
                    served = True
                else:
                    self._add_rest(self.a.split[s], self.a.exp[at + 1], 0)
            for j in range(self.a.split[s + 1]):
                d = self.a.split[s + 3 + 2 * j]
                if self.plain and self.r.is_walked(self.r.hole_node(d, 0), self.a.split[s + 2 + 2 * j], x):
                    self._add_rest(d, self.a.exp[at + 1], 0)
                # another part of the det may be the one that guards let live
                elif self.a.guard_loop < 0 or lives(self.a, d, 0, self.a.exp[at + 1]):
                    served = True
                    self._wide(self.r.hole_node(d, 0), self.a.split[s + 2 + 2 * j], self.a.exp[at + 1], x)
        return served

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
        ``side`` has found that it must not."""
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
        self.a.need_classes()
        self.found.add_wide(w, self.side.cut, self.side.n_cut if self.beside else 0)
        for e in range(self.r.w_exit[w], self.r.w_exit[w] + self.r.w_nexit[w]):
            m = fill_hole(self.a, self.r.x_v[e], n)
            if m == 0:
                continue
            if self.hook and self.stands(m):
                if not self.beside:
                    self._tell(~e, m)
                elif self.groups.add_exit(e):  # no guards: see ``_find_side``
                    for i in range(self.side.n_excluded):
                        self.groups.bar(e, self.side.excluded[2 * i], self.side.excluded[2 * i + 1])
            zero_ints(self.first, 0, 8)
            self.a.first_classes(m, self.first)
            row = self.a.row_of(m)
            for k in range(self.a.n_classes):
                if not (self.first[k >> 5] >> (k & 31)) & 1:
                    continue
                t = self.a.step(row, k)
                if t == 0:
                    continue
                standing = self.hook and self._row_stands(t)
                for b in range(self.a.class_off[k], self.a.class_off[k + 1]):
                    i = self.r.exit_list(e, self.a.class_bytes[b])
                    nodes = self.r.xl[i]
                    j = self.r.xl_len[6 * i + 4]
                    last = self.r.xl_len[6 * i + 5]
                    if self.beside:
                        j = self.r.xl_len[6 * i]
                        last = self.r.xl_len[6 * i + 1]
                    else:
                        self.found.add_ids(nodes, self.r.xl_len[6 * i + 2], self.r.xl_len[6 * i + 3])
                    for j in range(j, last):
                        i = nodes[j]
                        if self.beside:
                            if self.side.is_excluded(i):
                                continue
                            self.found.add_at(i)
                        if self.t.end[i] > i + 1:
                            if standing:
                                self._tell(i, self.a.row_node[t // self.a.n_classes])
                            self.visited += self.t.end[i] - i
                            self.collect(i, t)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _beside(self, p: cython.int, n: cython.int, x: cython.int) -> cython.bint:
        """Serve thread (p, n) below trie node ``x`` beside a region; False: it has to be walked."""
        i: cython.int
        v: cython.int
        q: cython.int = self.side.region_of(p)
        s: cython.int
        base: cython.int
        if q == 0 or (self.hook and self.has_beside):  # groups know one such exit
            return False
        s = self.a.split_det(q)
        if self.r.is_walked(self.r.hole_node(self.a.split[s + 3], 0), self.a.split[s + 2], x):
            return False
        if not self.side.differ(p, q, x):
            self.side.side[p] = 0
            return False
        self.has_beside = True
        s = self.a.split_det(q)
        v = self.r.hole_node(self.a.split[s + 3], 0)
        self.beside = True
        self._wide(v, self.a.split[s + 2], n, x)
        self.beside = False
        for i in range(self.side.n_only):
            base = self.a.it_len
            self.a.add_pair(self.side.only_d[i], n)
            v = self.a.canonical(base)
            if v != 0:
                self._reach(self.side.only_x[i], self.a.row_of(v))
        return True


_COUNTERS = """
small max_walk_nodes visited n_tasks task_cap n_rest rest_cap n_runs run_cap run_nodes rest hook plain beside
has_beside
""".split()
_POINTERS = "path run_x run_row task_x task_node rest_d rest_n rest_c".split()
