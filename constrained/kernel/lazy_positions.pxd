cimport cython

from constrained.kernel.program cimport Program

cdef long long LAZY_MINIMUM

cdef class LazyPositions:
    cdef readonly Program program
    cdef int n_positions
    cdef int n_fixed
    cdef int p_cap
    cdef int e_cap
    cdef bint has_lazy
    cdef list lazy
    cdef dict doors
    cdef list lazy_states
    cdef dict lazy_ids
    cdef int* p_off
    cdef int* e_a
    cdef int* e_b
    cdef int* e_to
    cdef int* p_accept
    cdef int* p_loop
    cdef int* p_region
    cdef int* mark
    cdef long long* p_min
    cdef int load_positions(self, Program program) except -1
    cdef int _need(self, int positions, int edges) except -1
    cdef int forget_lazy(self) except -1
    cdef long long bytes_of_lazy(self) noexcept nogil
    @cython.final
    cdef int lazy_step(self, int p, int b) except -1 nogil
    cdef int _ask(self, int p, int b) except -1
    cdef int _position(self, int k, object state) except -1
    @cython.final
    cdef int lazy_minimum(self, int p) except -1 nogil
    cdef int _measure(self, int p) except -1
    @cython.final
    cdef object door_of(self, int p)
