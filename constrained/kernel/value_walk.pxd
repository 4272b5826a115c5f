cimport cython

from constrained.kernel.memory cimport grow_int, grow_uint
from constrained.kernel.token_trie cimport TokenTrie
from constrained.kernel.value_pairs cimport ValuePairs
from constrained.kernel.value_reader cimport ValueReader

cdef class Closing
cdef class ValueWalk
cdef int MANY

@cython.final
cdef class Closing:
    cdef TokenTrie trie
    cdef int* below
    cdef int digits

@cython.final
cdef class ValueWalk:
    cdef ValuePairs pairs
    cdef ValueReader reader
    cdef Closing closing
    cdef list runs
    cdef dict blanks
    cdef unsigned int* gone
    cdef object _behind_blanks(self, int reader, long long state)
    cdef object _states_behind_blanks(self, long long state)
    cdef int _troubling(self, tuple pairs, int* bits) except -1
