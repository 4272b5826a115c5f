cimport cython

from constrained.kernel.automaton cimport grow_int
from constrained.kernel.network cimport Network
from constrained.kernel.token_trie cimport grow_uint

cdef int WIDE
cdef int LEAD_IN
cdef int SPLINTER
cdef int MAX_BODY
cdef void _add_range(unsigned int* words, int lo, int hi) noexcept

@cython.final
cdef class Partition:
    cdef int n_sets
    cdef int cap
    cdef int table_size
    cdef int n_classes
    cdef int* table
    cdef int* below
    cdef unsigned int* sets
    cdef unsigned int alone[8]
    cdef unsigned int work[8]
    cdef int cls[256]
    cdef int count[256]
    cdef int inside[256]
    cdef int moved[256]
    cdef int take(self, Network net, int p) except -1
    cdef bint gather(self, Network net, int p, int e) except -1
    cdef int take_row(self, tuple row) except -1
    cdef int _keep(self) except -1
    cdef int _rehash(self) except -1
    cdef int refine(self) except -1
    cdef int _refine_by(self, int at, int n) except -1
    cdef int tabulate(self) except -1
    cdef bint _reads_rest(self, Network net, int p, int to, int k) except -1
    cdef bint splinters(self, Network net, int p, int e) except -1

@cython.final
cdef class Regions:
    cdef Network net
    cdef public list members
    cdef int cap
    cdef int* region
    cdef int* width
    cdef int* number
    cdef int* low
    cdef int* path
    cdef int* work_p
    cdef int* work_e
    cdef int _room(self) except -1
    cdef Partition _partition_of(self, list positions)
    cdef list _without_narrow(self, list positions)
    cdef dict _loop_regions(self)
    cdef int _loop_outs(self, dict loop_region) except -1
    cdef int _join(self, dict loop_region, int p, int q) except -1
    cdef object _bytes_only(self, int start)
    cdef int _next(self, int p, int e) noexcept
    cdef int _components(self, list wide) except -1
    cdef bint _loops(self, int p) except -1
    cdef int _region_of(self, int p) except -1
    cdef int _lead_ins(self) except -1
    cdef bint _splinters(self, int p, int number, Partition held) except -1
