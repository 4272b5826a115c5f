cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.token_trie cimport TokenTrie

@cython.final
cdef class WalkLanes:
    cdef Automaton a
    cdef TokenTrie t
    cdef bint used
    cdef bint little
    cdef int* path_a
    cdef int* path_b
    cdef int* path_c
    cdef int* path_d
    cdef unsigned char* marks
    cdef void begin(self) noexcept nogil
    cdef int run(self, int* run_x, int* run_row, int n_runs) except -1 nogil
    cdef int _finish_lane(self, int n, int hi, int* path) except -1 nogil
    cdef int _ready(self, int n, int* path) except -1 nogil
    cdef int _make_marks(self) except -1 nogil
    cdef void pack(self, unsigned int* out) noexcept nogil
