from constrained.kernel.int_rows cimport IntRows
from constrained.kernel.token_automaton cimport TokenAutomaton
from constrained.kernel.value_reader cimport ValueReader

cdef class ValueAhead
cdef int BRACKET
cdef int NOT_ZERO
cdef int MOST_ZEROS

cdef class ValueAhead:
    cdef readonly ValueReader reader
    cdef readonly TokenAutomaton exact
    cdef IntRows firsts
    cdef int* row_at
    cdef int* free_at
    cdef int* pad_at
    cdef int cap
    cdef int mark
    cdef long long after(self, long long state, int byte) except -1
    cdef long long marked(self, long long state) except -1
    cdef long long distance(self, long long state) except -1
    cdef int first(self, long long state) except -1
    cdef int _place(self, long long state) except -1
    cdef int _look(self, int node) except -1
    cdef bint grows(self, int reader, long long state, int digits) except -1
    cdef int _count_free(self, long long state, int most) except -1
    cdef bint _pads(self, int reader, long long state) except -1
    cdef int _follow_zeros(self, long long state) except -1
    cdef object _beside_zeros(self, long long state)
