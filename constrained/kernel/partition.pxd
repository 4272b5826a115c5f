cimport cython

from constrained.kernel.annexes cimport Annex
from constrained.kernel.blocks cimport Block
from constrained.kernel.families cimport Family, Labels, family_of, keep_labels, known_labels
from constrained.kernel.images cimport Image
from constrained.kernel.memory cimport grow_int, grow_uint
from constrained.kernel.network cimport Network

cdef class Partition
cdef class ByteSets
cdef int SPLINTER
cdef int MANY
cdef int KNOWN_PARTITIONS
cdef int FIRST_TABLE
cdef int KEPT
cdef ByteSets sets_of(Network net)
cdef int collect(Network net, ByteSets sets) except -1
cpdef int find_classes(Network net, list more) except -1

@cython.final
cdef class Partition:
    cdef int n_classes
    cdef int cls[256]
    cdef unsigned int* members
    cdef bytes text
    cdef bint splinters(self, unsigned int* inside, unsigned int* rest) except -1

@cython.final
cdef class ByteSets:
    cdef Network net
    cdef int n_sets
    cdef int cap
    cdef int table_size
    cdef int n_rows
    cdef int rows_size
    cdef int table_cap
    cdef int rows_cap
    cdef int begin(self, Network net) except -1
    cdef int end(self) except -1
    cdef int* table
    cdef int* rows
    cdef unsigned int* sets
    cdef unsigned int alone[8]
    cdef unsigned int work[8]
    cdef unsigned int others[8]
    cdef list families
    cdef unsigned char label[256]
    cdef unsigned int cuts[8]
    cdef void clear(self) noexcept
    cdef int take(self, int p) except -1
    cdef bint _is_copy(self, int p, int q) noexcept
    cdef int _more_rows(self) except -1
    cdef bint gather(self, int p, int e) noexcept
    cdef void gather_others(self, int p, int to) noexcept
    cdef int take_block(self, Block block) except -1
    cdef int take_family(self, unsigned int* alone, Family family) except -1
    cdef Family family(self)
    cdef int _collect(self, Block block) except -1
    cdef int take_row(self, tuple row) except -1
    cdef int _keep(self) except -1
    cdef int _rehash(self) except -1
    cdef int _label(self) except -1
    cdef void _nothing(self) noexcept
    cdef int _join(self, tuple families) except -1
    cdef int _runs(self, int* runs) noexcept
    cdef void _fill(self, int* runs, int n_runs) noexcept
    cdef int _refine(self, unsigned int* sets, int n_sets) except -1
    cdef void _refine_runs(self, int* runs, int n_runs, unsigned int* sets, int first, int count) noexcept
    cdef int number(self, int* found, int* first_bytes) except -1
    cdef Partition partition(self)
    cdef Partition region_partition(self)
