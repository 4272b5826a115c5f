cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.hole_regions cimport HoleRegions
from constrained.kernel.token_trie cimport TokenTrie

cdef class ExitGroups
cdef int ROOT_GROUP

@cython.final
@cython.no_gc
cdef class ExitGroups:
    cdef Automaton a
    cdef TokenTrie t
    cdef HoleRegions r
    cdef int n
    cdef int cap
    cdef int pool_len
    cdef int pool_cap
    cdef int table_size
    cdef int n_nodes
    cdef int node_cap
    cdef int n_exits
    cdef int exit_cap
    cdef int n_aside
    cdef int aside_cap
    cdef int n_bars
    cdef int bar_cap
    cdef int kid_cap
    cdef int n_found
    cdef int found_cap
    cdef int n_marks
    cdef int at
    cdef bint marked
    cdef int* g_piece
    cdef int* g_off
    cdef int* g_len
    cdef int* g_hash
    cdef int* pool
    cdef int* table
    cdef int* nodes
    cdef int* exits
    cdef int* bars
    cdef int* kids
    cdef int* count
    cdef int* aside
    cdef int* found
    cdef unsigned int* marks
    cdef int make(self, Automaton automaton, TokenTrie trie, HoleRegions regions) except -1
    cdef int forget(self) except -1 nogil
    cdef int _enter(self, int length, int h) except -1 nogil
    cdef void begin(self) noexcept nogil
    cdef int add_node(self, int x) except -1 nogil
    cdef int add_exit(self, int e) except -1 nogil
    cdef int set_aside(self, int c, int x) except -1 nogil
    cdef int next_pending(self) except -1 nogil
    cdef int bar(self, int e, int lo, int hi) except -1 nogil
    cdef bint is_barred(self, int at, int e, int x) noexcept nogil
    cdef int _sorted_once(self, int* a, int n) noexcept nogil
    cdef int finish(self) except -1 nogil
    cdef int mark(self) except -1 nogil
    cdef int _finish_marked(self) except -1 nogil
    cdef int _need_pool(self, int more) except -1 nogil
    cdef int _finish_exits(self, int length) except -1 nogil
    cdef void open(self, int g) noexcept nogil
    cdef bint is_listed(self) noexcept nogil
    cdef int behind(self, int b) except -1 nogil
    cdef int _need_found(self, int more) except -1 nogil
    cdef int _intern(self, int length) except -1 nogil
    cdef unsigned long long _hash(self, int at, int length) noexcept nogil
    cdef bint meets(self, int g, int* bits) noexcept nogil
    cdef bint meets_byte(self, int g, int b) noexcept nogil
