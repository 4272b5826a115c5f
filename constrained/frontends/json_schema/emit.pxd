from constrained.frontends.json_schema.arrays cimport ArrayShape
from constrained.frontends.json_schema.normalise cimport Normaliser
from constrained.frontends.json_schema.objects cimport ObjectShape

cdef int MAX_INDENT_DEPTH, OBJECTS, ARRAYS, STRINGS, NUMBERS

cdef class Emitter:
    cdef public Normaliser normaliser
    cdef public object policy
    cdef public bint strict
    cdef public bint plain_scalars
    cdef readonly bint any_order
    cdef public dict rules
    cdef public dict names
    cdef public dict meanings
    cdef public set taken
    cdef public list waiting
    cdef public dict keys
    cdef dict members
    cdef dict free_members
    cdef dict brackets
    cdef readonly bint flat
    cdef dict texts
    cdef dict key_texts
    cdef readonly dict listed
    cdef public dict scalars
    cdef public object renamed
    cdef public int depth
    cdef bint spaced
    cdef readonly object space
    cdef readonly object comma
    cdef readonly object colon
    cpdef object value(self, int expression)
    cpdef object plain_scalar(self, int expression)
    cpdef str rule_name(self, int expression, int depth)
    cpdef object body(self, int expression)
    cpdef object scalar(self, str kind, object expr)
    cdef object exactly(self, int expression, int kind, object shape)
    cdef object of_kind(self, int kind, object shape)
    cpdef object string(self, object shape)
    cpdef object number(self, object shape)
    cpdef object text_of(self, object shape)
    cdef bytes newline(self, int depth)
    cpdef object bracketed(self, bytes left, object inside, bytes right, bint may_be_empty)
    cdef object flat_brackets(self, bytes left, object inside, bytes right, bint may_be_empty)
    cpdef object separator(self)
    cpdef object inner(self, int expression)
    cpdef object key(self, object name)
    cpdef object object(self, ObjectShape shape)
    cpdef object member(self, object name, int expression)
    cpdef object free_member(self, tuple cells, list declared)
    cpdef object key_text(self, object names)
    cpdef object in_any_order(self, list members, list standing, object free, object least, object most,
                             object in_order=*)
    cpdef object in_order(self, list members, list standing, object free)
    cpdef object array(self, ArrayShape shape)
