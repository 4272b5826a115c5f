cimport cython

from constrained.kernel.dfa_tables cimport Table
from constrained.kernel.plain_programs cimport PlainProgram

@cython.final
cdef class Subsets:
    cdef PlainProgram program
    cdef int n
    cdef int k
    cdef int sets
    cdef int stamp
    cdef int count
    cdef int pool_room
    cdef int state_room
    cdef int slot_count
    cdef int groups
    cdef int* set_of
    cdef int* next
    cdef int* at
    cdef int* choices
    cdef int* member
    cdef int* seen
    cdef int* stack
    cdef int* pool
    cdef int* state_at
    cdef int* slots
    cdef int* group_of
    cdef int* inside
    cdef int* outside
    cdef int* asked
    cdef int* letter
    cdef void _tell_apart(self, int begin, int end) noexcept
    cdef int _follow(self, int top, int most) except -2
    cdef int _slot(self, int begin, int end) noexcept
