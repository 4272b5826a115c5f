cimport cython


@cython.final
cdef class Table:
    cdef int n
    cdef int k
    cdef int cap
    cdef int slot_count
    cdef int* next
    cdef int* pair_a
    cdef int* pair_b
    cdef int* slots
    cdef int* order
    cdef int* seen
    cdef int* at
    cdef int* source
    cdef int* elems
    cdef int* place
    cdef int* block
    cdef int* first
    cdef int* end
    cdef int* marked
    cdef int* touched
    cdef int* queue
    cdef int* queued
    cdef int _mark(self, int state, int touched) except -1
    cdef int _pair_slot(self, int a, int b) noexcept
    cdef int _pair(self, int a, int b, int count) except -1
    cdef int _rehash(self, int count) except -1
