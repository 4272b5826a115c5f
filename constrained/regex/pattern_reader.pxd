from constrained.regex.builder cimport TreeBuilder


cdef class PatternReader:
    cdef readonly str pattern
    cdef public Py_ssize_t at
    cdef public int flags
    cdef public TreeBuilder builder
    cdef public set names

    cpdef str peek(self)
