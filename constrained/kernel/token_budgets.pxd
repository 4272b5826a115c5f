from constrained.kernel.stacks cimport Stacks

cdef bint is_used_up(Stacks a, int d, int c) noexcept nogil
cdef int step_budget(Stacks a, int d, int n, int c, int k) except -1 nogil
cdef int after_token(Stacks a, int node) except -1 nogil
cdef int uncounted(Stacks a, int node) except -1 nogil
