cimport cython

from constrained.kernel.lazy_positions cimport LazyPositions
from constrained.kernel.program cimport Program

cdef int END_DET
cdef int HOLE_DET
cdef long long FAR
cdef int GUARD
cdef int BUDGET
cdef int BARE
cdef int IN_ORDER
cdef int CHOOSING
cdef int OPEN
cdef int REGISTER
cdef int FAR_COUNT
cdef int FAR_ENOUGH

cdef class PositionSets(LazyPositions):
    cdef int n_rules
    cdef int n_loops
    cdef int n_classes
    cdef int l_cap
    cdef int behind
    cdef int unwritten
    cdef int d_count
    cdef int d_cap
    cdef int d_pool_len
    cdef int d_pool_cap
    cdef int d_table_size
    cdef int d_old_size
    cdef int d_old_count
    cdef int d_moved
    cdef int buf_cap
    cdef int* r_start
    cdef int* r_order
    cdef int* l_pos
    cdef int* l_rule
    cdef int* l_min
    cdef int* l_max
    cdef int* l_next
    cdef int* l_region
    cdef int* l_items
    cdef int* l_sep
    cdef int* l_how
    cdef int* l_required
    cdef int* i_rule
    cdef int* i_required
    cdef int* i_cheap
    cdef int* cls
    cdef int* cls_rep
    cdef long long* r_min
    cdef int* l_piece
    cdef int* l_det
    cdef int* l_next_det
    cdef int* r_det
    cdef int* d_piece
    cdef int* d_off
    cdef int* d_len
    cdef int* d_flags
    cdef int* d_core
    cdef int* d_loop
    cdef int* d_row
    cdef int* d_call
    cdef int* d_ncall
    cdef int* d_first
    cdef int* d_split
    cdef int* d_pool
    cdef int* d_table
    cdef int* d_old
    cdef int* buf
    cdef int* class_off
    cdef int* class_bytes
    cdef long long* d_min
    cdef int load_program(self, Program program) except -1
    cdef void unset_names(self) noexcept nogil
    @cython.final
    cdef int need_minima(self) except -1 nogil
    cdef int _find_minima(self) except -1
    @cython.final
    cdef int enter(self, int p) except -1 nogil
    @cython.final
    cdef int start_of(self, int rule) except -1 nogil
    cdef void _drop_sets(self) noexcept nogil
    cdef int forget_sets(self) except -1
    cdef long long bytes_of_sets(self) noexcept nogil
    @cython.final
    cdef int need_classes(self) except -1 nogil
    @cython.final
    cdef int need_buf(self, int n) except -1 nogil
    @cython.final
    cdef int closure(self, int n) except -1 nogil
    @cython.final
    cdef int intern_det(self, int n) except -1 nogil
    @cython.final
    cdef int _need_det(self, int n) except -1 nogil
    @cython.final
    cdef int _grow_dets(self, int cap) except -1 nogil
    @cython.final
    cdef int _old_det(self, int n, unsigned long long h) noexcept nogil
    @cython.final
    cdef int _grow_det_table(self) except -1 nogil
    @cython.final
    cdef void _move_dets(self, int count) noexcept nogil
    @cython.final
    cdef long long det_minimum(self, int d) except -1 nogil
    @cython.final
    cdef int core_of(self, int d) except -1 nogil
    @cython.final
    cdef int loop_det(self, int loop) except -1 nogil
    @cython.final
    cdef int rule_det(self, int rule) except -1 nogil
    @cython.final
    cdef int next_det(self, int loop) except -1 nogil
