from constrained.kernel.completable cimport find_dead
from constrained.kernel.images cimport Image
from constrained.kernel.network cimport Network, new_network
from constrained.kernel.nullable cimport find_nullable
from constrained.kernel.program cimport Program
from constrained.kernel.starts cimport add_root, make_starts

cdef int LEAST
cdef int MOST
cdef list _image
cdef bint worth_while(long long early, long long leaves) noexcept
cdef Image later_image()
