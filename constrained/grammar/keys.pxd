cimport cython

from constrained.kernel.nodes cimport ByteDfa

@cython.final
cdef class KeyDfa(ByteDfa):
    cdef readonly ByteDfa strings
    cdef readonly tuple keys
    cdef readonly int closing
    cdef tuple written
    cdef tuple _row(self, dict branches, bint ends)
