cimport cython


@cython.final
cdef class JointProduct:
    cdef list tables
    cdef int m
    cdef int cap
    cdef int slot_count
    cdef int numbered
    cdef bint either
    cdef bint any_refused
    cdef bint few
    cdef int* runs
    cdef int* slots
    cdef int* home
    cdef int* moved
    cdef int* final
    cdef int* base
    cdef int* refused
    cdef long long* step
    cdef long long* number
    cdef long long* numbers
    cdef bint _accepts(self, int i) noexcept
    cdef int _move(self, int i, int k) except -1
    cdef int _measure(self, int k) except -1
    cdef int _write(self, int k, int count, int most, int* row, int at) except -1
    cdef int _room(self, int count) except -1
    cdef int _place(self, long long number, int count) except -1
    cdef int _slot(self, long long number) noexcept
