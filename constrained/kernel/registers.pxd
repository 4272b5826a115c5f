cimport cython

@cython.final
cdef class Registers:
    cdef int count
    cdef int cap
    cdef int pool_len
    cdef int pool_cap
    cdef int table_size
    cdef int* offsets
    cdef int* lengths
    cdef int* hashes
    cdef int* pool
    cdef int* table
    cdef void _drop(self) noexcept nogil
    cdef int clear(self) except -1 nogil
    cdef int _make_table(self, int size) except -1 nogil
    cdef int _hash(self, int* words, int n) noexcept nogil
    cdef int intern(self, int* words, int n) except -1 nogil
    cdef int _rehash(self) except -1 nogil
    cdef long long bytes_held(self) noexcept nogil
