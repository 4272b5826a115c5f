from constrained.frontends.json_schema.arrays cimport ArrayShape
from constrained.frontends.json_schema.denotation cimport Denotation
from constrained.frontends.json_schema.document cimport Place
from constrained.frontends.json_schema.objects cimport ObjectShape
from constrained.frontends.json_schema.places cimport Places

cdef tuple _ANY_NUMBERS, _INTEGERS, _PLAIN_INTEGERS, _ANY_STRINGS
cdef int _NULL, _BOOLEAN, _INTEGER, _NUMBER, _STRING, _ARRAY, _OBJECT, _EVERY
cdef int _NUMERIC, _STRINGS, _OBJECTS, _ARRAYS, _FORMAT, _VALUES, FEW_CELLS
cdef dict _TYPES, _KINDS
cdef frozenset _NOTHING_NAMED

cpdef int kinds_of(object schema) except -1
cpdef Denotation own_denotation(Places normaliser, Place place, int kinds)
cdef int _types(object schema) except -1
cdef object _number(Place place, object number)
cdef object _string(Places normaliser, Place place, bint wanted)
cdef object _array(Places normaliser, Place place, object schema, frozenset known)
cdef tuple _object(Places normaliser, Place place, object schema, frozenset known)
cdef list _patterns(Places normaliser, Place place, object patterns)
cdef tuple _pattern_cells(Places normaliser, list patterns, list values, int rest)
cdef list _joined(list patterns, list values)
cdef tuple _met(Places normaliser, tuple shapes, tuple options)
cdef tuple _dependent(Places normaliser, tuple shapes, object name, ObjectShape then)
cdef object _bound(Places normaliser, Place place, str keyword)
