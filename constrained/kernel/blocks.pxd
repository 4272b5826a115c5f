cimport cython

from constrained.kernel.families cimport Family
from constrained.kernel.memory cimport grow_int
from constrained.kernel.network cimport Network

cdef class Block
cdef int NO_END
cdef Block block_of_rows(tuple rows, object accepting)
cdef Block block_of_character(int states, tuple edges)

@cython.final
cdef class Block:
    cdef int n
    cdef int edges
    cdef int finals
    cdef int* first
    cdef int* lo
    cdef int* hi
    cdef int* to
    cdef int* final
    cdef int* away
    cdef int* inside
    cdef bint ends
    cdef bytes region
    cdef Family family
    cdef unsigned int alone[8]
    cdef int _room(self, int states, int edges, int finals) except -1
    cdef int write(self, Network net, int start, int end, int origin) except -1
    cdef bint repeats_itself(self) noexcept
    cdef int measure(self) except -1
    cdef int write_between(self, Network net, int start, int end, int origin) except -1
    cdef int write_counted(self, Network net, int boundary, int least, int top, bint endless, int start, int end, int origin) except -1
