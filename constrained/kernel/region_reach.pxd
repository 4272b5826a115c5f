cimport cython

from constrained.kernel.class_trie cimport ClassTrie
from constrained.kernel.token_trie cimport TokenTrie

cdef int BETWEEN
cdef int NARROW

cdef class RegionReach:
    cdef ClassTrie classes
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
    cdef long long bytes_held
    cdef unsigned long long hash
    cdef int* cells
    cdef int* al_c
    cdef int* al_need
    cdef int* al_way
    cdef int* al_rounds
    cdef int* standing
    cdef int* ways
    @cython.final
    cdef bint add(self, int c, int need, int way, int rounds) noexcept nogil
    @cython.final
    cdef bint room(self, int more) noexcept nogil
    @cython.final
    cdef bint _keep_cells(self, int* cells, int n_cells) noexcept nogil
    @cython.final
    cdef int run_nodes(self, TokenTrie trie, const unsigned char* partition, int n_classes, int* cells, int n_cells) noexcept nogil
    @cython.final
    cdef bint run(self, TokenTrie trie, const unsigned char* partition, int n_classes, int* cells, int n_cells) noexcept nogil
    @cython.final
    cdef bint _has_more(self, TokenTrie trie, int c) noexcept nogil
    @cython.final
    cdef bint finish(self, TokenTrie trie) noexcept nogil
    @cython.final
    cdef bint has_way(self, int number, int least, int most) noexcept nogil
