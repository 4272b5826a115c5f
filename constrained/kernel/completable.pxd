from constrained.kernel.annexes cimport Annex
from constrained.kernel.memory cimport grow_int
from constrained.kernel.network cimport Network

cdef int NO_END
cdef int MOST_ROUNDS
cpdef int find_dead(Network net) except -1
cdef bint _annexes_end(Network net) except -1
cdef bint _all_begin(Network net) noexcept
cdef bint _all_end(Network net) except -1
cdef int _wanted(Network net, int k) except -3
cdef int _look_again(Network net, int n_late) except -1
cdef bint _leads_to_bare(Network net) noexcept
cdef int _mark(Network net) except -1
cdef void _turn_edges(Network net) noexcept
cdef void _complete(Network net, int p) noexcept
cdef bint _can_be_left(Network net, int k) except -1
