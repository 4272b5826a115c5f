cimport cython

from constrained.kernel.chains cimport Chains
from constrained.kernel.memory cimport grow_int

cdef class IntRows

@cython.final
cdef class IntRows(Chains):
    cdef int width
    cdef int n
    cdef int cap
    cdef int* data
    cdef int* row
    cdef int intern(self) except -1
    cdef void load(self, int i) noexcept
    cdef int get(self, int i, int k) noexcept
    cdef void undo(self, int n) noexcept
