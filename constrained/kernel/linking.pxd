from constrained.kernel.annexes cimport Annex
from constrained.kernel.arena cimport copy_bytes, copy_ints, zero_bytes, zero_shorts
from constrained.kernel.images cimport Image
from constrained.kernel.memory cimport unset_ints
from constrained.kernel.network cimport Network
from constrained.kernel.partition cimport ByteSets, collect, sets_of
from constrained.kernel.program cimport LINK, MOST_REGIONS, SPOT, Program

cdef int MOST_RULES
cdef int need_position(Program program, int p) except -1
cdef int need_annexes(Program program) except -1
cdef int _write_annexes(Program program) except -1
cdef int need_all(Program program) except -1
cdef int _link(Program program, int k) except -1
cdef Image image_of_network(Network net, str name, bint recursive, tuple calls, tuple texts, long long largest)
