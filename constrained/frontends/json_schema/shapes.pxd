cimport cython

cdef int SCHEMA, MAP, PATTERNS, NEEDS, DEPENDENCIES, BRANCHES, PREFIX, ITEMS, TYPE, NAMES, TEXT, PATTERN, COUNT, NUMBER
cdef int STEP, FLAG, LIST, DIALECT, TYPE_NAME, MOST_PATTERNS

@cython.final
cdef class Shapes:
    cdef readonly object dialect
    cdef object id_keyword
    cdef dict shapes
    cdef set patterns
    cdef bytes held
    cdef const unsigned char* slots
    cdef int is_type(self, object value) except -1
    cdef int says_type(self, dict schema) except -1
    cdef int are_types(self, object value) except -1
    cdef int is_pattern(self, object text, object limits) except -1
    cdef int of(self, object key) except -1

@cython.final
cdef class Checked:
    cdef object limits
    cdef list places
    cdef set marks
    cdef list pointers
    cdef list foreign
    cdef str at
    cdef bint simple
    cdef int begin(self, Shapes shapes, object root, object limits, bint shared) except -1
    cdef int holds(self, object schema, Shapes shapes) except -1
    cdef int walk(self, Shapes shapes, object root) except -1
    cdef int put(self, Shapes shapes, object value, object key, object name) except -1
    cdef int put_map(self, Shapes shapes, object value, object key, int shape) except -1
    cdef int put_list(self, Shapes shapes, object value, object key, int shape) except -1
    cdef int is_foreign(self, Shapes shapes, dict schema, Py_ssize_t i) except -1

cpdef str below(str pointer, str key)
cdef int are_names(object value) except -1
cdef int is_number(object value) except -1
cdef int is_count(object value) except -1
