cimport cython

cdef int MOST

@cython.final
cdef class Memo:
    cdef int size
    cdef int count
    cdef int old_size
    cdef int moved
    cdef int* table
    cdef int* old
    cdef int clear(self) except -1 nogil
    cdef int _get_old(self, int kind, int a, int b) except -1 nogil
    cdef int get(self, int kind, int a, int b) except -1 nogil
    cdef int put(self, int kind, int a, int b, int value) except -1 nogil
    cdef int _grow(self) except -1 nogil
    cdef void _move(self, int places) noexcept nogil
    cdef void _store(self, int kind, int a, int b, int value) noexcept nogil
