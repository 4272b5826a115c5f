cimport cython

from constrained.frontends.json_schema.expressions cimport Algebra

@cython.final
cdef class ArrayShape:
    cdef readonly tuple prefix
    cdef readonly int rest
    cdef readonly object minimum
    cdef readonly object maximum
    cdef readonly tuple contains
    cdef readonly bint unique
    cdef readonly object evaluated
    cdef readonly tuple also
    cdef tuple fields(self)
    cpdef int at(self, Py_ssize_t index) except -1
    cpdef object intersect(self, ArrayShape other, Algebra algebra)
    cpdef object tidy(self)
    cdef ArrayShape counted(self)

cdef tuple _joined(tuple one, tuple other)
cdef int _asks_for_nothing(tuple contains, bint ended) except -1
