cimport cython

from constrained.kernel.program cimport Program
from constrained.kernel.stacks cimport Stacks

@cython.final
cdef class Automaton(Stacks):
    cdef cython.pymutex lock
    cdef readonly int epoch
    cdef int start
    cdef int exp_len
    cdef int exp_cap
    cdef int rows_len
    cdef int rows_cap
    cdef int rows_room
    cdef int row_cap
    cdef int pend_cap
    cdef int heap_len
    cdef int* pend_tail
    cdef int* heap
    cdef int may[8]
    cdef int* exp
    cdef int* rows
    cdef int* row_piece
    cdef int* row_node
    cdef int* row_open
    cdef int load(self, Program program, int max_threads) except -1
    cdef int leave(self, long long most) except -1
    cdef void _drop_rows(self) noexcept nogil
    cdef int _forget(self) except -1
    cdef int _start(self) except -1
    cdef int begin_epoch(self) except -1
    cdef void clear_scratch(self) noexcept nogil
    cdef long long memory_bytes(self) noexcept nogil
    cdef int _add_thread(self, int d, int n, int loop, int c, int below) except -1 nogil
    cdef int _enter(self, int d, int c, int n) except -1 nogil
    cdef int pend(self, int rule, int n) except -1 nogil
    cdef int _pop_pending(self) except -1 nogil
    cdef int expand(self, int node) except -1 nogil
    cdef int _new_row(self, int node) except -1 nogil
    cdef int _grow_rows(self, int cap) except -1 nogil
    cdef int row_of(self, int node) except -1 nogil
    cdef int _open_row(self, int row, int node) except -1 nogil
    cdef int build(self, int row, int k) except -1 nogil
    cdef int step_thread(self, int d, int n, int c, int k) except -1 nogil
    cdef int step(self, int row, int k) except -1 nogil
    cdef int step_token(self, int node, int token_set) except -1 nogil
    cdef bint is_complete(self, int node) noexcept nogil
    cdef int first_classes(self, int node, int* out) except -1 nogil
    cdef int first_guarded(self, int c, int node, int* out) except -1 nogil
