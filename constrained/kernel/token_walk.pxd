cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.beside cimport BesideRegion
from constrained.kernel.exit_groups cimport ExitGroups
from constrained.kernel.found_tokens cimport FoundTokens
from constrained.kernel.hole_regions cimport HoleRegions
from constrained.kernel.literals cimport Literals
from constrained.kernel.token_trie cimport TokenTrie
from constrained.kernel.walk_lanes cimport WalkLanes

@cython.final
@cython.no_gc
cdef class TokenWalk:
    cdef Automaton a
    cdef TokenTrie t
    cdef HoleRegions r
    cdef ExitGroups groups
    cdef FoundTokens found
    cdef WalkLanes lanes
    cdef BesideRegion side
    cdef Literals literals
    cdef long long max_walk_nodes
    cdef long long visited
    cdef int n_tasks
    cdef int task_cap
    cdef int n_rest
    cdef int rest_cap
    cdef int n_runs
    cdef int run_cap
    cdef int run_nodes
    cdef int rest
    cdef int small
    cdef bint hook
    cdef bint plain
    cdef bint beside
    cdef bint has_beside
    cdef int* path
    cdef int* run_x
    cdef int* run_row
    cdef int* task_x
    cdef int* task_node
    cdef int* rest_d
    cdef int* rest_n
    cdef int* rest_c
    cdef int first[8]
    cdef int make(self, Automaton automaton, TokenTrie trie, HoleRegions regions, ExitGroups groups) except -1
    cdef void load(self, long long max_walk_nodes) noexcept
    cdef void _begin(self, bint hook) noexcept nogil
    cdef int from_root(self, int node, bint hook) except -1 nogil
    cdef int from_group(self, int g, int node, bint hook) except -1 nogil
    cdef int follow(self, int g, int d, bint hook) except -1 nogil
    cdef int branch(self, int g, int d, bint hook) except -1 nogil
    cdef bint stands(self, int node) noexcept nogil
    cdef bint _row_stands(self, int row) except -1 nogil
    cdef int _tell(self, int x, int node) except -1 nogil
    cdef int _take(self, int x, int row) except -1 nogil
    cdef int _reach(self, int x, int row) except -1 nogil
    cdef int _work(self) except -1 nogil
    cdef int collect(self, int x, int row) except -1 nogil
    cdef int _push_run(self, int x, int row) except -1 nogil
    cdef int _run_all(self) except -1 nogil
    cdef int _push_task(self, int x, int node) except -1 nogil
    cdef int _add_rest(self, int d, int n, int c) except -1 nogil
    cdef bint _split(self, int node, int x) except -1 nogil
    cdef int _first_of_rest(self) except -1 nogil
    cdef int _step_rest(self, int k) except -1 nogil
    cdef int _wide(self, int u, int region, int n, int x) except -1 nogil
    cdef bint _beside(self, int p, int n, int x) except -1 nogil
