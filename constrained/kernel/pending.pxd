from constrained.kernel.stacks cimport Stacks

cdef int enter_guard(Stacks a, int loop, int n) except -1 nogil
cdef int add_guarded(Stacks a, int c, int n) except -1 nogil
cdef int joined(Stacks a, int one, int other) except -1 nogil
cdef int drop_dead(Stacks a, int base) except -1 nogil
cdef bint lives(Stacks a, int d, int c, int n) except -1 nogil
cdef bint _plain_lives(Stacks a, int d, int n) except -1 nogil
cdef int _frame_lives(Stacks a, int d, int c, int n) except -1 nogil
cdef bint node_lives(Stacks a, int c, int n) except -1 nogil
