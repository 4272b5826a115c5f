cimport cython

from constrained.kernel.counted_records cimport CountedRecords
from constrained.kernel.pair_list cimport PairList

cdef class ChoiceRecords(CountedRecords):
    cdef PairList telling
    @cython.final
    cdef int load_choices(self) except -1
    @cython.final
    cdef int choice_record(self, int g, int d, int n) except -1 nogil
    @cython.final
    cdef int _take_key(self, int x, int d, int n) except -1 nogil
