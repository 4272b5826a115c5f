# The loops of mask_rows.py in C: two words at a time, and with the bit counter of the processor where it has one.
cdef extern from * nogil:
    """
    #include <stdint.h>
    #include <string.h>

    #if defined(__GNUC__) && defined(__x86_64__)
    #define MS_POPCNT 1
    #endif

    static inline uint64_t ms_word(const unsigned int *row, int i) {
        uint64_t word;
        memcpy(&word, row + i, 8);
        return word;
    }

    static inline int ms_count_words(const unsigned int *row, int words) {
        int count = 0;
        for (int i = 0; i < words; i++) {
            unsigned int w = row[i];
            w = w - ((w >> 1) & 0x55555555u);
            w = (w & 0x33333333u) + ((w >> 2) & 0x33333333u);
            w = (w + (w >> 4)) & 0x0F0F0F0Fu;
            count += (int)((w * 0x01010101u) >> 24);
        }
        return count;
    }

    #ifdef MS_POPCNT
    __attribute__((target("popcnt"))) static int ms_count_fast(const unsigned int *row, int words) {
        long long a = 0, b = 0;
        int i = 0;
        for (; i + 4 <= words; i += 4) {
            a += __builtin_popcountll(ms_word(row, i));
            b += __builtin_popcountll(ms_word(row, i + 2));
        }
        for (; i < words; i++)
            a += __builtin_popcount(row[i]);
        return (int)(a + b);
    }
    #endif

    /* The set bits of a row. */
    static inline int ms_count(const unsigned int *row, int words) {
    #ifdef MS_POPCNT
        if (__builtin_cpu_supports("popcnt"))
            return ms_count_fast(row, words);
    #endif
        return ms_count_words(row, words);
    }

    /* The numbers of the set bits, in order, to out; returns how many. */
    static inline int ms_list(const unsigned int *row, int words, int *out) {
        int n = 0;
        for (int i = 0; i < words; i++) {
            unsigned int w = row[i];
            while (w != 0) {
    #if defined(__GNUC__)
                out[n++] = 32 * i + __builtin_ctz(w);
    #else
                int k = 0;
                while (!((w >> k) & 1u))
                    k++;
                out[n++] = 32 * i + k;
    #endif
                w &= w - 1;
            }
        }
        return n;
    }

    /* Four lanes, so that the multiplications overlap. */
    static inline unsigned long long ms_hash(const unsigned int *row, int words, int seed) {
        uint64_t a = 1 + (uint64_t)(unsigned int)seed, b = 2, c = 3, d = 4;
        int i = 0;
        for (; i + 8 <= words; i += 8) {
            a = (a ^ ms_word(row, i)) * 0x9E3779B97F4A7C15ull;
            b = (b ^ ms_word(row, i + 2)) * 0x9E3779B97F4A7C15ull;
            c = (c ^ ms_word(row, i + 4)) * 0x9E3779B97F4A7C15ull;
            d = (d ^ ms_word(row, i + 6)) * 0x9E3779B97F4A7C15ull;
            a ^= a >> 31;
            b ^= b >> 31;
            c ^= c >> 31;
            d ^= d >> 31;
        }
        for (; i < words; i++) {
            a = (a ^ row[i]) * 0x9E3779B97F4A7C15ull;
            a ^= a >> 31;
        }
        a = a ^ (b >> 3) ^ (c >> 7) ^ (d >> 11);
        return a ^ (a >> 32);
    }
    """
    int ms_count(unsigned int* row, int words)
    int ms_list(unsigned int* row, int words, int* out)
    unsigned long long ms_hash(unsigned int* row, int words, int seed)

cdef int count_row(unsigned int* row, int words) noexcept nogil
cdef int list_row(unsigned int* row, int words, int* out, int at) noexcept nogil
cdef unsigned long long hash_row(unsigned int* row, int words, int seed) noexcept nogil
