from constrained.frontends.json_schema.cubes cimport Cubes
from constrained.frontends.json_schema.objects cimport ObjectShape

cdef Py_ssize_t FEW
cdef int MIXED
cdef unsigned long long _HASHES

cpdef tuple fewer_shapes(tuple shapes, bint closed, bint ordered)
cdef list _of_group(list group, bint closed)
cdef list _fewer(list part, dict numbers, list values, list usual)
cdef int _beside(int known, int said) except -2
cdef bint _all_differ(list group, dict mixed) except -1
cdef ObjectShape _written(ObjectShape shape, Cubes cubes, int cube, list names, list values)
