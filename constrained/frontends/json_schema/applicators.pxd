from constrained.frontends.json_schema.denotation cimport Denotation
from constrained.frontends.json_schema.document cimport Place
from constrained.frontends.json_schema.places cimport Places

cdef Py_ssize_t MOST_COMBINED
cdef Py_ssize_t FEW_BRANCHES

cpdef Denotation applied(Places normaliser, Place place, str keyword, Denotation found)
cdef list _branches(Places normaliser, Place place, str keyword, object value)
cpdef Denotation all_of(Places normaliser, Place place, object value, Denotation found)
cdef Denotation _any_of(Places normaliser, Place place, object value, Denotation found)
cdef bint _is_none(Denotation found, Places normaliser) except -1
cdef Denotation _one_of(Places normaliser, Place place, object value, Denotation found)
cdef bint _tagged(Places normaliser, list branches) except -1
cdef bint _tells_apart(Places normaliser, list branches, object name) except -1
cdef Denotation _if(Places normaliser, Place place, Denotation found)
cdef Denotation _dependent_schemas(Places normaliser, Place place, Denotation found)
cdef Denotation _dependencies(Places normaliser, Place place, Denotation found)
cdef Denotation _if_present(Places normaliser, object name, Denotation then, Denotation found)
cpdef Denotation unevaluated_properties(Places normaliser, Place place, Denotation found)
cpdef Denotation unevaluated_items(Places normaliser, Place place, Denotation found)
cdef list _nearest_first(Denotation branch, list others)
