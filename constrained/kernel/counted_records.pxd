cimport cython

from constrained.kernel.counted_annex cimport CountedAnnex
from constrained.kernel.counted_walk cimport CountedWalk
from constrained.kernel.mask_records cimport MaskRecords

cdef class CountedRecords(MaskRecords):
    cdef CountedWalk counted
    @cython.final
    cdef int load_counted(self) except -1
    @cython.final
    cdef int counted_record(self, int g, int k, CountedAnnex annex, int place) except -1 nogil
    @cython.final
    cdef int _read_place(self, int g, int k, CountedAnnex annex, int place, bint bounded) except -1 nogil
    @cython.final
    cdef int _cut_record(self, int all_of, int at, int left) except -1 nogil
