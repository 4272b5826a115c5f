cimport cython

from constrained.kernel.memory cimport grow_uint

cdef class Image
cdef int KEPT_POSITIONS
cdef dict _images
cdef Image image_of(object expr)

@cython.final
cdef class Image:
    cdef object part
    cdef readonly int positions
    cdef str name
    cdef bint recursive
    cdef bint nullable
    cdef tuple calls
    cdef tuple texts
    cdef long long largest
    cdef long long shortest
    cdef int n_sets
    cdef unsigned int* sets
    cdef unsigned int alone[8]
    cdef int hold_sets(self, unsigned int* alone, unsigned int* sets, int n_sets) except -1
    cdef bint fits(self, str name, dict rules) except -1
