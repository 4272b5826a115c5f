# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What a set of positions does: with bytes, with the rules that it calls, in the regions where it stands.

Data, all of it found when it is first asked for
    step       ``d_rows[d_row[d] + class]``: the det after a byte of that class within the rule, 0 none, -1 unknown;
               behind the last class 1 where all of them are known
    lone       the dets of single positions that edges lead to, (position, det) in the place of the position's low bits
    firsts     ``firsts[d_first[d] ..]``: eight words of bits, the byte classes that the det reads itself
    calls      ``calls[d_call[d] ..]``: ``d_ncall[d]`` pairs (rule, det to return to)
    split      ``split[d_split[d] ..]``: the det by regions, see ``split_det``
    tr_*       scratch: a stack of triples to sort and group, shared with ``kernel.stacks``

A ``Dets`` knows no stacks: ``kernel.stacks`` puts dets on them.
Cost: a known step is two loads, a new one 20-200 ns; a whole row of a position 2 ns a class.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import bit, sort_triples
    from cython.cimports.constrained.kernel.memo import Memo
    from cython.cimports.constrained.kernel.memory import (
        drop_int,
        empty_table,
        grow_int,
        moved,
        out_of_memory,
        unset_ints,
        wider,
        zero_ints,
    )
    from cython.cimports.constrained.kernel.position_sets import PositionSets
else:
    from constrained.kernel.hashing import bit, sort_triples
    from constrained.kernel.memo import Memo
    from constrained.kernel.memory import (
        drop_int,
        empty_table,
        grow_int,
        moved,
        out_of_memory,
        unset_ints,
        wider,
        zero_ints,
    )
    from constrained.kernel.position_sets import PositionSets

LONE = cython.declare(cython.int, 64)
FEW_BYTES = cython.declare(cython.int, 8)


@cython.cclass
class Dets(PositionSets):
    """The dets of one lowered grammar. See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            self._drop_dets()
            drop_int(self.tr_piece)

    else:

        def __new__(cls, *args):
            self = PositionSets.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _drop_dets(self) -> cython.void:
        """Give back what an epoch has grown, sets included."""
        self._drop_sets()
        self.d_rows = drop_int(self.d_rows)
        self.firsts = drop_int(self.firsts)
        self.calls = drop_int(self.calls)
        self.split = drop_int(self.split)
        self.lone = drop_int(self.lone)
        self.d_rows_cap = 0
        self.firsts_cap = 0
        self.calls_cap = 0
        self.split_cap = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget_dets(self) -> cython.int:
        """Forget the sets and what they do."""
        self.d_rows_len = 0
        self.firsts_len = 0
        self.calls_len = 0
        self.split_len = 0
        self.tr_len = 0
        if self.lone:
            unset_ints(self.lone, 0, 2 * LONE)
        if self.memo is None:
            self.memo = Memo()
        self.memo.clear()
        self.forget_sets()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_of_dets(self) -> cython.longlong:
        """Bytes held by the tables of sets and these, capacity counted."""
        return self.bytes_of_sets() + 4 * (
            cython.cast(cython.longlong, self.d_rows_cap) + self.firsts_cap + self.calls_cap + self.split_cap
            + 4 * cython.cast(cython.longlong, self.memo.size))

    # ---- bytes -------------------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def det_step(self, d: cython.int, k: cython.int) -> cython.int:
        """The det after a byte of class ``k`` within the rule, 0 if there is none."""
        i: cython.int
        j: cython.int
        p: cython.int
        b: cython.int
        t: cython.int
        n: cython.int = 0
        row: cython.int = self.d_row[d]
        if row < 0:
            row = self._new_det_row(d)
            unset_ints(self.d_rows, row, self.n_classes)
        if self.d_rows[row + k] >= 0:
            return self.d_rows[row + k]
        b = self.cls_rep[k]
        for i in range(self.d_len[d]):
            p = self.d_pool[self.d_off[d] + i]
            for j in range(self.p_off[4 * p], self.p_off[4 * p + 1]):
                if self.e_a[j] <= b and b <= self.e_b[j]:
                    t = self.e_to[j]
                    if t < 0:
                        t = self.lazy_step(p, b, t)
                        if t == 0:
                            continue
                    self.need_buf(n + 1)
                    self.buf[n] = t
                    n += 1
        if n == 1:
            n = self._lone_det(self.buf[0])
        elif n > 0:
            n = self.closure(n)
            n = self.intern_det(n)
        self.d_rows[row + k] = n
        return n

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _new_det_row(self, d: cython.int) -> cython.int:
        """Room for the row of ``d``, not set but for the mark that not all of it is known."""
        row: cython.int = self.d_rows_len
        size: cython.int = self.n_classes + 1
        if row + size > self.d_rows_cap:
            self.d_rows_cap = wider(row + size, 1)
            self.d_rows = grow_int(self.d_rows, self.d_rows_cap)
            if not self.d_rows:
                out_of_memory()
        self.d_rows[row + size - 1] = 0
        self.d_rows_len = row + size
        self.d_row[d] = row
        return row

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _lone_det(self, p: cython.int) -> cython.int:
        """The det of the closure of one position."""
        i: cython.int = 2 * (p & (LONE - 1))
        d: cython.int
        if not self.lone:
            self.lone = empty_table(self.lone, 2 * LONE)
            if not self.lone:
                out_of_memory()
        if self.lone[i] == p:
            return self.lone[i + 1]
        self.buf[0] = p
        d = self.closure(1)
        d = self.intern_det(d)
        self.lone[i] = p
        self.lone[i + 1] = d
        return d

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def det_row(self, d: cython.int) -> cython.int:
        """Where ``d_rows`` holds the steps of ``d``, all of them found."""
        k: cython.int
        row: cython.int = self.d_row[d]
        if row < 0:
            row = self._new_det_row(d)
            if self.d_len[d] == 1 and self._spread(row, self.d_pool[self.d_off[d]]):
                return row
            unset_ints(self.d_rows, row, self.n_classes)
        if self.d_rows[row + self.n_classes] == 0:
            for k in range(self.n_classes):
                if self.d_rows[row + k] < 0:
                    self.det_step(d, k)
            self.d_rows[row + self.n_classes] = 1
        return row

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _spread(self, row: cython.int, p: cython.int) -> cython.bint:
        """Fill the row of a position from its edges; False: they are not in order, overlap, or some are not made.

        An edge's bytes are whole classes, and those are numbered by their first bytes."""
        i: cython.int
        k: cython.int = 0
        t: cython.int
        lo: cython.int = self.p_off[4 * p]
        hi: cython.int = self.p_off[4 * p + 1]
        for i in range(lo, hi):
            if self.e_to[i] < 0 or (i > lo and self.e_a[i] <= self.e_b[i - 1]):
                return False
        for i in range(lo, hi):
            t = self._lone_det(self.e_to[i])
            while k < self.n_classes and self.cls_rep[k] < self.e_a[i]:
                self.d_rows[row + k] = 0
                k += 1
            while k < self.n_classes and self.cls_rep[k] <= self.e_b[i]:
                self.d_rows[row + k] = t
                k += 1
        while k <= self.n_classes:
            self.d_rows[row + k] = 1 if k == self.n_classes else 0
            k += 1
        return True

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def byte_det(self, d: cython.int) -> cython.int:
        """The subset that reads bytes itself."""
        i: cython.int
        p: cython.int
        n: cython.int = 0
        r: cython.int
        if not self.d_flags[d] & 12:
            return d
        r = self.memo.get(10, d, 0)
        if r == -2:
            self.need_buf(self.d_len[d])
            for i in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
                p = self.d_pool[i]
                if self.p_off[4 * p] != self.p_off[4 * p + 1]:
                    self.buf[n] = p
                    n += 1
            r = self.intern_det(n)
            self.memo.put(10, d, 0, r)
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def det_first(self, d: cython.int) -> cython.int:
        """Where ``firsts`` holds eight words of bits: the byte classes ``d`` can read itself."""
        i: cython.int
        j: cython.int
        k: cython.int
        b: cython.int
        p: cython.int
        last: cython.int = 256
        at: cython.int = self.firsts_len
        firsts: cython.p_int
        if self.d_first[d] >= 0:
            return self.d_first[d]
        if at + 8 > self.firsts_cap:
            self.firsts_cap = 512 if self.firsts_cap == 0 else wider(self.firsts_cap, 1)
            self.firsts = grow_int(self.firsts, self.firsts_cap)
            if not self.firsts:
                out_of_memory()
        firsts = self.firsts
        zero_ints(firsts, at, 8)
        for i in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
            p = self.d_pool[i]
            k = 0
            for j in range(self.p_off[4 * p], self.p_off[4 * p + 1]):
                b = self.e_a[j]
                if self.e_b[j] - b < FEW_BYTES:
                    while b <= self.e_b[j]:
                        firsts[at + (self.cls[b] >> 5)] = firsts[at + (self.cls[b] >> 5)] | bit(self.cls[b] & 31)
                        b += 1
                    continue
                if b <= last:
                    k = 0  # edges are not in order
                last = self.e_b[j]
                while k < self.n_classes and self.cls_rep[k] < b:
                    k += 1
                while k < self.n_classes and self.cls_rep[k] <= last:
                    firsts[at + (k >> 5)] = firsts[at + (k >> 5)] | bit(k & 31)
                    k += 1
        self.d_first[d] = at
        self.firsts_len = at + 8
        return at

    # ---- calls and regions -------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_triple(self, p: cython.int, c: cython.int, n: cython.int) -> cython.int:
        i: cython.int = self.tr_len
        if i >= self.tr_cap:
            self._grow_triples(32 if self.tr_cap == 0 else self.tr_cap * 2)
        self.tr_p[i] = p
        self.tr_c[i] = c
        self.tr_n[i] = n
        self.tr_len = i + 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_triples(self, cap: cython.int) -> cython.int:
        """Room for ``cap`` triples."""
        n: cython.int = self.tr_len
        at: cython.Py_ssize_t = cap
        piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 3 * at)
        if not piece:
            out_of_memory()
        self.tr_p = moved(piece, 0, self.tr_p, n, cap)
        self.tr_c = moved(piece, at, self.tr_c, n, cap)
        self.tr_n = moved(piece, 2 * at, self.tr_n, n, cap)
        drop_int(self.tr_piece)
        self.tr_piece = piece
        self.tr_cap = cap
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def det_calls(self, d: cython.int) -> cython.int:
        """Where ``calls`` lists the pairs (rule, det to return to) of ``d``; ``d_ncall[d]`` of them."""
        i: cython.int
        j: cython.int
        q: cython.int
        p: cython.int
        n: cython.int = 0
        k: cython.int
        tb: cython.int = self.tr_len
        if self.d_call[d] >= 0:
            return self.d_call[d]
        for i in range(self.d_len[d]):
            p = self.d_pool[self.d_off[d] + i]
            for j in range(self.p_off[4 * p + 2], self.p_off[4 * p + 3]):
                self.add_triple(self.e_a[j], self.e_to[j], 0)
        sort_triples(self.tr_p, self.tr_c, self.tr_n, tb, self.tr_len)
        self.d_call[d] = self.calls_len
        i = tb
        while i < self.tr_len:
            k = self.tr_p[i]
            n = 0
            while i < self.tr_len and self.tr_p[i] == k:
                self.need_buf(n + 1)
                self.buf[n] = self.tr_c[i]
                n += 1
                i += 1
            n = self.closure(n)
            q = self.intern_det(n)
            if self.calls_len + 2 > self.calls_cap:
                self.calls_cap = 64 if self.calls_cap == 0 else wider(self.calls_cap, 1)
                self.calls = grow_int(self.calls, self.calls_cap)
                if not self.calls:
                    out_of_memory()
            self.calls[self.calls_len] = k
            self.calls[self.calls_len + 1] = q
            self.calls_len += 2
            self.d_ncall[d] += 1
        self.tr_len = tb
        return self.d_call[d]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def split_det(self, d: cython.int) -> cython.int:
        """Where ``split`` holds ``d`` by regions: (rest, number of parts, then region and det for each part)."""
        i: cython.int
        j: cython.int
        p: cython.int
        n: cython.int = 0
        at: cython.int
        tb: cython.int
        if self.d_split[d] >= 0:
            return self.d_split[d]
        tb = self.tr_len
        for i in range(self.d_len[d]):
            p = self.d_pool[self.d_off[d] + i]
            if self.p_off[4 * p] != self.p_off[4 * p + 1]:
                self.add_triple(self.p_region[p], p, 0)
        sort_triples(self.tr_p, self.tr_c, self.tr_n, tb, self.tr_len)
        at = self.split_len
        if at + 2 + 2 * (self.tr_len - tb) > self.split_cap:
            self.split_cap = wider(at + 130 + 2 * (self.tr_len - tb), 1)
            self.split = grow_int(self.split, self.split_cap)
            if not self.split:
                out_of_memory()
        self.split[at] = 0
        self.split[at + 1] = 0
        self.split_len = at + 2
        i = tb
        while i < self.tr_len:
            p = self.tr_p[i]
            n = 0
            while i < self.tr_len and self.tr_p[i] == p:
                self.need_buf(n + 1)
                self.buf[n] = self.tr_c[i]
                n += 1
                i += 1
            j = self.intern_det(n)
            if p == 0:
                self.split[at] = j
            else:
                self.split[self.split_len] = p
                self.split[self.split_len + 1] = j
                self.split_len += 2
                self.split[at + 1] += 1
        self.tr_len = tb
        self.d_split[d] = at
        return at


# Uncompiled, attributes do not exist until they are set; compiled, dets.pxd declares them.
_COUNTERS = """
d_rows_len d_rows_cap firsts_len firsts_cap calls_len calls_cap split_len split_cap tr_len tr_cap
""".split()
_POINTERS = "memo d_rows firsts calls split lone tr_piece tr_p tr_c tr_n".split()
