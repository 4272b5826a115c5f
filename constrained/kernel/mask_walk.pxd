cimport cython

from constrained.kernel.automaton cimport Automaton, _bit
from constrained.kernel.memory cimport copy_ints, grow_int, grow_uint
from constrained.kernel.region_tokens cimport RegionTables, RegionTokens, hash_cells
from constrained.kernel.token_trie cimport TokenTrie

cdef class TokenAutomaton
cdef int SMALL_SUBTREE
cdef int SMALL_WITHOUT_REGIONS
cdef int MANY_NODES
cdef int LIST_MAX
cdef int HOLE
cdef int FAR_COUNT_LOW
cdef int FAR_COUNT_HIGH
cdef int BETWEEN_ROUNDS
cdef int BUDGET
cdef int MAX_CELLS
cdef int MANY_ROUNDS
cdef int _fill_one(TokenAutomaton one, long long handle, unsigned int* out) except -1 nogil
cdef long long _next_one(TokenAutomaton one, long long handle, int token) except -1 nogil
cdef void** _pointers(int n) noexcept

@cython.final
cdef class TokenAutomaton:
    cdef Automaton a
    cdef TokenTrie t
    cdef RegionTables tables
    cdef object regions
    cdef object kept
    cdef readonly int vocab_size
    cdef readonly int words
    cdef readonly int n_sets
    cdef readonly int generation
    cdef long long max_mask_bytes
    cdef long long max_walk_nodes
    cdef long long visited
    cdef int nu_cap
    cdef int st_cap
    cdef int numbering
    cdef int tb_len
    cdef int tb_cap
    cdef int n_ways
    cdef int n_tasks
    cdef int task_cap
    cdef int n_rest
    cdef int rest_cap
    cdef int w_len
    cdef int w_cap
    cdef int x_len
    cdef int x_cap
    cdef int n_lists
    cdef int list_cap
    cdef int mk_len_used
    cdef int mk_cap
    cdef int mk_table_size
    cdef int tables_seen
    cdef int p_len
    cdef int p_cap
    cdef int small
    cdef int n_runs
    cdef int run_cap
    cdef int run_nodes
    cdef long long pool_len
    cdef long long pool_cap
    cdef int* nu
    cdef int* nu_gen
    cdef int* st_node
    cdef int* ways
    cdef int* tb
    cdef int* rg_off
    cdef int* rg_first
    cdef int* rg_number
    cdef int* class_off
    cdef int* class_bytes
    cdef int* path
    cdef int* path_b
    cdef int* path_c
    cdef int* path_d
    cdef int* run_x
    cdef int* run_row
    cdef int* task_x
    cdef int* task_node
    cdef int* rest_d
    cdef int* rest_n
    cdef int* rest_c
    cdef int* first
    cdef int* w_exit
    cdef int* w_nexit
    cdef int* x_v
    cdef int* x_w
    cdef int* x_way
    cdef int* x_least
    cdef int* x_most
    cdef int* xl_len
    cdef int* mk_count
    cdef int* mk_off
    cdef int* mk_hash
    cdef int* mk_table
    cdef unsigned int* scratch
    cdef unsigned int* set_rows
    cdef unsigned int* stop_row
    cdef unsigned int* pool
    cdef unsigned int** w_row
    cdef int** xl
    cdef void** w_tokens
    cdef void** p_tokens
    cdef bint counted
    cdef unsigned char* marks
    cdef int _forget(self) except -1 nogil
    cdef int _out_of_memory(self) except -1 nogil
    cdef int _push_task(self, int x, int node) except -1 nogil
    cdef int _add_rest(self, int d, int n, int c) except -1 nogil
    cdef int direct(self, int x, int row) except -1 nogil
    cdef int _push_run(self, int x, int row) except -1 nogil
    cdef int _run_all(self) except -1 nogil
    cdef int _run_lanes(self) except -1 nogil
    cdef int _finish_lane(self, int n, int hi, int* path) except -1 nogil
    cdef int _ready(self, int n, int* path) except -1 nogil
    cdef int _make_marks(self) except -1 nogil
    cdef void _pack_marks(self) noexcept nogil
    cdef int _walk(self, int node) except -1 nogil
    cdef void _mark(self, int x) noexcept nogil
    cdef bint _split(self, int node, int x) except -1 nogil
    cdef int _first_of_rest(self) except -1 nogil
    cdef int _hole_node(self, int d, int c) except -1 nogil
    cdef int _clamp(self, int loop, int c) noexcept nogil
    cdef int _step_rest(self, int k) except -1 nogil
    cdef int _wide(self, int u, int region, int n, int x) except -1 nogil
    cdef int _exit_list(self, int e, int b) except -1 nogil
    cdef int _gather(self, int e, int b, RegionTokens wide) except -1 nogil
    cdef int _read_partitions(self) except -1
    cdef int _need_numbers(self, int count, int cells) except -1 nogil
    cdef int _number(self, int t, int n) except -1 nogil
    cdef int _describe(self, int t, int region) except -1 nogil
    cdef bint _explore(self, int u, int region) except -1 nogil
    cdef int _build_wide(self, int u, int region, int x) except -1 nogil
    cdef int _find_tokens(self, int w, int u, int region, int x) except -1 nogil
    cdef int _make_own(self, int region, int x) except -1
    cdef int _run_own(self, RegionTokens one, int u, int region) except -1 nogil
    cdef int _recall(self, RegionTokens one) except -1 nogil
    cdef int _new_wide(self) except -1 nogil
    cdef int _locate(self, int w, int region, int x) except -1 nogil
    cdef int _look(self) except -1
    cdef int _obtain(self, int w, int number, int x, unsigned long long h) except -1
    cdef int _enter_wide(self, int w, RegionTokens wide, int loop, int c, int least, int most) except -1 nogil
    cdef int _add_exit(self, int w, int v, int number, int least, int most) except -1 nogil
    cdef int mask_of(self, int node) except -1 nogil
    cdef int _mark_token_sets(self, int node) except -1 nogil
    cdef int _store(self) except -1 nogil
    cdef unsigned long long _hash_scratch(self, int seed) noexcept nogil
    cdef int _rehash_masks(self) except -1 nogil
    cdef bint _same(self, int m, int count) noexcept nogil
    cdef int write_mask(self, int node, unsigned int* out) except -1 nogil
    cdef int next_state(self, int node, int token) except -1 nogil
    cdef int node_of(self, long long handle) except -1 nogil
    cdef long long handle_of(self, int node) noexcept nogil
    cdef void _recover(self) noexcept
    cdef bint _reads_tokens(self, int node) except -1 nogil
    cdef int _drop_dead_classes(self, int node) except -1 nogil
    cdef object _search(self, int node, int most)
