cimport cython


@cython.final
cdef class Table:
    cdef int n
    cdef int k
    cdef int* next
    cdef int* slots
    cdef int* order
    cdef int* seen
    cdef int* at
    cdef int* source
    cdef int* block
    cdef int* first
    cdef int* queue
    cdef int _live(self, frozenset accepting, bint met) except -1
    cdef int _turn(self, int count) except -1
    cdef bint _same(self, int a, int b) noexcept
