cimport cython

from constrained.kernel.blocks cimport Block
from constrained.kernel.memory cimport grow_int

cdef class Annex
cdef class WordAnnex(Annex)
cdef class LazyAnnex(Annex)
cdef int NO_END

cdef class Annex:
    cdef int size
    cdef bint counted
    cdef bint inside
    cdef int edges
    cdef Block block
    cdef object source
    cdef unsigned int alone[8]
    cdef int measure(self) except -1
    cdef int write_door(self, int* a, int* b, int* to, int at, int base, int end) noexcept
    cdef int write(self, int* off, int* a, int* b, int* to, unsigned short* region, int at, int base, int end, int number) noexcept

@cython.final
cdef class WordAnnex(Annex):
    cdef bytes text
    cdef int n_entries
    cdef int* offsets
    cdef int* entry_lo
    cdef int* entry_hi
    cdef int* entry_depth
    cdef int* entry_length
    cdef int* entry_at
    cdef int* entry_child
    cdef int* entry_best
    cdef void _plan(self, int n) noexcept
    cdef int _shared(self, int i, int j, int depth, int most) noexcept
    cdef int _fork(self, int entry, int* a, int* b, int* to, int at, int base, int end) noexcept

@cython.final
cdef class LazyAnnex(Annex):
    cdef tuple ranges
