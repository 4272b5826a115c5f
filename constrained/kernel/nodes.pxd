cimport cython


cdef class Node:
    cdef int kind
    cdef int shared

cdef class Literal(Node):
    cdef readonly bytes data

cdef class CharClass(Node):
    cdef readonly tuple ranges
    cdef object block

cdef class Sequence(Node):
    cdef readonly tuple items

cdef class Choice(Node):
    cdef readonly tuple options

cdef class Repeat(Node):
    cdef tuple held
    cdef readonly object minimum
    cdef readonly object maximum

cdef class Reference(Node):
    cdef readonly str name

cdef class ByteDfa(Node):
    cdef tuple made
    cdef readonly int states
    cdef readonly frozenset accepting
    cdef object block

cdef class Unordered(Node):
    cdef readonly tuple items
    cdef readonly frozenset required
    cdef tuple held
    cdef readonly object minimum
    cdef readonly object maximum
