from constrained.kernel.stacks cimport Stacks

cdef int NO_END
cdef int load_orders(Stacks a) except -1
cdef int next_item(Stacks a, int loop, int c) noexcept nogil
cdef int last_next_item(Stacks a, int loop, int c) noexcept nogil
cdef bint is_written(Stacks a, int loop, int c, int i) noexcept nogil
cdef bint has_all(Stacks a, int loop, int c, int other) noexcept nogil
cdef int unwritten(Stacks a, int loop, int c) noexcept nogil
cdef bint may_write(Stacks a, int loop, int c, int i, int lacking) noexcept nogil
cdef int with_item(Stacks a, int loop, int c, int i) except -1 nogil
cdef int set_return(Stacks a, int loop, int c, int n, int lacking) except -1 nogil
cdef long long cheapest_items(Stacks a, int loop, int c, int first, int need, long long* dearest, int place) noexcept nogil
cdef long long set_minimum(Stacks a, int loop, int c) noexcept nogil
