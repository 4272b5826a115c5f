cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.mask_threads cimport MaskThreads
from constrained.kernel.token_trie cimport TokenTrie

cdef int MANY_IDS

cdef class MaskWalk(MaskThreads):
    cdef readonly int vocab_size
    cdef readonly int n_sets
    cdef long long max_mask_bytes
    cdef int n_stops
    cdef tuple stop_ids
    cdef int* stops
    cdef unsigned int* set_rows
    @cython.final
    cdef int make_walk(self, Automaton automaton, TokenTrie trie) except -1
    @cython.final
    cdef int load_walk(self, tuple stop_ids, long long max_mask_bytes, long long max_walk_nodes, object by_id_only) except -1
    @cython.final
    cdef int leave_walk(self) except -1
    @cython.final
    cdef long long bytes_kept(self) noexcept nogil
    @cython.final
    cdef int _enter_sets(self, object token_sets, object by_id_only) except -1
    @cython.final
    cdef int _forget(self) except -1 nogil
    @cython.final
    cdef long long _bytes_held(self) noexcept nogil
    @cython.final
    cdef int mask_of(self, int node) except -1 nogil
    @cython.final
    cdef int _compose(self, int node) except -1 nogil
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
