cimport cython

from constrained.frontends.json_schema.arrays cimport ArrayShape
from constrained.frontends.json_schema.expressions cimport Algebra

cdef tuple _ANY_ARRAYS, _ANY_OBJECTS

@cython.final
cdef class Denotation:
    cdef readonly bint null
    cdef readonly int booleans
    cdef readonly tuple numbers
    cdef readonly tuple strings
    cdef readonly tuple arrays
    cdef readonly tuple objects
    cpdef bint is_nothing(self) except -1
    cdef tuple fields(self)

cpdef Denotation conjunction(Denotation a, Denotation b, Algebra algebra)
cdef tuple _product(tuple xs, tuple ys, Algebra algebra)
cdef tuple _product_strings(tuple xs, tuple ys, Algebra algebra)
cdef object _both_strings(object x, object y, Algebra algebra)
cdef object _of_texts(object shape, list texts)
cpdef bint no_array(ArrayShape shape, Algebra algebra, int depth=*) except -1
cdef tuple _product_arrays(tuple xs, tuple ys, Algebra algebra)
cdef tuple _product_objects(tuple xs, tuple ys, Algebra algebra)
cpdef Denotation disjunction(list parts, Algebra algebra)
cdef tuple _beside(tuple one, tuple other)
cdef tuple _once(tuple shapes)
cpdef Denotation difference(Denotation a, Denotation b, Algebra algebra, bint apart=*)
cdef tuple _numbers_without(tuple left, tuple shapes, Algebra algebra)
cdef tuple _strings_without(tuple left, tuple shapes, Algebra algebra)
cdef object _other_strings(object shape, frozenset out)
cdef tuple _arrays_without(tuple left, tuple shapes, Algebra algebra)
cdef ArrayShape _repeating(ArrayShape one, ArrayShape shape, ArrayShape both, Algebra algebra)
cdef tuple _objects_without(tuple left, tuple shapes, Algebra algebra, bint apart)
