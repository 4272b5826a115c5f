# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What a walk has found: tokens, and whole rows of regions.

    tk[:n_tk]                 tokens, some perhaps twice
    wb[:n_wb]                 wides (``hole_regions``), each once or twice: their rows belong to it, but for
    cuts[wb_lo[i]:wb_hi[i]]   the tokens of row ``wb[i]`` that do not

Cost: an append; a row is touched only by ``add_rows``.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hole_regions import HoleRegions
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
else:
    from constrained.kernel.hole_regions import HoleRegions
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from constrained.kernel.token_trie import TokenTrie


@cython.final
@cython.no_gc
@cython.cclass
class FoundTokens:
    """See the module docstring. ``make`` comes first, ``begin`` before each walk."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.tk)
            drop_int(self.wb)
            drop_int(self.wb_lo)
            drop_int(self.wb_hi)
            drop_int(self.cuts)

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
    def make(self, trie: TokenTrie, regions: HoleRegions) -> cython.void:
        self.t = trie
        self.r = regions

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self) -> cython.void:
        self.n_tk = 0
        self.n_wb = 0
        self.n_cuts = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def need(self, more: cython.int) -> cython.int:
        """Room for so many tokens, and one more that is overwritten."""
        if self.n_tk + more >= self.tk_cap:
            self.tk_cap = 2 * (self.n_tk + more) + 256
            self.tk = grow_int(self.tk, self.tk_cap)
            if not self.tk:
                out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_at(self, x: cython.int) -> cython.int:
        """The token that ends at trie node ``x``, if one does."""
        if self.t.token[x] != self.t.spare:
            self.need(1)
            self.tk[self.n_tk] = self.t.token[x]
            self.n_tk += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_ids(self, ids: cython.p_int, lo: cython.int, hi: cython.int) -> cython.int:
        """The tokens ``ids[lo:hi]``."""
        i: cython.int
        m: cython.int = self.n_tk
        self.need(hi - lo)
        for i in range(lo, hi):
            self.tk[m] = ids[i]
            m += 1
        self.n_tk = m
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_wide(self, w: cython.int, cut: cython.p_int, n_cut: cython.int) -> cython.int:
        """The row of wide ``w``, without the tokens ``cut[:n_cut]``."""
        i: cython.int
        for i in range(self.n_wb):
            if self.wb[i] == w:
                if n_cut == 0:
                    self.wb_hi[i] = self.wb_lo[i]
                if self.wb_hi[i] == self.wb_lo[i]:
                    return 0
        if self.n_wb >= self.wb_cap:
            self.wb_cap = 16 if self.wb_cap == 0 else self.wb_cap * 2
            self.wb = grow_int(self.wb, self.wb_cap)
            self.wb_lo = grow_int(self.wb_lo, self.wb_cap)
            self.wb_hi = grow_int(self.wb_hi, self.wb_cap)
            if not (self.wb and self.wb_lo and self.wb_hi):
                out_of_memory()
        self.wb[self.n_wb] = w
        self.wb_lo[self.n_wb] = self.n_cuts
        if n_cut > 0:
            if self.n_cuts + n_cut > self.cuts_cap:
                self.cuts_cap = 2 * (self.n_cuts + n_cut) + 16
                self.cuts = grow_int(self.cuts, self.cuts_cap)
                if not self.cuts:
                    out_of_memory()
            for i in range(n_cut):
                self.cuts[self.n_cuts] = cut[i]
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


_COUNTERS = ("n_tk", "tk_cap", "n_wb", "wb_cap", "n_cuts", "cuts_cap")
_POINTERS = ("tk", "wb", "wb_lo", "wb_hi", "cuts")
