cimport cython

from constrained.kernel.program cimport Program

cdef int END_DET
cdef int HOLE_DET
cdef int ROOT_NODE
cdef int HOLE_NODE
cdef unsigned long long MIX
cdef long long FAR
cdef int CHOOSING
cdef int BUDGET
cdef int GUARD
cdef int FAR_LOW
cdef int FAR_HIGH
cdef void sort_triples(int* a, int* b, int* c, int lo, int hi) noexcept nogil
cdef void sort_ints(int* a, int lo, int hi) noexcept nogil
cdef unsigned long long mix(unsigned long long h, int x) noexcept nogil
cdef int _bit(int k) noexcept nogil

@cython.final
cdef class Automaton:
    cdef readonly Program program
    cdef cython.pymutex lock
    cdef readonly int epoch
    cdef int far
    cdef int max_threads
    cdef int n_positions
    cdef int n_rules
    cdef int n_loops
    cdef int n_classes
    cdef int start_position
    cdef int start
    cdef int generation
    cdef int n_generation
    cdef int d_count
    cdef int d_cap
    cdef int d_pool_len
    cdef int d_pool_cap
    cdef int d_table_size
    cdef int d_rows_len
    cdef int d_rows_cap
    cdef int calls_len
    cdef int calls_cap
    cdef int firsts_len
    cdef int firsts_cap
    cdef int n_count
    cdef int n_cap
    cdef int el_len
    cdef int el_cap
    cdef int n_table_size
    cdef int exp_len
    cdef int exp_cap
    cdef int rows_len
    cdef int rows_cap
    cdef int it_len
    cdef int it_cap
    cdef int tr_len
    cdef int tr_cap
    cdef int un_len
    cdef int un_cap
    cdef int g_count
    cdef int g_cap
    cdef int g_pool_len
    cdef int g_pool_cap
    cdef int g_table_size
    cdef int lv_len
    cdef int lv_cap
    cdef int mn_len
    cdef int mn_cap
    cdef int n_pending
    cdef int n_pairs
    cdef int guard_loop
    cdef bint budgets
    cdef int guard_det
    cdef int* lv_c
    cdef int* mn_node
    cdef int* may
    cdef int* row_open
    cdef int* lv_n
    cdef int* q_end
    cdef int* q_step
    cdef int* q_join
    cdef int* q_pair_p
    cdef int* q_pair_c
    cdef int* q_off
    cdef int* q_outs
    cdef int m_size
    cdef int m_count
    cdef int buf_cap
    cdef int heap_len
    cdef int split_len
    cdef int split_cap
    cdef int* p_off
    cdef int* e_a
    cdef int* e_b
    cdef int* e_to
    cdef int* p_accept
    cdef int* p_loop
    cdef int* p_region
    cdef int* l_pos
    cdef int* l_rule
    cdef int* l_min
    cdef int* l_max
    cdef int* l_next
    cdef int* l_region
    cdef int* l_det
    cdef int* l_next_det
    cdef int* r_start
    cdef int* r_order
    cdef int* r_det
    cdef int* cls
    cdef int* cls_rep
    cdef int* l_items
    cdef int* l_sep
    cdef int* l_bare
    cdef int* i_rule
    cdef int* i_required
    cdef int* i_cheap
    cdef int* l_required
    cdef int* g_off
    cdef int* g_len
    cdef int* g_pool
    cdef int* g_table
    cdef int* mark
    cdef int* pend_tail
    cdef int* heap
    cdef int* d_off
    cdef int* d_len
    cdef int* d_flags
    cdef int* d_core
    cdef int* d_loop
    cdef int* d_row
    cdef int* d_call
    cdef int* d_ncall
    cdef int* d_first
    cdef int* d_split
    cdef int* d_pool
    cdef int* d_table
    cdef int* d_rows
    cdef int* calls
    cdef int* firsts
    cdef int* n_off
    cdef int* n_len
    cdef int* n_row
    cdef int* n_exp
    cdef int* n_nexp
    cdef int* n_mask
    cdef int* n_mark
    cdef int* n_table
    cdef int* el_d
    cdef int* el_c
    cdef int* el_n
    cdef int* exp
    cdef int* rows
    cdef int* row_node
    cdef int* it_d
    cdef int* it_c
    cdef int* it_n
    cdef int* tr_p
    cdef int* tr_c
    cdef int* tr_n
    cdef int* un_a
    cdef int* un_b
    cdef int* m_kind
    cdef int* m_a
    cdef int* m_b
    cdef int* m_value
    cdef int* buf
    cdef int* split
    cdef long long* p_min
    cdef long long* r_min
    cdef long long* d_min
    cdef long long* n_min
    cdef void clear_scratch(self) noexcept nogil
    cdef int _out_of_memory(self) except -1 nogil
    cdef int _need_buf(self, int n) except -1 nogil
    cdef int add_item(self, int d, int c, int n) except -1 nogil
    cdef int add_triple(self, int p, int c, int n) except -1 nogil
    cdef long long memory_bytes(self) except -1 nogil
    cdef int memo_get(self, int kind, int a, int b) except -1 nogil
    cdef int memo_put(self, int kind, int a, int b, int value) except -1 nogil
    cdef int _memo_store(self, int kind, int a, int b, int value) except -1 nogil
    cdef int closure(self, int n) except -1 nogil
    cdef int intern_det(self, int n) except -1 nogil
    cdef int _need_det(self, int n) except -1 nogil
    cdef int _rehash_dets(self) except -1 nogil
    cdef int core_of(self, int d) except -1 nogil
    cdef int loop_det(self, int loop) except -1 nogil
    cdef int det_step(self, int d, int k) except -1 nogil
    cdef int det_row(self, int d) except -1 nogil
    cdef bint _overlap(self, int p) noexcept nogil
    cdef int byte_det(self, int d) except -1 nogil
    cdef int det_calls(self, int d) except -1 nogil
    cdef int det_first(self, int d) except -1 nogil
    cdef int add_pair(self, int d, int n) except -1 nogil
    cdef int add_elements(self, int n) except -1 nogil
    cdef int canonical(self, int base) except -1 nogil
    cdef bint _in_conflict(self, int base) except -1 nogil
    cdef int _spread(self, int d, int c, int n) except -1 nogil
    cdef int _factor(self, int base) except -1 nogil
    cdef int union(self, int a, int b) except -1 nogil
    cdef int _union_known(self, int a, int b) except -1 nogil
    cdef int _push_union(self, int a, int b) except -1 nogil
    cdef int _intern_node(self, int base) except -1 nogil
    cdef long long minimum(self, int node) except -1 nogil
    cdef int _push_minimum(self, int node) except -1 nogil
    cdef long long _element_min(self, int d, int c) noexcept nogil
    cdef int _need_node(self, int n) except -1 nogil
    cdef int _rehash_nodes(self) except -1 nogil
    cdef int push(self, int d, int n) except -1 nogil
    cdef int loop_return(self, int loop, int c, int n) except -1 nogil
    cdef int _guard(self, int loop, int n) except -1 nogil
    cdef int add_guarded(self, int c, int n) except -1 nogil
    cdef int _joined(self, int a, int b) except -1 nogil
    cdef int _drop_dead(self, int base) except -1 nogil
    cdef bint _lives(self, int d, int c, int n) except -1 nogil
    cdef bint _plain_lives(self, int d, int n) except -1 nogil
    cdef int _frame_lives(self, int d, int c, int n) except -1 nogil
    cdef int _push_lives(self, int c, int n) except -1 nogil
    cdef bint _node_lives(self, int c, int n) except -1 nogil
    cdef int _register(self, int words) except -1 nogil
    cdef int _rehash_registers(self) except -1 nogil
    cdef bint _written(self, int c, int i) noexcept nogil
    cdef int _unwritten(self, int loop, int c) noexcept nogil
    cdef bint _may_write(self, int loop, int c, int i, int lacking) noexcept nogil
    cdef int _with_item(self, int loop, int c, int i) except -1 nogil
    cdef int _set_return(self, int loop, int c, int n, int lacking) except -1 nogil
    cdef int _enter_set(self, int loop, int c, int n) except -1 nogil
    cdef long long _set_min(self, int loop, int c) noexcept nogil
    cdef int rule_det(self, int rule) except -1 nogil
    cdef int _add_thread(self, int d, int n, int loop, int c, int below) except -1 nogil
    cdef int _enter(self, int d, int c, int n) except -1 nogil
    cdef int _pend(self, int rule, int n) except -1 nogil
    cdef int _pop_pending(self) except -1 nogil
    cdef int expand(self, int node) except -1 nogil
    cdef int _new_row(self, int node) except -1 nogil
    cdef int row_of(self, int node) except -1 nogil
    cdef int _open_row(self, int row, int node) except -1 nogil
    cdef int build(self, int row, int k) except -1 nogil
    cdef int step_thread(self, int d, int n, int c, int k) except -1 nogil
    cdef bint is_used_up(self, int d, int c) noexcept nogil
    cdef int _step_budget(self, int d, int n, int c, int k) except -1 nogil
    cdef int after_token(self, int node) except -1 nogil
    cdef int uncounted(self, int node) except -1 nogil
    cdef int step(self, int row, int k) except -1 nogil
    cdef int step_token(self, int node, int token_set) except -1 nogil
    cdef bint is_complete(self, int node) noexcept nogil
    cdef int split_det(self, int d) except -1 nogil
    cdef int restrict(self, int u, int region, bint inside) except -1 nogil
    cdef int fill_hole(self, int v, int n) except -1 nogil
    cdef bint has_frames(self, int v) except -1 nogil
    cdef int recount(self, int v, int loop, int c) except -1 nogil
    cdef int first_classes(self, int node, int* out) except -1 nogil
    cdef int first_guarded(self, int c, int node, int* out) except -1 nogil
