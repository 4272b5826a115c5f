from constrained.frontends.json_schema.denotation cimport Denotation
from constrained.frontends.json_schema.document cimport Document, Place
from constrained.frontends.json_schema.expressions cimport Algebra

cdef Py_ssize_t MOST_COMPARED

cdef class Places(Algebra):
    cdef readonly Document document
    cdef readonly object limits
    cdef readonly object assert_formats
    cdef readonly dict denoted
    cdef readonly list places
    cdef readonly dict active
    cdef readonly dict notes
    cdef readonly bint tracking
    cdef readonly bint dynamic
    cdef dict leaves
    cdef dict alike
    cdef bint comparing
    cdef Py_ssize_t compared
    cdef dict looks
    cdef list entry
    cdef dict contents
    cdef readonly set inexact
    cdef readonly bint names_only
    cpdef int at(self, Place place) except -1
    cpdef int under(self, Place place, str keyword, object name=*) except -1
    cpdef dict all_under(self, Place place, str keyword, object schemas)
    cdef object key_of(self, object schema, Place place)
    cdef object equal_to(self, dict schema, tuple key)
    cdef int new(self, Place place, object key) except -1
    cpdef int constant(self, object value) except -1
    cpdef Denotation denote(self, int expression)
    cpdef Denotation without(self, Denotation found, int expression)
    cpdef tuple strings_of(self, int expression)
    cpdef Denotation values(self, list values)
    cpdef Denotation relaxed(self, Place place, str keyword, str reason, Denotation instead)

cdef tuple look_of(dict schema)
