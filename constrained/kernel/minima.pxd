from constrained.kernel.annexes cimport Annex
from constrained.kernel.blocks cimport Block
from constrained.kernel.images cimport Image
from constrained.kernel.memory cimport drop_int, grow_int
from constrained.kernel.network cimport Network
from constrained.kernel.shortest cimport measure_counted, settle_all

cdef long long FAR
cdef long long TOKEN_COST
cdef int NO_END
cdef int MOST_WALKS
cpdef int find_shortest(Network net) except -1
cdef int _walk(Network net, int p, int n_late) except -1
cdef int _next_new(Network net, int at, int e, int top) except -2
cdef int _new_of_loop(Network net, int k, int p) except -2
cdef void _mark_span(Network net, int span, int state) noexcept
cdef bint _comes_out_smaller(Network net, int n_late) except -1
cdef bint _settle(Network net, int p) except -1
cdef bint _settle_span(Network net, int span) except -1
cdef long long _cost_of_loop(Network net, int k) except -2
cdef long long _cost_of_items(Network net, int k) except -2
