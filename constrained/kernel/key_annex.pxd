cimport cython

from constrained.kernel.annexes cimport NO_END, Annex
from constrained.kernel.blocks cimport Block
from constrained.kernel.memory cimport grow_int

cdef class KeyAnnex(Annex)
cdef int NO_BYTE

@cython.final
cdef class KeyAnnex(Annex):
    cdef int* tree
    cdef int nodes
    cdef int closing
    cdef bint all_end
    cdef bint planned
    cdef int* door
    cdef int doors
    cdef int path
    cdef tuple keys
    cdef int _survey(self) except -1
    cdef int _plan(self) except -1
    cdef int _measure(self) noexcept
    cdef int _least(self, int node, int least) noexcept
    cdef int _row(self, int node, int* a, int* b, int* to, int at, int base) noexcept
    cdef Block whole(self)
