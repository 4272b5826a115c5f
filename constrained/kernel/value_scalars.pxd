cimport cython

from constrained.kernel.value_states cimport ValueStates

cdef bint is_number_byte(int byte) noexcept
cdef int MOST_PLAIN
cdef int _digit(int byte) noexcept
cdef bint has_spare(bytes digits) noexcept

cdef class ValueScalars(ValueStates):
    @cython.final
    cdef bint _string_byte(self, int byte) except -1
    @cython.final
    cdef int _half(self, int node) noexcept
    @cython.final
    cdef int _append(self, int unit) except -1
    @cython.final
    cdef int _in_number(self, int byte) except? -9
    @cython.final
    cdef bint _is_zero(self) noexcept
    @cython.final
    cdef int _plain_length(self, int count) except -2
    @cython.final
    cdef int _above(self, int node, int steps) noexcept
    @cython.final
    cdef object _digits(self)
    @cython.final
    cdef int _end_number(self) except -1
