cimport cython

from constrained.frontends.json_schema.expressions cimport Algebra

cdef int FALSE, TRUE
cdef unsigned long long _HASHES

@cython.final
cdef class ObjectShape:
    cdef readonly tuple properties
    cdef readonly tuple others
    cdef readonly frozenset required
    cdef readonly tuple exists
    cdef readonly object minimum
    cdef readonly object maximum
    cdef readonly bint said
    cdef readonly object evaluated
    cdef dict names
    cdef tuple needed
    cdef int impossible
    cdef Py_hash_t hashed
    cdef tuple fields(self)
    cpdef dict declared(self)
    cdef tuple in_turn(self)
    cpdef int at(self, object name) except -1
    cpdef int at_other(self, object name) except -1
    cdef object merged(self, ObjectShape other, Algebra algebra)
    cpdef bint is_impossible(self) except -1
    cdef int never(self) except -1

cpdef tuple meet(ObjectShape a, ObjectShape b, Algebra algebra)
cdef tuple _resolved(ObjectShape shape, Algebra algebra)
cdef int _some_other(ObjectShape shape, object names, int wanted, Algebra algebra) except -1
cdef ObjectShape _changed(ObjectShape shape, tuple properties, frozenset required, tuple exists)
cdef ObjectShape _shape(tuple properties, tuple others, frozenset required, tuple exists, object minimum,
                        object maximum, bint said, object evaluated)
cdef tuple _without(tuple cells, Py_ssize_t k)
cpdef bint told_apart(ObjectShape a, ObjectShape b, Algebra algebra) except -1
cdef tuple _needed(ObjectShape a, ObjectShape b)
cpdef bint no_object(ObjectShape shape, Algebra algebra, int depth=*) except -1
cpdef tuple difference(ObjectShape shape, ObjectShape other, Algebra algebra, bint apart=*)
cdef int _share(ObjectShape a, ObjectShape b, Algebra algebra) except -1
cdef list _met(list kept, ObjectShape shape, Algebra algebra)
cdef Py_ssize_t _split(list kept, ObjectShape wrong, list found, Algebra algebra) except -1
cdef Py_ssize_t _broken(list kept, object name, int wrong, bint needed, list found, Algebra algebra) except -1
cdef list _with_members(list kept, object name, int wanted, bint needed, Algebra algebra)
cdef ObjectShape _with_member(ObjectShape shape, object name, int wanted, bint needed, Algebra algebra)
cdef list _outside(list covered)
cdef object _join(object a, object b)
