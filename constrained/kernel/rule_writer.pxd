cimport cython

from constrained.kernel.network cimport Network

cdef int LITERAL
cdef int CHAR_CLASS
cdef int SEQUENCE
cdef int CHOICE
cdef int REPEAT
cdef int REFERENCE
cdef int BYTE_DFA
cdef int UNORDERED
cdef int COUNTED_DFA
cdef int INLINE_SIZE
cdef int UNROLL_POSITIONS
cdef int _leaves(tuple ranges) except -1

cdef class RuleWriter:
    cdef long long largest
    cdef public Network net
    cdef public dict rules
    cdef dict kinds
    cdef object template
    cdef public set inline
    cdef dict rule_ids
    cdef dict names
    cdef list waiting
    cdef dict loop_rules
    cdef list kept
    cdef dict sizes
    cdef list stack
    cdef int _name_id(self, str name) except -1
    cdef int _rule_of(self, str name) except -1
    cdef int _body_rule(self, object body, int origin) except -1
    cdef int _spell(self, object expr, int start, int end, int origin) except -1
    cdef int _char_class(self, object ranges, int start, int end, int origin) except -1
    cdef tuple _share_prefixes(self, tuple options, int start, int end, int origin)
    cdef int _dfa(self, object dfa, int start, int end, int origin) except -1
    cdef int _counted_dfa(self, object node, int start, int end, int origin) except -1
    cdef int _repeat(self, object expr, int start, int end, int origin) except -1
    cdef int _unordered(self, object expr, int start, int end, int origin) except -1
    cdef int _size(self, object expr) except -1
    cdef int _choose_inlined(self, str root) except -1
    cdef long long _weigh(self, object expr, list found) except -1
