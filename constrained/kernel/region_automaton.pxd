cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.region_tables cimport RegionTables
from constrained.kernel.region_tokens cimport RegionTokens
from constrained.kernel.token_trie cimport TokenTrie

cdef class RegionAutomaton
cdef int BETWEEN_ROUNDS
cdef int BUDGET
cdef int MAX_CELLS
cdef int MUCH

@cython.final
@cython.no_gc
cdef class RegionAutomaton:
    cdef Automaton a
    cdef TokenTrie t
    cdef RegionTables tables
    cdef list regions
    cdef int rg_len
    cdef int rg_room
    cdef int nu_cap
    cdef int st_cap
    cdef int numbering
    cdef int tb_len
    cdef int tb_cap
    cdef int n_ways
    cdef int number
    cdef int known_u
    cdef int known_region
    cdef bint small
    cdef bint counted
    cdef int[8] first
    cdef int* nu
    cdef int* nu_gen
    cdef int* st_node
    cdef int* ways
    cdef int* tb
    cdef int* rg_piece
    cdef int* rg_number
    cdef int* rg_off
    cdef int* rg_count
    cdef int* rg_first
    cdef int make(self, Automaton automaton, TokenTrie trie, RegionTables tables, list regions) except -1
    cdef void forget(self) noexcept nogil
    cdef int _read_partition(self, int region) except -1
    cdef int _need_numbers(self, int count, int cells) except -1 nogil
    cdef int _number(self, int t, int n) except -1 nogil
    cdef int _describe(self, int t, int region) except -1 nogil
    cdef int _begin(self, int u, int region) except -1 nogil
    cdef bint explore(self, int u, int region) except -1 nogil
    cdef bint _write(self, int region) except -1 nogil
    cdef int _merge(self, int region, int count) except -1 nogil
    cdef int _find_number(self, int region) except -1
    cdef bint leaves_much(self) except -1 nogil
    cdef int run(self, RegionTokens one, int u, int region, const unsigned char* kinds) except -1 nogil
    cdef int _open_state(self, int t, int region, int stride) except -1 nogil
    cdef int recall(self, RegionTokens one) except -1 nogil
