cimport cython

# Whether bytes of ASCII are written as they are and in no other way, sixteen at a time where there are vectors.
cdef extern from * nogil:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__SSE2__) && defined(__GNUC__)
    #include <emmintrin.h>
    #define DN_VECTORS 1
    #endif

    static inline int dn_plain(const unsigned char *p, Py_ssize_t size) {
        Py_ssize_t at = 0;
    #ifdef DN_VECTORS
        if (size >= 4) {
            const __m128i quote = _mm_set1_epi8(0x22), slash = _mm_set1_epi8(0x5C);
            const __m128i last = _mm_set1_epi8(0x1F), gone = _mm_set1_epi8(0x7F);
            for (;;) {
                __m128i v;
                if (size >= 16) {
                    v = _mm_loadu_si128((const __m128i *)(p + at));
                } else if (size >= 8) {
                    v = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)p),
                                           _mm_loadl_epi64((const __m128i *)(p + size - 8)));
                } else {
                    int32_t first, other;
                    memcpy(&first, p, 4);
                    memcpy(&other, p + size - 4, 4);
                    v = _mm_set_epi32(first, other, first, other);
                }
                if (_mm_movemask_epi8(_mm_or_si128(
                        _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                        _mm_or_si128(_mm_cmpeq_epi8(_mm_max_epu8(v, last), last), _mm_cmpeq_epi8(v, gone)))))
                    return 0;
                if (at + 16 >= size)
                    return 1;
                at = at + 32 <= size ? at + 16 : size - 16;  /* the last ones may be looked at twice */
            }
        }
    #endif
        for (; at < size; at++)
            if (p[at] < 0x20 || p[at] == 0x22 || p[at] == 0x5C || p[at] == 0x7F)
                return 0;
        return 1;
    }
    """
    int dn_plain(const unsigned char* p, Py_ssize_t size)

from constrained.grammar.keys cimport KeyDfa
from constrained.kernel.nodes cimport ByteDfa, Choice, Literal, Reference, Repeat, Sequence, Unordered

cdef Sequence sequence(tuple items)
cdef Reference reference(str name)
cdef object choice(list options)
cdef Choice either(object one, object other)
cdef frozenset numbers_of(list numbers)
cdef str numbered(str kind, Py_ssize_t number)
cdef int are_different(tuple texts) except -1
cdef object in_spaces(tuple brackets, object space, object inside, bint may_be_empty)
cdef object EMPTY, QUOTE
cdef Py_ssize_t MANY_SKIPPED, FEW_KEYS, MOST_TEXTS, MOST_NUMBERED
cdef bytes _plain
cdef dict _numbered
cdef list _few_numbers

cdef object mark(object thing)
cdef int needs_no_escapes(str text) except -1
cdef object plain_literal(str text)
cdef object key_literal(str name)
cdef int is_above(bytes one, bytes other) except -1
cdef object key_texts(object out)
cdef long long look_of_names(object names) except? -1
cdef int have_same_names(object names, object others) except -1
cdef Py_ssize_t _longest_run(list standing, Py_ssize_t members) noexcept
cdef str place_of(str base, object keyword, object name)
