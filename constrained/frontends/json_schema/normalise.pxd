from constrained.frontends.json_schema.arrays cimport ArrayShape
from constrained.frontends.json_schema.denotation cimport Denotation
from constrained.frontends.json_schema.document cimport Place
from constrained.frontends.json_schema.objects cimport ObjectShape
from constrained.frontends.json_schema.places cimport Places

cdef Py_ssize_t MAX_CHAIN, MOST_ASKED
cdef int APPLIES, REFERS

cdef class Normaliser(Places):
    cdef readonly str unsupported
    cdef bint loose
    cdef int asking
    cdef Denotation of_two(self, int expression)
    cdef Denotation read(self, str kind, object parts)
    cdef bint plainly_filled(self, int expression, int depth) except -1
    cdef bint holds_nothing(self, Denotation d, int depth) except -1
    cpdef bint no_object(self, ObjectShape shape, int depth=*) except -1
    cpdef bint no_array(self, ArrayShape shape, int depth=*) except -1
    cdef Denotation of_constant(self, object value)
    cdef Denotation of_place(self, Place place)
    cdef int end_of_references(self, Place place, object ref) except -1

cdef bint _comes_first(object schema, str one, str other) except -1
