from constrained.kernel.automaton cimport Automaton

cdef int enter_set(Automaton a, int loop, int c, int n) except -1 nogil
cdef int enter_open(Automaton a, int loop, int c, int n) except -1 nogil
cdef int first_open(Automaton a, int d, int n, int* out) except -1 nogil
