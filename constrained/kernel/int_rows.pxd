cimport cython

from constrained.kernel.memory cimport grow_int

cdef class IntRows

@cython.final
cdef class IntRows:
    cdef int width
    cdef int n
    cdef int cap
    cdef int size
    cdef int* data
    cdef int* slots
    cdef int* row
    cdef unsigned int _slot(self, int i) noexcept
    cdef int intern(self) except -1
    cdef int _enlarge(self) except -1
    cdef void load(self, int i) noexcept
    cdef int get(self, int i, int k) noexcept
    cdef void undo(self, int n) noexcept
