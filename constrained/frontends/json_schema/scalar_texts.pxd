cimport cython

cdef int MOST_KEPT
cdef dict _ORDER
cdef dict _KINDS

@cython.final
cdef class Texts:
    cdef readonly tuple scalars
    cdef readonly tuple words
    cdef readonly bint objects
    cdef readonly bint arrays
    cdef bint single
    cdef bint nothing
    cdef bint sure

@cython.final
cdef class Tables:
    cdef readonly object space
    cdef readonly object comma
    cdef readonly object colon
    cdef readonly object spaces
    cdef object read
    cdef object any_key
    cdef bint knows_const
    cdef bint any_order
    cdef bint ref_alone
    cdef object max_repeat
    cdef Py_ssize_t most_alternatives
    cdef dict kept
    cdef dict typed
    cdef dict values
    cdef readonly tuple brackets
    cdef readonly tuple square
    cdef tuple _bracket(self, bytes left, bytes right)
    cdef object enclosed(self, tuple brackets, object inside, bint may_be_empty)
    cdef Texts texts(self, tuple content, dict schema)
    cdef Texts texts_of_type(self, str name)
    cdef Texts texts_of_all(self, tuple content, str which, list contents, list schemas, int types, object said)
    cdef bint are_sure(self, Texts texts) except -1
    cdef Texts beside(self, list contents, list schemas, int types)
