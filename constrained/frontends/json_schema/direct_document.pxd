cimport cython

from constrained.frontends.json_schema.scalar_texts cimport Tables
from constrained.frontends.json_schema.shapes cimport Shapes

cdef int MOST_CHARS
cdef int MOST_WAYS

@cython.final
cdef class Way:
    cdef object dialect
    cdef bint old_ids
    cdef Shapes shapes
    cdef object limits
    cdef tuple options
    cdef Tables tables
    cdef dict texts
    cdef Py_ssize_t most_texts
    cdef object host
    cdef int fits(self, object dialect, object limits, tuple options) except -1

@cython.final
cdef class Front:
    cdef object read
    cdef object find_dialect
    cdef dict uris
    cdef object make
    cdef list ways
    cdef object rules_of(self, object schema, object draft, object registry, object limits, tuple options, bint strict)
    cdef Way way_of(self, object dialect, object limits, tuple options)
