cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.counted_annex cimport CountedAnnex
from constrained.kernel.token_trie cimport TokenTrie
from constrained.kernel.token_walk cimport TokenWalk

cdef class CountedWalk
cdef int REACH
cdef int LEAVES
cdef int KNOWN
cdef int LISTED
cdef int LONG
cdef int MOST_LISTED

@cython.final
cdef class CountedWalk:
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
    cdef int _prepare(self) except -1
    cdef int _fill_row(self, int k, CountedAnnex annex, int state) except -1 nogil
    cdef int behind(self, int k) except -1 nogil
    cdef int read(self, int g, int k, CountedAnnex annex, int place, bint bounded) except -1 nogil
    cdef int _room(self, int more) except -1 nogil
    cdef int keep(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef int _all_below(self, int k, CountedAnnex annex, int x, int last) except -1 nogil
    cdef int _list(self, int count, int token) except -1 nogil
    cdef int _count_visited(self, int visited) except -1 nogil
    cdef int _below(self, int k, CountedAnnex annex, int x, int last) except -1 nogil
