cimport cython

from constrained.kernel.annexes cimport Annex, LazyAnnex, WordAnnex
from constrained.kernel.blocks cimport Block, block_of_character, block_of_rows
from constrained.kernel.counted_annex cimport CountedAnnex
from constrained.kernel.counted_products cimport CountedProduct
from constrained.kernel.images cimport Image
from constrained.kernel.inlining cimport Rule, RuleTable
from constrained.kernel.key_annex cimport KeyAnnex
from constrained.kernel.memory cimport grow_int
from constrained.kernel.network cimport Network, new_network
from constrained.kernel.nodes cimport ByteDfa, CharClass, Choice, Literal, Reference, Repeat, Sequence, Unordered
from constrained.kernel.partition cimport ByteSets, sets_of
from constrained.kernel.program cimport Program, image_of_network
from constrained.kernel.regions cimport mark_region

cdef class RuleWriter
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
cdef int FEW_RULES
cdef int WORDS_APART
cdef int WORDS_WEIGHT
cdef int UNROLL_POSITIONS

cdef class RuleWriter:
    cdef public Network net
    cdef long long largest
    cdef readonly object rules
    cdef readonly object limits
    cdef readonly object resolve_tokens
    cdef readonly object mark
    cdef readonly dict token_set_ids
    cdef readonly dict guard_ids
    cdef bint makes_images
    cdef RuleTable table
    cdef list waiting
    cdef list stack
    cdef dict loop_rules
    cdef dict sizes
    cdef bint annexes
    cdef long long counted
    cdef int depth
    cdef int origins_cap
    cdef int* origins
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
    cdef Block _block_of(self, ByteDfa dfa)
    cdef int _char_class(self, CharClass node, int start, int end, int origin) except -1
    cdef int _counted_dfa(self, object node, int start, int end, int origin) except -1
    cdef int _block_apart(self, Block block, Annex annex, bint may_be_empty, int start, int end, int origin) except -1
    cdef int _key_dfa(self, ByteDfa node, int start, int end, int origin) except -1
    cdef int _lazy_dfa(self, object node, int start, int end, int origin) except -1
    cdef int _graph(self, object node, int start, int end, int origin) except -1
    cdef int _counted_graph(self, CountedProduct product, tuple labels, int start, int end, int origin) except -1
    cdef int _words_apart(self, list words, int start, int end, int origin) except -1
    cdef tuple _share_prefixes(self, tuple options, int start, int end, int origin)
    cdef int _repeat(self, Repeat expr, int start, int end, int origin) except -1
    cdef int _count(self, object count) except -1
    cdef int _unordered(self, Unordered expr, int start, int end, int origin) except -1
    cdef int _size(self, object expr) except -1
