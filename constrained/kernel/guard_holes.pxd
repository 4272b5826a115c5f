cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.hashing cimport sort_ints
from constrained.kernel.position_sets cimport END_DET, HOLE_DET
from constrained.kernel.memory cimport grow_int

cdef class GuardHoles

@cython.final
@cython.no_gc
cdef class GuardHoles:
    cdef Automaton a
    cdef int epoch
    cdef int n_sets
    cdef int pool_len
    cdef int pool_cap
    cdef int* pool
    cdef void make(self, Automaton automaton) noexcept
    cdef void forget(self) noexcept nogil
    cdef int _out_of_memory(self) except -1 nogil
    cdef int _ends(self, int d, int c) except -1 nogil
    cdef int dead_set(self, int d, int c, int n) except -1 nogil
    cdef int _with(self, int dead, int c) except -1 nogil
    cdef int thread_node(self, int d, int count, int c, int dead) except -1 nogil
    cdef int under(self, int c, int n) except -1 nogil
