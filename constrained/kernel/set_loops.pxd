from constrained.kernel.stacks cimport Stacks

cdef bint _written(Stacks a, int c, int i) noexcept nogil
cdef int _unwritten(Stacks a, int loop, int c) noexcept nogil
cdef bint _may_write(Stacks a, int loop, int c, int i, int lacking) noexcept nogil
cdef int _with_item(Stacks a, int loop, int c, int i) except -1 nogil
cdef int _set_return(Stacks a, int loop, int c, int n, int lacking) except -1 nogil
cdef long long set_minimum(Stacks a, int loop, int c) noexcept nogil
