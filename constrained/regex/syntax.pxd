cimport cython


@cython.no_gc
cdef class Node:
    cdef readonly int tag
    cdef readonly tuple parts

@cython.final
@cython.no_gc
cdef class Text(Node):
    cdef readonly str chars
    cdef public object utf8

@cython.final
@cython.no_gc
cdef class CharSet(Node):
    cdef readonly tuple ranges
    cdef public object utf8

@cython.final
@cython.no_gc
cdef class Concat(Node):
    pass

@cython.final
@cython.no_gc
cdef class Alternation(Node):
    pass

@cython.final
@cython.no_gc
cdef class Repeat(Node):
    cdef readonly object minimum
    cdef readonly object maximum
    cdef readonly bint lazy

@cython.final
@cython.no_gc
cdef class Anchor(Node):
    cdef readonly object kind
    cdef readonly tuple chars
    cdef readonly Py_ssize_t position

@cython.final
@cython.no_gc
cdef class Look(Node):
    cdef readonly bint ahead
    cdef readonly bint negative
    cdef readonly Py_ssize_t position

@cython.final
@cython.no_gc
cdef class Atomic(Node):
    cdef readonly Py_ssize_t position

cpdef tuple children(Node node)
