from constrained.kernel.stacks cimport Stacks

cdef int unite(Stacks a, int one, int other) except -1 nogil
cdef int _known(Stacks a, int one, int other) except -1 nogil
cdef int _push(Stacks a, int one, int other) except -1 nogil
