cimport cython

from constrained.kernel.dets cimport Dets
from constrained.kernel.guard_tables cimport GuardTables
from constrained.kernel.registers cimport Registers

cdef int ROOT_NODE
cdef int HOLE_NODE
cdef int FAR_LOW
cdef int FAR_HIGH
cdef int MAX_NODES

cdef class Stacks(Dets):
    cdef Registers registers
    cdef GuardTables guards
    cdef int max_threads
    cdef int far
    cdef int guard_loop
    cdef int guard_det
    cdef bint budgets
    cdef bint has_far
    cdef bint choices
    cdef int n_generation
    cdef int n_count
    cdef int n_cap
    cdef int n_table_size
    cdef int n_old_size
    cdef int n_old_count
    cdef int n_moved
    cdef int el_len
    cdef int el_cap
    cdef int it_len
    cdef int it_cap
    cdef int un_len
    cdef int un_cap
    cdef int mn_len
    cdef int mn_cap
    cdef int* n_piece
    cdef int* n_off
    cdef int* n_len
    cdef int* n_row
    cdef int* n_exp
    cdef int* n_nexp
    cdef int* n_mask
    cdef int* n_mark
    cdef int* n_far
    cdef int* l_far
    cdef int* l_open
    cdef int* l_open_det
    cdef int* i_open
    cdef int* i_stop
    cdef int* i_left
    cdef int* i_hint
    cdef int n_hints
    cdef int hint_cap
    cdef int far_cap
    cdef int open_cap
    cdef int* p_item
    cdef int* n_table
    cdef int* n_old
    cdef int* el_piece
    cdef int* el_d
    cdef int* el_c
    cdef int* el_n
    cdef int* it_piece
    cdef int* it_d
    cdef int* it_c
    cdef int* it_n
    cdef int* un_a
    cdef int* un_b
    cdef int* mn_node
    cdef long long* n_min
    cdef int load_stacks(self, int max_threads) except -1
    cdef void _drop_nodes(self) noexcept nogil
    cdef int forget_nodes(self) except -1
    @cython.final
    cdef void clear_stacks(self) noexcept nogil
    @cython.final
    cdef long long bytes_of_nodes(self) noexcept nogil
    @cython.final
    cdef int add_item(self, int d, int c, int n) except -1 nogil
    @cython.final
    cdef int add_pair(self, int d, int n) except -1 nogil
    @cython.final
    cdef int add_elements(self, int n) except -1 nogil
    @cython.final
    cdef int canonical(self, int base) except -1 nogil
    @cython.final
    cdef bint _in_conflict(self, int base) except -1 nogil
    @cython.final
    cdef int spread(self, int d, int c, int n) except -1 nogil
    @cython.final
    cdef int _factor(self, int base) except -1 nogil
    @cython.final
    cdef int _intern_node(self, int base) except -1 nogil
    @cython.final
    cdef int _far_bits(self, int node) noexcept nogil
    @cython.final
    cdef int _need_node(self, int n) except -1 nogil
    @cython.final
    cdef int _grow_nodes(self, int cap) except -1 nogil
    @cython.final
    cdef int _grow_elements(self, int cap) except -1 nogil
    @cython.final
    cdef int _grow_items(self, int cap) except -1 nogil
    @cython.final
    cdef unsigned long long _hash(self, int* d, int* c, int* n, int lo, int hi) noexcept nogil
    @cython.final
    cdef int _old_node(self, int base, unsigned long long h) noexcept nogil
    @cython.final
    cdef int _grow_node_table(self) except -1 nogil
    @cython.final
    cdef void _move_nodes(self, int count) noexcept nogil
    @cython.final
    cdef int push(self, int d, int n) except -1 nogil
    @cython.final
    cdef int loop_return(self, int loop, int c, int n) except -1 nogil
