cimport cython

from constrained.kernel.memo cimport Memo
from constrained.kernel.position_sets cimport PositionSets

cdef class Dets(PositionSets):
    cdef Memo memo
    cdef int d_rows_len
    cdef int d_rows_cap
    cdef int firsts_len
    cdef int firsts_cap
    cdef int calls_len
    cdef int calls_cap
    cdef int split_len
    cdef int split_cap
    cdef int tr_len
    cdef int tr_cap
    cdef int* d_rows
    cdef int* firsts
    cdef int* calls
    cdef int* split
    cdef int* tr_piece
    cdef int* lone
    cdef int* tr_p
    cdef int* tr_c
    cdef int* tr_n
    cdef void _drop_dets(self) noexcept nogil
    cdef int forget_dets(self) except -1
    cdef long long bytes_of_dets(self) noexcept nogil
    @cython.final
    cdef int det_step(self, int d, int k) except -1 nogil
    @cython.final
    cdef int det_row(self, int d) except -1 nogil
    @cython.final
    cdef int _new_det_row(self, int d) except -1 nogil
    @cython.final
    cdef int _lone_det(self, int p) except -1 nogil
    @cython.final
    cdef bint _spread(self, int row, int p) except -1 nogil
    @cython.final
    cdef int byte_det(self, int d) except -1 nogil
    @cython.final
    cdef int det_first(self, int d) except -1 nogil
    @cython.final
    cdef int add_triple(self, int p, int c, int n) except -1 nogil
    @cython.final
    cdef int _grow_triples(self, int cap) except -1 nogil
    @cython.final
    cdef int det_calls(self, int d) except -1 nogil
    @cython.final
    cdef int split_det(self, int d) except -1 nogil
