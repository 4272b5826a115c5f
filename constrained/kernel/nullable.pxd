cimport cython

from constrained.kernel.images cimport Image
from constrained.kernel.network cimport Network

cpdef int find_nullable(Network net) except -1
cpdef bint empty_items(Network net) except -1
