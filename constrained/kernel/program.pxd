cimport cython

from constrained.kernel.annexes cimport Annex
from constrained.kernel.arena cimport Arena, copy_ints, copy_longs
from constrained.kernel.images cimport Image
from constrained.kernel.network cimport Network
from constrained.kernel.partition cimport ByteSets, collect, sets_of

cdef class Program
cdef long long NO_WAY
cdef int MOST_RULES
cdef Image image_of_network(Network net, str name, bint recursive, tuple calls, tuple texts, long long largest)

@cython.final
cdef class Program:
    cdef readonly int start
    cdef readonly int n_positions
    cdef readonly int n_rules
    cdef readonly int n_loops
    cdef readonly int n_classes
    cdef readonly list rule_names
    cdef readonly list token_sets
    cdef readonly list regions
    cdef readonly object guards
    cdef readonly list lazy
    cdef readonly list counted
    cdef Arena room
    cdef int* p_off
    cdef int* e_a
    cdef int* e_b
    cdef int* e_to
    cdef int* p_accept
    cdef int* p_loop
    cdef int* p_region
    cdef int* p_rule
    cdef int* r_start
    cdef int* r_order
    cdef int* l_pos
    cdef int* l_rule
    cdef int* l_min
    cdef int* l_max
    cdef int* l_next
    cdef int* l_region
    cdef int* l_items
    cdef int* l_sep
    cdef int* l_how
    cdef int* l_required
    cdef int* i_rule
    cdef int* i_required
    cdef int* i_cheap
    cdef int* cls
    cdef int* cls_rep
    cdef long long* p_min
    cdef long long* r_min
    cdef int _place_annexes(self, Network net) except -1
    cdef int _annexes(self, Network net, int n) except -1
    cdef int _allocate(self, Network net, int edges, int loops, int items) except -1
    cdef void _positions(self, Network net) noexcept
    cdef int _loops(self, Network net) except -1
    cdef int _link(self, Network net, int behind) except -1
    cdef int _link_positions(self, Image image, int shift, int* numbers, int regions, int name) except -1
    cdef int _sort_cheap(self, Network net, int first, int last, int shift) except -1
    cdef object _copy(self, int* values, int n)
