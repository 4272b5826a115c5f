from constrained.frontends.json_schema.objects cimport ObjectShape

cdef Py_ssize_t FEW
cdef int MANY_PIECES

cpdef tuple fewer_shapes(tuple shapes, bint closed, bint ordered)
cdef list _of_group(list group, bint closed)
cdef object _beside(object known, object said)
cdef ObjectShape _written(object before, ObjectShape shape, object after, list names, list values)
cdef list _conditions(object cube)
cdef list _holding(object cube, dict having, object cubes)
cdef object _listed(object cube, dict having)
cdef object _unlisted(object cube, dict having)
cdef bint _is_covered(object cube, list others, Py_ssize_t n) except -1
