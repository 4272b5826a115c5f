cdef inline unsigned long long mix(unsigned long long h, int x) noexcept nogil:
    h = (h ^ <unsigned int>x) * <unsigned long long>0x9E3779B97F4A7C15
    return h ^ (h >> 29)

cdef unsigned long long hash_run(int* words, int at, int n) noexcept nogil
cdef void put_slot(int* slots, int slot_count, int i, int value) noexcept nogil
cdef void sort_triples(int* a, int* b, int* c, int lo, int hi) noexcept nogil
cdef void sort_ints(int* a, int lo, int hi) noexcept nogil
cdef int bit(int k) noexcept nogil
