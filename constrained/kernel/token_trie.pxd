cimport cython

from constrained.kernel.automaton cimport copy_ints, grow_int

cdef int DENSE_GROUP
cdef int LARGE_SUBTREE
cdef int MAX_REGIONS
cdef int BETWEEN
cdef unsigned int* grow_uint(unsigned int* old, Py_ssize_t count) noexcept nogil
cdef unsigned int _slot(int node, int b) noexcept nogil
cdef void _refill(int* table, int size, int* parent, int* byte, int n) noexcept nogil
cdef Py_ssize_t cast_size(int n) noexcept nogil

@cython.final
cdef class TokenTrie:
    cdef readonly int vocab_size
    cdef readonly int words
    cdef readonly int spare
    cdef readonly int n_nodes
    cdef readonly int max_depth
    cdef int n_twins
    cdef int n_large
    cdef int* word
    cdef int* end
    cdef int* token
    cdef int* twins
    cdef int* offsets
    cdef int* large
    cdef int* children
    cdef object class_tries
    cdef object regions
    cdef object guard
    cdef object data
    cdef const unsigned char* text
    cdef int _number(self, int n, int* parent, int* byte, int* held, int* scratch, int size) except -1
    cdef int _tabulate(self) except -1
    cdef int child_table(self, int x) noexcept nogil
    cdef int _child(self, int x, int b) noexcept nogil

@cython.final
cdef class ClassTrie:
    cdef int n
    cdef long long bytes_held
    cdef int* parent
    cdef int* byte
    cdef int* group_off
    cdef int* group
    cdef int* below_off
    cdef int* below
    cdef int* dense
    cdef unsigned int* rows
    cdef bint _build(self, TokenTrie trie, bytes partition, int root) except -1

@cython.final
cdef class RegionRow:
    cdef unsigned int* row

@cython.final
cdef class RegionTokens:
    cdef object tokens
    cdef object trie
    cdef object lists
    cdef object rows
    cdef object nodes
    cdef int deepest
    cdef int* state
    cdef int* way
    cdef int* rounds
    cdef object within(self, int most)
    cdef bint has_way(self, int number, int least, int most) except -1
    cdef object behind(self, int number, int b, int least, int most)
