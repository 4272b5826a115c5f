cimport cython

from constrained.kernel.mask_rows cimport count_row, list_row
from constrained.kernel.memory cimport grow_int, grow_uint
from constrained.kernel.region_reach cimport RegionReach
from constrained.kernel.token_trie cimport TokenTrie

cdef int FEW
cdef int MANY
cdef int ROW_IDS

@cython.final
cdef class RegionTokens(RegionReach):
    cdef cython.pymutex guard
    cdef int map_way
    cdef int* map
    cdef unsigned int** rows
    cdef int** lists
    cdef int** stands
    cdef unsigned int* within(self, TokenTrie trie, int most) noexcept nogil
    cdef unsigned int* _row(self, TokenTrie trie, int most) noexcept nogil
    cdef void _add_groups(self, int words, unsigned int* row, int most) noexcept nogil
    cdef int* leaving(self, TokenTrie trie, int number, int b) noexcept nogil
    cdef int* _list(self, TokenTrie trie, int number, int b) noexcept nogil
    cdef int* _near(self, TokenTrie trie, int* stand, int b) noexcept nogil
    cdef int* _members(self, TokenTrie trie, int number) noexcept nogil
    cdef int* _standing_nodes(self, int number) noexcept nogil
    cdef void _map(self, int number) noexcept nogil
    cdef int* _among(self, TokenTrie trie, int number, int b) noexcept nogil
