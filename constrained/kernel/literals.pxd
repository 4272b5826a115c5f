cimport cython

from constrained.kernel.automaton cimport Automaton
from constrained.kernel.exit_groups cimport ExitGroups
from constrained.kernel.found_tokens cimport FoundTokens
from constrained.kernel.token_trie cimport TokenTrie

@cython.final
@cython.no_gc
cdef class Literals:
    cdef Automaton a
    cdef TokenTrie t
    cdef ExitGroups groups
    cdef int n_places
    cdef int place_cap
    cdef int byte
    cdef int n_ends
    cdef int end_cap
    cdef int n_waits
    cdef int wait_cap
    cdef int n_read
    cdef int* places
    cdef int* ends
    cdef int* waits
    cdef void make(self, Automaton automaton, TokenTrie trie, ExitGroups groups) noexcept
    cdef bint is_literal(self, int d) noexcept nogil
    cdef bint _goes_on(self, int p) noexcept nogil
    cdef int _skip(self, int p) noexcept nogil
    cdef int _add_place(self, int x, FoundTokens found) except -1 nogil
    cdef int follow(self, int g, int d, FoundTokens found) except -1 nogil
    cdef bint is_fork(self, int d) noexcept nogil
    cdef bint _forks(self, int p, int least) noexcept nogil
    cdef int branch(self, int g, int d, FoundTokens found) except -1 nogil
    cdef int _wait(self, int x, int p) except -1 nogil
    cdef int _arrive(self, int x, int p, FoundTokens found) except -1 nogil
