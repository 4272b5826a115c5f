cimport cython

from constrained.kernel.value_ahead cimport ValueAhead

cdef class ValuePairs
cdef int GHOST
cdef object _way_to(dict met, tuple here, int byte)
cdef int OF_NUMBER
cdef int EXPONENT
cdef int MANY_DIGITS
cdef int MOST_DEAD

@cython.final
cdef class ValuePairs(ValueAhead):
    cdef int max_search
    cdef readonly int searched
    cdef int solid
    cdef int frame
    cdef dict dead
    cdef dict ways
    cdef bytes way
    cdef set killers
    cdef int here
    cdef long long state
    cdef object _fed(self, tuple pairs, bytes data)
    cdef Py_ssize_t _run(self, int reader, long long state, bytes data, Py_ssize_t i) except -1
    cdef object _byte(self, tuple pairs, int byte)
    cdef int _add(self, dict found, int reader, long long state) except -1
    cdef object _with_marks(self, tuple pairs)
    cdef object _living(self, tuple pairs)
    cdef bint lives(self, int reader, long long state) except -1
    cdef bint _has_way(self, int reader, long long state) except -1
    cdef bint _is_way(self, int reader, long long state, bytes way) except -1
    cdef object _key(self, int reader, long long state)
    cdef bint _has_seen(self, int reader, tuple values) except -1
    cdef bint leads_away(self, int row, bint unused) noexcept
    cdef object _ways(self, tuple here, int byte, int row)
    cdef bint _search(self, int reader, long long state) except -1
