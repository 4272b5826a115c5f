cimport cython

from constrained.kernel.memory cimport grow_int

cdef class Network
cdef int KEPT
cdef int KEPT_POSITIONS
cdef int KEPT_EDGES
cdef Network new_network(int most)

@cython.final
cdef class Network:
    cdef int most
    cdef int n
    cdef int n_cap
    cdef int e
    cdef int e_cap
    cdef int n_rules
    cdef int r_cap
    cdef int n_loops
    cdef int l_cap
    cdef int n_items
    cdef int i_cap
    cdef int s_cap
    cdef int root
    cdef int* head
    cdef int* tail
    cdef int* origin
    cdef int* loop_at
    cdef int* accept
    cdef int* e_next
    cdef int* e_a
    cdef int* e_b
    cdef int* e_to
    cdef int* r_entry
    cdef int* r_exit
    cdef int* r_low
    cdef int* r_high
    cdef int* r_start
    cdef int* r_order
    cdef int* r_nullable
    cdef int* l_pos
    cdef int* l_rule
    cdef int* l_min
    cdef int* l_max
    cdef int* l_after
    cdef int* l_items
    cdef int* l_count
    cdef int* l_sep
    cdef int* l_how
    cdef int* i_rule
    cdef int* i_required
    cdef int* s_a
    cdef int* s_b
    cdef int* s_c
    cdef int* s_d
    cdef int* s_e
    cdef int* s_f
    cdef int n_spans
    cdef int sp_cap
    cdef int* sp_base
    cdef int* sp_size
    cdef int* sp_end
    cdef int* sp_top
    cdef int* sp_least
    cdef int* sp_boundary
    cdef list blocks
    cdef list images
    cdef list image_rules
    cdef list image_calls
    cdef int* p_region
    cdef int* l_region
    cdef int n_classes
    cdef int byte_class[256]
    cdef int class_byte[256]
    cdef bint sound
    cdef bint has_dead
    cdef int* p_dead
    cdef int* r_dead
    cdef public list rule_names
    cdef public list token_sets
    cdef public list regions
    cdef public list guard_dfas
    cdef public list guard_ends
    cdef public dict budgets
    cdef int _begin(self, int most) except -1
    cdef int _room(self, int more) except -1
    cdef int _edge_room(self, int more) except -1
    cdef int add_position(self, int origin) except -1
    cdef int add_positions(self, int count, int origin) except -1
    cdef int add_edge(self, int p, int kind, int a, int b, int to) except -1
    cdef int add_literal(self, bytes data, int start, int end, int origin) except -1
    cdef int add_rule(self, int low, int entry, int last) except -1
    cdef int add_loop(self, int p, int rule, int least, int most, int after) except -1
    cdef int add_span(self, int base, int size, int end, object block, int boundary, int least, int top) except -1
    cdef int add_annex(self, int start, int end, object annex, int size, int origin) except -1
    cdef int add_opaque(self, object image, int size, tuple calls, int origin) except -1
    cdef int forget_spans(self) except -1
    cdef int add_item(self, int k, int rule, bint required) except -1
    cdef int _scratch(self) except -1
