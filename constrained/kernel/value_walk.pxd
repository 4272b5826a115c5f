cimport cython

from constrained.kernel.memory cimport grow_int
from constrained.kernel.token_trie cimport TokenTrie
from constrained.kernel.value_reader cimport ValueReader

cdef class Closing
cdef class ValueWalk
cdef int MANY

@cython.final
cdef class Closing:
    cdef TokenTrie trie
    cdef int* below

@cython.final
cdef class ValueWalk:
    cdef ValueReader reader
    cdef object automaton
    cdef object owner
    cdef object known
    cdef Closing closing
    cdef object _of_state(self, object state)
    cdef bint _away(self, const unsigned char* first, int* met) except -1
    cdef bint _lives(self, int reader, object state) except -1
