# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Large walks of the vocabulary's trie: four at a time, one byte a token.

A node waits for its parent's row, which was stored a moment ago; four walks in turn hide that. Whole bytes are stored
without being read first; ``pack`` makes bits of them.

    marks[token]     1: it can be read
    stood[x]         with a hook: 1 where what is below HOLE may go on at trie node ``x``
    kind[row]        what is known of a row: 0 nothing, 1 HOLE is not its node's first element, 2 it is

Cost: 1.4 ns a trie node, 2 with a hook; ``pack`` some microseconds.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory, wider, zeroed_ints
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free, realloc
    from cython.cimports.libc.string import memcpy, memset
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory, wider, zeroed_ints
    from constrained.kernel.token_trie import TokenTrie

import sys

HOLE = cython.declare(cython.int, 2)
FEW_ROWS = cython.declare(cython.int, 1 << 16)
LITTLE = cython.declare(cython.bint, sys.byteorder == "little")


@cython.final
@cython.no_gc
@cython.cclass
class WalkLanes:
    """See the module docstring. ``make`` comes first. ``used``: there are marks."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.path_a)
            drop_int(self.path_b)
            drop_int(self.path_c)
            drop_int(self.path_d)
            free(self.marks)
            free(self.stood)
            free(self.kind)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    @cython.cfunc
    @cython.exceptval(check=False)
    def make(self, automaton: Automaton, trie: TokenTrie) -> cython.void:
        self.a = automaton
        self.t = trie
        self.little = LITTLE

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self) -> cython.void:
        """Forget what an exception has left."""
        if self.used:
            _clear(self.marks, 0, 32 * self.t.words)
            if self.stood:
                _clear(self.stood, 0, self.t.n_nodes)
        self.used = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """A new epoch: rows have other numbers."""
        if self.kind and self.kind_cap <= FEW_ROWS:
            _clear(self.kind, 0, self.kind_cap)
        else:
            if cython.compiled:
                free(self.kind)
                self.kind = cython.NULL
            else:
                self.kind = None
            self.kind_cap = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def room(self) -> cython.int:
        """Room in ``kind`` for all rows there are."""
        return self._grow_kind() if self.kind_cap < self.a.rows_len else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_kind(self) -> cython.int:
        cap: cython.int = (wider(self.a.rows_len, 1) + 3) & -4
        kind: cython.p_uchar = _zeroed_bytes(cap)
        i: cython.int
        if not kind:
            out_of_memory()
        if cython.compiled:
            if self.kind:
                memcpy(kind, self.kind, self.kind_cap)
            free(self.kind)
        else:
            for i in range(self.kind_cap):
                kind[i] = self.kind[i]
        self.kind = kind
        self.kind_cap = cap
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def learn(self, row: cython.int) -> cython.int:
        """Enter ``kind[row]``. Of a node over HOLE the first element tells: HOLE, or a guard."""
        node: cython.int = self.a.row_node[row // self.a.n_classes]
        d: cython.int = self.a.el_d[self.a.n_off[node]] if self.a.n_len[node] > 0 else 0
        self.kind[row] = 2 if d == HOLE or d == self.a.guard_det else 1
        return self.kind[row]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def run(self, run_x: cython.p_int, run_row: cython.p_int, n_runs: cython.int, hook: cython.bint) -> cython.int:
        """Mark the tokens below each trie node ``run_x`` that can be read from row ``run_row``; with ``hook``
        ``stood``, too. There are no guards."""
        word: cython.p_int = self.t.word
        end: cython.p_int = self.t.end
        token: cython.p_int = self.t.token
        cls: cython.p_int = self.a.cls
        rows: cython.p_int = self.a.rows
        pa: cython.p_int
        pb: cython.p_int
        pc: cython.p_int
        pd: cython.p_int
        marks: cython.p_uchar
        stood: cython.p_uchar = cython.NULL if cython.compiled else None
        kind: cython.p_uchar
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
        self.used = True
        pa = self.path_a
        pb = self.path_b
        pc = self.path_c
        pd = self.path_d
        marks = self.marks
        if hook:
            self._make_stood()
            stood = self.stood
        self.room()
        kind = self.kind
        while q < n_runs:
            x = run_x[q]
            if a >= end_a:
                pa[word[x] >> 8] = run_row[q]
                a = x + 1
                end_a = end[x]
                q += 1
            elif b >= end_b:
                pb[word[x] >> 8] = run_row[q]
                b = x + 1
                end_b = end[x]
                q += 1
            elif c >= end_c:
                pc[word[x] >> 8] = run_row[q]
                c = x + 1
                end_c = end[x]
                q += 1
            elif d >= end_d:
                pd[word[x] >> 8] = run_row[q]
                d = x + 1
                end_d = end[x]
                q += 1
            while a < end_a and b < end_b and c < end_c and d < end_d:
                a = _advance(a, word, end, token, cls, rows, pa, marks, stood, kind)
                b = _advance(b, word, end, token, cls, rows, pb, marks, stood, kind)
                c = _advance(c, word, end, token, cls, rows, pc, marks, stood, kind)
                d = _advance(d, word, end, token, cls, rows, pd, marks, stood, kind)
                if (a | b | c | d) < 0:
                    a = self._ready(a, pa)
                    b = self._ready(b, pb)
                    c = self._ready(c, pc)
                    d = self._ready(d, pd)
                    rows = self.a.rows
                    kind = self.kind
        self._finish_lane(a, end_a, pa, stood)
        self._finish_lane(b, end_b, pb, stood)
        self._finish_lane(c, end_c, pc, stood)
        self._finish_lane(d, end_d, pd, stood)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _finish_lane(self, n: cython.int, hi: cython.int, path: cython.p_int, stood: cython.p_uchar) -> cython.int:
        while n < hi:
            n = _advance(n, self.t.word, self.t.end, self.t.token, self.a.cls, self.a.rows, path, self.marks, stood,
                         self.kind)
            if n < 0:
                n = self._ready(n, path)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _ready(self, n: cython.int, path: cython.p_int) -> cython.int:
        """The node to go on with: ``n``, or after ``-1 - n`` from ``_advance`` node ``n``, its row being known now."""
        w: cython.int
        k: cython.int
        if n < 0:
            n = -1 - n
            w = self.t.word[n]
            k = self.a.rows[path[(w >> 8) - 1] + self.a.cls[w & 255]]
            if k < 0:
                k = self.a.build(path[(w >> 8) - 1], self.a.cls[w & 255])
                self.room()
            if k > 0:
                self.learn(k)
        return n

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _make_marks(self) -> cython.int:
        n: cython.int = 32 * self.t.words + 8
        self.path_a = grow_int(self.path_a, self.t.max_depth + 2)
        self.path_b = grow_int(self.path_b, self.t.max_depth + 2)
        self.path_c = grow_int(self.path_c, self.t.max_depth + 2)
        self.path_d = grow_int(self.path_d, self.t.max_depth + 2)
        self.marks = _grow_bytes(self.marks, n)
        if not (self.path_a and self.path_b and self.path_c and self.path_d and self.marks):
            out_of_memory()
        _clear(self.marks, 0, n)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _make_stood(self) -> cython.int:
        if not self.stood:
            self.stood = _grow_bytes(self.stood, self.t.n_nodes + 32)
            if not self.stood:
                out_of_memory()
            _clear(self.stood, 0, self.t.n_nodes + 32)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pack(self, out: cython.p_uint) -> cython.void:
        """OR the marks into the row ``out``, and clear them; nothing is ``used`` then."""
        _pack(self.marks, self.t.words, out, self.little)
        self.used = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pack_stood(self, out: cython.p_uint) -> cython.void:
        """OR ``stood`` into ``out``, a bit for each trie node, and clear it."""
        _pack(self.stood, (self.t.n_nodes + 31) // 32, out, self.little)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pack(flags: cython.p_uchar, words: cython.int, out: cython.p_uint, little: cython.bint) -> cython.void:
    """OR ``32 * words`` flags, 0 or 1, into ``out``, and clear them."""
    i: cython.int
    k: cython.int
    w: cython.uint
    if cython.compiled:
        eight: cython.p_ulonglong = cython.cast(cython.p_ulonglong, flags)
        gather: cython.ulonglong = 0x0102040810204080
        if little:  # the lowest byte comes first: eight flags become eight bits by one multiplication
            for i in range(words):
                w = 0
                for k in range(4):
                    w |= cython.cast(cython.uint, (eight[4 * i + k] * gather) >> 56) << (8 * k)
                out[i] |= w
            memset(flags, 0, 32 * words)
            return
    for i in range(words):
        w = 0
        for k in range(32):
            w |= cython.cast(cython.uint, flags[32 * i + k]) << k
            flags[32 * i + k] = 0
        out[i] |= w


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _advance(n: cython.int, word: cython.p_int, end: cython.p_int, token: cython.p_int, cls: cython.p_int,
             rows: cython.p_int, path: cython.p_int, marks: cython.p_uchar, stood: cython.p_uchar,
             kind: cython.p_uchar) -> cython.int:
    """One node of a walk: the node to go on with, or ``-1 - n`` if the row, or its kind, is not known yet."""
    w: cython.int = word[n]
    d: cython.int = w >> 8
    t: cython.int = rows[path[d - 1] + cls[w & 255]]
    if t > 0:
        if stood:
            if kind[t] == 0:
                return -1 - n
            stood[n] = kind[t] >> 1
        path[d] = t
        marks[token[n]] = 1
        return n + 1
    if t == 0:
        return end[n]
    return -1 - n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _clear(flags: cython.p_uchar, lo: cython.int, hi: cython.int) -> cython.void:
    """``flags[lo:hi]`` become 0."""
    i: cython.int
    if cython.compiled:
        memset(flags + lo, 0, hi - lo)
    else:
        for i in range(lo, hi):
            flags[i] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _zeroed_bytes(count: cython.int) -> cython.p_uchar:
    """``count`` bytes, a multiple of four, all of them 0. NULL when memory is out."""
    if cython.compiled:
        return cython.cast(cython.p_uchar, zeroed_ints(count // 4))
    else:
        return [0] * count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _grow_bytes(old: cython.p_uchar, count: cython.Py_ssize_t) -> cython.p_uchar:
    """``old`` enlarged to ``count`` bytes; the new part is not set. NULL when memory is out."""
    if cython.compiled:
        return cython.cast(cython.p_uchar, realloc(old, count))
    else:
        kept = old or []
        return kept + [0] * (count - len(kept))


_COUNTERS = ("used", "little", "kind_cap")
_POINTERS = ("path_a", "path_b", "path_c", "path_d", "marks", "stood", "kind")
