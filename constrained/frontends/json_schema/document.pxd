cimport cython

from constrained.frontends.json_schema.shapes cimport Checked

@cython.final
cdef class Place:
    cdef readonly object schema
    cdef readonly str pointer
    cdef readonly object scope
    cdef readonly object dialect
    cdef readonly bint entered
    cpdef Place child(self, object key)
    cpdef Place inner(self, str key, object name)

@cython.final
cdef class Document:
    cdef readonly object root
    cdef readonly object dialect
    cdef readonly object registry
    cdef readonly frozenset mentioned
    cdef readonly bint plain
    cdef object root_scope
    cdef Checked checked
    cpdef Place enter(self, Place place)
    cpdef Place follow(self, Place place, object ref, str keyword=*)
    cdef Place walk(self, str path, str pointer, object ref)
    cdef object scope(self)

cpdef bint is_index(str step)
