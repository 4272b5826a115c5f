cimport cython

from constrained.kernel.automaton_writer cimport AutomatonWriter
from constrained.kernel.counted_products cimport CountedProduct
from constrained.kernel.images cimport Image
from constrained.kernel.inlining cimport BEFORE_VALUE, PART, Rule, RuleTable
from constrained.kernel.later cimport later_image, worth_while
from constrained.kernel.linking cimport image_of_network
from constrained.kernel.memory cimport grow_int, grow_long
from constrained.kernel.network cimport Network, new_network
from constrained.kernel.nodes cimport ByteDfa, CharClass, Choice, Literal, Node, Reference, Repeat, Sequence, Unordered
from constrained.kernel.program cimport Program

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
cdef int GRAPH
cdef int COUNTED_GRAPH
cdef int LAZY_DFA
cdef int LEAST_RULES
cdef int ROOM_FOR_LATER
cdef int UNROLL_POSITIONS

cdef long long _mark(object thing) noexcept

cdef class RuleWriter(AutomatonWriter):
    cdef readonly object rules
    cdef readonly object limits
    cdef readonly object resolve_tokens
    cdef readonly object mark
    cdef readonly dict token_set_ids
    cdef readonly dict guard_ids
    cdef bint makes_images
    cdef bint apart
    cdef bint later
    cdef Rule later_rule
    cdef list waiting
    cdef list stack
    cdef dict loop_rules
    cdef dict sizes
    cdef int depth
    cdef int origins_cap
    cdef int* origins
    cdef long long* marks
    cdef int places_cap
    cdef int* places
    cdef RuleTable _choose_again(self, str root)
    cdef int _opaque(self, Image image, int origin) except -1
    cdef int _reserve(self, long long leaves) except -1
    cdef int _name_id(self, Rule rule) except -1
    cdef int _rule_of(self, Rule rule) except -1
    cdef int _wait(self, object text, int origin) except -1
    cdef int _body_rule(self, object body, int origin) except -1
    cdef int _push(self, object node, int start, int end, int origin) except -1
    cdef int _spell_soon(self, object node, int start, int end, int origin) except -1
    cdef int _spell(self, object expr, int start, int end, int origin) except -1
    cdef bint _waits(self, object before, object node) except -1
    cdef Rule _later_rule(self)
    cdef int _graph(self, object node, int start, int end, int origin) except -1
    cdef int _counted_graph(self, CountedProduct product, tuple labels, int start, int end, int origin) except -1
    cdef int _repeat(self, Repeat expr, int start, int end, int origin) except -1
    cdef int _unordered(self, Unordered expr, int start, int end, int origin) except -1
    cdef long long _counted(self, object count) except -1
    cdef int _size(self, object expr) except -1
