cimport cython


@cython.final
cdef class JointProduct:
    cdef list tables
    cdef int m
    cdef int cap
    cdef int slot_count
    cdef bint either
    cdef int* runs
    cdef int* slots
    cdef int* home
    cdef int* moved
    cdef int* final
    cdef int* base
    cdef int* refused
    cdef bint _accepts(self, int i) noexcept
    cdef int _move(self, int i, int k) except -1
    cdef bint _lives(self, int j, int k, int count) noexcept
    cdef int _room(self, int count) except -1
    cdef int _slot(self, int at) noexcept
    cdef int _place(self, int count) except -1
