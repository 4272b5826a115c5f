# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What threads read over HOLE, whatever is below them: records.

Idea
    Which tokens a thread can read does not depend on the stack below it, but where its rule ends within the token. So
    the thread's det is walked once through the vocabulary's trie over the stack HOLE, and what is found is a *record*,
    which serves every state, every count and every set of written keys: tokens, and the exit group of the places
    where HOLE is on top. At the root of the trie the whole vocabulary is read, at a group what is behind its places.

Data
    record r     ``rc_base[r]``: a base of ``masks`` or NONE; further tokens ``rc_pool[rc_off[r] .. + rc_len[r]]``;
                 ``rc_group[r]``: its exit group, UNKNOWN while only threads asked that stand on the end.
                 ``rc_more[r]``: where ``pg_pool`` has the groups of places with a guard pending: how many, and for
                 each the pending id and the group; 0 for none.
                 ``rc_next[2 r]``: a group, or 0, where hole node ``rc_next[2 r + 1]`` goes on: what follows a literal.
                 ``rc_stamp[r]``: the mask or part in the making that has it already (``mask_threads``)
    of_det[d]    the record of det ``d`` at the root, -2 while unknown. Others are found by (group, det), or (group,
                 hole node) for a counted loop, a budget, and where guards matter (``guard_holes``)

Record 0 is empty. ``generation`` is one more each time that all are dropped; what ``memo`` has of older ones is never
asked for again.

Cost: a known record is one load, at a group 5-10 ns; a new one 2-4 ns a trie node walked. A record has 32 bytes, and 4
for each token listed.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.exit_groups import ROOT_GROUP, ExitGroups
    from cython.cimports.constrained.kernel.guard_holes import GuardHoles
    from cython.cimports.constrained.kernel.hole_regions import HoleRegions
    from cython.cimports.constrained.kernel.mask_store import NONE, MaskStore
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, moved, out_of_memory, wider, zero_ints
    from cython.cimports.constrained.kernel.region_tokens import ROW_IDS
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.token_walk import TokenWalk
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.exit_groups import ROOT_GROUP, ExitGroups
    from constrained.kernel.guard_holes import GuardHoles
    from constrained.kernel.hole_regions import HoleRegions
    from constrained.kernel.mask_store import NONE, MaskStore
    from constrained.kernel.memory import drop_int, grow_int, moved, out_of_memory, wider, zero_ints
    from constrained.kernel.region_tokens import ROW_IDS
    from constrained.kernel.token_trie import TokenTrie
    from constrained.kernel.token_walk import TokenWalk

UNKNOWN = cython.declare(cython.int, -1)
MANY_TOKENS = cython.declare(cython.int, 2048)


@cython.cclass
class MaskRecords:
    """The records of one automaton. See the module docstring. ``make_records`` comes first."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.rc_piece)
            drop_int(self.pg_pool)
            drop_int(self.rc_pool)
            drop_int(self.of_det)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            self.first = [0] * 8
            self.holes = self.counted = self.telling = None
            return self

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make_records(self, automaton: Automaton, trie: TokenTrie) -> cython.int:
        """What records are made with; ``forget_records`` and ``load_records`` come next."""
        self.a = automaton
        self.t = trie
        self.words = trie.words
        self.r = HoleRegions()
        self.r.make(automaton, trie)
        self.groups = ExitGroups()
        self.groups.make(automaton, trie, self.r)
        self.walk = TokenWalk()
        self.walk.make(automaton, trie, self.r, self.groups)
        self.masks = MaskStore()
        self.masks.make(trie)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load_records(self, regions: list, max_walk_nodes: cython.longlong) -> cython.int:
        """Once the automaton has its program. ``regions``: partitions of the bytes."""
        self.r.load(regions)
        self.walk.load(max_walk_nodes)
        if self.a.guard_loop >= 0:
            self.holes = GuardHoles()
            self.holes.make(self.a)
            self.holes.forget()
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def forget_records(self) -> cython.int:
        """Drop records, and the bases and regions that they are made of."""
        self.generation += 1
        with cython.gil:
            self.r.forget()
        self.groups.forget()
        if self.holes is not None:
            self.holes.forget()
        self.walk.side.forget()
        self.walk.lanes.forget()
        self.masks.forget()
        self.of_det_len = 0
        self.rc_used = 0
        self.rc_pool_len = 0
        self.pg_len = 1
        self.new_record(NONE, 0)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_of_records(self) -> cython.longlong:
        """Bytes held by records, by the masks and bases that ``masks`` has, and by groups and lists of regions."""
        return self.masks.bytes_held() + 4 * (
            cython.cast(cython.longlong, self.rc_pool_len) + self.groups.pool_len + 4 * self.r.n_lists
            + 8 * self.rc_used + self.pg_len)

    # ---- what a walk has found ------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def new_record(self, base: cython.int, group: cython.int) -> cython.int:
        """A record of the base and of the further tokens of ``masks``, whose making ends here."""
        r: cython.int = self.rc_used
        i: cython.int
        n: cython.int = self.masks.n_ex
        if r >= self.rc_cap:
            self._grow_records(32 if self.rc_cap == 0 else wider(self.rc_cap, 8))
        if self.rc_pool_len + n > self.rc_pool_cap:
            self.rc_pool_cap = wider(self.rc_pool_len + n + 512, 1)
            self.rc_pool = grow_int(self.rc_pool, self.rc_pool_cap)
            if not self.rc_pool:
                out_of_memory()
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
            out_of_memory()
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
    def take_walk(self) -> cython.int:
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

    # ---- what threads read ----------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _record(self, g: cython.int, u: cython.int, hook: cython.bint) -> cython.int:
        """A new record: what hole node ``u`` reads at group ``g``."""
        if u == 0:
            return 0
        if g != ROOT_GROUP:
            zero_ints(self.first, 0, 8)
            self.a.first_classes(u, self.first)
            if not self.groups.meets(g, self.first):
                return 0
            self.walk.from_group(g, u, hook)
        else:
            self.walk.from_root(u, hook)
        return self._enter_walk(hook)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _literal_record(self, g: cython.int, d: cython.int, hook: cython.bint) -> cython.int:
        """A new record: what literal det ``d`` reads at group ``g``."""
        if g != ROOT_GROUP and not self.groups.meets_byte(g, self.walk.literals.byte):
            return 0
        self.walk.follow(g, d, hook)
        return self._enter_walk(hook)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _fork_record(self, g: cython.int, d: cython.int, hook: cython.bint) -> cython.int:
        """A new record: what fork det ``d`` reads at group ``g``."""
        i: cython.int
        at: cython.int
        if g != ROOT_GROUP:
            at = self.a.det_first(d)
            for i in range(8):
                self.first[i] = self.a.firsts[at + i]
            if not self.groups.meets(g, self.first):
                return 0
        self.walk.branch(g, d, hook)
        return self._enter_walk(hook)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _enter_walk(self, hook: cython.bint) -> cython.int:
        """A new record of what the walk has found; 0 if that is nothing."""
        i: cython.int
        r: cython.int
        more: cython.int
        rest: cython.int
        self.take_walk()
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
        r = self.new_record(self.masks.base, i)
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
                self.pg_cap = wider(self.pg_len + 32, 1)
                self.pg_pool = grow_int(self.pg_pool, self.pg_cap)
                if not self.pg_pool:
                    out_of_memory()
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
    def record_of(self, g: cython.int, d: cython.int, hook: cython.bint) -> cython.int:
        """The record of det ``d`` at group ``g``; without ``hook`` its own group may be unknown."""
        r: cython.int
        q: cython.int
        if g == ROOT_GROUP:
            if d >= self.of_det_cap:
                self.of_det_cap = wider(d + 128, 1)
                self.of_det = grow_int(self.of_det, self.of_det_cap)
                if not self.of_det:
                    out_of_memory()
            while self.of_det_len <= d:
                self.of_det[self.of_det_len] = -2
                self.of_det_len += 1
            r = self.of_det[d]
        else:
            r = self.a.memo.get(19 + 5 * self.generation, g, d)
        if r >= 0:
            if not hook or self.rc_group[r] != UNKNOWN:
                return r
            self._find_groups(r, self._det_record(g, d, True))
            return r
        q = 0
        if g == ROOT_GROUP and not (self.walk.plain and self.walk.literals.is_literal(d)):
            q = self.walk.side.region_of(d)
            if q != 0:
                r = self.walk.side.differ(d, q, 0)
                if r != 1:
                    q = 0
                    if r == 0:
                        self.walk.side.side[d] = 0
        r = self.record_of(g, q, hook) if q != 0 else self._det_record(g, d, hook)
        if g == ROOT_GROUP:
            self.of_det[d] = r
        else:
            self.a.memo.put(19 + 5 * self.generation, g, d, r)
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _det_record(self, g: cython.int, d: cython.int, hook: cython.bint) -> cython.int:
        """A new record: what det ``d`` reads itself at group ``g``."""
        d = self.a.byte_det(d)
        if self.walk.plain and self.a.d_loop[d] < 0:
            if self.walk.literals.is_literal(d):
                return self._literal_record(g, d, hook)
            if self.walk.literals.is_fork(d):
                return self._fork_record(g, d, hook)
        return self._record(g, self.r.hole_node(d, 0), hook)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _find_groups(self, r: cython.int, q: cython.int) -> cython.int:
        """Record ``r`` gets its groups: ``q`` is the same, made once more with them."""
        self.rc_group[r] = self.rc_group[q]
        self.rc_more[r] = self.rc_more[q]
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def node_record(self, g: cython.int, u: cython.int, hook: cython.bint) -> cython.int:
        """The record of hole node ``u``."""
        r: cython.int = self.a.memo.get(20 + 5 * self.generation, g, u)
        if r < 0:
            r = self._record(g, u, hook)
            self.a.memo.put(20 + 5 * self.generation, g, u, r)
        elif hook and self.rc_group[r] == UNKNOWN:
            self._find_groups(r, self._record(g, u, True))
        return r


# Uncompiled, attributes do not exist until they are set; compiled, mask_records.pxd declares them.
_COUNTERS = """
words generation pg_len pg_cap rc_used rc_cap rc_pool_len rc_pool_cap of_det_len of_det_cap
""".split()
_POINTERS = """
rc_piece rc_base rc_off rc_len rc_group rc_more pg_pool rc_stamp rc_next rc_pool of_det
""".split()
