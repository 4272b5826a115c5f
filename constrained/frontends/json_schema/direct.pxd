cimport cython

from constrained.frontends.json_schema.direct_places cimport LONGEST_CHAIN, MOST_COMPARED, Places
from constrained.frontends.json_schema.scalar_texts cimport Tables, Texts
from constrained.frontends.json_schema.shapes cimport Checked, Shapes
from constrained.kernel.nodes cimport Reference

cdef int DEEPEST
cdef Py_ssize_t FEW_NAMES
cdef int is_among(str name, object names) except -1

@cython.final
cdef class Union:
    cdef list objects
    cdef list arrays
    cdef tuple content
    cdef Texts texts
    cdef int order

@cython.final
cdef class Writer(Places):
    cdef object host
    cdef object make_host
    cdef dict references
    cdef dict arrays
    cdef int chain
    cdef Py_ssize_t spent
    cdef dict unions
    cdef object shape
    cdef bint comparing
    cdef dict filled_ones
    cdef list open
    cdef list by_kind
    cdef object value(self, object schema, str base, object keyword, object name)
    cdef object quick(self, object schema)
    cdef object take(self, Tables tables, object host, object document, bint strict, Shapes shapes, Checked checked)
    cdef object asked(self)
    cdef object by_host(self, object schema, str base, object keyword, object name)
    cdef object plain(self, dict schema, str base, object keyword, object name)
    cdef object reference(self, dict schema, int bits)
    cdef object combination(self, dict schema, int bits, str base, object keyword, object name)
    cdef Union union_of(self, dict schema, str base, object keyword, object name)
    cdef Union alternatives_of(self, dict schema, str base, object keyword, object name)
    cdef object united(self, Union union)
    cdef object run(self)
    cdef bint is_sure(self) noexcept
    cdef object end(self)
    cdef object write(self)
    cdef object body(self, dict schema, str pointer, int said)
    cdef object own_array(self, dict schema, int bits, int types, str base, object keyword, object name)
    cdef object array(self, dict schema, str pointer)
    cdef object object(self, dict schema, str pointer, int bits)
    cdef tuple declared(self, dict names, object needed, str pointer, list standing)
    cdef list declared_with_values(self, dict names, object needed, str pointer, list standing)
    cdef object value_if_any(self, object schema, str pointer, object name)
    cdef list undeclared(self, object names, frozenset needed, object rest, list members, list standing)
    cdef int is_patterned(self, dict schema) except -1
    cdef int are_as(self, str pattern, object value, dict names) except -1
    cdef object patterned(self, dict patterns, object declared, object rest, str pointer)
    cdef int has_values(self, object schema, int depth) except -1
    cdef int some_alternative(self, dict schema, int depth) except -1
