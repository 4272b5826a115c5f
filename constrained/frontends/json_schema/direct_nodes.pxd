cimport cython

from constrained.grammar.keys cimport KeyDfa
from constrained.kernel.nodes cimport ByteDfa, Choice, Literal, Reference, Repeat, Sequence, Unordered

cdef Sequence sequence(tuple items)
cdef Reference reference(str name)
cdef object choice(list options)
cdef object in_spaces(tuple brackets, object space, object inside, bint may_be_empty)
cdef object EMPTY, QUOTE
cdef Py_ssize_t MANY_SKIPPED, FEW_KEYS
cdef bytes _escaped
cdef unsigned char* _escaped_bytes

cdef object mark(object thing)
cdef int needs_no_escapes(str text) except -1
cdef object plain_literal(str text)
cdef object key_literal(str name)
cdef int is_above(bytes one, bytes other) except -1
cdef object key_texts(frozenset out)
cdef Py_ssize_t _longest_run(list standing, Py_ssize_t members) noexcept
cdef str place_of(str base, object keyword, object name)
