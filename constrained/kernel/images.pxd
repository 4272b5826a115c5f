cimport cython

from constrained.kernel.families cimport Family
from constrained.kernel.memory cimport grow_int

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
    cdef bint later
    cdef tuple calls
    cdef tuple texts
    cdef long long largest
    cdef Family family
    cdef int n_calling
    cdef int* calling
    cdef unsigned int alone[8]
    cdef int hold(self, unsigned int* alone, Family family) except -1
    cdef int find_calling(self, int* offsets) except -1
    cdef bint fits(self, str name, dict rules) except -1
