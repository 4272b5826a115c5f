cimport cython

from constrained.kernel.annexes cimport Annex
from constrained.kernel.blocks cimport Block

cdef class CountedAnnex(Annex)

@cython.final
cdef class CountedAnnex(Annex):
    cdef int boundary
    cdef int least
    cdef int top
    cdef bint endless
    cdef int most
    cdef int n_rows
    cdef int most_need
    cdef int* rows
    cdef int* row_of
    cdef int* alike
    cdef int* need
    cdef int* final
    cdef void _measure_need(self) noexcept
    cdef void _measure_row(self, int count, int at) noexcept
    cdef int left(self, int place) noexcept nogil
    cdef bint ends(self, int place) noexcept nogil
    cdef int place_after(self, int place, int edge) noexcept nogil
    cdef int write_edges(self, int place, int* a, int* b, int* to, int at) noexcept nogil
