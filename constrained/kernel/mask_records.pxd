cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.exit_groups cimport ExitGroups
from constrained.kernel.guard_holes cimport GuardHoles
from constrained.kernel.hole_regions cimport HoleRegions
from constrained.kernel.mask_store cimport MaskStore
from constrained.kernel.region_tokens cimport ROW_IDS
from constrained.kernel.token_trie cimport TokenTrie
from constrained.kernel.token_walk cimport TokenWalk

cdef int UNKNOWN
cdef int MANY_TOKENS

cdef class MaskRecords:
    cdef Automaton a
    cdef TokenTrie t
    cdef HoleRegions r
    cdef ExitGroups groups
    cdef TokenWalk walk
    cdef MaskStore masks
    cdef GuardHoles holes
    cdef readonly int words
    cdef readonly int generation
    cdef int pg_len
    cdef int pg_cap
    cdef int rc_used
    cdef int rc_cap
    cdef int rc_pool_len
    cdef int rc_pool_cap
    cdef int of_det_len
    cdef int of_det_cap
    cdef int first[8]
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
    @cython.final
    cdef int make_records(self, Automaton automaton, TokenTrie trie) except -1
    @cython.final
    cdef int load_records(self, list regions, long long max_walk_nodes) except -1
    @cython.final
    cdef int forget_records(self) except -1 nogil
    @cython.final
    cdef long long bytes_of_records(self) noexcept nogil
    @cython.final
    cdef int new_record(self, int base, int group) except -1 nogil
    @cython.final
    cdef int _grow_records(self, int cap) except -1 nogil
    @cython.final
    cdef int take_walk(self) except -1 nogil
    @cython.final
    cdef int _base_of_wide(self, int w) except -1 nogil
    @cython.final
    cdef int _record(self, int g, int u, bint hook) except -1 nogil
    @cython.final
    cdef int _literal_record(self, int g, int d, bint hook) except -1 nogil
    cdef int _fork_record(self, int g, int d, bint hook) except -1 nogil
    @cython.final
    cdef int _enter_walk(self, bint hook) except -1 nogil
    @cython.final
    cdef int _pending_groups(self) except -1 nogil
    @cython.final
    cdef int record_of(self, int g, int d, bint hook) except -1 nogil
    @cython.final
    cdef int _det_record(self, int g, int d, bint hook) except -1 nogil
    @cython.final
    cdef int _find_groups(self, int r, int q) except -1 nogil
    @cython.final
    cdef int node_record(self, int g, int u, bint hook) except -1 nogil
