/* host/backend/vectors.h - vectors in CPU registers, with the same names for each type
   and instruction set.

   f32_avx512 is a vector of 16 floats: the floats of an AVX-512 register. first_*(n)
   returns a set of elements: the first n of a vector. load_some_* loads the elements of a
   set and sets all others to 0. load_some_* and store_some_* do not access the memory of
   elements outside the set. stream_* needs an aligned address and stores past the caches
   where the CPU can; HY_STREAM_FENCE() must follow before other threads read them. */
#ifndef HY_VECTORS_H
#define HY_VECTORS_H

#include <string.h>

#include "host/backend/target.h"

#define HY_VECTOR(T, lanes, kind)                                                        \
    typedef T kind                                                                       \
        __attribute__((vector_size(lanes * sizeof(T)), aligned(sizeof(T)), may_alias))

#define HY_INLINE static inline __attribute__((always_inline))

HY_VECTOR(float, 4, f32_portable);
HY_VECTOR(double, 2, f64_portable);

/* Vectors for a CPU without masked loads and stores. */
#define HY_PORTABLE_VECTOR(T, lanes, kind)                                               \
    typedef int some_##kind;                                                             \
    HY_INLINE some_##kind first_##kind(int64_t n)                                        \
    {                                                                                    \
        return (int)n;                                                                   \
    }                                                                                    \
    HY_INLINE kind madd_##kind(kind a, kind x, kind sum)                                 \
    {                                                                                    \
        return sum + a * x;                                                              \
    }                                                                                    \
    HY_INLINE kind load_some_##kind(const T *from, some_##kind some)                     \
    {                                                                                    \
        kind v = {0};                                                                    \
        for (int i = 0; i < some; i++)                                                   \
            v[i] = from[i];                                                              \
        return v;                                                                        \
    }                                                                                    \
    HY_INLINE void store_some_##kind(T *to, some_##kind some, kind v)                    \
    {                                                                                    \
        for (int i = 0; i < some; i++)                                                   \
            to[i] = v[i];                                                                \
    }                                                                                    \
    HY_INLINE void stream_##kind(T *to, kind v)                                          \
    {                                                                                    \
        memcpy(to, &v, sizeof v);                                                        \
    }

HY_PORTABLE_VECTOR(float, 4, f32_portable)
HY_PORTABLE_VECTOR(double, 2, f64_portable)

#if HY_X86
HY_VECTOR(float, 8, f32_avx2);
HY_VECTOR(double, 4, f64_avx2);
HY_VECTOR(float, 16, f32_avx512);
HY_VECTOR(double, 8, f64_avx512);

/* T: element type. kind: vector type. set: type of a set of elements. bits, suffix:
   prefix and suffix of the intrinsics. */
#define HY_X86_VECTOR(TARGET, T, kind, set, bits, suffix, load_some, store_some)         \
    typedef set some_##kind;                                                             \
    TARGET HY_INLINE kind madd_##kind(kind a, kind x, kind sum)                          \
    {                                                                                    \
        return bits##_fmadd_##suffix(a, x, sum);                                         \
    }                                                                                    \
    TARGET HY_INLINE kind load_some_##kind(const T *from, some_##kind some)              \
    {                                                                                    \
        return load_some;                                                                \
    }                                                                                    \
    TARGET HY_INLINE void store_some_##kind(T *to, some_##kind some, kind v)             \
    {                                                                                    \
        store_some;                                                                      \
    }                                                                                    \
    TARGET HY_INLINE void stream_##kind(T *to, kind v)                                   \
    {                                                                                    \
        bits##_stream_##suffix(to, v);                                                   \
    }

HY_X86_VECTOR(HY_AVX2, float, f32_avx2, __m256i, _mm256, ps,
              _mm256_maskload_ps(from, some), _mm256_maskstore_ps(to, some, v))
HY_X86_VECTOR(HY_AVX2, double, f64_avx2, __m256i, _mm256, pd,
              _mm256_maskload_pd(from, some), _mm256_maskstore_pd(to, some, v))
HY_X86_VECTOR(HY_AVX512, float, f32_avx512, __mmask16, _mm512, ps,
              _mm512_maskz_loadu_ps(some, from), _mm512_mask_storeu_ps(to, some, v))
HY_X86_VECTOR(HY_AVX512, double, f64_avx512, __mmask8, _mm512, pd,
              _mm512_maskz_loadu_pd(some, from), _mm512_mask_storeu_pd(to, some, v))

HY_AVX2 HY_INLINE some_f32_avx2 first_f32_avx2(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

HY_AVX2 HY_INLINE some_f64_avx2 first_f64_avx2(int64_t n)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

HY_AVX512 HY_INLINE some_f32_avx512 first_f32_avx512(int64_t n)
{
    return (__mmask16)((1u << n) - 1);
}

HY_AVX512 HY_INLINE some_f64_avx512 first_f64_avx512(int64_t n)
{
    return (__mmask8)((1u << n) - 1);
}
#endif

#endif /* HY_VECTORS_H */
