cimport cython

from constrained.kernel.nodes cimport Choice, Literal, Reference, Repeat, Sequence, Unordered

cdef int OBJECT, ARRAY, STRING, NUMBER, INTEGER, BOOLEAN, NULL, EVERY
cdef int TYPE, SCALAR, MEMBERS, ITEMS, REFERS, RARE, VALUES
cdef int MOST_VALUES, MOST_KEPT, MOST_COMPARED, DEEPEST, LONGEST_NAME, LONGEST_CHAIN, FEW_OBJECTS
cdef dict _TYPES
cdef dict _KEYWORDS

cdef Sequence _sequence(tuple items)
cdef Reference _reference(str name)
cdef object _choice(list options)
cdef object _plain_literal(str text)
cdef object _key(str name)
cdef object _other_keys(frozenset out)
cdef int _bits(dict schema) except -1
cdef int _types_of(dict schema) except -1
cdef object _content(dict schema)
cdef object _said_texts(object schema, bint knows_const)
cdef int _told_apart(list objects, bint knows_const) except -1
cdef int _apart(dict one, dict other, bint knows_const) except -1
cdef str _place_of(str base, object keyword, object name)

@cython.final
cdef class Texts:
    cdef readonly tuple scalars
    cdef readonly tuple words
    cdef readonly bint objects
    cdef readonly bint arrays
    cdef bint single
    cdef bint nothing

@cython.final
cdef class Union:
    cdef list objects
    cdef list arrays
    cdef tuple content
    cdef Texts texts

@cython.final
cdef class Tables:
    cdef readonly object space
    cdef readonly object comma
    cdef readonly object colon
    cdef readonly object spaces
    cdef object read
    cdef bint knows_const
    cdef bint any_order
    cdef bint ref_alone
    cdef object max_repeat
    cdef Py_ssize_t most_alternatives
    cdef dict kept
    cdef readonly tuple brackets
    cdef readonly tuple square
    cdef tuple _bracket(self, bytes left, bytes right)
    cdef object enclosed(self, tuple brackets, object inside, bint may_be_empty)
    cdef Texts texts(self, tuple content, dict schema)

@cython.final
cdef class Writer:
    cdef Tables tables
    cdef object host
    cdef bint strict
    cdef readonly dict rules
    cdef readonly set taken
    cdef readonly dict scalars
    cdef dict typed
    cdef dict contents
    cdef dict lists
    cdef dict listed
    cdef dict known
    cdef dict references
    cdef dict members
    cdef dict keys
    cdef dict arrays
    cdef dict looks
    cdef Py_ssize_t compared
    cdef int chain
    cdef Py_ssize_t spent
    cdef dict unions
    cdef object shape
    cdef bint comparing
    cdef list waiting
    cdef Py_ssize_t done
    cdef dict filled_ones
    cdef list open
    cdef Reference anything
    cdef object some_object
    cdef object some_array
    cdef object value(self, object schema, str base, object keyword, object name)
    cdef object quick(self, object schema)
    cdef object by_host(self, object schema, str base, object keyword, object name)
    cdef object plain(self, dict schema, str base, object keyword, object name)
    cdef object scalar(self, tuple content, dict schema, str base, object keyword, object name)
    cdef object written_as(self, tuple content, Texts texts, str base, object keyword, object name)
    cdef object alternatives(self, Texts texts, str pointer)
    cdef object named(self, str kind, object expr, object rules)
    cdef object scalar_set(self, tuple one)
    cdef object text_of_list(self, tuple values)
    cdef object of_type(self, str name)
    cdef str rule_name(self, str pointer)
    cdef object any_value(self)
    cdef object any_object(self)
    cdef object any_array(self)
    cdef object reference(self, dict schema, int bits)
    cdef object combination(self, dict schema, str base, object keyword, object name)
    cdef str combined_by(self, dict schema)
    cdef Union union_of(self, dict schema, str base, object keyword, object name)
    cdef Union alternatives_of(self, dict schema, str base, object keyword, object name)
    cdef object united(self, Union union)
    cdef tuple target(self, str ref)
    cdef object waits(self, dict schema, object union, str base, object keyword, object name)
    cdef object written(self, dict schema)
    cdef object body(self, dict schema, str pointer)
    cdef object beside(self, int types, object members, object items)
    cdef int structure(self, dict schema, int types) except -2
    cdef object own_array(self, dict schema, int types, str base, object keyword, object name)
    cdef object array(self, dict schema, str pointer)
    cdef object items_of(self, object item, object least, object most)
    cdef object object(self, dict schema, str pointer)
    cdef object member(self, str name, object value)
    cdef object free_member(self, object declared, object value)
    cdef object members_of(self, list members, list standing, object free)
    cdef int has_values(self, object schema, int depth) except -1
    cdef int some_alternative(self, dict schema, int depth) except -1
