cimport cython

from constrained.kernel.memory cimport grow_int
from constrained.kernel.network cimport Network

cpdef bint make_starts(Network net) except -1
cpdef int add_root(Network net) except -1
