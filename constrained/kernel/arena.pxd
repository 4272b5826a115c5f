cimport cython

cdef class Arena
cdef void copy_ints(int* to, Py_ssize_t at, int* source, Py_ssize_t count) noexcept
cdef void copy_bytes(unsigned char* to, Py_ssize_t at, unsigned char* source, Py_ssize_t first, Py_ssize_t count) noexcept
cdef void zero_bytes(unsigned char* to, Py_ssize_t at, Py_ssize_t count) noexcept
cdef void zero_shorts(unsigned short* to, Py_ssize_t at, Py_ssize_t count) noexcept

@cython.final
cdef class Arena:
    cdef int* base
    cdef Py_ssize_t room
    cdef Py_ssize_t used
    cdef int reserve(self, Py_ssize_t ints, int arrays) except -1
    cdef int* ints(self, Py_ssize_t count) noexcept
    cdef unsigned short* shorts(self, Py_ssize_t count) noexcept
    cdef unsigned char* bytes(self, Py_ssize_t count) noexcept
    cdef long long* longs(self, Py_ssize_t count) noexcept
