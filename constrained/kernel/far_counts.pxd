from constrained.kernel.stacks cimport Stacks

cdef int HIGH
cdef int REGISTERS
cdef int SINCE
cdef int MOVES
cdef int START
cdef int SPREAD
cdef int LONGEST
cdef int set_reach(Stacks a, int reach) except -1 nogil
cdef int make_ranges(Stacks a) except -1 nogil
cdef bint may_be_far(Stacks a, int loop) noexcept nogil
cdef int count_in(Stacks a, int loop, int c) noexcept nogil
cdef int with_count(Stacks a, int loop, int c, int count) except -1 nogil
cdef int far_kind(Stacks a, int loop, int count) noexcept nogil
cdef int far_bits(Stacks a, int loop, int c) noexcept nogil
