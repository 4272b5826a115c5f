cimport cython

@cython.final
cdef class GuardTables:
    cdef int n_pending
    cdef int n_positions
    cdef int todo_cap
    cdef int n_todo
    cdef int* may_end
    cdef int* step
    cdef int* join
    cdef int* pair_first
    cdef int* pair_pending
    cdef int* out_offsets
    cdef int* outs
    cdef int* todo_c
    cdef int* todo_n
    cdef int load(self, object guards) except -1
    cdef int pair(self, int p, int c) noexcept nogil
    cdef int push(self, int c, int n) except -1 nogil
