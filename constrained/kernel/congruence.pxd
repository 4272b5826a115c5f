cimport cython

from constrained.kernel.dfa_tables cimport Table


@cython.final
cdef class Congruence:
    cdef Table table
    cdef int n
    cdef int k
    cdef int count
    cdef int* next
    cdef int* block
    cdef int* place
    cdef int* slots
    cdef int* elems
    cdef int* first
    cdef int* end
    cdef int* marked
    cdef int* touched
    cdef int* queue
    cdef int* queued
    cdef int* at
    cdef int* source
    cdef int* order
    cdef int* ends
    cdef int* labels
    cdef int run(self, frozenset accepting) except -1
    cdef int _measure(self, frozenset accepting) except -1
    cdef int _round(self) except -1
    cdef bint _alike(self, int a, int b) noexcept
    cdef int _split(self, int before) except -1
    cdef int _arrange(self, int before) except -1
    cdef int _turn(self) except -1
    cdef int _mark(self, int state, int touched) except -1
