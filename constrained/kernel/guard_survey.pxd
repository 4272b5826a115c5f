cimport cython

from constrained.kernel.memory cimport grow_int, grow_long
from constrained.kernel.network cimport Network

cdef int GUARD
cdef int UNKNOWN

@cython.final
cdef class GuardSurvey:
    cdef Network net
    cdef object watch
    cdef int n_pairs
    cdef int pair_cap
    cdef int table_size
    cdef int n_outs
    cdef int out_cap
    cdef int n_users
    cdef int user_cap
    cdef int n_calls
    cdef int call_cap
    cdef int n_fresh
    cdef int fresh_cap
    cdef int n_news
    cdef int news_cap
    cdef int step_rows
    cdef int* pr_p
    cdef int* pr_c
    cdef int* pr_out
    cdef int* pr_user
    cdef int* pr_call
    cdef long long* pr_mask
    cdef int* table
    cdef int* o_next
    cdef int* o_value
    cdef int* u_next
    cdef int* u_pair
    cdef int* c_next
    cdef int* c_pair
    cdef int* c_to
    cdef int* fresh
    cdef int* news_pair
    cdef int* news_out
    cdef int* steps
    cdef int _start(self) except -1
    cdef int _pair_room(self, int count) except -1
    cdef int _new_pair(self, int p, int c) except -1
    cdef int _place(self, int p, int c) noexcept
    cdef int _known(self, int p, int c) noexcept
    cdef int _ask(self, int p, int c) except -1
    cdef int _push(self, int pair) except -1
    cdef int _found(self, int pair, int out) except -1
    cdef int _follow(self, int user, int p, int c) except -1
    cdef int _call(self, int user, int rule, int to) except -1
    cdef int _tell(self, int pair, int out) except -1
    cdef int _step(self, int c, int k) except -3
    cdef bint _has_many(self, int p) noexcept
    cdef int _visit(self, int pair) except -1
    cdef int _visit_loop(self, int pair, int p, int k) except -1
