cimport cython

from constrained.kernel.memory cimport grow_long

cdef int PLACES
cdef long long ADDRESS
cdef long long* _entries
cdef list _NAMES
cdef Py_ssize_t _place_of(long long name) noexcept
cdef object _find_names()
cdef Py_ssize_t known_place(object key) noexcept
cdef int about(object key) except -1
cdef int _type_bit(object name) except -1
cdef int OBJECT, ARRAY, STRING, NUMBER, INTEGER, BOOLEAN, NULL, EVERY
cdef int TYPE, SCALAR, MEMBERS, ITEMS, REFERS, RARE, VALUES, PATTERNS, COUNTS, INSIDE
cdef int MOST_VALUES, FEW_OBJECTS
cdef int AS_THEY_ARE, BY_SIZE
cdef dict _TYPES
cdef dict _KEYWORDS

cdef int ABOUT, TYPES
cdef int bits_of(dict schema) except -1
cdef int said_of(dict schema) except -1
cdef object one_type(dict schema)
cdef int types_of(dict schema) except -1
cdef int _types_in(object said) except -1
cdef object content_of(dict schema)
cdef object _put(list found, str key, object kind, object value)
cdef int are_items_plain(dict schema, int types, object max_repeat) except -1
cdef int are_scalars_silent(dict schema, int types) except -1
cdef int are_counts(dict schema, object max_repeat) except -1
cdef str combined_by(dict schema)
cdef object said_texts(object schema, bint knows_const)
cdef object texts_within(dict schema, bint knows_const, object max_repeat)
cdef object listed_texts(dict said, bint knows_const)
cdef int are_tagged(list objects, bint knows_const) except -1
cdef int told_apart(list objects, bint knows_const) except -1
cdef int is_apart(dict one, dict other, bint knows_const) except -1
cdef int order_left(list objects, bint knows_const, bint any_order, bint strict) except -1
cdef int _are_disjoint(list group) except -1
cdef int _are_unlike(list group, bint knows_const, bint closed) except -1
cdef object _look_of(object schema, bint knows_const)
