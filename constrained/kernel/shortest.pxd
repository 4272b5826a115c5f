cimport cython

from constrained.kernel.annexes cimport Annex
from constrained.kernel.arena cimport Arena
from constrained.kernel.blocks cimport Block
from constrained.kernel.memory cimport grow_int
from constrained.kernel.network cimport Network

cdef class Shortest
cdef long long FAR
cdef long long TOKEN_COST
cdef int BUCKETS
cdef int NO_END
cdef int KEPT
cdef Py_ssize_t KEPT_INTS
cdef int settle_all(Network net) except -1
cdef void measure_counted(Block block, int boundary, int least, int top, int* away) noexcept

@cython.final
cdef class Shortest:
    cdef Network net
    cdef Arena room
    cdef int n_needs
    cdef int q_late
    cdef int q_used
    cdef int q_cap
    cdef int away_cap
    cdef long long q_base
    cdef int* into
    cdef int* into_next
    cdef int* into_from
    cdef int* done
    cdef int* start_head
    cdef int* start_next
    cdef int* after_head
    cdef int* after_next
    cdef int* call_head
    cdef int* call_next
    cdef int* call_from
    cdef int* call_to
    cdef int* need_head
    cdef int* need_next
    cdef int* need_loop
    cdef int* need_item
    cdef int* lacking
    cdef int* wanting
    cdef int* q_head
    cdef int* q_pos
    cdef int* q_next
    cdef int* span_head
    cdef int* span_next
    cdef int* away
    cdef long long* total
    cdef int begin(self, Network net) except -1
    cdef int end(self) except -1
    cdef int run(self) except -1
    cdef int _turn_edges(self) except -1
    cdef int _index_rules(self) except -1
    cdef int _need(self, int rule, int loop, int item) except -1
    cdef int _offer(self, int p, long long cost) except -1
    cdef int _sort_late(self) except -1
    cdef int _settle(self, int rule, long long cost) except -1
    cdef int _add(self, int k, long long cost, long long times) except -1
    cdef int _offer_loop(self, int k) except -1
    cdef int _written(self, int k) except -1
    cdef int _settle_span(self, int span, long long cost) except -1
    cdef int _leave(self, int p, long long cost) except -1
