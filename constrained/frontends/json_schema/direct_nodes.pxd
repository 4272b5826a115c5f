cimport cython

from constrained.kernel.nodes cimport Choice, Literal, Reference, Repeat, Sequence

cdef Sequence sequence(tuple items)
cdef Reference reference(str name)
cdef object choice(list options)
cdef object plain_literal(str text)
cdef object key_literal(str name)
cdef object key_texts(frozenset out)
cdef str place_of(str base, object keyword, object name)
