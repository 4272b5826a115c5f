cimport cython


@cython.no_gc
cdef class Node:
    cdef short kind
    cdef short shared
    cdef int place

@cython.final
@cython.no_gc
cdef class Literal(Node):
    cdef readonly bytes data

@cython.final
@cython.no_gc
cdef class CharClass(Node):
    cdef readonly tuple ranges
    cdef object block

@cython.final
@cython.no_gc
cdef class Sequence(Node):
    cdef readonly tuple items

@cython.no_gc
cdef class Choice(Node):
    cdef readonly tuple options

@cython.no_gc
cdef class Repeat(Node):
    cdef tuple held
    cdef readonly object minimum
    cdef readonly object maximum

@cython.final
@cython.no_gc
cdef class Reference(Node):
    cdef readonly str name

@cython.no_gc
cdef class ByteDfa(Node):
    cdef tuple made
    cdef readonly int states
    cdef readonly frozenset accepting
    cdef object block

@cython.no_gc
cdef class Unordered(Node):
    cdef readonly tuple items
    cdef readonly frozenset required
    cdef tuple held
    cdef readonly object minimum
    cdef readonly object maximum
    cdef readonly bint in_order
