cimport cython

@cython.final
cdef class Signatures:
    cdef int count
    cdef int cap
    cdef int table_size
    cdef int pool_len
    cdef int pool_cap
    cdef int new
    cdef int slot
    cdef int* piece
    cdef int* offsets
    cdef int* lengths
    cdef int* masks
    cdef int* table
    cdef int* pool
    cdef int forget(self) except -1 nogil
    cdef int _clear_table(self, int size) except -1 nogil
    cdef void begin(self) noexcept nogil
    cdef int add(self, int r) except -1 nogil
    cdef int find(self) noexcept nogil
    cdef int keep(self, int mask) except -1 nogil
    cdef int _rehash(self) except -1 nogil
