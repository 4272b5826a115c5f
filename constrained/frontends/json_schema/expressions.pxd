cdef class Expressions:
    cdef readonly list entries
    cdef dict ids
    cdef dict opposites
    cpdef int intern(self, str kind, object parts, object key=*) except -1
    cpdef int place(self, Py_ssize_t number) except -1
    cpdef int conjunction(self, list parts) except -1
    cpdef int disjunction(self, list parts) except -1
    cpdef int negation(self, int part) except -1

cdef class Algebra:
    cdef readonly Expressions expressions
    cdef dict pairs
    cdef readonly dict made
    cdef dict members
    cdef public dict empties
    cdef readonly Py_ssize_t spent
    cdef Py_ssize_t most
    cpdef int both(self, int a, int b) except -1
    cpdef int negated(self, int a) except -1
    cdef frozenset set_of(self, tuple texts)
    cpdef Py_ssize_t spend(self, Py_ssize_t alternatives) except -1
    cpdef bint is_empty(self, int expression, int depth=*) except -1
    cdef bint has_none(self, int expression, int depth) except -1
    cdef bint looks_empty(self, int expression, int depth) except -1
