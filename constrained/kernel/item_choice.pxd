from constrained.kernel.stacks cimport Stacks

cdef int MANY_ITEMS
cdef int MANY_POSITIONS
cdef int load_choices(Stacks a) except -1
cdef int _last_item(Stacks a, int loop) noexcept nogil
cdef bint _only_reads(Stacks a, int p) noexcept nogil
cdef int _explore(Stacks a, int rule, int* seen) except -1 nogil
cdef void _mark(Stacks a, int rule, int p, int* seen) noexcept nogil
cdef int _open_items(Stacks a, int loop, int* seen) except -1 nogil
cdef bint _is_open_element(Stacks a, int e) noexcept nogil
cdef bint is_open(Stacks a, int n) noexcept nogil
cdef int part_of(Stacks a, int n, bint wanted) except -1 nogil
cdef int open_part(Stacks a, int d) except -1 nogil
cdef int _lacking(Stacks a, int loop, int c) except -1 nogil
cdef int _item(Stacks a, int loop, int rule) except -1 nogil
cdef bint lives_open(Stacks a, int d, int n, bint telling) except -1 nogil
cdef bint _lives_in(Stacks a, int d, int loop, int c, bint telling) except -1 nogil
cdef int _hint(Stacks a, int d, int which) except -1 nogil
cdef int add_open(Stacks a, int d, int n) except -1 nogil
cdef int add_told(Stacks a, int d, int n) except -1 nogil
cdef int open_det(Stacks a, int loop) except -1 nogil
cdef long long open_minimum(Stacks a, int d, int n) except -1 nogil
cdef long long _element_minimum(Stacks a, int d, int loop, int c) except -1 nogil
