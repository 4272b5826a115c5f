cimport cython

from constrained.kernel.mask_walk cimport MaskWalk
from constrained.kernel.text_places cimport Places
from constrained.kernel.program cimport Program

cdef class TokenAutomaton
cdef int PLACE_BITS
cdef long long PLACE
cdef long long NODE
cdef int EPOCH
cdef long long KEPT_BYTES
cdef int bases_of(long long handle) noexcept nogil
cdef int _fill_one(TokenAutomaton one, long long handle, unsigned int* out) except -1 nogil
cdef long long _next_one(TokenAutomaton one, long long handle, int token) except -1 nogil

@cython.final
cdef class TokenAutomaton(MaskWalk):
    cdef int node_of(self, long long handle) except -1 nogil
    cdef Places places
    cpdef load(self, Program program, int max_threads, tuple stop_ids, long long max_mask_bytes, long long max_walk_nodes, object by_id_only)
    cpdef bint leave(self)
    cdef int absolute_of(self, long long handle) except -1 nogil
    cdef long long place_of(self, int node, int bases) except -1 nogil
    cdef long long handle_of(self, long long place) noexcept nogil
    cdef long long _step(self, long long handle, int token) except -1 nogil
    cdef void _recover(self) noexcept
    cdef bint _reads_tokens(self, int node) except -1 nogil
    cdef int _drop_dead_classes(self, int node) except -1 nogil
    cdef object _search(self, int node, int most)
