from constrained.kernel.stacks cimport Stacks

cdef long long minimum(Stacks a, int node) except -1 nogil
cdef int _push(Stacks a, int node) except -1 nogil
cdef long long _element_minimum(Stacks a, int d, int c) except -1 nogil
