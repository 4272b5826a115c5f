cimport cython

# Ends of strings, sixteen bytes at a time where the processor has vectors for that.
cdef extern from * nogil:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__SSE2__) && defined(__GNUC__)
    #include <emmintrin.h>
    #define DT_VECTORS 1
    #endif

    static inline Py_ssize_t dt_end(const unsigned char *p, Py_ssize_t at, Py_ssize_t size) {
    #ifdef DT_VECTORS
        const __m128i quote = _mm_set1_epi8(0x22), slash = _mm_set1_epi8(0x5C), last = _mm_set1_epi8(0x1F);
        for (; at + 16 <= size; at += 16) {
            __m128i v = _mm_loadu_si128((const __m128i *)(p + at));
            int found = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(
                _mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)), _mm_cmpeq_epi8(_mm_max_epu8(v, last), last)));
            if (found)
                return at + __builtin_ctz(found);
        }
    #endif
        while (p[at] >= 0x20 && p[at] != 0x22 && p[at] != 0x5C)
            at++;
        return at;
    }

    /* A number below 256 for a string of at least two bytes, by those at its ends. */
    static inline int dt_look(const unsigned char *p, Py_ssize_t size) {
        uint64_t first, last;
        if (size >= 8) {
            memcpy(&first, p, 8);
            memcpy(&last, p + size - 8, 8);
        } else if (size >= 4) {
            uint32_t word;
            memcpy(&word, p, 4);
            first = word;
            memcpy(&word, p + size - 4, 4);
            last = word;
        } else {
            first = p[0] | p[1] << 8;
            last = p[size - 1];
        }
        first ^= (last << 29 | last >> 35) + (uint64_t)size;
        return (int)(first * 0x9E3779B97F4A7C15u >> 56);
    }

    /* Whether two strings of at least two bytes and at most 24 are the same. */
    static inline int dt_same(const unsigned char *p, const unsigned char *q, Py_ssize_t size) {
        uint64_t a, b, c, d;
        uint32_t e, f, g, h;
        if (size >= 8) {
            memcpy(&a, p, 8);
            memcpy(&b, q, 8);
            memcpy(&c, p + size - 8, 8);
            memcpy(&d, q + size - 8, 8);
            if ((a ^ b) | (c ^ d))
                return 0;
            if (size <= 16)
                return 1;
            memcpy(&a, p + 8, 8);
            memcpy(&b, q + 8, 8);
            return a == b;
        }
        if (size >= 4) {
            memcpy(&e, p, 4);
            memcpy(&f, q, 4);
            memcpy(&g, p + size - 4, 4);
            memcpy(&h, q + size - 4, 4);
            return !((e ^ f) | (g ^ h));
        }
        return p[0] == q[0] && p[1] == q[1] && p[size - 1] == q[size - 1];
    }

    static inline int dt_name(const unsigned char *slots, const unsigned char *names, const unsigned char *p,
                              Py_ssize_t size, int slot) {
        int number;
        for (; (number = slots[slot]); slot = (slot + 1) & 255) {
            const unsigned char *name = names + 24 * (number - 1);
            if (name[0] == size && dt_same(name + 1, p, size))
                return number - 1;
        }
        return -1;
    }
    """
    Py_ssize_t dt_end(const unsigned char* p, Py_ssize_t at, Py_ssize_t size)
    int dt_look(const unsigned char* p, Py_ssize_t size)
    int dt_name(const unsigned char* slots, const unsigned char* names, const unsigned char* p, Py_ssize_t size, int slot)

cdef int DEEPEST, DEEPEST_NOTES, LONGEST_NAME, SLOTS, ROOM, KIND, WATCH, TYPE_KEY
cdef Py_ssize_t LONGEST_MET, MOST_MET
cdef list _known, _TYPED
cdef bytes _numbers, _held, _ends
cdef unsigned char* _slots
cdef unsigned char* _names
cdef unsigned char* _stops
cdef dict _WATCHED, _KINDS
cdef void** _typed_ones
cdef int type_kind(object value) noexcept
cdef int REFERS, ELSEWHERE, OLD_ID, NEW_ID, RARELY, NOTE, DATA, BY_NAME

cdef int look_of(unsigned char* p, Py_ssize_t begin, Py_ssize_t size) noexcept
cdef int name_at(unsigned char* p, Py_ssize_t begin, Py_ssize_t size, int slot) noexcept
cdef Py_ssize_t behind_spaces(unsigned char* p, Py_ssize_t at) noexcept
cdef Py_ssize_t end_of(unsigned char* p, Py_ssize_t at, Py_ssize_t size) noexcept
cdef bint is_hex(int c) noexcept
cdef dict begun(int typed)

@cython.final
cdef class TextReader:
    cdef readonly object value
    cdef readonly int seen
    cdef Py_ssize_t at
    cdef Py_ssize_t size
    cdef list made
    cdef unsigned short met[256]
    cdef bint ascii
    cdef int watched
    cdef int read(self, str text) except -1
    cdef int read_bytes(self, unsigned char* p, Py_ssize_t size) except -1
    cdef str key(self, unsigned char* p, Py_ssize_t at)
    cdef int watch(self, int watched, str value, Py_ssize_t depth) except -1
    cdef str string(self, unsigned char* p, Py_ssize_t begin)
    cdef str met_or_made(self, unsigned char* p, Py_ssize_t size, int look)
    cdef int is_text(self, unsigned char* p, Py_ssize_t begin) except -1
    cdef str unescaped(self, unsigned char* p, Py_ssize_t begin, Py_ssize_t end)
    cdef object number(self, unsigned char* p, Py_ssize_t begin)

cpdef int is_nameless(int seen, bint old_ids) except -1
