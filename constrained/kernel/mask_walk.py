# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Token masks of automaton states, and steps by token.

Idea
    A mask is put together from the records of a node's threads, and of the threads below them (``mask_threads``), and
    what it reads besides text: token sets, stop tokens where the text may end, tokens whose bytes another one has too.
    Most states are new combinations of known records, and most combinations are known too: such a *signature* gives
    the mask at once.

    One layer on another, each a class of its own: ``mask_records`` (what threads read over HOLE), ``counted_records``
    and ``choice_records`` (two kinds of threads that only some grammars have), ``mask_threads`` (which records belong
    to a node), and here the masks.

Data
    n_mask[k]    of ``a``: the mask of node ``k``, an id of ``masks``, -1 while unknown
    set_rows     ``n_sets`` rows of ``words`` words, one a token set, and one of the ids whose bytes are not read
    stops        the stop tokens

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
    from cython.cimports.constrained.kernel.far_counts import set_reach
    from cython.cimports.constrained.kernel.mask_store import NONE
    from cython.cimports.constrained.kernel.mask_threads import MaskThreads
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, grow_uint
    from cython.cimports.constrained.kernel.token_budgets import after_token, uncounted
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.unions import unite
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.far_counts import set_reach
    from constrained.kernel.mask_store import NONE
    from constrained.kernel.mask_threads import MaskThreads
    from constrained.kernel.memory import drop_int, grow_int, grow_uint
    from constrained.kernel.token_budgets import after_token, uncounted
    from constrained.kernel.token_trie import TokenTrie
    from constrained.kernel.unions import unite

MANY_IDS = cython.declare(cython.int, 1024)


@cython.cclass
class MaskWalk(MaskThreads):
    """The masks of one automaton's nodes. See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.stops)
            free(self.set_rows)

    else:

        def __new__(cls, *args):
            self = MaskThreads.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make_walk(self, automaton: Automaton, trie: TokenTrie) -> cython.int:
        """What masks are made with; ``load_walk`` comes next."""
        self.vocab_size = trie.vocab_size
        self.make_records(automaton, trie)
        self.make_threads()
        return self._forget()

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load_walk(self, stop_ids: tuple, max_mask_bytes: cython.longlong, max_walk_nodes: cython.longlong,
                  by_id_only) -> cython.int:
        """Once the automaton has its program. ``by_id_only``: ids of its token sets whose bytes are not read."""
        i: cython.int
        set_reach(self.a, self.t.max_depth + 1)
        self.max_mask_bytes = max_mask_bytes
        self.load_records(self.a.program.regions, max_walk_nodes)
        self.load_threads()
        if stop_ids is not self.stop_ids:
            self.n_stops = cython.cast(cython.int, len(stop_ids))
            self.stops = grow_int(self.stops, self.n_stops + 1)
            if not self.stops:
                raise MemoryError
            for i in range(self.n_stops):
                self.stops[i] = stop_ids[i]
            self.stop_ids = stop_ids
        self.n_sets = cython.cast(cython.int, len(self.a.program.token_sets))
        if self.n_sets > 0:
            self._enter_sets(self.a.program.token_sets, by_id_only)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def leave_walk(self) -> cython.int:
        """Forget the program: ``load_walk`` may come once more. Before the automaton forgets it."""
        self.generation = 0
        self.r.leave()
        self.masks.begin(NONE)  # an exception may have left something
        if self.masks.scratch:
            self.masks._clear_scratch()
        return self._forget()

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_kept(self) -> cython.longlong:
        """Bytes that ``leave_walk`` would leave; those for which the vocabulary's size is a bound are not counted."""
        return self._bytes_held() - self.masks.bytes_held()

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter_sets(self, token_sets, by_id_only) -> cython.int:
        """A row for each token set, and one behind them of the ids whose bytes are not read."""
        i: cython.int
        k: cython.int
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
        self.forget_records()
        self.forget_threads()
        if self.counted is not None:
            self.counted.forget()
        for i in range(self.a.n_count):
            self.a.n_mask[i] = -1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _bytes_held(self) -> cython.longlong:
        return self.bytes_of_records() + 4 * (
            cython.cast(cython.longlong, self.signatures.pool_len) + self.part_len
            + (self.counted.kept_len if self.a.n_counted > 0 else 0))

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
    @cython.exceptval(-1, check=False)
    def _compose(self, node: cython.int) -> cython.int:
        """The mask of ``node`` from records."""
        i: cython.int
        self.sign_node(node)
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

    # ---- what is no text -----------------------------------------------------------------------------

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

    # ---- what is asked for ---------------------------------------------------------------------------

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


# Uncompiled, attributes do not exist until they are set; compiled, mask_walk.pxd declares them.
_COUNTERS = ("vocab_size", "n_sets", "n_stops", "max_mask_bytes")
_POINTERS = ("set_rows", "stops", "stop_ids")
