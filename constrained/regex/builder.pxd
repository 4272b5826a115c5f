cimport cython
from constrained.regex.syntax cimport Node


cpdef Node concat(list items)
cpdef Node alternation(list options)

@cython.final
cdef class Frame:
    cdef public str kind
    cdef readonly Py_ssize_t position
    cdef readonly int restore
    cdef public bint ahead
    cdef public bint negative
    cdef readonly list options
    cdef readonly list items

cdef class TreeBuilder:
    cdef readonly object limits
    cdef object max_nesting
    cdef object max_repeat
    cdef list stack
    cdef readonly Frame top
    cdef readonly str last

    cpdef object text(self, str chars)
    cpdef object charset(self, tuple ranges)
    cpdef object add(self, Node node, str last=*)
    cpdef object quantify(self, object minimum, object maximum, str mode, Py_ssize_t position)
    cpdef object alternate(self)
    cpdef object open(self, Frame frame)
    cpdef Frame close(self)
    cpdef Node finish(self)
