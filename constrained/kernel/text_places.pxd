cimport cython

from constrained.kernel.automaton cimport Automaton

cdef int NODE_BITS
cdef int MAX_BASES
cdef int AT_ONCE
cdef int SMALL

@cython.final
@cython.no_gc
cdef class Places:
    cdef Automaton a
    cdef int v_count
    cdef int v_cap
    cdef int v_pool_len
    cdef int v_pool_cap
    cdef int v_table_size
    cdef int v_old_size
    cdef int v_moved
    cdef int m_count
    cdef int m_cap
    cdef int m_pool_len
    cdef int m_pool_cap
    cdef int s_len
    cdef int s_cap
    cdef int n_groups
    cdef int* piece
    cdef int* v_piece
    cdef int* v_off
    cdef int* v_len
    cdef int* v_bits
    cdef int* v_pool
    cdef int* v_table
    cdef int* v_old
    cdef int* m_node
    cdef int* m_off
    cdef int* m_len
    cdef int* m_pool
    cdef int* b_base
    cdef int* b_loop
    cdef int* b_kind
    cdef int* b_grown
    cdef int* g_loop
    cdef int* g_kind
    cdef int* g_least
    cdef int* g_most
    cdef int* g_register
    cdef int* key
    cdef int* s_node
    cdef int* s_to
    cdef int make(self, Automaton automaton) except -1
    cdef int _need_scratch(self) except -1 nogil
    cdef void _drop(self) noexcept nogil
    cdef int forget(self) except -1 nogil
    cdef long long bytes_held(self) noexcept nogil
    cdef int _grow_table(self) except -1 nogil
    cdef void _move(self, int some) noexcept nogil
    cdef int _slot(self, int* table, int size, int* words, int at, int n) noexcept nogil
    cdef int _intern(self, int bits) except -2 nogil
    cdef int _grow_bases(self, int cap) except -1 nogil
    cdef void _load(self, int v) noexcept nogil
    cdef int pack(self, int v, list out) except -1
    cdef int unpack(self, list data) except -2
    cdef long long settle(self, int node, int v) except -1 nogil
    cdef int _bound(self, int r) noexcept nogil
    cdef int absolute(self, int node, int v) except -1 nogil
    cdef int _make_move(self, int node) except -1 nogil
    cdef int _add_change(self, int m, int r, int kind, int loop, int rounds, int apart) except -1 nogil
    cdef void _survey(self, int loop, int count) noexcept nogil
    cdef int _written_out(self, int node, int registers) except -1 nogil
    cdef int _gather(self, int node) except -1 nogil
    cdef int _list(self, int node) except -1 nogil
    cdef int _rewritten(self, int registers) except -1 nogil
    cdef int _changed(self, int loop, int c, int registers) except -1 nogil
    cdef int _target(self, int node) noexcept nogil
