cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.token_trie cimport TokenTrie

@cython.final
@cython.no_gc
cdef class WalkLanes:
    cdef Automaton a
    cdef TokenTrie t
    cdef bint used
    cdef bint little
    cdef int kind_cap
    cdef int* path_a
    cdef int* path_b
    cdef int* path_c
    cdef int* path_d
    cdef unsigned char* marks
    cdef unsigned char* stood
    cdef unsigned char* kind
    cdef void make(self, Automaton automaton, TokenTrie trie) noexcept
    cdef void begin(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef int room(self) except -1 nogil
    cdef int _grow_kind(self) except -1 nogil
    cdef int learn(self, int row) noexcept nogil
    cdef int run(self, int* run_x, int* run_row, int n_runs, bint hook) except -1 nogil
    cdef int _finish_lane(self, int n, int hi, int* path, unsigned char* stood) except -1 nogil
    cdef int _make_stood(self) except -1 nogil
    cdef void pack_stood(self, unsigned int* out) noexcept nogil
    cdef int _ready(self, int n, int* path) except -1 nogil
    cdef int _make_marks(self) except -1 nogil
    cdef void pack(self, unsigned int* out) noexcept nogil
