cimport cython

from constrained.kernel.blocks cimport Block
from constrained.kernel.memory cimport grow_int
from constrained.kernel.network cimport Network, new_network
from constrained.kernel.partition cimport ByteSets, Partition, sets_of

cdef class Regions
cdef int WIDE
cdef int NEAR
cdef int LEAD_IN
cdef int MAX_BODY
cdef int KEPT
cdef int KEPT_POSITIONS
cdef int mark_region(Block block) except -1
cpdef int find_regions(Network net) except -1

@cython.final
cdef class Regions:
    cdef Network net
    cdef list held
    cdef bint marked
    cdef bint has_counted
    cdef int cap
    cdef int region_cap
    cdef int rule_cap
    cdef int n_regions
    cdef int n_wide
    cdef int* width
    cdef int* after
    cdef int* first
    cdef int* last
    cdef int* by_rule
    cdef int begin(self, Network net) except -1
    cdef int end(self) except -1
    cdef int find(self) except -1
    cdef int _room(self) except -1
    cdef int _new_region(self) except -1
    cdef void _add(self, int number, int p) noexcept
    cdef void _leave_counted_out(self) noexcept
    cdef Partition _partition_of(self, int number, ByteSets sets)
    cdef bint _is_narrow(self, int p) noexcept
    cdef int _loop_regions(self) except -1
    cdef int _bytes_only(self, int start) noexcept
    cdef int _loop_outs(self) except -1
    cdef void _join(self, int loop, int q) noexcept
    cdef void _unite(self, int number, int other) noexcept
    cdef int _neighbours(self) except -1
    cdef void _bridge(self, int p, int q, int* looped) noexcept
    cdef int _next(self, int p, int e) noexcept
    cdef int _components(self) except -1
    cdef bint _loops(self, int p) noexcept
    cdef int _region_of(self, int p) noexcept
    cdef bint _look_ahead(self, int p) noexcept
    cdef int _lead_ins(self, ByteSets sets) except -1
    cdef int _move(self, int p, int number) except -1
    cdef bint _splinters(self, int p, int number, Partition held, ByteSets sets) except -1
