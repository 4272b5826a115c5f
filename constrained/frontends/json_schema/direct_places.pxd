from constrained.frontends.json_schema.direct_rules cimport Rules
from constrained.frontends.json_schema.shapes cimport Checked, Shapes

cdef Py_ssize_t MOST_COMPARED
cdef int LONGEST_CHAIN
cdef long long LOOK, ONE_ARRAY

cdef class Places(Rules):
    cdef object document
    cdef Shapes shapes
    cdef Checked checked
    cdef Py_ssize_t compared
    cdef list waiting
    cdef Py_ssize_t done
    cdef str home
    cdef dict at_home
    cdef object begin_places(self, object document, Shapes shapes, Checked checked)
    cdef tuple target(self, str ref)
    cdef tuple follow(self, str ref)
    cdef object waits(self, dict schema, object union, int said, str base, object keyword, object name)
