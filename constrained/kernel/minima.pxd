cimport cython

from constrained.kernel.arena cimport Arena
from constrained.kernel.counted_annex cimport CountedAnnex
from constrained.kernel.memory cimport grow_int
from constrained.kernel.program cimport Program

cdef class Search
cdef long long FAR
cdef long long TOKEN_COST
cdef int BUCKETS
cdef int GUARD
cdef int BUDGET
cdef int find_minima(Program program, long long* p_min, long long* r_min, long long most) except -1

@cython.final
cdef class Search:
    cdef Program program
    cdef Arena room
    cdef list door_left
    cdef int n_needs
    cdef int q_late
    cdef int q_used
    cdef int q_cap
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
    cdef long long* total
    cdef long long* p_min
    cdef long long* r_min
    cdef int begin(self, Program program, long long* p_min, long long* r_min) except -1
    cdef int doors(self, long long most) except -1
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
