# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Token masks of automaton states, and steps by token.

Idea
    Which tokens a thread can read does not depend on the stack below it, but where its rule ends within the token. So
    the thread's det is walked once through the vocabulary's trie over the stack HOLE, and what is found is a *record*,
    which serves every state, every count and every set of written keys: tokens, and the exit group of the places
    where HOLE is on top. A mask is put together from the records of its threads at the root of the trie, and of the
    threads below them at the groups, down to where no token reaches. Most states are new combinations of known
    records, and most combinations are known too.

Data
    record r     ``rc_base[r]``: a base of ``masks`` or NONE; further tokens ``rc_pool[rc_off[r] .. + rc_len[r]]``;
                 ``rc_group[r]``: its exit group, UNKNOWN while only threads asked that stand on the end.
                 ``rc_more[r]``: where ``pg_pool`` has the groups of places with a guard pending: how many, and for
                 each the pending id and the group; 0 for none.
                 ``rc_next[2 r]``: a group, or 0, where hole node ``rc_next[2 r + 1]`` goes on: what follows a literal.
                 Found by (group, det), or (group, hole node) for a counted loop, a budget, and where guards matter
                 (``guard_holes``), or (group, state) of an automaton beside a counter (``counted_walk``); record 0 is
                 empty
    part         ``part_pool[at ..]``: how many records, how many exits; the records; (pending id, group) of each exit.
                 What an element of a node reads over HOLE with all the calls that it enters, where there are guards:
                 then a lexer was at work, and most states make the same calls. Found by (group, det), or (group, hole
                 node) with a guard pending or ends that the stacks below do not survive
    signature    the records of a mask, in the order they were met, and whether the end is allowed: known ones give the
                 mask at once (``signatures``)

When records and masks outgrow their budget all are dropped (they can be rebuilt); states never are.

Cost: a known mask is one copy of the row. A new one costs 20-50 ns a thread if its records are known; a record 2-4 ns
a trie node walked. What Python calls is ``kernel.token_automaton``; it holds the automaton's lock.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.counted_walk import KNOWN, LEAVES, LISTED, LONG, REACH, CountedWalk
    from cython.cimports.constrained.kernel.exit_groups import ROOT_GROUP, ExitGroups
    from cython.cimports.constrained.kernel.far_counts import set_reach
    from cython.cimports.constrained.kernel.guard_holes import GuardHoles
    from cython.cimports.constrained.kernel.hole_regions import HoleRegions
    from cython.cimports.constrained.kernel.holes import fill_hole
    from cython.cimports.constrained.kernel.item_choice import add_told, is_open, lives_open, open_part, part_of
    from cython.cimports.constrained.kernel.mask_store import MaskStore
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, grow_uint, moved
    from cython.cimports.constrained.kernel.pair_list import PairList
    from cython.cimports.constrained.kernel.position_sets import HOLE_DET
    from cython.cimports.constrained.kernel.region_tokens import ROW_IDS
    from cython.cimports.constrained.kernel.signatures import Signatures
    from cython.cimports.constrained.kernel.stacks import ROOT_NODE
    from cython.cimports.constrained.kernel.token_budgets import after_token, uncounted
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.token_walk import TokenWalk
    from cython.cimports.constrained.kernel.unions import unite
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.counted_walk import KNOWN, LEAVES, LISTED, LONG, REACH, CountedWalk
    from constrained.kernel.exit_groups import ROOT_GROUP, ExitGroups
    from constrained.kernel.far_counts import set_reach
    from constrained.kernel.guard_holes import GuardHoles
    from constrained.kernel.hole_regions import HoleRegions
    from constrained.kernel.holes import fill_hole
    from constrained.kernel.item_choice import add_told, is_open, lives_open, open_part, part_of
    from constrained.kernel.mask_store import MaskStore
    from constrained.kernel.memory import drop_int, grow_int, grow_uint, moved
    from constrained.kernel.pair_list import PairList
    from constrained.kernel.position_sets import HOLE_DET
    from constrained.kernel.region_tokens import ROW_IDS
    from constrained.kernel.signatures import Signatures
    from constrained.kernel.stacks import ROOT_NODE
    from constrained.kernel.token_budgets import after_token, uncounted
    from constrained.kernel.token_trie import TokenTrie
    from constrained.kernel.token_walk import TokenWalk
    from constrained.kernel.unions import unite

NONE = cython.declare(cython.int, -1)
UNKNOWN = cython.declare(cython.int, -1)
MANY_TOKENS = cython.declare(cython.int, 2048)
MANY_IDS = cython.declare(cython.int, 1024)


@cython.cclass
class MaskWalk:
    """The masks of one automaton's nodes. See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.first)
            free(self.set_rows)
            free(self.stops)
            free(self.rc_piece)
            free(self.pg_pool)
            free(self.rc_pool)
            free(self.of_det)
            free(self.part_pool)

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
        self.a = automaton
        self.t = trie
        set_reach(automaton, trie.max_depth + 1)
        self.max_mask_bytes = max_mask_bytes
        self.vocab_size = trie.vocab_size
        self.words = trie.words
        self.r = HoleRegions(automaton, trie, regions)
        self.groups = ExitGroups(automaton, trie, self.r)
        self.holes = GuardHoles(automaton)
        self.walk = TokenWalk(automaton, trie, self.r, self.groups, max_walk_nodes)
        if automaton.n_counted > 0:
            self.counted = CountedWalk(automaton, trie, self.walk)
        self.masks = MaskStore(trie)
        self.signatures = Signatures()
        self.outer = PairList()
        self.telling = PairList()
        self.inner = PairList()
        self.first = grow_int(self.first, 8)
        self.n_sets = len(token_sets)
        self.n_stops = len(stop_ids)
        self.stops = grow_int(self.stops, self.n_stops + 1)
        if not (self.first and self.stops):
            raise MemoryError
        for i, k in enumerate(stop_ids):
            self.stops[i] = k
        self._enter_sets(token_sets, by_id_only)
        self.generation = 0
        self._forget()

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter_sets(self, token_sets, by_id_only) -> cython.int:
        """A row for each token set, and one behind them of the ids whose bytes are not read."""
        i: cython.int
        k: cython.int
        if self.n_sets == 0:
            return 0
        self.set_rows = grow_uint(self.set_rows, (self.n_sets + 1) * self.words + 1)
        if not self.set_rows:
            raise MemoryError
        for i in range((self.n_sets + 1) * self.words):
            self.set_rows[i] = 0
        for k in by_id_only:
            self.set_rows[self.n_sets * self.words + (k >> 5)] |= cython.cast(cython.uint, 1) << (k & 31)
        for i, ids in enumerate(token_sets):
            for k in ids:
                self.set_rows[i * self.words + (k >> 5)] |= cython.cast(cython.uint, 1) << (k & 31)
        return 0

    # ---- memory --------------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _forget(self) -> cython.int:
        """Drop masks, records and regions: at a new epoch, or when they outgrow their budget."""
        i: cython.int
        self.generation += 1
        with cython.gil:
            self.r.forget()
        self.groups.forget()
        if self.a.n_counted > 0:
            self.counted.forget()
        self.holes.forget()
        self.walk.side.forget()
        self.walk.lanes.forget()
        self.masks.forget()
        self.of_det_len = 0
        self.rc_used = 0
        self.rc_pool_len = 0
        self.pg_len = 1
        self.part_len = 0
        self.signatures.forget()
        self._new_record(NONE, 0)
        for i in range(self.a.n_count):
            self.a.n_mask[i] = -1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _out_of_memory(self) -> cython.int:
        with cython.gil:
            raise MemoryError("the masks could not grow")

    # ---- records -------------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _new_record(self, base: cython.int, group: cython.int) -> cython.int:
        """A record of the base and of the further tokens of ``masks``, whose making ends here."""
        r: cython.int = self.rc_used
        i: cython.int
        n: cython.int = self.masks.n_ex
        if r >= self.rc_cap:
            self._grow_records(32 if self.rc_cap == 0 else self.rc_cap * 2)
        if self.rc_pool_len + n > self.rc_pool_cap:
            self.rc_pool_cap = 2 * (self.rc_pool_len + n) + 1024
            self.rc_pool = grow_int(self.rc_pool, self.rc_pool_cap)
            if not self.rc_pool:
                self._out_of_memory()
        self.rc_base[r] = base
        self.rc_off[r] = self.rc_pool_len
        self.rc_len[r] = n
        self.rc_group[r] = group
        self.rc_more[r] = 0
        self.rc_stamp[r] = 0
        self.rc_next[2 * r] = 0
        for i in range(n):
            self.rc_pool[self.rc_pool_len + i] = self.masks.ex[i]
        self.rc_pool_len += n
        self.masks.begin(NONE)
        self.rc_used = r + 1
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_records(self, cap: cython.int) -> cython.int:
        """Room for ``cap`` records."""
        n: cython.int = self.rc_used
        at: cython.Py_ssize_t = cap
        piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 8 * at)
        if not piece:
            self._out_of_memory()
        self.rc_base = moved(piece, 0, self.rc_base, n, cap)
        self.rc_off = moved(piece, at, self.rc_off, n, cap)
        self.rc_len = moved(piece, 2 * at, self.rc_len, n, cap)
        self.rc_group = moved(piece, 3 * at, self.rc_group, n, cap)
        self.rc_more = moved(piece, 4 * at, self.rc_more, n, cap)
        self.rc_stamp = moved(piece, 5 * at, self.rc_stamp, n, cap)
        self.rc_next = moved(piece, 6 * at, self.rc_next, 2 * n, 2 * cap)
        drop_int(self.rc_piece)
        self.rc_piece = piece
        self.rc_cap = cap
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _take_walk(self) -> cython.int:
        """What the walk has found becomes the mask in the making of ``masks``, on a base of its own if it is large."""
        i: cython.int
        k: cython.int
        row: cython.p_uint
        base: cython.int = NONE
        out: cython.p_uint
        if self.walk.lanes.used or self.walk.found.n_wb > 1 or self.walk.found.n_tk > MANY_TOKENS:
            self.masks.need_scratch()
            out = self.masks.scratch
            self.walk.found.add_rows(out)
            if self.walk.lanes.used:
                self.walk.lanes.pack(out)
            for i in range(self.walk.found.n_tk):
                k = self.walk.found.tk[i]
                out[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)
            self.masks.begin(self.masks.own_base())
            return 0
        if self.walk.found.n_wb == 1:
            row = self.r.w_row[self.walk.found.wb[0]]
            if self.walk.found.wb_lo[0] == self.walk.found.wb_hi[0] and row[self.words + 1] <= ROW_IDS:
                self.masks.begin(NONE)
                self.masks.add_listed(row, self.words + 2)
            else:
                base = self._base_of_wide(self.walk.found.wb[0])
        if base >= 0 and self.masks.b_count[base] <= ROW_IDS:  # some are cut
            self.masks.begin(NONE)
            self.masks.add_row(self.masks.b_row[base], self.masks.b_count[base])
        elif base >= 0 or self.walk.found.n_wb == 0:
            self.masks.begin(base)
        return self.masks.add_all(self.walk.found.tk, 0, self.walk.found.n_tk)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _base_of_wide(self, w: cython.int) -> cython.int:
        """The base with the row of the walk's one wide, but for the tokens that are cut: mostly one, a quote."""
        b: cython.int
        token: cython.int
        if self.walk.found.wb_lo[0] == self.walk.found.wb_hi[0]:
            return self.masks.base_of(self.r.w_row[w], self.r.w_row[w][self.words + 1])
        token = self.walk.found.cuts[self.walk.found.wb_lo[0]]
        if self.walk.found.wb_hi[0] - self.walk.found.wb_lo[0] == 1:
            b = self.a.memo.get(19 + 5 * self.generation + 1000000000, w, token)
            if b >= 0:
                return b
        self.masks.need_scratch()
        self.walk.found.add_rows(self.masks.scratch)
        b = self.masks.own_base()
        if self.walk.found.wb_hi[0] - self.walk.found.wb_lo[0] == 1:
            self.a.memo.put(19 + 5 * self.generation + 1000000000, w, token, b)
        return b

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _record(self, g: cython.int, u: cython.int, hook: cython.bint) -> cython.int:
        """A new record: what hole node ``u`` reads at group ``g``."""
        i: cython.int
        r: cython.int
        more: cython.int
        rest: cython.int
        if u == 0:
            return 0
        if g != ROOT_GROUP:
            self.a.expand(u)
            for i in range(8):
                self.first[i] = 0
            self.a.first_classes(u, self.first)
            if not self.groups.meets(g, self.first):
                return 0
        i = self.a.n_off[u]
        if self.walk.plain and self.a.n_len[u] == 1 and self.a.d_loop[self.a.el_d[i]] < 0 and (
                self.walk.literals.is_literal(self.a.el_d[i])):
            self.walk.follow(g, self.a.el_d[i], hook)
        elif g == ROOT_GROUP:
            self.walk.from_root(u, hook)
        else:
            self.walk.from_group(g, u, hook)
        self._take_walk()
        i = UNKNOWN
        more = 0
        if hook:
            i = self.groups.finish()
            more = self._pending_groups()
        rest = self.walk.rest
        if rest != 0:
            self.groups.begin()
            for r in range(self.walk.literals.n_places):
                self.groups.add_node(self.walk.literals.places[r])
        elif i == 0 and more == 0 and self.masks.base == NONE and self.masks.n_ex == 0:
            return 0
        r = self._new_record(self.masks.base, i)
        self.rc_more[r] = more
        if rest != 0:
            self.rc_next[2 * r] = self.groups.finish()
            self.rc_next[2 * r + 1] = rest
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _pending_groups(self) -> cython.int:
        """Make the groups of the places that were set aside; where ``pg_pool`` has them, or 0."""
        at: cython.int = self.pg_len
        g: cython.int
        c: cython.int = self.groups.next_pending()
        if c == 0:
            return 0
        self.pg_len = at + 1
        while c != 0:
            g = self.groups.finish()
            if self.pg_len + 2 > self.pg_cap:
                self.pg_cap = 2 * self.pg_len + 64
                self.pg_pool = grow_int(self.pg_pool, self.pg_cap)
                if not self.pg_pool:
                    self._out_of_memory()
            self.pg_pool[self.pg_len] = c
            self.pg_pool[self.pg_len + 1] = g
            self.pg_len += 2
            c = self.groups.next_pending()
        self.pg_pool[at] = (self.pg_len - at - 1) // 2
        return at

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _record_of(self, g: cython.int, d: cython.int, hook: cython.bint) -> cython.int:
        """The record of det ``d`` at group ``g``; without ``hook`` its own group may be unknown."""
        r: cython.int
        q: cython.int
        if g == ROOT_GROUP:
            if d >= self.of_det_cap:
                self.of_det_cap = 2 * d + 256
                self.of_det = grow_int(self.of_det, self.of_det_cap)
                if not self.of_det:
                    self._out_of_memory()
            while self.of_det_len <= d:
                self.of_det[self.of_det_len] = -2
                self.of_det_len += 1
            r = self.of_det[d]
        else:
            r = self.a.memo.get(19 + 5 * self.generation, g, d)
        if r >= 0:
            if not hook or self.rc_group[r] != UNKNOWN:
                return r
            self._find_groups(g, self.r.hole_node(self.a.byte_det(d), 0), r)
            return r
        q = 0
        if g == ROOT_GROUP:
            q = self.walk.side.region_of(d)
            if q != 0:
                r = self.walk.side.differ(d, q, 0)
                if r != 1:
                    q = 0
                    if r == 0:
                        self.walk.side.side[d] = 0
        r = self._record_of(g, q, hook) if q != 0 else self._record(g, self.r.hole_node(self.a.byte_det(d), 0), hook)
        if g == ROOT_GROUP:
            self.of_det[d] = r
        else:
            self.a.memo.put(19 + 5 * self.generation, g, d, r)
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _find_groups(self, g: cython.int, u: cython.int, r: cython.int) -> cython.int:
        """Record ``r`` gets its groups: its hole node ``u`` is walked once more."""
        q: cython.int = self._record(g, u, True)
        self.rc_group[r] = self.rc_group[q]
        self.rc_more[r] = self.rc_more[q]
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _node_record(self, g: cython.int, u: cython.int, hook: cython.bint) -> cython.int:
        """The record of hole node ``u``."""
        r: cython.int = self.a.memo.get(20 + 5 * self.generation, g, u)
        if r < 0:
            r = self._record(g, u, hook)
            self.a.memo.put(20 + 5 * self.generation, g, u, r)
        elif hook and self.rc_group[r] == UNKNOWN:
            self._find_groups(g, u, r)
        return r

    # ---- masks ---------------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def mask_of(self, node: cython.int) -> cython.int:
        """The id of the node's mask, built if need be."""
        m: cython.int
        same: cython.int
        if self.a.n_mask[node] >= 0:
            return self.a.n_mask[node]
        if self.a.budgets:
            same = uncounted(self.a, node)
            if same != node:
                m = self.mask_of(same)  # one level deep
                self.a.n_mask[node] = m
                return m
        if self._bytes_held() > self.max_mask_bytes:
            self._forget()
        self.walk.visited = 0
        m = self._compose(node)
        self.a.n_mask[node] = m
        return m

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _bytes_held(self) -> cython.longlong:
        return self.masks.bytes_held() + 4 * (
            cython.cast(cython.longlong, self.rc_pool_len) + self.signatures.pool_len + self.groups.pool_len
            + 4 * self.r.n_lists + 8 * self.rc_used + self.pg_len + self.part_len
            + (self.counted.kept_len if self.a.n_counted > 0 else 0))

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _compose(self, node: cython.int) -> cython.int:
        """The mask of ``node`` from records."""
        i: cython.int
        self.outer.clear()  # an exception may have left some
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
        if self.n_sets > 0:  # what sets allow depends on the node: not kept
            return self._unite(node)
        i = self.signatures.find()
        if i < 0:
            i = self._unite(node)
            self.signatures.keep(i)
        return i

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
                self._out_of_memory()
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

    # ---- threads -------------------------------------------------------------------------------------

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
            r = self._node_record(g, self.holes.thread_node(d, count, c, dead), n != ROOT_NODE)
        elif self.a.exp[at + 2] != 0 or count != 0:
            r = self._node_record(g, self.r.hole_node(d, count), n != ROOT_NODE)
        else:
            r = self._record_of(g, d, n != ROOT_NODE)
        if r == 0:
            return 0
        if self.rc_stamp[r] != self.stamp:
            self.rc_stamp[r] = self.stamp
            if self.rc_len[r] != 0 or self.rc_base[r] != NONE:
                self.signatures.add(r)
        if self.rc_next[2 * r] != 0:
            m = fill_hole(self.a, self.rc_next[2 * r + 1], n)
            if m != 0:
                todo.add(self.rc_next[2 * r], m)
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
    def _read_open(self, todo: PairList, g: cython.int, d: cython.int, n: cython.int) -> cython.int:
        """The same of a thread over the open tail ``n`` (``item_choice``): keys are followed down both tries at once.

        Which tokens they are depends on what is written: the record is this mask's alone. Where an item is told, what
        goes on is to be read.
        """
        b: cython.int
        i: cython.int
        x: cython.int
        t: cython.int = self.a.det_first(d)
        self.walk._begin(False)
        self.telling.clear()
        if g != ROOT_GROUP:
            self.groups.open(g)
        for b in range(256):
            if (self.a.firsts[t + (self.a.cls[b] >> 5)] >> (self.a.cls[b] & 31)) & 1:
                if g == ROOT_GROUP:
                    x = self.t.children[self.t.child_table(0) + b]
                    if x != 0:
                        self._take_key(x, self.a.det_step(d, self.a.cls[b]), n)
                    continue
                for i in range(self.groups.behind(b)):
                    self._take_key(self.groups.found[i], self.a.det_step(d, self.a.cls[b]), n)
        while self.walk.n_tasks > 0:
            self.walk.n_tasks -= 1
            x = self.walk.task_x[self.walk.n_tasks]
            d = self.walk.task_node[self.walk.n_tasks]
            i = x + 1
            while i < self.t.end[x]:
                t = self.a.det_step(d, self.a.cls[self.t.word[i] & 255])
                if t != 0:
                    self._take_key(i, t, n)
                i = self.t.end[i]
        self._take_walk()
        if self.masks.base != NONE or self.masks.n_ex != 0:
            self.signatures.add(self._new_record(self.masks.base, 0))
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
    def _take_key(self, x: cython.int, d: cython.int, n: cython.int) -> cython.int:
        """Trie node ``x`` has been read, and det ``d`` over the open tail ``n`` is left: take its token, and go on."""
        k: cython.int = open_part(self.a, d)
        goes: cython.bint = k != 0 and lives_open(self.a, k, n, False)
        tells: cython.bint = k != d and lives_open(self.a, d, n, True)
        if goes or tells:
            self.walk.found.add_at(x)
        if goes and self.t.end[x] > x + 1:
            self.walk._push_task(x, k)
        if tells:
            self.telling.add(x, d)
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
            r = self._counted_record(g, r, cython.cast(CountedAnnex, self.a.c_annex[r]), self.a.place_of_position(p))
            if self.rc_stamp[r] != self.stamp:
                self.rc_stamp[r] = self.stamp
                if self.rc_len[r] != 0 or self.rc_base[r] != NONE:
                    self.signatures.add(r)
            if self.rc_next[2 * r] != 0:
                p = fill_hole(self.a, self.rc_next[2 * r + 1], n)
                if p != 0:
                    todo.add(self.rc_next[2 * r], p)
        rest = self.a.memo.get(18, d, 0)
        if rest < 0:
            self.a.need_buf(self.a.d_len[d])
            for i in range(self.a.d_len[d]):
                p = self.a.d_pool[self.a.d_off[d] + i]
                if self.a.p_off[4 * p] == self.a.p_off[4 * p + 1] or self.a.e_to[self.a.p_off[4 * p]] >= -1:
                    self.a.buf[kept] = p
                    kept += 1
            rest = self.a.intern_det(kept)
            self.a.memo.put(18, d, 0, rest)
        return rest

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _counted_record(self, g: cython.int, k: cython.int, annex: CountedAnnex, place: cython.int) -> cython.int:
        """The record of a place of automaton ``k`` beside a counter.

        Many share one: where a text may end those of a state (kind 16; 18: what ``counted.kept`` has of it) that are
        far from the greatest count, and where no token is long enough for an end (17)."""
        state: cython.int = place % annex.block.n
        count: cython.int = place // annex.block.n
        left: cython.int = annex.top - count
        kind: cython.int = 500000000 + 5 * self.generation
        depth: cython.int = self.t.max_depth
        key: cython.int = self.a.c_base[k] + state
        at: cython.int
        all_of: cython.int = 0
        r: cython.int
        if count >= annex.least and (annex.endless or left >= annex.need[state] + LONG):
            r = self.a.memo.get(kind + 16, g, key)
            if r < 0:
                r = self._read_place(g, k, annex, place, False)
                self.a.memo.put(kind + 16, g, key, r)
                self.a.memo.put(kind + 18, g, key, self.counted.keep())
            at = self.a.memo.get(kind + 18, g, key)
            if annex.endless or left >= self.counted.kept[at + REACH]:
                return r
            if left >= self.counted.kept[at + LEAVES] and left >= self.counted.kept[at + KNOWN]:
                all_of = r
        elif count + depth < annex.least and annex.alike[count] == annex.alike[count + depth]:
            key += annex.alike[count] * annex.block.n
            r = self.a.memo.get(kind + 17, g, key)
            if r < 0:
                r = self._read_place(g, k, annex, place, True)
                self.a.memo.put(kind + 17, g, key, r)
            return r
        key = self.a.c_base[k] + place
        r = self.a.memo.get(kind + 19, g, key)
        if r < 0:
            r = self._cut_record(all_of, at, left) if all_of > 0 and self.rc_base[all_of] != NONE else (
                self._read_place(g, k, annex, place, True))
            self.a.memo.put(kind + 19, g, key, r)
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_place(self, g: cython.int, k: cython.int, annex: CountedAnnex, place: cython.int,
                    bounded: cython.bint) -> cython.int:
        """A new record: what ``counted`` reads from a place."""
        u: cython.int = self.counted.read(g, k, annex, place, bounded)
        r: cython.int
        left: cython.int
        self._take_walk()
        left = self.groups.finish()
        if left == 0 and self.masks.base == NONE and self.masks.n_ex == 0:
            return 0
        r = self._new_record(self.masks.base, 0)
        self.rc_next[2 * r] = left
        self.rc_next[2 * r + 1] = u
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _cut_record(self, all_of: cython.int, at: cython.int, left: cython.int) -> cython.int:
        """Record ``all_of``, a row of its own, without the tokens listed at ``at`` that need more than ``left``
        characters."""
        row: cython.p_uint = self.masks.b_row[self.rc_base[all_of]]
        out: cython.p_uint
        i: cython.int
        token: cython.int
        r: cython.int
        self.masks.need_scratch()
        out = self.masks.scratch
        for i in range(self.words):
            out[i] = row[i]
        at += 4
        for i in range(at, at + 2 * self.counted.kept[at - 4 + LISTED], 2):
            if self.counted.kept[i] > left:
                token = self.counted.kept[i + 1]
                out[token >> 5] &= ~(cython.cast(cython.uint, 1) << (token & 31))
        self.masks.begin(self.masks.own_base())
        r = self._new_record(self.masks.base, 0)
        self.rc_next[2 * r] = self.rc_next[2 * all_of]
        self.rc_next[2 * r + 1] = self.rc_next[2 * all_of + 1]
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _unite(self, node: cython.int) -> cython.int:
        """Put the mask together of the records of the signature in the making."""
        i: cython.int
        j: cython.int
        r: cython.int
        b: cython.int
        base: cython.int = NONE
        lo: cython.int = self.signatures.new + 1  # behind "the end is allowed"
        hi: cython.int = self.signatures.pool_len
        total: cython.int = 0
        out: cython.p_uint
        row: cython.p_uint
        for i in range(lo, hi):
            total += self.rc_len[self.signatures.pool[i]]
            b = self.rc_base[self.signatures.pool[i]]
            if b == NONE or b == base:
                continue
            base = b if base == NONE else self._united(base, b)
        if total > MANY_IDS:  # it will be kept as a row
            self.masks.begin(NONE)
            self.masks.need_scratch()
            out = self.masks.scratch
            if base != NONE:
                row = self.masks.b_row[base]
                for i in range(self.words):
                    out[i] = row[i]
            for i in range(lo, hi):
                r = self.signatures.pool[i]
                for j in range(self.rc_off[r], self.rc_off[r] + self.rc_len[r]):
                    b = self.rc_pool[j]
                    out[b >> 5] |= cython.cast(cython.uint, 1) << (b & 31)
            return self._finish_row(node)
        self.masks.begin(base)
        for i in range(lo, hi):
            r = self.signatures.pool[i]
            self.masks.add_all(self.rc_pool, self.rc_off[r], self.rc_len[r])
        return self._finish(node)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _united(self, one: cython.int, other: cython.int) -> cython.int:
        """The base with the bits of two."""
        lo: cython.int = min(one, other)
        hi: cython.int = max(one, other)
        b: cython.int = self.a.memo.get(18 + 5 * self.generation + 1000000000, lo, hi)
        if b == -2:
            b = self.masks.united(lo, hi)
            self.a.memo.put(18 + 5 * self.generation + 1000000000, lo, hi, b)
        return b

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _finish(self, node: cython.int) -> cython.int:
        """Tokens with equal bytes, token sets and stop tokens are added, and the mask is stored."""
        i: cython.int
        if self.n_sets == 0:
            self.masks.room(self.t.n_twins + self.n_stops)
            for i in range(self.t.n_twins):
                if self.masks.has(self.t.twins[2 * i]):
                    self.masks.add(self.t.twins[2 * i + 1])
            if self.a.is_complete(node):
                for i in range(self.n_stops):
                    self.masks.add(self.stops[i])
            return self.masks.finish()
        self.masks.to_scratch()
        return self._finish_row(node)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _finish_row(self, node: cython.int) -> cython.int:
        """The same for a mask that is a row in ``scratch``."""
        i: cython.int
        j: cython.int
        out: cython.p_uint
        self.masks.need_scratch()
        out = self.masks.scratch
        for i in range(self.t.n_twins):
            j = self.t.twins[2 * i]
            if (out[j >> 5] >> (j & 31)) & 1:
                j = self.t.twins[2 * i + 1]
                out[j >> 5] |= cython.cast(cython.uint, 1) << (j & 31)
        if self.n_sets > 0:
            j = self.n_sets * self.words
            for i in range(self.words):
                out[i] &= ~self.set_rows[j + i]
            self._mark_token_sets(node)
        if self.a.is_complete(node):
            for i in range(self.n_stops):
                j = self.stops[i]
                out[j >> 5] |= cython.cast(cython.uint, 1) << (j & 31)
        return self.masks.finish_scratch()

    @cython.final
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
        out: cython.p_uint = self.masks.scratch  # it is there: _finish_row asks
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

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def write_mask(self, node: cython.int, out: cython.p_uint) -> cython.int:
        """Write the node's whole row into ``out``; returns how many tokens are allowed."""
        m: cython.int = self.mask_of(node)
        if m < 0:
            return -1
        return self.masks.write(m, out)

    @cython.final
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
                    row = unite(self.a, row, other)
        return after_token(self.a, row)


_COUNTERS = """
vocab_size words n_sets n_stops generation max_mask_bytes pg_len pg_cap rc_used rc_cap rc_pool_len rc_pool_cap
of_det_len of_det_cap stamp stamps part_len part_cap
""".split()
_POINTERS = """
first set_rows stops rc_piece rc_base rc_off rc_len rc_group rc_more pg_pool rc_stamp rc_next rc_pool of_det part_pool
""".split()
