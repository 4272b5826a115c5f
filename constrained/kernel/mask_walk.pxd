cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.counted_annex cimport CountedAnnex
from constrained.kernel.counted_walk cimport CountedWalk
from constrained.kernel.exit_groups cimport ExitGroups
from constrained.kernel.guard_holes cimport GuardHoles
from constrained.kernel.hole_regions cimport HoleRegions
from constrained.kernel.mask_store cimport MaskStore
from constrained.kernel.pair_list cimport PairList
from constrained.kernel.region_tokens cimport ROW_IDS
from constrained.kernel.signatures cimport Signatures
from constrained.kernel.token_trie cimport TokenTrie
from constrained.kernel.token_walk cimport TokenWalk

cdef int NONE
cdef int UNKNOWN
cdef int MANY_TOKENS
cdef int MANY_IDS

cdef class MaskWalk:
    cdef Automaton a
    cdef TokenTrie t
    cdef HoleRegions r
    cdef ExitGroups groups
    cdef TokenWalk walk
    cdef MaskStore masks
    cdef CountedWalk counted
    cdef Signatures signatures
    cdef readonly int vocab_size
    cdef readonly int words
    cdef readonly int n_sets
    cdef readonly int generation
    cdef long long max_mask_bytes
    cdef GuardHoles holes
    cdef int n_stops
    cdef int pg_len
    cdef int pg_cap
    cdef int rc_used
    cdef int rc_cap
    cdef int rc_pool_len
    cdef int rc_pool_cap
    cdef int of_det_len
    cdef int of_det_cap
    cdef int stamp
    cdef int stamps
    cdef int part_len
    cdef int part_cap
    cdef PairList outer
    cdef PairList inner
    cdef PairList telling
    cdef int* first
    cdef int* stops
    cdef int* rc_piece
    cdef int* rc_base
    cdef int* rc_off
    cdef int* rc_len
    cdef int* rc_group
    cdef int* rc_more
    cdef int* pg_pool
    cdef int* rc_stamp
    cdef int* rc_next
    cdef int* rc_pool
    cdef int* of_det
    cdef int* part_pool
    cdef unsigned int* set_rows
    @cython.final
    cdef int _enter_sets(self, object token_sets, object by_id_only) except -1
    @cython.final
    cdef int _forget(self) except -1 nogil
    @cython.final
    cdef int _out_of_memory(self) except -1 nogil
    @cython.final
    cdef int _new_record(self, int base, int group) except -1 nogil
    @cython.final
    cdef int _grow_records(self, int cap) except -1 nogil
    @cython.final
    cdef int _take_walk(self) except -1 nogil
    @cython.final
    cdef int _base_of_wide(self, int w) except -1 nogil
    @cython.final
    cdef int _record(self, int g, int u, bint hook) except -1 nogil
    @cython.final
    cdef int _pending_groups(self) except -1 nogil
    @cython.final
    cdef int _record_of(self, int g, int d, bint hook) except -1 nogil
    @cython.final
    cdef int _find_groups(self, int g, int u, int r) except -1 nogil
    @cython.final
    cdef int _node_record(self, int g, int u, bint hook) except -1 nogil
    @cython.final
    cdef int mask_of(self, int node) except -1 nogil
    @cython.final
    cdef long long _bytes_held(self) noexcept nogil
    @cython.final
    cdef int _compose(self, int node) except -1 nogil
    @cython.final
    cdef int _read_places(self, PairList todo) except -1 nogil
    @cython.final
    cdef int _read_elements(self) except -1 nogil
    @cython.final
    cdef int _read_element(self, int g, int e, int c) except -1 nogil
    @cython.final
    cdef int _part(self, int g, int u) except -1 nogil
    @cython.final
    cdef bint _over_hole(self, int node) noexcept nogil
    @cython.final
    cdef int _read_guarded(self, PairList todo, int g, int node, int c) except -1 nogil
    @cython.final
    cdef int _read_thread(self, PairList todo, int g, int at, int c) except -1 nogil
    @cython.final
    cdef int _read_open(self, PairList todo, int g, int d, int n) except -1 nogil
    @cython.final
    cdef int _take_key(self, int x, int d, int n) except -1 nogil
    @cython.final
    cdef int _read_counted(self, PairList todo, int g, int d, int n) except -1 nogil
    @cython.final
    cdef int _counted_record(self, int g, int k, CountedAnnex annex, int place) except -1 nogil
    @cython.final
    cdef int _read_place(self, int g, int k, CountedAnnex annex, int place, bint bounded) except -1 nogil
    @cython.final
    cdef int _cut_record(self, int all_of, int at, int left) except -1 nogil
    @cython.final
    cdef int _unite(self, int node) except -1 nogil
    @cython.final
    cdef int _united(self, int one, int other) except -1 nogil
    @cython.final
    cdef int _finish(self, int node) except -1 nogil
    @cython.final
    cdef int _finish_row(self, int node) except -1 nogil
    @cython.final
    cdef int _mark_token_sets(self, int node) except -1 nogil
    @cython.final
    cdef int write_mask(self, int node, unsigned int* out) except -1 nogil
    @cython.final
    cdef int next_state(self, int node, int token) except -1 nogil
