cimport cython

from constrained.kernel.counted_annex cimport CountedAnnex
from constrained.kernel.memo cimport Memo
from constrained.kernel.program cimport Program

cdef long long FAR
cdef long long LAZY_MINIMUM

cdef class LazyPositions:
    cdef readonly Program program
    cdef int n_positions
    cdef int n_fixed
    cdef int p_cap
    cdef int mark_cap
    cdef int generation
    cdef int e_cap
    cdef bint has_lazy
    cdef bint grows
    cdef bint has_minima
    cdef int n_counted
    cdef Memo made
    cdef void** c_annex
    cdef int* c_door
    cdef int* c_end
    cdef int* c_base
    cdef int* x_annex
    cdef int* x_place
    cdef list lazy
    cdef dict doors
    cdef dict lazy_states
    cdef dict lazy_ids
    cdef int* p_off
    cdef int* e_a
    cdef int* e_b
    cdef int* e_to
    cdef unsigned char* p_accept
    cdef int* p_loop
    cdef unsigned short* p_region
    cdef int* mark
    cdef long long* p_min
    cdef int load_positions(self, Program program) except -1
    cdef int _need_marks(self, int n) except -1
    cdef int _load_growing(self, Program program) except -1
    cdef int _load_counted(self, Program program) except -1
    cdef int _need(self, int positions, int edges) except -1 nogil
    cdef int forget_lazy(self) except -1
    cdef long long bytes_of_lazy(self) noexcept nogil
    @cython.final
    cdef int lazy_step(self, int p, int b, int to) except -1 nogil
    @cython.final
    cdef int automaton_of(self, int p) noexcept nogil
    @cython.final
    cdef int place_of_position(self, int p) noexcept nogil
    @cython.final
    cdef int place_position(self, int k, int place) except -1 nogil
    @cython.final
    cdef int _make_place(self, CountedAnnex annex, int k, int place) except -1 nogil
    @cython.final
    cdef void _add_position(self, int at, int k, int place) noexcept nogil
    @cython.final
    cdef int number_of(self, int p) noexcept nogil
    @cython.final
    cdef int position_of(self, int number) except -1 nogil
    cdef int _ask(self, int p, int b) except -1
    cdef int _position(self, int k, object state) except -1
    @cython.final
    cdef int lazy_minimum(self, int p) except -1 nogil
    cdef int _measure(self, int p) except -1
    @cython.final
    cdef object door_of(self, int p)

cdef void _copy(int* target, int* source, int n) noexcept
