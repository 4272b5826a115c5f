cimport cython

from constrained.kernel.mask_rows cimport count_row, list_row
from constrained.kernel.memory cimport grow_int, grow_uint
from constrained.kernel.class_trie cimport ClassTrie
from constrained.kernel.token_trie cimport TokenTrie

cdef class RegionTokens
cdef int BETWEEN
cdef int FEW
cdef int MANY
cdef int ROW_IDS
cdef int NARROW

@cython.final
cdef class RegionTokens:
    cdef ClassTrie classes
    cdef cython.pymutex guard
    cdef bint counted
    cdef int n_alive
    cdef int alive_cap
    cdef int n_ways
    cdef int deepest
    cdef int n_cells
    cdef int root
    cdef int lo
    cdef int hi
    cdef int number
    cdef int n_own
    cdef int map_way
    cdef long long bytes_held
    cdef unsigned long long hash
    cdef int* cells
    cdef int* al_c
    cdef int* al_need
    cdef int* al_way
    cdef int* al_rounds
    cdef int* standing
    cdef int* ways
    cdef int* map
    cdef unsigned int** rows
    cdef int** lists
    cdef int** stands
    cdef bint add(self, int c, int need, int way, int rounds) noexcept nogil
    cdef bint room(self, int more) noexcept nogil
    cdef bint _keep_cells(self, int* cells, int n_cells) noexcept nogil
    cdef int run_nodes(self, TokenTrie trie, const unsigned char* partition, int n_classes, int* cells, int n_cells) noexcept nogil
    cdef bint run(self, TokenTrie trie, const unsigned char* partition, int n_classes, int* cells, int n_cells) noexcept nogil
    cdef bint _has_more(self, TokenTrie trie, int c) noexcept nogil
    cdef bint finish(self, TokenTrie trie) noexcept nogil
    cdef unsigned int* within(self, TokenTrie trie, int most) noexcept nogil
    cdef unsigned int* _row(self, TokenTrie trie, int most) noexcept nogil
    cdef void _add_groups(self, int words, unsigned int* row, int most) noexcept nogil
    cdef bint has_way(self, int number, int least, int most) noexcept nogil
    cdef int* leaving(self, TokenTrie trie, int number, int b) noexcept nogil
    cdef int* _list(self, TokenTrie trie, int number, int b) noexcept nogil
    cdef int* _near(self, TokenTrie trie, int* stand, int b) noexcept nogil
    cdef int* _members(self, TokenTrie trie, int number) noexcept nogil
    cdef int* _standing_nodes(self, int number) noexcept nogil
    cdef void _map(self, int number) noexcept nogil
    cdef int* _among(self, TokenTrie trie, int number, int b) noexcept nogil
