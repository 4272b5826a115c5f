cimport cython

from constrained.kernel.hashing cimport mix
from constrained.kernel.mask_rows cimport count_row, hash_row, list_row
from constrained.kernel.memory cimport grow_int, grow_rows, grow_uint
from constrained.kernel.token_trie cimport TokenTrie

cdef class MaskStore
cdef int NONE
cdef int DENSE
cdef int DELTA_MAX
cdef int PROMOTED

@cython.final
@cython.no_gc
cdef class MaskStore:
    cdef TokenTrie t
    cdef int vocab_size
    cdef int words
    cdef int b_len
    cdef int b_cap
    cdef int mk_used
    cdef int mk_cap
    cdef int table_size
    cdef int base
    cdef int n_ex
    cdef int ex_cap
    cdef long long rows_held
    cdef long long pool_cap
    cdef int pool_len
    cdef unsigned int** b_row
    cdef unsigned int** mk_row
    cdef int* b_count
    cdef int* b_own
    cdef int* mk_piece
    cdef int* mk_base
    cdef int* mk_off
    cdef int* mk_len
    cdef int* mk_count
    cdef int* mk_hash
    cdef int* mk_uses
    cdef int* table
    cdef int* pool
    cdef int* ex
    cdef unsigned int* seen
    cdef unsigned int* scratch
    cdef void _release(self) noexcept nogil
    cdef int make(self, TokenTrie trie) except -1
    cdef int forget(self) except -1 nogil
    cdef int _out_of_memory(self) except -1 nogil
    cdef long long bytes_held(self) noexcept nogil
    cdef int base_of(self, unsigned int* row, int count) except -1 nogil
    cdef int _clear_table(self, int size) except -1 nogil
    cdef int need_scratch(self) except -1 nogil
    cdef int own_base(self) except -1 nogil
    cdef int _new_base(self, unsigned int* row, int count, bint own) except -1 nogil
    cdef int united(self, int one, int other) except -1 nogil
    cdef void _clear_scratch(self) noexcept nogil
    cdef unsigned int* _copy(self, unsigned int* row) noexcept nogil
    cdef int begin(self, int base) except -1 nogil
    cdef int room(self, int more) except -1 nogil
    cdef bint has(self, int token) noexcept nogil
    cdef void add(self, int token) noexcept nogil
    cdef int add_all(self, int* ids, int at, int n) except -1 nogil
    cdef int add_listed(self, unsigned int* row, int at) except -1 nogil
    cdef int add_row(self, unsigned int* row, int count) except -1 nogil
    cdef int to_scratch(self) except -1 nogil
    cdef int finish(self) except -1 nogil
    cdef bint _same(self, int m) noexcept nogil
    cdef int _new_mask(self, int base, int count, unsigned long long h, int slot) except -1 nogil
    cdef int _grow_masks(self, int cap) except -1 nogil
    cdef int _rehash(self) except -1 nogil
    cdef int finish_scratch(self) except -1 nogil
    cdef bint _same_row(self, int m) noexcept nogil
    cdef int write(self, int m, unsigned int* out) except -1 nogil
