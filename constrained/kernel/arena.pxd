cimport cython

cdef class Arena
cdef Py_ssize_t LARGE

@cython.final
cdef class Arena:
    cdef int* base
    cdef Py_ssize_t room
    cdef Py_ssize_t used
    cdef int reserve(self, Py_ssize_t ints, int arrays) except -1
    cdef int* ints(self, Py_ssize_t count) noexcept
    cdef long long* longs(self, Py_ssize_t count) noexcept
