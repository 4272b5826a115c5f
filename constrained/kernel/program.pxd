cimport cython

from constrained.kernel.annexes cimport Annex
from constrained.kernel.arena cimport Arena, copy_ints
from constrained.kernel.images cimport Image
from constrained.kernel.network cimport Network

cdef class Program
cdef int MOST_REGIONS
cdef int LINK
cdef int SPOT

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
    cdef readonly bint waits
    cdef list images
    cdef list image_rules
    cdef list image_calls
    cdef int n_images
    cdef int own
    cdef int behind
    cdef int n_annexes
    cdef bint has_annexes
    cdef list blocks
    cdef int n_runs
    cdef cython.pymutex lock
    cdef Arena room
    cdef int* p_off
    cdef int* e_a
    cdef int* e_b
    cdef int* e_to
    cdef unsigned char* p_accept
    cdef int* p_loop
    cdef unsigned short* p_region
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
    cdef int* links
    cdef int* spots
    cdef int* o_at
    cdef int* o_name
    cdef int* cls
    cdef int* cls_rep
    cdef int _place_annexes(self, Network net) except -1
    cdef int _allocate(self, Network net, int edges, int loops, int items) except -1
    cdef int _positions(self, Network net) except -1
    cdef int _door(self, Network net, int p, int at) except -1
    cdef int _runs(self, Network net) except -1
    cdef int _region(self, int number) noexcept
    cdef void _run(self, int p, int name) noexcept
    cdef int _loops(self, Network net) except -1
    cdef int _annexes(self, Network net) except -1
    cdef int _reserve(self, Network net) except -1
    cdef int number_rules(self, int k, int* numbers) except -1
    cdef object _copy(self, int* values, int n)
