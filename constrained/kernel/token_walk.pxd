cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.exit_groups cimport ROOT_GROUP, ExitGroups
from constrained.kernel.hole_regions cimport HoleRegions
from constrained.kernel.memory cimport copy_ints, grow_int
from constrained.kernel.stacks cimport HOLE_NODE
from constrained.kernel.token_trie cimport TokenTrie

cdef class TokenWalk
cdef int SMALL_SUBTREE
cdef int SMALL_WITHOUT_REGIONS
cdef int LARGE_SUBTREE
cdef int MANY_NODES
cdef int FEW_BYTES
cdef int MANY_PAIRS
cdef int MANY_CUT
cdef int HOLE
cdef int NEAR

@cython.final
cdef class TokenWalk:
    cdef Automaton a
    cdef TokenTrie t
    cdef HoleRegions r
    cdef ExitGroups groups
    cdef long long max_walk_nodes
    cdef long long visited
    cdef int small
    cdef int n_tasks
    cdef int task_cap
    cdef int n_rest
    cdef int rest_cap
    cdef int n_runs
    cdef int run_cap
    cdef int run_nodes
    cdef int n_tk
    cdef int tk_cap
    cdef int n_wb
    cdef int wb_cap
    cdef int n_excluded
    cdef int excluded_cap
    cdef int n_pairs
    cdef int pair_cap
    cdef int n_only
    cdef int only_cap
    cdef int side_len
    cdef int side_cap
    cdef int n_cuts
    cdef int cuts_cap
    cdef int n_cut
    cdef int cut_cap
    cdef int n_places
    cdef int place_cap
    cdef int rest
    cdef int read
    cdef int read_p
    cdef int read_q
    cdef int read_x
    cdef bint hook
    cdef bint dense
    cdef bint plain
    cdef bint beside
    cdef bint has_beside
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
    cdef int* tk
    cdef int* wb
    cdef int* wb_lo
    cdef int* wb_hi
    cdef int* cuts
    cdef int* cut
    cdef int* places
    cdef int* excluded
    cdef int* pair_x
    cdef int* pair_p
    cdef int* pair_q
    cdef int* only_x
    cdef int* only_d
    cdef int* side
    cdef int* class_off
    cdef int* class_bytes
    cdef unsigned char* marks
    cdef void forget(self) noexcept nogil
    cdef int _out_of_memory(self) except -1 nogil
    cdef void _begin(self, bint hook) noexcept nogil
    cdef int from_root(self, int node, bint hook) except -1 nogil
    cdef int from_group(self, int g, int node, bint hook) except -1 nogil
    cdef bint is_literal(self, int d) noexcept nogil
    cdef bint _goes_on(self, int p) noexcept nogil
    cdef int _skip(self, int p) noexcept nogil
    cdef int _add_place(self, int x) except -1 nogil
    cdef int follow(self, int g, int d, bint hook) except -1 nogil
    cdef bint stands(self, int node) noexcept nogil
    cdef int _tell(self, int x, int node) except -1 nogil
    cdef int _take(self, int x, int row) except -1 nogil
    cdef int _reach(self, int x, int row) except -1 nogil
    cdef int _need_tokens(self, int more) except -1 nogil
    cdef int _work(self) except -1 nogil
    cdef int collect(self, int x, int row) except -1 nogil
    cdef int _push_run(self, int x, int row) except -1 nogil
    cdef int _run_all(self) except -1 nogil
    cdef int _run_lanes(self) except -1 nogil
    cdef int _finish_lane(self, int n, int hi, int* path) except -1 nogil
    cdef int _ready(self, int n, int* path) except -1 nogil
    cdef int _make_marks(self) except -1 nogil
    cdef void pack_marks(self, unsigned int* out) noexcept nogil
    cdef int _push_task(self, int x, int node) except -1 nogil
    cdef int _add_rest(self, int d, int n, int c) except -1 nogil
    cdef bint _split(self, int node, int x) except -1 nogil
    cdef int _first_of_rest(self) except -1 nogil
    cdef int _step_rest(self, int k) except -1 nogil
    cdef int _wide(self, int u, int region, int n, int x) except -1 nogil
    cdef bint _is_excluded(self, int x) noexcept nogil
    cdef int _add_wide(self, int w) except -1 nogil
    cdef void add_rows(self, unsigned int* out) noexcept nogil
    cdef int beside_of(self, int p) except -1 nogil
    cdef int _find_side(self, int p) except -1 nogil
    cdef int _push_pair(self, int x, int p, int q) except -1 nogil
    cdef int _push_only(self, int x, int d) except -1 nogil
    cdef int _exclude(self, int lo, int hi) except -1 nogil
    cdef int _cut(self, int lo, int hi) except -1 nogil
    cdef int differ(self, int p, int q, int x) except -1 nogil
    cdef int _differ(self, int p, int q, int x) except -1 nogil
    cdef bint _beside(self, int p, int n, int x) except -1 nogil
