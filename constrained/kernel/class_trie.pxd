cimport cython

from constrained.kernel.automaton cimport grow_int
from constrained.kernel.token_trie cimport TokenTrie, grow_uint

cdef class ClassTrie
cdef int DENSE_GROUP
cdef void _refill(int* key, int* value, int size, int* parent, int* byte, int* classes, int n) noexcept nogil

@cython.final
cdef class ClassTrie:
    cdef int n
    cdef long long bytes_held
    cdef int* cls
    cdef int* parent
    cdef int* byte
    cdef int* child_off
    cdef int* child
    cdef int* group_off
    cdef int* group
    cdef int* group_at
    cdef int* dense
    cdef int* where
    cdef int* before
    cdef int* last
    cdef unsigned int* rows
    cdef bint _number(self, TokenTrie trie, int* classes) noexcept nogil
    cdef bint _list_children(self) noexcept nogil
    cdef bint _sort_tokens(self, TokenTrie trie) noexcept nogil
