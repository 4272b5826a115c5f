cimport cython

cdef int wider(Py_ssize_t count, int width) noexcept nogil
cdef int* zeroed_ints(Py_ssize_t count) noexcept nogil
cdef int* empty_table(int* old, int size) noexcept nogil
cdef int* grow_int(int* old, Py_ssize_t count) noexcept nogil
cdef int* moved(int* piece, Py_ssize_t at, int* old, int used, int count) noexcept nogil
cdef long long* moved_longs(int* piece, Py_ssize_t at, long long* old, int used, int count) noexcept nogil
cdef long long* grow_long(long long* old, Py_ssize_t count) noexcept nogil
cdef unsigned char* grow_bytes(unsigned char* old, Py_ssize_t count) noexcept nogil
cdef unsigned short* grow_shorts(unsigned short* old, Py_ssize_t count) noexcept nogil
cdef unsigned int* grow_uint(unsigned int* old, Py_ssize_t count) noexcept nogil
cdef void** grow_pointers(void** old, Py_ssize_t count) noexcept nogil
cdef unsigned int** grow_rows(unsigned int** old, Py_ssize_t count) noexcept nogil
cdef int** grow_lists(int** old, Py_ssize_t count) noexcept nogil
cdef void** empty_pointers(int count) noexcept nogil
cdef unsigned int** empty_rows(int count) noexcept nogil
cdef int** empty_lists(int count) noexcept nogil
cdef void zero_ints(int* a, Py_ssize_t at, int n) noexcept nogil
cdef void unset_ints(int* a, Py_ssize_t at, int n) noexcept nogil
cdef int* drop_int(int* old) noexcept nogil
cdef long long* drop_long(long long* old) noexcept nogil
cdef int out_of_memory() except -1 nogil
cdef int* copy_ints(int* old, int[::1] values) noexcept
