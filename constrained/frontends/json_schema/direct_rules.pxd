cimport cython

from constrained.frontends.json_schema.marks cimport Marks
from constrained.frontends.json_schema.scalar_texts cimport Tables, Texts
from constrained.kernel.nodes cimport Literal, Reference, Repeat, Sequence, Unordered

cdef long long SOME_KEYS
cdef int MOST_VALUES, LONGEST_NAME
cdef object _EMPTY, _TRUE, _FALSE, _NULL
cdef frozenset _NO_NAMES

cdef class Rules:
    cdef Tables tables
    cdef bint strict
    cdef readonly dict rules
    cdef readonly set taken
    cdef Marks marks
    cdef Py_ssize_t named_ones
    cdef bint doubted
    cdef dict contents
    cdef dict typed
    cdef dict listed
    cdef dict members
    cdef Reference anything
    cdef object some_object
    cdef object some_array
    cdef object begin(self, Tables tables, bint strict)
    cdef object scalar(self, tuple content, dict schema, str base, object keyword, object name)
    cdef object written_as(self, tuple content, Texts texts, str base, object keyword, object name)
    cdef object alternatives(self, Texts texts, str pointer)
    cdef object named(self, str kind, object expr, object rules)
    cdef object named_anew(self, str kind, object expr)
    cdef object scalar_set(self, tuple one)
    cdef object text_of_list(self, tuple values)
    cdef list list_at(self, tuple values)
    cdef list keys_at(self, object out)
    cdef object keys_but(self, object out)
    cdef object of_type(self, str said, str base, object keyword, object name)
    cdef object written_texts(self, Texts texts, str base, object keyword, object name)
    cdef str rule_name(self, str pointer)
    cdef object any_value(self)
    cdef object _begin_values(self)
    cdef object any_object(self)
    cdef object any_array(self)
    cdef object items_of(self, object item, object least, object most)
    cdef object member(self, str name, object value)
    cdef object free_member(self, object declared, object value)
    cdef object members_of(self, object members, list standing, object free, Py_ssize_t least, object most)
    cdef object beside(self, int types, object members, object items)
