cimport cython

from constrained.kernel.class_trie cimport ClassTrie
from constrained.kernel.counted_annex cimport CountedAnnex
from constrained.kernel.counted_nodes cimport CountedNodes

cdef int PARTITIONS
cdef int APART

@cython.final
cdef class CountedWalk(CountedNodes):
    cdef ClassTrie classes
    cdef int partition
    cdef int n_pairs
    cdef int al_cap
    cdef int tested_cap
    cdef int test
    cdef int* fits
    cdef int* pairs
    cdef int* al_c
    cdef int* al_state
    cdef int* al_count
    cdef int* al_ends
    cdef int* stands
    cdef int* tested
    cdef int read(self, int g, int k, CountedAnnex annex, int place, bint bounded) except -1 nogil
    cdef int _choose_classes(self, int k, CountedAnnex annex, int state) except -1 nogil
    cdef int _open_classes(self, int i) except -1
    cdef bint _is_alike(self, int row, int state) except -1 nogil
    cdef int _alive_room(self, int count) except -1 nogil
    cdef int _states_room(self, int count) except -1 nogil
    cdef int _by_classes(self, int k, CountedAnnex annex, bint bounded, ClassTrie classes) except -1 nogil
    cdef int _note_needs(self, CountedAnnex annex, int n, ClassTrie classes) except -1 nogil
    cdef int _find_ends(self, int k, bint bounded, int n, ClassTrie classes) except -1 nogil
    cdef int _find_apart(self, int k, CountedAnnex annex, bint bounded, int n, ClassTrie classes) except -1 nogil
