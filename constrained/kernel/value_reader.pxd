cimport cython

from constrained.kernel.value_steps cimport ValueSteps

@cython.final
cdef class ValueReader(ValueSteps):
    cdef bint look_at(self, int state) except -1
    cdef void _bit(self, int byte) noexcept
    cdef void _blanks(self) noexcept
    cdef void _ends(self) noexcept
    cdef void _figures(self) noexcept
    cdef bint _trouble(self, int held, int node, int begun) except -1
    cdef bint _string_trouble(self, int held, int node) except -1
    cdef void _hexadecimal(self) noexcept
    cdef void _any_number(self) noexcept
    cdef bint _number_trouble(self, int held, int node, int begun) except -1
    cdef void _equal_so_far(self) noexcept
