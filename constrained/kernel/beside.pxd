cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.hole_regions cimport HoleRegions
from constrained.kernel.token_trie cimport TokenTrie

@cython.final
@cython.no_gc
cdef class BesideRegion:
    cdef Automaton a
    cdef TokenTrie t
    cdef HoleRegions r
    cdef int n_excluded
    cdef int excluded_cap
    cdef int n_pairs
    cdef int pair_cap
    cdef int n_only
    cdef int only_cap
    cdef int side_len
    cdef int side_cap
    cdef int n_cut
    cdef int cut_cap
    cdef int read
    cdef int read_p
    cdef int read_q
    cdef int read_x
    cdef int row_p
    cdef int row_q
    cdef int row_in
    cdef int out
    cdef int region
    cdef int* excluded
    cdef int* pair_x
    cdef int* pair_p
    cdef int* pair_q
    cdef int* only_x
    cdef int* only_d
    cdef int* side
    cdef int* cut
    cdef void make(self, Automaton automaton, TokenTrie trie, HoleRegions regions) noexcept
    cdef void forget(self) noexcept nogil
    cdef int region_of(self, int p) except -1 nogil
    cdef int _find_side(self, int p) except -1 nogil
    cdef int _push_pair(self, int x, int p, int q) except -1 nogil
    cdef int _push_only(self, int x, int d) except -1 nogil
    cdef int _exclude(self, int lo, int hi) except -1 nogil
    cdef int _cut(self, int lo, int hi) except -1 nogil
    cdef int differ(self, int p, int q, int x) except -1 nogil
    cdef int _differ(self, int p, int q, int x) except -1 nogil
    cdef int _compare(self, int c, int k, bint first) except -1 nogil
    cdef bint is_excluded(self, int x) noexcept nogil
