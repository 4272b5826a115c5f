cimport cython

from constrained.kernel.choice_records cimport ChoiceRecords
from constrained.kernel.pair_list cimport PairList
from constrained.kernel.signatures cimport Signatures

cdef class MaskThreads(ChoiceRecords):
    cdef Signatures signatures
    cdef int stamp
    cdef int stamps
    cdef int part_len
    cdef int part_cap
    cdef PairList outer
    cdef PairList inner
    cdef int* part_pool
    @cython.final
    cdef int make_threads(self) except -1
    @cython.final
    cdef int load_threads(self) except -1
    @cython.final
    cdef int forget_threads(self) except -1 nogil
    @cython.final
    cdef int sign_node(self, int node) except -1 nogil
    @cython.final
    cdef int _read_places(self, PairList todo) except -1 nogil
    @cython.final
    cdef int _read_guarded(self, PairList todo, int g, int node, int c) except -1 nogil
    @cython.final
    cdef int _read_thread(self, PairList todo, int g, int at, int c) except -1 nogil
    @cython.final
    cdef int _sign(self, PairList todo, int r, int n) except -1 nogil
    @cython.final
    cdef int _read_open(self, PairList todo, int g, int d, int n) except -1 nogil
    @cython.final
    cdef int _read_counted(self, PairList todo, int g, int d, int n) except -1 nogil
    @cython.final
    cdef int _read_elements(self) except -1 nogil
    @cython.final
    cdef int _read_element(self, int g, int e, int c) except -1 nogil
    @cython.final
    cdef int _part(self, int g, int u) except -1 nogil
    @cython.final
    cdef bint _over_hole(self, int node) noexcept nogil
