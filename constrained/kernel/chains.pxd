cimport cython

cdef class Chains
cdef int BEGIN
cdef int MOST_SPARE

cdef class Chains:
    cdef int size
    cdef int level
    cdef int buckets
    cdef int room
    cdef int* head
    cdef int* behind
    @cython.final
    cdef int begin(self) except -1
    cdef unsigned int hash_of(self, int i) noexcept
    @cython.final
    cdef int bucket(self, unsigned int h) noexcept
    @cython.final
    cdef int link(self, int i, int b) except -1
    @cython.final
    cdef void unlink(self, int i) noexcept
    @cython.final
    cdef long long held(self, long long capacity, long long used) noexcept
    @cython.final
    cdef int _split(self) except -1
