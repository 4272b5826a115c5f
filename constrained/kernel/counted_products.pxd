cimport cython


@cython.final
cdef class CountedProduct:
    cdef readonly list sets
    cdef int n
    cdef int k
    cdef int w
    cdef int count
    cdef int cap
    cdef int slot_count
    cdef int size
    cdef int edges
    cdef int last
    cdef int edge_cap
    cdef int set_cap
    cdef int* next
    cdef int* does
    cdef int* slots
    cdef int* layer
    cdef int* layer_at
    cdef int* following
    cdef int* here
    cdef int* first
    cdef int* label
    cdef int* to
    cdef int* final
    cdef int* members
    cdef int* set_at
    cdef void _forget(self) noexcept
    cdef int _reach(self, int top, int most) except -1
    cdef int _merge(self, frozenset accepting, int least, int top, bint endless, int merged) except -1
    cdef int _room(self) except -1
    cdef int _known(self) except -1
    cdef int _slot(self, int state) noexcept
    cdef int _number(self, int start) except -1
    cdef int _set(self, int found) except -1
    cdef int _set_slot(self, int begin, int end) noexcept
    cdef int _spread(self, int count) except -1
