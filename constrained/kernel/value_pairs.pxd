cimport cython

from constrained.kernel.int_rows cimport IntRows
from constrained.kernel.token_automaton cimport TokenAutomaton
from constrained.kernel.value_reader cimport ValueReader

cdef class ValuePairs
cdef int GHOST
cdef int BRACKET
cdef int OF_NUMBER
cdef int EXPONENT
cdef int NOT_ZERO
cdef int MANY_DIGITS
cdef int MOST_DEAD

@cython.final
cdef class ValuePairs:
    cdef readonly ValueReader reader
    cdef readonly TokenAutomaton exact
    cdef IntRows firsts
    cdef int* row_at
    cdef int* free_at
    cdef int cap
    cdef int mark
    cdef int max_search
    cdef readonly int searched
    cdef int solid
    cdef int frame
    cdef dict dead
    cdef set killers
    cdef int here
    cdef long long state
    cdef long long after(self, long long state, int byte) except -1
    cdef long long marked(self, long long state) except -1
    cdef long long distance(self, long long state) except -1
    cdef int first(self, long long state) except -1
    cdef int _place(self, long long state) except -1
    cdef int _look(self, int node) except -1
    cdef object _fed(self, tuple pairs, bytes data)
    cdef Py_ssize_t _run(self, int reader, long long state, bytes data, Py_ssize_t i) except -1
    cdef object _byte(self, tuple pairs, int byte)
    cdef int _add(self, dict found, int reader, long long state) except -1
    cdef object _with_marks(self, tuple pairs)
    cdef object _living(self, tuple pairs)
    cdef bint lives(self, int reader, long long state) except -1
    cdef bint grows(self, int reader, long long state, int digits) except -1
    cdef int _count_free(self, long long state, int most) except -1
    cdef bint _has_way(self, int reader, long long state) except -1
    cdef object _key(self, int reader, long long state)
    cdef bint _has_seen(self, int reader, tuple values) except -1
    cdef bint leads_away(self, int row, bint unused) noexcept
    cdef bint _pads(self, int reader, int row) except -1
    cdef object _ways(self, tuple here, int byte, int row)
    cdef bint _search(self, int reader, long long state) except -1
