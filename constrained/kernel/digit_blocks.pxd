from constrained.kernel.blocks cimport Block

cdef int ZERO
cdef int POINT

cdef int _digit(Block block, int at, int digit, int to) noexcept
cdef int _point(Block block, int at, int to) noexcept
cdef int _finish(Block block, int edges, frozenset accepting) except -1
