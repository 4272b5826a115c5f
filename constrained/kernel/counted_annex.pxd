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
    cdef unsigned char* can
    cdef int* row_of
    cdef int* fewest
    cdef int* fewest_of
    cdef int* need
    cdef int* final
    cdef void _measure_need(self) noexcept
    cdef void _measure_row(self, int count, int at) noexcept
    cdef Py_ssize_t _room(self, int rows) except -1
    cdef void _find_row(self, int count, int at) noexcept
    cdef bint _same_row(self, int at) noexcept
    cdef int _measure_bytes(self) except -1
    cdef int left(self, int place) except -1
    cdef bint can_end(self, int count, int state) noexcept nogil
    cdef bint ends(self, int place) noexcept nogil
    cdef int place_after(self, int place, int edge) noexcept nogil
    cdef int write_edges(self, int place, int* a, int* b, int* to, int at) noexcept nogil
