cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.class_trie cimport ClassTrie
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
cdef int PARTITIONS
cdef int APART

@cython.final
cdef class CountedWalk:
    cdef Automaton a
    cdef TokenTrie t
    cdef TokenWalk walk
    cdef ClassTrie classes
    cdef int kept_len
    cdef int kept_cap
    cdef int partition
    cdef int n_pairs
    cdef int al_cap
    cdef int tested_cap
    cdef int test
    cdef int* kept
    cdef int* fits
    cdef int* pairs
    cdef int* al_c
    cdef int* al_state
    cdef int* al_count
    cdef int* al_ends
    cdef int* stands
    cdef int* tested
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
    cdef int _open_classes(self, int i) except -1
    cdef bint _is_alike(self, int row, int state) except -1 nogil
    cdef int _alive_room(self, int count) except -1 nogil
    cdef int _states_room(self, int count) except -1 nogil
    cdef int _by_classes(self, int k, CountedAnnex annex, bint bounded, ClassTrie classes) except -1 nogil
    cdef int _note_needs(self, CountedAnnex annex, int n, ClassTrie classes) except -1 nogil
    cdef int _find_ends(self, int k, bint bounded, int n, ClassTrie classes) except -1 nogil
    cdef int _find_apart(self, int k, CountedAnnex annex, bint bounded, int n, ClassTrie classes) except -1 nogil
    cdef int _list(self, int count, int token) except -1 nogil
    cdef int _count_visited(self, int visited) except -1 nogil
    cdef int _below(self, int k, CountedAnnex annex, int x, int last) except -1 nogil
