cimport cython

@cython.final
cdef class PairList:
    cdef int count
    cdef int cap
    cdef int* one
    cdef int* other
    cdef int* met
    cdef int add(self, int one, int other) except -1 nogil
    cdef int _slot(self, int one, int other) noexcept nogil
    cdef void clear(self) noexcept nogil
