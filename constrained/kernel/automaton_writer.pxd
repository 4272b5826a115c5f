from constrained.kernel.annexes cimport Annex, LazyAnnex, WordAnnex
from constrained.kernel.blocks cimport Block, block_of_character, block_of_rows
from constrained.kernel.counted_annex cimport CountedAnnex
from constrained.kernel.inlining cimport LITERAL, RuleTable
from constrained.kernel.key_annex cimport KeyAnnex
from constrained.kernel.network cimport Network
from constrained.kernel.nodes cimport ByteDfa, CharClass, Literal
from constrained.kernel.partition cimport ByteSets, sets_of
from constrained.kernel.regions cimport mark_region

cdef int WORDS_APART
cdef int COUNTS_A_POSITION
cdef int WORDS_WEIGHT

cdef class AutomatonWriter:
    cdef public Network net
    cdef RuleTable table
    cdef bint annexes
    cdef long long largest
    cdef long long counted
    cdef Block _block_of(self, ByteDfa dfa)
    cdef int _char_class(self, CharClass node, int start, int end, int origin) except -1
    cdef int _counted_dfa(self, object node, int start, int end, int origin) except -1
    cdef int _block_apart(self, Block block, Annex annex, bint may_be_empty, int start, int end, int origin) except -1
    cdef int _key_dfa(self, ByteDfa node, int start, int end, int origin) except -1
    cdef int _lazy_dfa(self, object node, int start, int end, int origin) except -1
    cdef int _words_apart(self, list words, int start, int end, int origin) except -1
    cdef tuple _share_prefixes(self, tuple options, int start, int end, int origin)
    cdef int _count(self, object count) except -1
