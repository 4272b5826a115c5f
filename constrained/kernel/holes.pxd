from constrained.kernel.stacks cimport Stacks

cdef int restrict(Stacks a, int u, int region, bint inside) except -1 nogil
cdef int fill_hole(Stacks a, int v, int n) except -1 nogil
cdef bint has_frames(Stacks a, int v) except -1 nogil
cdef int recount(Stacks a, int v, int loop, int c) except -1 nogil
