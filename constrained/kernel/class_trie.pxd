cimport cython

from constrained.kernel.memory cimport grow_int, grow_uint
from constrained.kernel.token_trie cimport TokenTrie

cdef class ClassTrie
cdef int DENSE_GROUP
cdef int LARGE_RUN

@cython.final
cdef class ClassTrie:
    cdef int n
    cdef int cap
    cdef int size
    cdef long long bytes_held
    cdef int* cls
    cdef int* parent
    cdef int* byte
    cdef int* child_off
    cdef int* group_off
    cdef int* group
    cdef int* group_at
    cdef int* dense
    cdef int* where
    cdef int* slots
    cdef unsigned int* rows
    cdef bint _number(self, TokenTrie trie) noexcept nogil
    cdef int _new(self, int parent, int b) noexcept nogil
    cdef int _find(self, int key, int b) noexcept nogil
    cdef bint _list_children(self, TokenTrie trie) noexcept nogil
    cdef bint _sort_tokens(self, TokenTrie trie) noexcept nogil
