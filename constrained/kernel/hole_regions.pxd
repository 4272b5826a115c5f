cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.memory cimport copy_ints, grow_int, grow_lists, grow_pointers, grow_rows
from constrained.kernel.region_automaton cimport RegionAutomaton
from constrained.kernel.region_tables cimport RegionTables, hash_cells
from constrained.kernel.region_tokens cimport RegionTokens
from constrained.kernel.token_trie cimport TokenTrie

cdef class HoleRegions
cdef int HOLE
cdef int FAR_COUNT_LOW
cdef int FAR_COUNT_HIGH
cdef int BUDGET
cdef int MANY_ROUNDS

@cython.final
@cython.no_gc
cdef class HoleRegions:
    cdef Automaton a
    cdef TokenTrie t
    cdef RegionTables tables
    cdef object regions
    cdef object kept
    cdef int age
    cdef int n_regions
    cdef int w_len
    cdef int w_cap
    cdef int x_len
    cdef int x_cap
    cdef int n_lists
    cdef int list_cap
    cdef int tables_seen
    cdef int p_len
    cdef int p_cap
    cdef int* w_exit
    cdef int* w_nexit
    cdef int* x_v
    cdef int* x_w
    cdef int* x_way
    cdef int* x_least
    cdef int* x_most
    cdef int* xl_len
    cdef unsigned int** w_row
    cdef int** xl
    cdef void** w_tokens
    cdef void** p_tokens
    cdef void* found
    cdef RegionAutomaton shape
    cdef bint is_open
    cdef bint is_common
    cdef int asked_number
    cdef int make(self, Automaton automaton, TokenTrie trie) except -1
    cdef int load(self, list regions) except -1
    cdef void leave(self) noexcept
    cdef int forget(self) except -1
    cdef int _out_of_memory(self) except -1 nogil
    cdef int wide_of(self, int u, int region, int x) except -1 nogil
    cdef bint is_walked(self, int u, int region, int x) except -1 nogil
    cdef int clamp(self, int loop, int c) noexcept nogil
    cdef int hole_node(self, int d, int c) except -1 nogil
    cdef int exit_list(self, int e, int b) except -1 nogil
    cdef int _gather(self, int e, int b, RegionTokens wide) except -1 nogil
    cdef int _build_wide(self, int u, int region, int x) except -1 nogil
    cdef int _find_tokens(self, int w, int u, int region, int x) except -1 nogil
    cdef int _new_wide(self) except -1 nogil
    cdef int _open(self) except -1
    cdef bint _is_common(self, int number) except -1 nogil
    cdef int _make_own(self, int u, int region, int x) except -1
    cdef int _locate(self, int number, int x, bint narrow) except -1 nogil
    cdef int _obtain(self, int number, int x, unsigned long long h, bint narrow) except -1
    cdef int _look(self) except -1
    cdef int _enter_wide(self, int w, RegionTokens wide, int loop, int c, int least, int most) except -1 nogil
    cdef int _add_exit(self, int w, int v, int number, int least, int most) except -1 nogil
