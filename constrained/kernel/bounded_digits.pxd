cimport cython

from constrained.kernel.blocks cimport Block

cdef int START
cdef int WHOLE
cdef int ZERO
cdef int TAIL

@cython.final
cdef class BoundedDigits:
    cdef int size
    cdef int scale
    cdef bint fractions
    cdef int most
    cdef bint low_open
    cdef bint high_open
    cdef bint has_low
    cdef bint has_high
    cdef bytes low_whole
    cdef bytes low_tail
    cdef bytes high_whole
    cdef bytes high_tail
    cdef int low_size
    cdef int high_size
    cdef int low_places
    cdef int high_places
    cdef int last_read
    cdef int last_place
    cdef int count
    cdef int room
    cdef int slot_count
    cdef int* kind
    cdef int* rest
    cdef int* read
    cdef int* low
    cdef int* high
    cdef int* slots
    cdef int _edge(self, Block block, int begin, int at, int byte, int to) except -1
    cdef int _whole(self, Block block, int e, int state) except -1
    cdef int _compared(self, bytes own, int size, int read, int order, int digit) except -2
    cdef int _settled(self, bint there, int size, int read, int order) noexcept
    cdef int _tail(self, Block block, int e, int state) except -1
    cdef int _behind(self, bint there, bytes own, int size, int order, int place, int digit) except -2
    cdef bint _accepts(self, int rest, int low, int high, int places) noexcept
    cdef int _slot(self, int kind, int rest, int read, int low, int high) noexcept
    cdef int _place(self, int kind, int rest, int read, int low, int high) except -1
