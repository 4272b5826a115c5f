cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.counted_annex cimport CountedAnnex
from constrained.kernel.token_trie cimport TokenTrie
from constrained.kernel.token_walk cimport TokenWalk

cdef int REACH
cdef int LEAVES
cdef int KNOWN
cdef int LISTED
cdef int LONG
cdef int MOST_LISTED

cdef class CountedNodes:
    cdef Automaton a
    cdef TokenTrie t
    cdef TokenWalk walk
    cdef int kept_len
    cdef int kept_cap
    cdef int* kept
    cdef int* next
    cdef int* at
    cdef int* follow
    cdef int* path_state
    cdef int* path_count
    cdef int* path_ends
    @cython.final
    cdef int prepare(self) except -1
    @cython.final
    cdef int fill_row(self, int k, CountedAnnex annex, int state) except -1 nogil
    @cython.final
    cdef int behind(self, int k) except -1 nogil
    @cython.final
    cdef int room(self, int more) except -1 nogil
    @cython.final
    cdef int keep(self) noexcept nogil
    @cython.final
    cdef void forget(self) noexcept nogil
    @cython.final
    cdef int all_below(self, int k, CountedAnnex annex, int x, int last) except -1 nogil
    @cython.final
    cdef int list_token(self, int count, int token) except -1 nogil
    @cython.final
    cdef int count_visited(self, int visited) except -1 nogil
    @cython.final
    cdef int below(self, int k, CountedAnnex annex, int x, int last) except -1 nogil
