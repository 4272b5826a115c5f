cimport cython

from constrained.kernel.hole_regions cimport HoleRegions
from constrained.kernel.token_trie cimport TokenTrie

@cython.final
@cython.no_gc
cdef class FoundTokens:
    cdef TokenTrie t
    cdef HoleRegions r
    cdef int n_tk
    cdef int tk_cap
    cdef int n_wb
    cdef int wb_cap
    cdef int n_cuts
    cdef int cuts_cap
    cdef int* tk
    cdef int* wb
    cdef int* wb_lo
    cdef int* wb_hi
    cdef int* cuts
    cdef void make(self, TokenTrie trie, HoleRegions regions) noexcept
    cdef void begin(self) noexcept nogil
    cdef int need(self, int more) except -1 nogil
    cdef int add_at(self, int x) except -1 nogil
    cdef int add_ids(self, int* ids, int lo, int hi) except -1 nogil
    cdef int add_wide(self, int w, int* cut, int n_cut) except -1 nogil
    cdef void add_rows(self, unsigned int* out) noexcept nogil
