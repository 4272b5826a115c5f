cimport cython

from constrained.kernel.region_tokens cimport RegionTokens
from constrained.kernel.token_trie cimport TokenTrie

cdef class RegionTables
cdef int MAX_REGIONS
cdef long long MAX_BYTES
cdef unsigned long long hash_cells(int number, int root, int* cells, int n) noexcept nogil
cdef bint _matches(RegionTokens one, int number, int root, int* cells, int n, unsigned long long h) noexcept nogil
cdef unsigned long long _hash_of(RegionTokens one) noexcept nogil

@cython.final
cdef class RegionTables:
    cdef cython.pymutex lock
    cdef object guard
    cdef object partitions
    cdef list first_bytes
    cdef object numbers
    cdef object tries
    cdef object finer
    cdef object held
    cdef void** slots
    cdef int size
    cdef int count
    cdef int generation
    cdef int _begin(self) except -1
    cdef void* find(self, int generation, int number, int root, int* cells, int n, unsigned long long h) noexcept nogil
    cdef object obtain(self, TokenTrie trie, int number, int root, int* cells, int n, unsigned long long h, bint narrow)
    cdef int _grow(self) except -1
