cimport cython

from constrained.kernel.memory cimport copy_ints, grow_int

cdef class TokenTrie
cdef int LARGE_SUBTREE
cdef int SPARE_ROWS
cdef unsigned int _slot(int node, int b) noexcept nogil
cdef void _refill(int* table, int size, int* parent, int* byte, int n) noexcept nogil

@cython.final
cdef class TokenTrie:
    cdef readonly int vocab_size
    cdef readonly int words
    cdef readonly int spare
    cdef readonly int n_nodes
    cdef readonly int max_depth
    cdef int n_twins
    cdef int n_large
    cdef int n_tk
    cdef int* word
    cdef int* end
    cdef int* token
    cdef int* parent
    cdef int* twins
    cdef int* offsets
    cdef int* large
    cdef int* children
    cdef int* tk_node
    cdef int* tk_id
    cdef int* by_byte
    cdef int* byte_off
    cdef cython.pymutex rows_lock
    cdef int n_spare
    cdef unsigned int* spare_rows[8]
    cdef object tables
    cdef object guard
    cdef object data
    cdef const unsigned char* text
    cdef int _number(self, int n, int* parent, int* byte, int* held) except -1
    cdef int _tabulate(self) except -1
    cdef unsigned int* take_row(self) noexcept nogil
    cdef void give_row(self, unsigned int* row) noexcept
    cdef int child_table(self, int x) noexcept nogil
    cdef int _child(self, int x, int b) noexcept nogil
