# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Token masks of automaton states, and steps by token.

Idea
    The mask of a state is the union over its threads. A narrow thread is walked through the vocabulary trie from
    its few first bytes. A thread inside a *region* (a string body, an identifier) is split in two: the tokens that stay
    inside depend on the region alone and are one finished row, found by walking the class trie of the region's
    partition; the tokens that leave it are walked from where they leave, in the state that follows.

Hole nodes
    "Inside the region alone" is the automaton itself run over the stack HOLE: ``u`` is such a node, ``restrict`` its
    part inside the region, the other part ``v`` is what it looks like to have left. For the real stacks ``N`` the
    leaving tokens are those that go on from ``fill_hole(v, N)``. So what is found for a region serves every state,
    every stack and every count that is far from its bounds.

    wide[w]   what is known for (hole node, trie node): a row of tokens that stay inside (or have just left), and exits
    exit[e]   a ``v``; for each byte, on demand, the trie nodes just behind where it stands

Which tokens those are depends on the region's own automaton alone, so they come from the vocabulary's
``RegionTokens``: every grammar with a JSON string, a bounded one far from its bound included, uses the same row.

Masks are content-hashed: equal masks are one entry, as a list of ids when at most ``LIST_MAX`` tokens are allowed,
else as a row. When they outgrow their budget all are dropped (they can be rebuilt); states never are.

Cost: a known mask is one copy of the row. A new one costs a row copy for each region, 2-4 ns a trie node walked, and
50-300 ns for each state that is new. The automaton's lock is held by every method that Python calls.
"""

from __future__ import annotations

from array import array
from heapq import heappop, heappush

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton, _bit
    from cython.cimports.constrained.kernel.memory import copy_ints, grow_int, grow_uint
    from cython.cimports.constrained.kernel.region_tokens import RegionTables, RegionTokens, hash_cells
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free, realloc
    from cython.cimports.libc.string import memcpy, memset
else:
    from constrained.kernel.automaton import Automaton, _bit
    from constrained.kernel.memory import copy_ints, grow_int, grow_uint
    from constrained.kernel.region_tokens import RegionTables, RegionTokens, hash_cells
    from constrained.kernel.token_trie import TokenTrie

SMALL_SUBTREE = cython.declare(cython.int, 1500)
SMALL_WITHOUT_REGIONS = cython.declare(cython.int, 20_000)
MANY_NODES = cython.declare(cython.int, 30_000)
LIST_MAX = cython.declare(cython.int, 128)
HOLE = cython.declare(cython.int, 2)
FAR_COUNT_LOW = cython.declare(cython.int, 0x3FFFFFF0)
FAR_COUNT_HIGH = cython.declare(cython.int, 0x3FFFFFF4)
BETWEEN_ROUNDS = cython.declare(cython.int, 1 << 24)
BUDGET = cython.declare(cython.int, -5)
MAX_CELLS = cython.declare(cython.int, 2048)
MANY_ROUNDS = cython.declare(cython.int, 1 << 24)


from constrained.kernel.automaton import ThreadLimitReached  # noqa: E402 - a Python name in both modes


class StaleState(Exception):
    """A state of an earlier epoch was used; args: the handle."""


class WalkLimitReached(Exception):
    """One mask walked subtrees of more than ``max_walk_nodes`` trie nodes in all."""


@cython.final
@cython.cclass
class TokenAutomaton:
    """An ``Automaton`` read token by token. See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.nu)
            free(self.nu_gen)
            free(self.st_node)
            free(self.ways)
            free(self.tb)
            free(self.rg_off)
            free(self.rg_first)
            free(self.rg_number)
            free(self.class_off)
            free(self.class_bytes)
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
            free(self.w_exit)
            free(self.w_nexit)
            free(self.x_v)
            free(self.x_w)
            free(self.x_way)
            free(self.x_least)
            free(self.x_most)
            free(self.xl_len)
            free(self.mk_count)
            free(self.mk_off)
            free(self.mk_hash)
            free(self.mk_table)
            free(self.scratch)
            free(self.set_rows)
            free(self.stop_row)
            free(self.pool)
            free(self.w_row)
            free(self.xl)
            free(self.w_tokens)
            free(self.p_tokens)
            free(self.marks)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    def __init__(self, automaton: Automaton, trie: TokenTrie, stop_ids, regions, token_sets,
                 max_mask_bytes: cython.longlong, max_walk_nodes: cython.longlong, by_id_only=()):
        """``regions``: partitions of the bytes; ``token_sets``: sets of ids; ``by_id_only``: ids of those sets whose
        bytes are not read."""
        i: cython.int
        k: cython.int
        n: cython.int
        self.a = automaton
        self.t = trie
        automaton.far = trie.max_depth + 1  # no token counts further
        with trie.guard:
            if trie.tables is None:
                trie.tables = RegionTables()
        self.tables = trie.tables
        self.regions = regions
        self.small = SMALL_SUBTREE if len(regions) > 1 else SMALL_WITHOUT_REGIONS
        self.max_mask_bytes = max_mask_bytes
        self.max_walk_nodes = max_walk_nodes
        self.vocab_size = trie.vocab_size
        self.words = trie.words
        self.path = grow_int(self.path, trie.max_depth + 2)
        self.first = grow_int(self.first, 8)
        self.scratch = grow_uint(self.scratch, self.words + 1)
        self.stop_row = grow_uint(self.stop_row, self.words + 1)
        self.class_off = grow_int(self.class_off, automaton.n_classes + 2)
        self.class_bytes = grow_int(self.class_bytes, 256)
        self.n_sets = len(token_sets)
        self.set_rows = grow_uint(self.set_rows, (self.n_sets + 1) * self.words + 1)
        if not (self.path and self.first and self.scratch and self.stop_row
                and self.class_off and self.class_bytes and self.set_rows):
            raise MemoryError
        n = 0
        for k in range(automaton.n_classes):
            self.class_off[k] = n
            for i in range(256):
                if automaton.cls[i] == k:
                    self.class_bytes[n] = i
                    n += 1
        self.class_off[automaton.n_classes] = n
        for i in range(self.words + 1):
            self.stop_row[i] = 0
        for k in stop_ids:
            self.stop_row[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)
        for i in range((self.n_sets + 1) * self.words):
            self.set_rows[i] = 0
        for k in by_id_only:  # the row behind those of the sets
            self.set_rows[self.n_sets * self.words + (k >> 5)] |= cython.cast(cython.uint, 1) << (k & 31)
        for i, ids in enumerate(token_sets):
            for k in ids:
                self.set_rows[i * self.words + (k >> 5)] |= cython.cast(cython.uint, 1) << (k & 31)
        self._read_partitions()
        self.generation = 0
        self._forget()

    # ---- memory --------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _forget(self) -> cython.int:
        """Drop masks and regions: at a new epoch, or when they outgrow their budget."""
        i: cython.int
        self.generation += 1
        with cython.gil:
            self.kept = []
            self._look()
        self.w_len = 0
        self.p_len = 0
        self.x_len = 0
        self.n_lists = 0
        self.mk_len_used = 0
        self.pool_len = 0
        self.pool_cap = 0
        if cython.compiled:
            free(self.pool)
            self.pool = cython.NULL
        else:
            self.pool = None
        self.mk_table_size = 256
        self.mk_table = grow_int(self.mk_table, self.mk_table_size)
        if not self.mk_table:
            self._out_of_memory()
        for i in range(self.mk_table_size):
            self.mk_table[i] = -1
        for i in range(self.a.n_count):
            self.a.n_mask[i] = -1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _out_of_memory(self) -> cython.int:
        with cython.gil:
            raise MemoryError("the masks could not grow")

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

    # ---- walking -------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def direct(self, x: cython.int, row: cython.int) -> cython.int:
        """Mark the tokens below trie node ``x`` that the automaton can read from ``row``.

        The hot loop: no branch on tokens (nodes without one mark the spare bit), one on dead-or-unbuilt.
        """
        word: cython.p_int = self.t.word
        end: cython.p_int = self.t.end
        token: cython.p_int = self.t.token
        cls: cython.p_int = self.a.cls
        rows: cython.p_int = self.a.rows
        path: cython.p_int = self.path
        out: cython.p_uint = self.scratch
        n: cython.int = x + 1
        hi: cython.int = end[x]
        w: cython.int
        d: cython.int
        t: cython.int
        k: cython.int
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
            k = token[n]
            out[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)
            n += 1
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
        """Walk the subtrees that ``_walk`` has gathered."""
        i: cython.int
        if self.visited > self.max_walk_nodes and self.run_nodes > SMALL_SUBTREE:
            with cython.gil:
                raise WalkLimitReached(self.visited)
        if self.run_nodes > MANY_NODES:
            self._run_lanes()
            return 0
        for i in range(self.n_runs):
            self.direct(self.run_x[i], self.run_row[i])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _run_lanes(self) -> cython.int:
        """``direct`` on all runs, four at a time, one byte a token.

        A node waits for its parent's row, which was stored a moment ago; four walks in turn hide that. Whole bytes are
        stored without being read first; they are packed to bits at the end.
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
        self._pack_marks()
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
        n: cython.int = 32 * self.words + 8
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
    def _pack_marks(self) -> cython.void:
        """OR the marks into ``scratch``, and clear them."""
        marks: cython.p_uchar = self.marks
        out: cython.p_uint = self.scratch
        i: cython.int
        k: cython.int
        w: cython.uint
        if cython.compiled:
            eight: cython.p_ulonglong = cython.cast(cython.p_ulonglong, marks)
            gather: cython.ulonglong = 0x0102040810204080
            eight[0] = 1
            if marks[0] == 1:  # the lowest byte comes first: eight marks become eight bits by one multiplication
                marks[0] = 0
                for i in range(self.words):
                    w = 0
                    for k in range(4):
                        w |= cython.cast(cython.uint, (eight[4 * i + k] * gather) >> 56) << (8 * k)
                    out[i] |= w
                memset(marks, 0, 32 * self.words)
                return
            eight[0] = 0
        for i in range(self.words):
            w = 0
            for k in range(32):
                w |= cython.cast(cython.uint, marks[32 * i + k]) << k
                marks[32 * i + k] = 0
            out[i] |= w

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _walk(self, node: cython.int) -> cython.int:
        """Mark in ``scratch`` the tokens that can be read from ``node``. Tasks are (trie node, state)."""
        x: cython.int
        c: cython.int
        k: cython.int
        t: cython.int
        b: cython.int
        row: cython.int
        table: cython.int
        wide: cython.bint
        self.n_tasks = 0
        self.n_runs = 0
        self.run_nodes = 0
        self._push_task(0, node)
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
                    if c == 0:
                        continue
                    self._mark(c)
                    if self.t.end[c] - c > self.small:
                        self._push_task(c, self.a.row_node[t // self.a.n_classes])
                    elif self.t.end[c] - c > 1:
                        self._push_run(c, t)
        self._run_all()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _mark(self, x: cython.int) -> cython.void:
        k: cython.int = self.t.token[x]
        self.scratch[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)

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
            if self.a.exp[at + 2] != 0:
                found = True
            elif not self.a.is_used_up(self.a.exp[at], self.a.exp[at + 3]):
                s = self.a.split_det(self.a.exp[at])
                if self.a.split[s + 1] != 0:
                    found = True
        if not found:
            return False
        for i in range(self.a.n_nexp[node]):
            at = self.a.n_exp[node] + 5 * i
            d = self.a.exp[at + 2]
            if d != 0:
                s = self.a.l_region[self.a.d_loop[d]]
                self._wide(self._hole_node(d, self._clamp(self.a.d_loop[d], self.a.exp[at + 3])), s,
                           self.a.exp[at + 4], x)
                continue
            if self.a.exp[at] == self.a.guard_det or self.a.is_used_up(self.a.exp[at], self.a.exp[at + 3]):
                self._add_rest(self.a.exp[at], self.a.exp[at + 1], self.a.exp[at + 3])
                continue
            # how many tokens of a budget are left does not matter within one token
            s = self.a.split_det(self.a.exp[at])
            if self.a.split[s] != 0:
                self._add_rest(self.a.split[s], self.a.exp[at + 1], 0)
            for j in range(self.a.split[s + 1]):
                self._wide(self._hole_node(self.a.split[s + 3 + 2 * j], 0), self.a.split[s + 2 + 2 * j],
                           self.a.exp[at + 1], x)
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
    def _hole_node(self, d: cython.int, c: cython.int) -> cython.int:
        base: cython.int = self.a.it_len
        self.a.add_item(d, c, HOLE)
        return self.a.canonical(base)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _clamp(self, loop: cython.int, c: cython.int) -> cython.int:
        """A count that no token can tell from ``c``: beyond the longest token's reach all counts look alike."""
        far: cython.int = self.t.max_depth + 1
        least: cython.int = self.a.l_min[loop]
        most: cython.int = self.a.l_max[loop]
        if most >= 0 and most - c <= far:
            return c
        if c >= least:
            return FAR_COUNT_HIGH
        return FAR_COUNT_LOW if least - c > far else c

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

    # ---- regions -------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _wide(self, u: cython.int, region: cython.int, n: cython.int, x: cython.int) -> cython.int:
        """Mark what hole node ``u`` over the stacks ``n`` can read below trie node ``x``."""
        w: cython.int = self.a.memo_get(16 + 3 * self.generation, u, x)
        i: cython.int
        j: cython.int
        k: cython.int
        e: cython.int
        m: cython.int
        t: cython.int
        b: cython.int
        row: cython.int
        out: cython.p_uint = self.scratch
        kept: cython.p_uint
        nodes: cython.p_int
        if w == -2:
            w = self._build_wide(u, region, x)
        kept = self.w_row[w]
        for i in range(self.words):
            out[i] |= kept[i]
        for e in range(self.w_exit[w], self.w_exit[w] + self.w_nexit[w]):
            m = self.a.fill_hole(self.x_v[e], n)
            if m == 0:
                continue
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
                for b in range(self.class_off[k], self.class_off[k + 1]):
                    i = self._exit_list(e, self.class_bytes[b])
                    nodes = self.xl[i]
                    for j in range(self.xl_len[2 * i], self.xl_len[2 * i + 1]):
                        i = nodes[j]
                        self._mark(i)
                        if self.t.end[i] > i + 1:
                            self.visited += self.t.end[i] - i
                            self.direct(i, t)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _exit_list(self, e: cython.int, b: cython.int) -> cython.int:
        """Which of the lists ``xl`` has the trie nodes with byte ``b`` right behind exit ``e``."""
        i: cython.int = self.a.memo_get(17 + 3 * self.generation, e, b)
        if i == -2:
            i = self._gather(e, b, cython.cast(RegionTokens, self.w_tokens[self.x_w[e]]))
        return i

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _gather(self, e: cython.int, b: cython.int, wide: RegionTokens) -> cython.int:
        """Borrow the list from the shared tables: it stays where it is as long as the region is held."""
        i: cython.int = self.n_lists
        lo: cython.int = 0
        hi: cython.int = 0
        found: cython.p_int = wide.leaving(self.t, self.x_way[e], b)
        if not found:
            self._out_of_memory()
        if i >= self.list_cap:
            self.list_cap = 256 if self.list_cap == 0 else self.list_cap * 2
            self.xl_len = grow_int(self.xl_len, 2 * self.list_cap)
            if cython.compiled:
                self.xl = cython.cast(cython.pp_int, realloc(self.xl, self.list_cap * cython.sizeof(cython.p_int)))
            else:
                self.xl = (self.xl or []) + [None] * (self.list_cap - len(self.xl or []))
            if not (self.xl_len and self.xl):
                self._out_of_memory()
        if self.x_least[e] <= wide.deepest:
            lo = found[self.x_least[e]]
            hi = found[(self.x_most[e] if self.x_most[e] < wide.deepest else wide.deepest) + 1]
        self.xl[i] = found
        self.xl_len[2 * i] = lo
        self.xl_len[2 * i + 1] = hi
        self.n_lists = i + 1
        self.a.memo_put(17 + 3 * self.generation, e, b, i)
        return i

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _read_partitions(self) -> cython.int:
        """A byte of each class of every region's partition, in one array."""
        representatives = array("i")
        offsets = array("i")
        numbers = array("i")
        for partition in self.regions:
            offsets.append(len(representatives))
            numbers.append(self.tables.partition_number(partition) if partition else 0)
            if partition:
                representatives.extend([partition.index(k) for k in range(max(partition) + 1)])
        offsets.append(len(representatives))
        self.rg_off = copy_ints(self.rg_off, offsets)
        self.rg_first = copy_ints(self.rg_first, representatives)
        self.rg_number = copy_ints(self.rg_number, numbers)
        if not (self.rg_off and self.rg_first and self.rg_number):
            raise MemoryError
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_numbers(self, count: cython.int, cells: cython.int) -> cython.int:
        """Room for numbers of all nodes there are, for ``count`` numbered ones and ``cells`` of the table."""
        i: cython.int
        if self.nu_cap < self.a.n_count:
            i = self.nu_cap
            self.nu_cap = self.a.n_count * 2
            self.nu = grow_int(self.nu, self.nu_cap)
            self.nu_gen = grow_int(self.nu_gen, self.nu_cap)
            if not (self.nu and self.nu_gen):
                self._out_of_memory()
            while i < self.nu_cap:
                self.nu_gen[i] = 0
                i += 1
        if self.st_cap < count:
            self.st_cap = count * 2 + 64
            self.st_node = grow_int(self.st_node, self.st_cap)
            self.ways = grow_int(self.ways, self.st_cap)
            if not (self.st_node and self.ways):
                self._out_of_memory()
        if self.tb_cap < cells:
            self.tb_cap = cells * 2 + 256
            self.tb = grow_int(self.tb, self.tb_cap)
            if not self.tb:
                self._out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _number(self, t: cython.int, n: cython.int) -> cython.int:
        """The number of hole node ``t``, from 1 as they are met; ``n`` have one. A new one gets ``n + 1``."""
        self._need_numbers(n + 1, self.tb_len + 3)
        if self.nu_gen[t] != self.numbering:
            self.nu_gen[t] = self.numbering
            self.nu[t] = n + 1
            self.st_node[n] = t
        return self.nu[t]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _describe(self, t: cython.int, region: cython.int) -> cython.int:
        """Append hole node ``t`` to ``tb``: the number of its way out and BETWEEN_ROUNDS, the row of what is inside.

        Clears ``counted`` where rounds cannot be counted along a path: each node must be either between rounds of
        the region's loop or within one.
        """
        k: cython.int = 0
        loop: cython.int
        r: cython.int = self.a.restrict(t, region, False)
        if r != 0:
            while k < self.n_ways and self.ways[k] != r:
                k += 1
            if k == self.n_ways:
                self._need_numbers(k + 1, 0)
                self.ways[k] = r
                self.n_ways += 1
            k += 1
        r = self.a.restrict(t, region, True)
        if r != 0:
            if self.a.n_len[r] != 1:
                self.counted = False
            loop = self.a.d_loop[self.a.el_d[self.a.n_off[r]]]
            if loop >= 0 and self.a.l_rule[loop] != BUDGET:
                k |= BETWEEN_ROUNDS
            r = self.a.row_of(r)
        self._need_numbers(0, self.tb_len + 2)
        self.tb[self.tb_len] = k
        self.tb[self.tb_len + 1] = r
        self.tb_len += 2
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _explore(self, u: cython.int, region: cython.int) -> cython.bint:
        """Write the region's automaton from ``u`` into ``tb``, as ``RegionTokens`` wants it; ways out into ``ways``.

        States are numbered as they are met, so equal automata give equal tables. False: it is larger than MAX_CELLS.
        """
        i: cython.int = 0
        j: cython.int
        t: cython.int
        at: cython.int
        row: cython.int
        count: cython.int = 1
        lo: cython.int = self.rg_off[region]
        n_classes: cython.int = self.rg_off[region + 1] - lo
        self.counted = True
        self.n_ways = 0
        self.tb_len = 0
        self.numbering += 1
        self._number(u, 0)
        while i < count:
            if self.tb_len + n_classes > MAX_CELLS:
                return False
            at = self.tb_len
            self._describe(self.st_node[i], region)
            i += 1
            row = self.tb[at + 1]
            self.tb_len = at + 1
            for j in range(n_classes):
                t = 0 if row == 0 else self.a.step(row, self.a.cls[self.rg_first[lo + j]])
                if t != 0:
                    t = self._number(self.a.row_node[t // self.a.n_classes], count)
                    if t > count:
                        count = t
                self._need_numbers(0, self.tb_len + 1)
                self.tb[self.tb_len] = t
                self.tb_len += 1
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _build_wide(self, u: cython.int, region: cython.int, x: cython.int) -> cython.int:
        """The tokens of hole node ``u`` below ``x``, from the tables that all grammars share.

        A loop's count near a bound does not make another automaton: the one of a far count is used, and the tokens
        and ways out are cut by the rounds they take (``least`` rounds before an end, ``most`` in all).
        """
        w: cython.int = self._new_wide()
        loop: cython.int = self.a.d_loop[self.a.el_d[self.a.n_off[u]]]
        c: cython.int = self.a.el_c[self.a.n_off[u]]
        least: cython.int = 0
        most: cython.int = MANY_ROUNDS
        if loop >= 0 and self.a.l_rule[loop] != BUDGET and c < FAR_COUNT_LOW:
            self._find_tokens(w, self._hole_node(self.a.el_d[self.a.n_off[u]], FAR_COUNT_HIGH), region, x)
            if self.counted:
                if self.a.l_max[loop] >= 0 and self.a.l_max[loop] - c <= self.a.far:
                    most = self.a.l_max[loop] - c
                if self.a.l_min[loop] > c:
                    least = self.a.l_min[loop] - c
            else:
                loop = -1
                self._find_tokens(w, u, region, x)
        else:
            loop = -1
            self._find_tokens(w, u, region, x)
        self._enter_wide(w, cython.cast(RegionTokens, self.w_tokens[w]), loop, c, least, most)
        self.a.memo_put(16 + 3 * self.generation, u, x, w)
        return w

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _find_tokens(self, w: cython.int, u: cython.int, region: cython.int, x: cython.int) -> cython.int:
        """Enter the ``RegionTokens`` of ``u`` below ``x`` in ``w_tokens``; sets ``ways`` and ``counted``."""
        p: cython.int = self.a.memo_get(18 + 3 * self.generation, u, x)
        if p == -2:
            if self._explore(u, region):
                self._locate(w, region, x)
                return 0
            # a large automaton (all letters of all scripts): tokens meet a small part of it, so do without the table
            p = self.p_len
            with cython.gil:
                self._make_own(region, x)
            self._run_own(cython.cast(RegionTokens, self.p_tokens[p]), u, region)
            self.p_len = p + 1
            self.a.memo_put(18 + 3 * self.generation, u, x, p)
        self._recall(cython.cast(RegionTokens, self.p_tokens[p]))
        self.w_tokens[w] = self.p_tokens[p]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_own(self, region: cython.int, x: cython.int) -> cython.int:
        """A ``RegionTokens`` that is not shared, still empty, at the end of ``p_tokens``."""
        one: RegionTokens = RegionTokens(self.t, self.tables.class_trie(self.t, self.rg_number[region]), x)
        if self.p_len >= self.p_cap:
            self.p_cap = 16 if self.p_cap == 0 else self.p_cap * 2
            if cython.compiled:
                self.p_tokens = cython.cast(cython.pp_void,
                                            realloc(self.p_tokens, self.p_cap * cython.sizeof(cython.p_void)))
            else:
                self.p_tokens = (self.p_tokens or []) + [None] * (self.p_cap - len(self.p_tokens or []))
            if not self.p_tokens:
                raise MemoryError
        self.kept.append(one)
        if cython.compiled:
            self.p_tokens[self.p_len] = cython.cast(cython.p_void, one)
        else:
            self.p_tokens[self.p_len] = one
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _run_own(self, one: RegionTokens, u: cython.int, region: cython.int) -> cython.int:
        """Read the class trie with the automaton itself; ``tb`` has two ints for each state that is met."""
        i: cython.int = 0
        j: cython.int
        c: cython.int
        t: cython.int
        row: cython.int
        rounds: cython.int
        count: cython.int = 1
        self.counted = True
        self.n_ways = 0
        self.tb_len = 0
        self.numbering += 1
        self._number(u, 0)
        self._describe(u, region)
        if not one.add(one.classes.where[one.root], 1, 0, 0):
            self._out_of_memory()
        # al_need is the state's number while the list grows
        while i < one.n_alive:
            row = self.tb[2 * one.al_need[i] - 1]
            rounds = one.al_rounds[i]
            c = one.al_c[i]
            i += 1
            if row == 0:
                continue
            for j in range(one.classes.child_off[c], one.classes.child_off[c + 1]):
                c = one.classes.child[j]
                t = self.a.step(row, self.a.cls[one.classes.byte[c]])
                if t == 0:
                    continue
                t = self._number(self.a.row_node[t // self.a.n_classes], count)
                if t > count:
                    count = t
                    self._describe(self.st_node[t - 1], region)
                if not one.add(c, t, 0, rounds + (1 if self.tb[2 * t - 2] & BETWEEN_ROUNDS else 0)):
                    self._out_of_memory()
        for i in range(one.n_alive):
            t = self.tb[2 * one.al_need[i] - 2]
            one.al_need[i] = one.al_rounds[i] + (0 if t & BETWEEN_ROUNDS else 1)
            one.al_way[i] = t & (BETWEEN_ROUNDS - 1)
        one.counted = self.counted
        one.n_own = self.n_ways
        one.ways = grow_int(one.ways, self.n_ways + 1)
        if not one.ways or not one.finish():
            self._out_of_memory()
        for i in range(self.n_ways):
            one.ways[i] = self.ways[i]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _recall(self, one: RegionTokens) -> cython.int:
        i: cython.int
        self._need_numbers(one.n_own, 0)
        for i in range(one.n_own):
            self.ways[i] = one.ways[i]
        self.n_ways = one.n_own
        self.counted = one.counted
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _new_wide(self) -> cython.int:
        w: cython.int = self.w_len
        if w >= self.w_cap:
            self.w_cap = 16 if self.w_cap == 0 else self.w_cap * 2
            self.w_exit = grow_int(self.w_exit, self.w_cap)
            self.w_nexit = grow_int(self.w_nexit, self.w_cap)
            if cython.compiled:
                self.w_row = cython.cast(cython.pp_uint,
                                         realloc(self.w_row, self.w_cap * cython.sizeof(cython.p_uint)))
                self.w_tokens = cython.cast(cython.pp_void,
                                            realloc(self.w_tokens, self.w_cap * cython.sizeof(cython.p_void)))
            else:
                self.w_row = (self.w_row or []) + [None] * (self.w_cap - len(self.w_row or []))
                self.w_tokens = (self.w_tokens or []) + [None] * (self.w_cap - len(self.w_tokens or []))
            if not (self.w_exit and self.w_nexit and self.w_row and self.w_tokens):
                self._out_of_memory()
        return w

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _locate(self, w: cython.int, region: cython.int, x: cython.int) -> cython.int:
        """Enter the shared ``RegionTokens`` of the table of ``_explore``. Only the first to need one takes the GIL."""
        number: cython.int = self.rg_number[region]
        h: cython.ulonglong = hash_cells(number, x, self.tb, self.tb_len)
        self.w_tokens[w] = self.tables.find(self.tables_seen, number, x, self.tb, self.tb_len, h)
        if not self.w_tokens[w]:
            with cython.gil:
                self._look()
            self.w_tokens[w] = self.tables.find(self.tables_seen, number, x, self.tb, self.tb_len, h)
        if not self.w_tokens[w]:
            with cython.gil:
                self._obtain(w, number, x, h)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _look(self) -> cython.int:
        """Hold the tables' generation, so that what is found in it stays."""
        seen: cython.int = self.tables_seen
        self.tables_seen, held = self.tables.current()
        if self.tables_seen != seen or not self.kept:
            self.kept.append(held)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _obtain(self, w: cython.int, number: cython.int, x: cython.int, h: cython.ulonglong) -> cython.int:
        one: RegionTokens = self.tables.obtain(self.t, number, x, self.tb, self.tb_len, h)
        self.kept.append(one)
        if cython.compiled:
            self.w_tokens[w] = cython.cast(cython.p_void, one)
        else:
            self.w_tokens[w] = one
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _enter_wide(self, w: cython.int, wide: RegionTokens, loop: cython.int, c: cython.int, least: cython.int,
                    most: cython.int) -> cython.int:
        """Enter the shared row, and an exit for each of the ``ways`` that something stands at."""
        k: cython.int
        v: cython.int
        rounds: cython.int
        self.w_row[w] = wide.within(self.t, most)
        if not self.w_row[w]:
            self._out_of_memory()
        self.w_exit[w] = self.x_len
        for k in range(self.n_ways):
            v = self.ways[k]
            if loop < 0 or not self.a.has_frames(v):
                if wide.has_way(k + 1, least, most):
                    self._add_exit(w, v, k + 1, least, most)
                continue
            # in the middle of a round: how many are done then depends on where
            for rounds in range(most if most < wide.deepest + 1 else wide.deepest + 1):
                if wide.has_way(k + 1, rounds, rounds):
                    self._add_exit(w, self.a.recount(v, loop, c + rounds + 1), k + 1, rounds, rounds)
        self.w_nexit[w] = self.x_len - self.w_exit[w]
        self.w_len = w + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _add_exit(self, w: cython.int, v: cython.int, number: cython.int, least: cython.int,
                  most: cython.int) -> cython.int:
        e: cython.int = self.x_len
        if e + 1 > self.x_cap:
            self.x_cap = 64 if self.x_cap == 0 else self.x_cap * 2
            self.x_v = grow_int(self.x_v, self.x_cap)
            self.x_w = grow_int(self.x_w, self.x_cap)
            self.x_way = grow_int(self.x_way, self.x_cap)
            self.x_least = grow_int(self.x_least, self.x_cap)
            self.x_most = grow_int(self.x_most, self.x_cap)
            if not (self.x_v and self.x_w and self.x_way and self.x_least and self.x_most):
                self._out_of_memory()
        self.x_v[e] = v
        self.x_w[e] = w
        self.x_way[e] = number
        self.x_least[e] = least
        self.x_most[e] = most
        self.x_len = e + 1
        return 0

    # ---- masks ---------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def mask_of(self, node: cython.int) -> cython.int:
        """The id of the node's mask, built if need be."""
        i: cython.int
        j: cython.int
        k: cython.int
        out: cython.p_uint = self.scratch
        if self.a.n_mask[node] >= 0:
            return self.a.n_mask[node]
        if 4 * (self.pool_len + 4 * self.n_lists) > self.max_mask_bytes:
            self._forget()
        if cython.compiled:
            memset(out, 0, 4 * (self.words + 1))
        else:
            for i in range(self.words + 1):
                out[i] = 0
        self.visited = 0
        self._walk(node)
        for i in range(self.t.n_twins):
            j = self.t.twins[2 * i]
            k = self.t.twins[2 * i + 1]
            out[k >> 5] |= ((out[j >> 5] >> (j & 31)) & 1) << (k & 31)
        if self.n_sets > 0:
            for i in range(self.words):
                out[i] &= ~self.set_rows[self.n_sets * self.words + i]
            self._mark_token_sets(node)
        if self.a.is_complete(node):
            for i in range(self.words):
                out[i] |= self.stop_row[i]
        i = self._store()
        self.a.n_mask[node] = i
        return i

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _mark_token_sets(self, node: cython.int) -> cython.int:
        i: cython.int
        j: cython.int
        k: cython.int
        p: cython.int
        q: cython.int
        d: cython.int
        out: cython.p_uint = self.scratch
        self.a.expand(node)
        for i in range(self.a.n_nexp[node]):
            d = self.a.exp[self.a.n_exp[node] + 5 * i]
            if d == self.a.guard_det:
                self._mark_token_sets(self.a.exp[self.a.n_exp[node] + 5 * i + 1])  # no guards in it: one level deep
                continue
            if self.a.d_flags[d] & 8:
                for j in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d]):
                    p = self.a.d_pool[j]
                    for q in range(self.a.p_off[4 * p + 3], self.a.p_off[4 * p + 4]):
                        for k in range(self.words):
                            out[k] |= self.set_rows[self.a.e_a[q] * self.words + k]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _store(self) -> cython.int:
        """The id of the mask in ``scratch``: content-hashed, a list of ids if few, else a row."""
        out: cython.p_uint = self.scratch
        h: cython.ulonglong
        count: cython.int = 0
        i: cython.int
        j: cython.int
        k: cython.int
        m: cython.int
        w: cython.uint
        n: cython.int
        for i in range(self.words):
            w = out[i]
            w = w - ((w >> 1) & 0x55555555)
            w = (w & 0x33333333) + ((w >> 2) & 0x33333333)
            w = (w + (w >> 4)) & 0x0F0F0F0F
            count += (w & 255) + ((w >> 8) & 255) + ((w >> 16) & 255) + (w >> 24)
        h = self._hash_scratch(count)
        j = cython.cast(cython.int, h & (self.mk_table_size - 1))
        while self.mk_table[j] >= 0:
            m = self.mk_table[j]
            if self._same(m, count):
                return m
            j = (j + 1) & (self.mk_table_size - 1)
        m = self.mk_len_used
        if m >= self.mk_cap:
            self.mk_cap = 128 if self.mk_cap == 0 else self.mk_cap * 2
            self.mk_count = grow_int(self.mk_count, self.mk_cap)
            self.mk_off = grow_int(self.mk_off, self.mk_cap)
            self.mk_hash = grow_int(self.mk_hash, self.mk_cap)
            if not (self.mk_count and self.mk_off and self.mk_hash):
                self._out_of_memory()
        n = count if count <= LIST_MAX else self.words
        if self.pool_len + n > self.pool_cap:
            self.pool_cap = (self.pool_len + n) * 2
            self.pool = grow_uint(self.pool, self.pool_cap)
            if not self.pool:
                self._out_of_memory()
        self.mk_count[m] = count
        self.mk_off[m] = self.pool_len
        self.mk_hash[m] = cython.cast(cython.int, h & 0x7FFFFFFF)
        if count <= LIST_MAX:
            n = self.pool_len
            for i in range(self.words):
                w = out[i]
                if w != 0:
                    for k in range(32):
                        if (w >> k) & 1:
                            self.pool[n] = 32 * i + k
                            n += 1
            self.pool_len = n
        else:
            for i in range(self.words):
                self.pool[self.pool_len + i] = out[i]
            self.pool_len += self.words
        self.mk_table[j] = m
        self.mk_len_used = m + 1
        if self.mk_len_used * 2 > self.mk_table_size:
            self._rehash_masks()
        return m

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _hash_scratch(self, seed: cython.int) -> cython.ulonglong:
        """A hash of the row in ``scratch``: four lanes, so that the multiplications overlap."""
        out: cython.p_uint = self.scratch
        a: cython.ulonglong = 1 + seed
        b: cython.ulonglong = 2
        c: cython.ulonglong = 3
        d: cython.ulonglong = 4
        i: cython.int
        n: cython.int = self.words - (self.words & 3)
        for i in range(0, n, 4):
            a = (a ^ out[i]) * 1099511627
            b = (b ^ out[i + 1]) * 1099511627
            c = (c ^ out[i + 2]) * 1099511627
            d = (d ^ out[i + 3]) * 1099511627
            if not cython.compiled:
                a &= 0xFFFFFFFFFFFFFFFF
                b &= 0xFFFFFFFFFFFFFFFF
                c &= 0xFFFFFFFFFFFFFFFF
                d &= 0xFFFFFFFFFFFFFFFF
            a ^= a >> 31
            b ^= b >> 31
            c ^= c >> 31
            d ^= d >> 31
        for i in range(n, self.words):
            a = (a ^ out[i]) * 1099511627
            if not cython.compiled:
                a &= 0xFFFFFFFFFFFFFFFF
            a ^= a >> 31
        a = a ^ (b >> 3) ^ (c >> 7) ^ (d >> 11)
        return a ^ (a >> 32)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _rehash_masks(self) -> cython.int:
        i: cython.int
        m: cython.int
        self.mk_table_size = self.mk_table_size * 2
        self.mk_table = grow_int(self.mk_table, self.mk_table_size)
        if not self.mk_table:
            self._out_of_memory()
        for i in range(self.mk_table_size):
            self.mk_table[i] = -1
        for m in range(self.mk_len_used):
            i = self.mk_hash[m] & (self.mk_table_size - 1)
            while self.mk_table[i] >= 0:
                i = (i + 1) & (self.mk_table_size - 1)
            self.mk_table[i] = m
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _same(self, m: cython.int, count: cython.int) -> cython.bint:
        """Whether mask ``m`` is the one in ``scratch``, which has ``count`` bits."""
        out: cython.p_uint = self.scratch
        i: cython.int
        k: cython.uint
        if self.mk_count[m] != count:
            return False
        if count <= LIST_MAX:
            for i in range(count):
                k = self.pool[self.mk_off[m] + i]
                if not (out[k >> 5] >> (k & 31)) & 1:
                    return False
            return True
        for i in range(self.words):
            if out[i] != self.pool[self.mk_off[m] + i]:
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def write_mask(self, node: cython.int, out: cython.p_uint) -> cython.int:
        """Write the node's whole row into ``out``; returns how many tokens are allowed."""
        m: cython.int = self.mask_of(node)
        i: cython.int
        k: cython.uint
        off: cython.int
        if m < 0:
            return -1
        off = self.mk_off[m]
        if self.mk_count[m] > LIST_MAX:
            if cython.compiled:
                memcpy(out, self.pool + off, 4 * self.words)
            else:
                for i in range(self.words):
                    out[i] = self.pool[off + i]
        else:
            if cython.compiled:
                memset(out, 0, 4 * self.words)
            else:
                for i in range(self.words):
                    out[i] = 0
            for i in range(self.mk_count[m]):
                k = self.pool[off + i]
                out[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)
        return self.mk_count[m]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def next_state(self, node: cython.int, token: cython.int) -> cython.int:
        """The state after ``token``; 0 if it is not allowed. Stop tokens are not steps."""
        row: cython.int
        i: cython.int
        k: cython.int
        other: cython.int
        if token < 0 or token >= self.vocab_size or node == 0:
            return 0
        row = 0
        if self.t.offsets[token] != self.t.offsets[token + 1] and not (
                self.n_sets > 0 and (self.set_rows[self.n_sets * self.words + (token >> 5)] >> (token & 31)) & 1):
            row = self.a.row_of(node)
            for i in range(self.t.offsets[token], self.t.offsets[token + 1]):
                k = self.a.cls[self.t.text[i]]
                if self.a.rows[row + k] >= 0:
                    row = self.a.rows[row + k]
                else:
                    row = self.a.build(row, k)
                    if row < 0:
                        return -1
                if row == 0:
                    break
        if row != 0:
            row = self.a.row_node[row // self.a.n_classes]
        if self.n_sets > 0:
            for i in range(self.n_sets):
                if (self.set_rows[i * self.words + (token >> 5)] >> (token & 31)) & 1:
                    other = self.a.step_token(node, i)
                    if other < 0:
                        return -1
                    row = self.a.union(row, other)
        return self.a.after_token(row)

    # ---- for Python: handles, one call each, lock taken ---------------------------------------------
    #
    # A handle is ``epoch << 32 | node``; 0 is the dead state. A handle of an earlier epoch raises StaleState.

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def node_of(self, handle: cython.longlong) -> cython.int:
        node: cython.longlong = handle & 0xFFFFFFF
        if handle == 0:
            return 0
        if (handle >> 32) != self.a.epoch or node >= self.a.n_count:
            with cython.gil:
                raise StaleState(handle)
        return cython.cast(cython.int, node)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def handle_of(self, node: cython.int) -> cython.longlong:
        if node == 0:
            return 0
        return (cython.cast(cython.longlong, self.a.epoch) << 32) | node

    @cython.cfunc
    @cython.exceptval(check=False)
    def _recover(self) -> cython.void:
        """After an exception in mid-build: empty the scratch stacks. Tables are consistent at every raise."""
        with self.a.lock:
            self.a.clear_scratch()

    def start(self):
        """The first state."""
        return self.handle_of(self.a.start)

    def is_fresh(self, handle: cython.longlong):
        """Whether a handle is of this epoch."""
        return handle == 0 or (handle >> 32) == self.a.epoch

    def new_epoch(self):
        """Forget all states and masks: every handle given out before is stale."""
        with self.a.lock:
            self.a._reset()
            self._forget()

    def next(self, handle: cython.longlong, token: cython.longlong):
        """The state after ``token``, or 0. Stop tokens are not steps."""
        r: cython.longlong
        if token < 0 or token >= self.vocab_size:
            return 0
        try:
            with self.a.lock:
                r = self.handle_of(self.next_state(self.node_of(handle), cython.cast(cython.int, token)))
            return r
        except BaseException:
            self._recover()
            raise

    def next_all(self, handle: cython.longlong, tokens):
        """The states after each token of a sequence, up to the first that is not allowed."""
        found = []
        for token in tokens:
            handle = self.next(handle, token)
            if handle == 0:
                break
            found.append(handle)
        return found

    def advance(self, handle: cython.longlong, data: bytes, counted: cython.bint = False):
        """The state after ``data``, or 0; ``counted``: as one token of every text that has a budget."""
        row: cython.int
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = len(data)
        text: cython.p_const_uchar = data
        r: cython.longlong = 0
        try:
            with self.a.lock:
                row = self.a.row_of(self.node_of(handle))
                for i in range(n):
                    row = self.a.step(row, self.a.cls[text[i]])
                    if row == 0:
                        break
                if row != 0:
                    row = self.a.row_node[row // self.a.n_classes]
                    r = self.handle_of(self.a.after_token(row) if counted and n > 0 else row)
            return r
        except BaseException:
            self._recover()
            raise

    def unite(self, one: cython.longlong, other: cython.longlong):
        """The state that stands for "either"."""
        r: cython.longlong
        try:
            with self.a.lock:
                r = self.handle_of(self.a.union(self.node_of(one), self.node_of(other)))
            return r
        except BaseException:
            self._recover()
            raise

    def complete(self, handle: cython.longlong):
        """Whether the text may end here."""
        r: cython.bint
        with self.a.lock:
            r = self.a.is_complete(self.node_of(handle))
        return bool(r)

    def distance(self, handle: cython.longlong):
        """Fewest bytes to an end, or less where ``NotFollowedBy`` kills that way; a token named counts as a million."""
        r: cython.longlong
        with self.a.lock:
            r = self.a.n_min[self.node_of(handle)]
        return r

    def fill_at(self, handle: cython.longlong, address: cython.size_t):
        """Write the mask to ``words`` 32-bit words at a memory address (compiled only); returns the allowed count."""
        r: cython.int = 0
        if cython.compiled:
            try:
                with self.a.lock:
                    r = self.write_mask(self.node_of(handle), cython.cast(cython.p_uint, address))
            except BaseException:
                self._recover()
                raise
        return r

    def fill(self, handle: cython.longlong, bitmask: cython.int[:, ::1], index: cython.int):
        """Write the mask into row ``index`` of an int32 array; returns the allowed count; sizes unchecked."""
        r: cython.int
        i: cython.int
        if cython.compiled:
            return self.fill_at(handle, cython.cast(cython.size_t, cython.address(bitmask[index, 0])))
        row = [0] * self.words
        try:
            with self.a.lock:
                r = self.write_mask(self.node_of(handle), row)
        except BaseException:
            self._recover()
            raise
        for i in range(self.words):
            bitmask[index, i] = row[i] - (1 << 32) if row[i] >= 1 << 31 else row[i]
        return r

    def mask_id(self, handle: cython.longlong):
        """A number that equal masks share until masks are dropped."""
        m: cython.int
        try:
            with self.a.lock:
                m = self.mask_of(self.node_of(handle))
        except BaseException:
            self._recover()
            raise
        return m

    def known(self, handle: cython.longlong):
        """Whether the mask is already built."""
        r: cython.bint
        with self.a.lock:
            r = self.a.n_mask[self.node_of(handle)] >= 0
        return bool(r)

    def allowed_count(self, handle: cython.longlong):
        """How many tokens are allowed, stop tokens included."""
        m: cython.int
        r: cython.int
        try:
            with self.a.lock:
                m = self.mask_of(self.node_of(handle))  # first: it may move the arrays
                r = self.mk_count[m]
            return r
        except BaseException:
            self._recover()
            raise

    def allowed_ids(self, handle: cython.longlong):
        """The allowed ids in order, as a list."""
        m: cython.int
        i: cython.int
        found = []
        try:
            with self.a.lock:
                m = self.mask_of(self.node_of(handle))
                if self.mk_count[m] <= LIST_MAX:
                    for i in range(self.mk_count[m]):
                        found.append(self.pool[self.mk_off[m] + i])
                else:
                    for i in range(self.vocab_size):
                        if (self.pool[self.mk_off[m] + (i >> 5)] >> (i & 31)) & 1:
                            found.append(i)
            return found
        except BaseException:
            self._recover()
            raise

    def forced_bytes(self, handle: cython.longlong, most: cython.int):
        """The bytes that must follow (at most ``most``): as long as exactly one byte can, and the end cannot."""
        node: cython.int
        i: cython.int
        k: cython.int
        w: cython.uint
        row: cython.int
        out = bytearray()
        try:
            with self.a.lock:
                node = self.node_of(handle)
                while len(out) < most and node != 0 and not self.a.is_complete(node) and not self._reads_tokens(node):
                    for i in range(8):
                        self.first[i] = 0
                    self.a.first_classes(node, self.first)
                    if self.a.guard_loop >= 0 or self.a.budgets:
                        self._drop_dead_classes(node)
                    k = -1
                    for i in range(8):
                        w = self.first[i] & 0xFFFFFFFF
                        if w == 0:
                            continue
                        if k >= 0 or (w & (w - 1)) != 0:
                            k = -2
                            break
                        k = 32 * i
                        while not w & 1:
                            w = w >> 1
                            k += 1
                    if k < 0 or self.class_off[k + 1] - self.class_off[k] != 1:
                        break
                    row = self.a.step(self.a.row_of(node), k)
                    out.append(self.class_bytes[self.class_off[k]])
                    node = self.a.row_node[row // self.a.n_classes]
            return bytes(out)
        except BaseException:
            self._recover()
            raise

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _reads_tokens(self, node: cython.int) -> cython.bint:
        i: cython.int
        k: cython.int
        if self.n_sets == 0:
            return False
        self.a.expand(node)
        for i in range(self.a.n_nexp[node]):
            k = self.a.n_exp[node] + 5 * i
            if self.a.exp[k] == self.a.guard_det:
                if self._reads_tokens(self.a.exp[k + 1]):  # no guards in it: one level deep
                    return True
            elif self.a.d_flags[self.a.exp[k]] & 8:
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _drop_dead_classes(self, node: cython.int) -> cython.int:
        """Clear in ``first`` the byte classes after which a guard, or a budget, leaves nothing."""
        k: cython.int
        for k in range(self.a.n_classes):
            if (self.first[k >> 5] >> (k & 31)) & 1 and self.a.step(self.a.row_of(node), k) == 0:
                self.first[k >> 5] = self.first[k >> 5] & ~_bit(k & 31)
        return 0

    def shortest(self, handle: cython.longlong, most: cython.int):
        """The bytes of a shortest way to an end, at most ``most`` of them; None where only a token set goes on."""
        node: cython.int
        k: cython.int
        row: cython.int
        t: cython.int
        least: cython.longlong
        full: cython.bint = False
        out = bytearray()
        try:
            with self.a.lock:
                node = self.node_of(handle)
                if self.a.guard_loop >= 0:
                    return self._search(node, most)
                while not self.a.is_complete(node) and len(out) < most:
                    row = self.a.row_of(node)
                    least = self.a.n_min[node]
                    t = 0
                    for k in range(self.a.n_classes):
                        try:
                            t = self.a.step(row, k)
                        except ThreadLimitReached:
                            self.a.clear_scratch()  # another byte may be as short a way and need less
                            full = True
                            continue
                        if t != 0 and self.a.n_min[self.a.row_node[t // self.a.n_classes]] < least:
                            break
                        t = 0
                    if t == 0 and full:
                        raise ThreadLimitReached(self.a.max_threads, -1)
                    if t == 0:
                        return None
                    out.append(self.class_bytes[self.class_off[k]])
                    node = self.a.row_node[t // self.a.n_classes]
            return bytes(out)
        except BaseException:
            self._recover()
            raise

    @cython.cfunc
    def _search(self, node: cython.int, most: cython.int):
        """``shortest`` where guards may kill a way that looks short: A* (Hart, Nilsson, Raphael 1968) on ``n_min``.

        Of equally good ways the longest read so far goes on first, so that without detours this is a straight line.
        """
        k: cython.int
        t: cython.int
        depth: cython.int
        before = {node: None}
        heap = [(self.a.n_min[node], 0, node)]
        while heap:
            _, depth, node = heappop(heap)
            depth = -depth
            if self.a.is_complete(node):
                out = bytearray()
                while before[node] is not None:
                    node, k = before[node]
                    out.append(k)
                out.reverse()
                return bytes(out[:most])
            if len(before) * self.a.n_classes > self.max_walk_nodes:
                raise WalkLimitReached(len(before))
            for k in range(self.a.n_classes):
                t = self.a.step(self.a.row_of(node), k)
                if t != 0:
                    t = self.a.row_node[t // self.a.n_classes]
                    if t not in before:
                        before[t] = (node, self.class_bytes[self.class_off[k]])
                        heappush(heap, (depth + 1 + self.a.n_min[t], -depth - 1, t))
        return None

    def elements(self, handle: cython.longlong):
        """The state as ``(positions, count, tail handle)`` triples: for explaining and for tests."""
        i: cython.int
        d: cython.int
        node: cython.int
        found = []
        with self.a.lock:
            node = self.node_of(handle)
            for i in range(self.a.n_off[node], self.a.n_off[node] + self.a.n_len[node]):
                d = self.a.el_d[i]
                positions = [self.a.d_pool[j] for j in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d])]
                found.append((positions, self.a.el_c[i], self.handle_of(self.a.el_n[i])))
        return found

    def threads(self, handle: cython.longlong):
        """The positions that can read now, one list for each thread, calls entered."""
        i: cython.int
        d: cython.int
        node: cython.int
        found = []
        try:
            with self.a.lock:
                waiting = [self.node_of(handle)]
                while waiting:
                    node = waiting.pop()
                    self.a.expand(node)
                    for i in range(self.a.n_nexp[node]):
                        d = self.a.exp[self.a.n_exp[node] + 5 * i]
                        if d == self.a.guard_det:
                            waiting.append(self.a.exp[self.a.n_exp[node] + 5 * i + 1])
                            continue
                        found.append([self.a.d_pool[j]
                                      for j in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d])])
            return found
        except BaseException:
            self._recover()
            raise

    def memory(self):
        """Bytes held, the shared vocabulary not counted."""
        held: cython.longlong
        with self.a.lock:
            held = self.a.memory_bytes()
            held += 4 * (self.pool_cap + self.n_sets * self.words + 4 * self.list_cap)
        return held

    def counts(self):
        """(epoch, states, rows, masks, regions walked): for benchmarks, limits and tests of the caches."""
        with self.a.lock:
            found = (self.a.epoch, self.a.n_count, self.a.rows_len // self.a.n_classes, self.mk_len_used, self.w_len)
        return found


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


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _fill_one(one: TokenAutomaton, handle: cython.longlong, out: cython.p_uint) -> cython.int:
    with one.a.lock:
        return one.write_mask(one.node_of(handle), out)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _next_one(one: TokenAutomaton, handle: cython.longlong, token: cython.int) -> cython.longlong:
    with one.a.lock:
        return one.handle_of(one.next_state(one.node_of(handle), token))


@cython.cfunc
@cython.exceptval(check=False)
def _pointers(n: cython.int) -> cython.pp_void:
    """Room for ``n`` borrowed references; only compiled code asks for it."""
    if cython.compiled:
        return cython.cast(cython.pp_void, realloc(cython.NULL, (n + 1) * cython.sizeof(cython.p_void)))


def fill_many(automata: list, handles: cython.longlong[::1], address: cython.size_t, rows: cython.int[::1],
              words: cython.Py_ssize_t, begin: cython.int, end: cython.int):
    """Masks of many states in one call without the GIL: row ``rows[i]`` gets the mask of ``handles[i]``.

    ``address`` is that of an int32 array of rows of ``words`` words. Compiled only; sizes are the caller's care.
    Returns None, or (i, exception) for the first row ``begin <= i < end`` that failed; those before it are done.
    """
    n: cython.int = end - begin
    i: cython.int
    done: cython.int = 0
    if cython.compiled:
        base: cython.p_uint = cython.cast(cython.p_uint, address)
        pointers: cython.pp_void = _pointers(n)
        if not pointers:
            raise MemoryError
        try:
            for i in range(n):
                one: TokenAutomaton = automata[begin + i]
                pointers[i] = cython.cast(cython.p_void, one)
            with cython.nogil:
                for i in range(n):
                    _fill_one(cython.cast(TokenAutomaton, pointers[i]), handles[begin + i],
                              base + rows[begin + i] * words)
                    done += 1
        except BaseException as error:
            one = automata[begin + done]
            one._recover()
            return begin + done, error
        finally:
            free(pointers)
    return None


def next_many(automata: list, handles: cython.longlong[::1], tokens: cython.int[::1], out: cython.longlong[::1],
              begin: cython.int, end: cython.int):
    """The states after one token each, in one call without the GIL; 0 where the token is not allowed.

    Returns None, or (i, exception) as ``fill_many``.
    """
    n: cython.int = end - begin
    i: cython.int
    done: cython.int = 0
    if cython.compiled:
        pointers: cython.pp_void = _pointers(n)
        if not pointers:
            raise MemoryError
        try:
            for i in range(n):
                one: TokenAutomaton = automata[begin + i]
                pointers[i] = cython.cast(cython.p_void, one)
            with cython.nogil:
                for i in range(n):
                    out[begin + i] = _next_one(cython.cast(TokenAutomaton, pointers[i]), handles[begin + i],
                                               tokens[begin + i])
                    done += 1
        except BaseException as error:
            one = automata[begin + done]
            one._recover()
            return begin + done, error
        finally:
            free(pointers)
    else:
        for i in range(begin, end):
            out[i] = automata[i].next(handles[i], tokens[i])
    return None


_COUNTERS = """
vocab_size words n_sets generation max_mask_bytes max_walk_nodes visited nu_cap st_cap numbering tb_len tb_cap
n_ways n_tasks task_cap n_rest rest_cap w_len w_cap x_len x_cap n_lists list_cap mk_len_used mk_cap
mk_table_size tables_seen p_len p_cap small n_runs run_cap run_nodes pool_len pool_cap counted
""".split()
_POINTERS = """
nu nu_gen st_node ways tb rg_off rg_first rg_number class_off class_bytes path path_b path_c path_d run_x
run_row task_x task_node rest_d rest_n rest_c first w_exit w_nexit x_v x_w x_way x_least x_most xl_len
mk_count mk_off mk_hash mk_table scratch set_rows stop_row pool w_row xl w_tokens p_tokens marks
""".split()
