cimport cython

from constrained.kernel.blocks cimport Block
from constrained.kernel.images cimport Image, image_of
from constrained.kernel.memory cimport grow_int
from constrained.kernel.nodes cimport ByteDfa, CharClass, Choice, Literal, Node, Reference, Repeat, Sequence, Unordered

cdef class Rule
cdef class RuleTable
cdef int INLINE_SIZE
cdef int INLINE_TOTAL
cdef int LITERAL
cdef int CHAR_CLASS
cdef int SEQUENCE
cdef int CHOICE
cdef int REPEAT
cdef int REFERENCE
cdef int BYTE_DFA
cdef int UNORDERED
cdef int COUNTED_DFA
cdef int KEY_DFA
cdef int NOT_FOLLOWED_BY
cdef int PART
cdef int BEFORE_VALUE
cdef int SOON_WRITTEN
cdef int MOST_LEAVES
cdef int _leaves(tuple ranges) except -1

@cython.final
cdef class Rule:
    cdef str name
    cdef object expr
    cdef Sequence part
    cdef bint inline
    cdef bint is_head
    cdef bint is_done
    cdef bint counts
    cdef bint loops
    cdef bint guarded
    cdef bint graph
    cdef bint wanted
    cdef bint in_doubt
    cdef bint early
    cdef Image image
    cdef int number
    cdef int name_id
    cdef int uses
    cdef int place
    cdef int owner
    cdef int first_call
    cdef int next_call
    cdef int last_call
    cdef long long weight

@cython.final
cdef class RuleTable:
    cdef dict rules
    cdef dict kinds
    cdef dict known
    cdef list listed
    cdef list parts
    cdef list frames
    cdef object parts_of
    cdef bint guarded
    cdef bint images
    cdef bint special
    cdef bint recursive
    cdef bint all_end
    cdef bint plain
    cdef bint skips
    cdef long long leaves
    cdef long long early
    cdef long long largest
    cdef list opaque
    cdef list wanted
    cdef int at_cap
    cdef int* at
    cdef int n_listed
    cdef int n_calls
    cdef int calls_cap
    cdef int* calls
    cdef int kind_of(self, object node) except -1
    cdef int choose(self, str root) except -1
    cdef int _open(self, Rule rule) except -1
    cdef bint _all_opaque(self, Rule rule) except -1
    cdef Rule _named(self, str name)
    cdef Rule _new_rule(self, str name)
    cdef Rule _list_rule(self)
    cdef Rule rule_of(self, Reference node)
    cdef Rule rule_of_part(self, Sequence node, int owner)
    cdef int _call(self, Rule called, bint early) except -1
    cdef int _weigh(self, Rule rule) except -1
    cdef bint _may_be_written(self, Unordered group) except -1
    cdef bint _can_be_left(self, object graph) except -1
    cdef bint _has_each_length(self, object node) except -1
    cdef bint _has_text(self, Rule rule) except -1
    cdef bint _may_be_called(self, Rule rule) except -1
    cdef int _deepen(self, int depth, tuple items, Py_ssize_t i) except -1
    cdef int size(self, object expr, int most) except -1
