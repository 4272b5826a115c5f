# The loops of token_step.py in C: they need wider vectors than the baseline of a wheel, which Cython cannot ask for.
# Each body is compiled three times and chosen when first used; other compilers and processors get it once.

cdef extern from * nogil:
    """
    #include <math.h>
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    #if defined(__GNUC__)
    #define TS_BODY static inline __attribute__((always_inline))
    #else
    #define TS_BODY static inline
    #endif
    #define TS_LANES 16

    TS_BODY float ts_float(uint16_t half) {
        uint32_t bits = (uint32_t)half << 16;
        float value;
        memcpy(&value, &bits, 4);
        return value;
    }

    /* To the nearest bfloat16, ties to even; NaN stays NaN. */
    TS_BODY uint16_t ts_half(float value) {
        uint32_t bits;
        memcpy(&bits, &value, 4);
        uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
        return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
    }

    /* exp to 2 ulp (Cephes, expf): reduced by ln 2, a polynomial of degree 5, 2^n by its bits. Arguments beyond 87 count
       as 87, NaN too. Without a branch: the clamp compares bits, rounding to an integer adds and takes away 1.5 * 2^23. */
    TS_BODY float ts_exp(float x) {
        uint32_t bits;
        memcpy(&bits, &x, 4);
        uint32_t size = bits & 0x7fffffffu;
        size = size < 0x42ae0000u ? size : 0x42ae0000u;
        bits = (bits & 0x80000000u) | size;
        memcpy(&x, &bits, 4);
        float shifted = x * 1.44269504088896341f + 12582912.0f;
        float n = shifted - 12582912.0f;
        float r = x - n * 0.693359375f;
        r = r - n * -2.12194440e-4f;
        float p = 1.9875691500e-4f;
        p = p * r + 1.3981999507e-3f;
        p = p * r + 8.3334519073e-3f;
        p = p * r + 4.1665795894e-2f;
        p = p * r + 1.6666665459e-1f;
        p = p * r + 5.0000001201e-1f;
        p = p * r * r + r + 1.0f;
        memcpy(&bits, &shifted, 4);
        bits = (bits - 0x4b400000u + 127u) << 23;
        float power;
        memcpy(&power, &bits, 4);
        return p * power;
    }

    TS_BODY float ts_sum(const float *lanes) {
        float total = 0.0f;
        for (int i = 0; i < TS_LANES; i++) total += lanes[i];
        return total;
    }

    TS_BODY float ts_dot(const float *a, const float *b, ptrdiff_t n) {
        float lanes[TS_LANES] = {0};
        ptrdiff_t i = 0;
        for (; i + TS_LANES <= n; i += TS_LANES)
            for (int j = 0; j < TS_LANES; j++) lanes[j] += a[i + j] * b[i + j];
        float total = ts_sum(lanes);
        for (; i < n; i++) total += a[i] * b[i];
        return total;
    }

    TS_BODY void ts_add_norm_body(float *__restrict x, const uint16_t *add, const float *weight,
                                  uint16_t *__restrict out, ptrdiff_t rows, ptrdiff_t width, float eps) {
        for (ptrdiff_t row = 0; row < rows; row++, x += width, out += width) {
            if (add) {
                for (ptrdiff_t i = 0; i < width; i++) x[i] += ts_float(add[i]);
                add += width;
            }
            float factor = 1.0f / sqrtf(ts_dot(x, x, width) / (float)width + eps);
            for (ptrdiff_t i = 0; i < width; i++) out[i] = ts_half(x[i] * factor * weight[i]);
        }
    }

    TS_BODY void ts_gated_body(const uint16_t *gate_up, uint16_t *__restrict out, ptrdiff_t rows, ptrdiff_t width) {
        for (ptrdiff_t row = 0; row < rows; row++, gate_up += 2 * width, out += width)
            for (ptrdiff_t i = 0; i < width; i++) {
                float gate = ts_float(gate_up[i]);
                out[i] = ts_half(gate / (1.0f + ts_exp(-gate)) * ts_float(gate_up[width + i]));
            }
    }

    /* Halves swapped, as in the tables of models/rope.py: x * cos + swapped(x) * sin. */
    TS_BODY void ts_rotate(const uint16_t *x, const uint16_t *cosine, const uint16_t *sine, float *out, ptrdiff_t dim) {
        ptrdiff_t half = dim / 2;
        for (ptrdiff_t i = 0; i < half; i++) {
            float a = ts_float(x[i]), b = ts_float(x[half + i]);
            out[i] = a * ts_float(cosine[i]) + b * ts_float(sine[i]);
            out[half + i] = b * ts_float(cosine[half + i]) + a * ts_float(sine[half + i]);
        }
    }

    /* scratch: group * (dim + end) + 2 * dim floats */
    TS_BODY void ts_attend_body(const uint16_t *mixed, const uint16_t *cosines, const uint16_t *sines, uint16_t *keys,
                                uint16_t *values, ptrdiff_t length, ptrdiff_t first, uint16_t *out, float *scratch,
                                ptrdiff_t kv_heads, ptrdiff_t group, ptrdiff_t dim, ptrdiff_t head_stride, float scale) {
        ptrdiff_t heads = kv_heads * group, seen = length + 1 - first;
        const uint16_t *cosine = cosines + length * dim, *sine = sines + length * dim;
        float *query = scratch, *line = query + group * dim, *mix = line + dim, *weights = mix + dim;
        for (ptrdiff_t head = 0; head < kv_heads; head++) {
            uint16_t *key = keys + head * head_stride, *value = values + head * head_stride;
            ts_rotate(mixed + (heads + head) * dim, cosine, sine, line, dim);
            for (ptrdiff_t i = 0; i < dim; i++) key[length * dim + i] = ts_half(line[i]);
            memcpy(value + length * dim, mixed + (heads + kv_heads + head) * dim, (size_t)dim * 2);
            for (ptrdiff_t g = 0; g < group; g++) {
                ts_rotate(mixed + (head * group + g) * dim, cosine, sine, query + g * dim, dim);
                for (ptrdiff_t i = 0; i < dim; i++) query[g * dim + i] *= scale;
            }
            for (ptrdiff_t j = 0; j < seen; j++) {
                for (ptrdiff_t i = 0; i < dim; i++) line[i] = ts_float(key[(first + j) * dim + i]);
                for (ptrdiff_t g = 0; g < group; g++) weights[g * seen + j] = ts_dot(query + g * dim, line, dim);
            }
            for (ptrdiff_t g = 0; g < group; g++) {
                float *weight = weights + g * seen, top = weight[0], total = 0.0f;
                for (ptrdiff_t j = 1; j < seen; j++) top = weight[j] > top ? weight[j] : top;
                for (ptrdiff_t j = 0; j < seen; j++) weight[j] = ts_exp(weight[j] - top);
                for (ptrdiff_t j = 0; j < seen; j++) total += weight[j];
                for (ptrdiff_t i = 0; i < dim; i++) mix[i] = 0.0f;
                for (ptrdiff_t j = 0; j < seen; j++) {
                    float share = weight[j];
                    const uint16_t *row = value + (first + j) * dim;
                    for (ptrdiff_t i = 0; i < dim; i++) mix[i] += share * ts_float(row[i]);
                }
                uint16_t *target = out + (head * group + g) * dim;
                for (ptrdiff_t i = 0; i < dim; i++) target[i] = ts_half(mix[i] / total);
            }
        }
    }

    TS_BODY void ts_int8_rows_body(const int8_t *quants, const float *scales, const float *x,
                                   float *__restrict out, ptrdiff_t rows, ptrdiff_t blocks) {
        for (ptrdiff_t row = 0; row < rows; row++, quants += 32 * blocks, scales += blocks) {
            float lanes[32] = {0};
            for (ptrdiff_t block = 0; block < blocks; block++) {
                const int8_t *q = quants + 32 * block;
                const float *v = x + 32 * block, scale = scales[block];
                for (int j = 0; j < 32; j++) lanes[j] += scale * ((float)q[j] * v[j]);
            }
            for (int j = 0; j < TS_LANES; j++) lanes[j] += lanes[TS_LANES + j];
            out[row] = ts_sum(lanes);
        }
    }

    /* The same for four rows of activations at once: each weight is widened once for all of them. */
    TS_BODY void ts_int8_rows4_body(const int8_t *quants, const float *scales, const float *x, float *__restrict out,
                                    ptrdiff_t rows, ptrdiff_t blocks) {
        const float *x1 = x + 32 * blocks, *x2 = x1 + 32 * blocks, *x3 = x2 + 32 * blocks;
        for (ptrdiff_t row = 0; row < rows; row++, quants += 32 * blocks, scales += blocks) {
            float a[TS_LANES] = {0}, b[TS_LANES] = {0}, c[TS_LANES] = {0}, d[TS_LANES] = {0};
            for (ptrdiff_t half = 0; half < 2 * blocks; half++) {
                ptrdiff_t at = half * TS_LANES;
                float scale = scales[half >> 1];
                for (int j = 0; j < TS_LANES; j++) {
                    float weight = scale * (float)quants[at + j];
                    a[j] += weight * x[at + j];
                    b[j] += weight * x1[at + j];
                    c[j] += weight * x2[at + j];
                    d[j] += weight * x3[at + j];
                }
            }
            out[row] = ts_sum(a);
            out[rows + row] = ts_sum(b);
            out[2 * rows + row] = ts_sum(c);
            out[3 * rows + row] = ts_sum(d);
        }
    }

    #if defined(__GNUC__) && defined(__x86_64__)
    #define TS_WIDE(mark) __attribute__((target(mark))) static
    #define TS_512 "avx512f,avx512bw,avx512vl,avx512dq,fma"
    #define TS_256 "avx2,fma"
    static int ts_limit = 2;
    static int ts_level(void) {
        static int level = -1;
        if (level < 0) {
            __builtin_cpu_init();
            level = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                    && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") ? 2
                    : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
        }
        return level < ts_limit ? level : ts_limit;
    }
    #define TS_DEFINE(name, params, args)                                  \\
        TS_WIDE(TS_512) void name##_512 params { name##_body args; }       \\
        TS_WIDE(TS_256) void name##_256 params { name##_body args; }       \\
        static void name params {                                          \\
            if (ts_level() == 2) name##_512 args;                          \\
            else if (ts_level() == 1) name##_256 args;                     \\
            else name##_body args;                                         \\
        }
    #else
    static int ts_limit = 0;
    static int ts_level(void) { return 0; }
    #define TS_DEFINE(name, params, args) static void name params { name##_body args; }
    #endif

    TS_DEFINE(ts_add_norm, (float *x, const uint16_t *add, const float *weight, uint16_t *out, ptrdiff_t rows,
                            ptrdiff_t width, float eps), (x, add, weight, out, rows, width, eps))
    TS_DEFINE(ts_gated, (const uint16_t *gate_up, uint16_t *out, ptrdiff_t rows, ptrdiff_t width),
              (gate_up, out, rows, width))
    TS_DEFINE(ts_attend, (const uint16_t *mixed, const uint16_t *cosines, const uint16_t *sines, uint16_t *keys,
                          uint16_t *values, ptrdiff_t length, ptrdiff_t first, uint16_t *out, float *scratch,
                          ptrdiff_t kv_heads, ptrdiff_t group, ptrdiff_t dim, ptrdiff_t head_stride, float scale),
              (mixed, cosines, sines, keys, values, length, first, out, scratch, kv_heads, group, dim, head_stride,
               scale))
    TS_DEFINE(ts_int8_rows, (const int8_t *quants, const float *scales, const float *x, float *out, ptrdiff_t rows,
                             ptrdiff_t blocks), (quants, scales, x, out, rows, blocks))
    TS_DEFINE(ts_int8_rows4, (const int8_t *quants, const float *scales, const float *x, float *out, ptrdiff_t rows,
                              ptrdiff_t blocks), (quants, scales, x, out, rows, blocks))
    """
    int ts_limit
    int ts_level() noexcept
    void ts_add_norm(float* x, const unsigned short* add, const float* weight, unsigned short* out, Py_ssize_t rows,
                     Py_ssize_t width, float eps) noexcept
    void ts_gated(const unsigned short* gate_up, unsigned short* out, Py_ssize_t rows, Py_ssize_t width) noexcept
    void ts_attend(const unsigned short* mixed, const unsigned short* cosines, const unsigned short* sines,
                   unsigned short* keys, unsigned short* values, Py_ssize_t length, Py_ssize_t first,
                   unsigned short* out, float* scratch, Py_ssize_t kv_heads, Py_ssize_t group, Py_ssize_t dim,
                   Py_ssize_t head_stride, float scale) noexcept
    void ts_int8_rows(const signed char* quants, const float* scales, const float* x, float* out, Py_ssize_t rows,
                      Py_ssize_t blocks) noexcept
    void ts_int8_rows4(const signed char* quants, const float* scales, const float* x, float* out, Py_ssize_t rows,
                       Py_ssize_t blocks) noexcept
