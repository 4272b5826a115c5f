cimport cython

from constrained.kernel.network cimport Network

cpdef bint is_possible(Network net) except -1
cpdef int drop_dead(Network net) except -1
