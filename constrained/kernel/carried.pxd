from constrained.kernel.stacks cimport Stacks

cdef bint pack(Stacks a, int node, list out) except -1
cdef int _pack_count(Stacks a, int d, int c, list out) except -1
cdef bint _has_register(Stacks a, int d) noexcept
cdef int unpack(Stacks a, list data, Py_ssize_t at) except -1
cdef int _register(Stacks a, list data, Py_ssize_t at, int n) except -1
