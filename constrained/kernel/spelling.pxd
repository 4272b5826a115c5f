cimport cython

from constrained.kernel.blocks cimport Block
from constrained.kernel.byte_trie cimport ByteTrie
from constrained.kernel.dfa_tables cimport Table

@cython.final
cdef class Spelling:
    cdef int n
    cdef int groups
    cdef int k
    cdef int tails
    cdef int tail_room
    cdef int pool_size
    cdef int pool_room
    cdef int row_slots
    cdef int key_slots
    cdef int keys
    cdef int key_room
    cdef int* first
    cdef int* lo
    cdef int* hi
    cdef int* child
    cdef int* group_leaf
    cdef int* leaf_at
    cdef int* group_node
    cdef int* node_at
    cdef int* targets
    cdef int* state_of
    cdef int* tail_first
    cdef int* tail_lo
    cdef int* tail_hi
    cdef int* tail_to
    cdef int* row_slot
    cdef int* key_slot
    cdef int* key_at
    cdef int* pool
    cdef void _forget(self) noexcept
    cdef Block _block(self, Table table, frozenset accepting, int most)
    cdef int _group(self, int g, int n, int most) except -1
    cdef int _spread_keys(self) except -1
    cdef int _tail(self, int node, int n, int most) except -2
    cdef int _spread_rows(self) except -1
    cdef int _row_slot(self, int begin, int end) noexcept
    cdef int _measure(self, Block block, int n) except -1
    cdef int _fill(self, int begin, int end, int* lo, int* hi, int* to, int at) noexcept
