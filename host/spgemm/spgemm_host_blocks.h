/* host/spgemm/spgemm_host_blocks.h - reads blocks of the dense window back, by
   instruction set.

   The dense window is a vector of sums of a row of C (spgemm_host_dense.c). A block is a
   line of the caches: 16 floats or 8 doubles, of which -0 stands for "nothing was added
   here". Each function emit_block_...(acc, col0, col, val, room) writes the other
   elements of the block at `acc` to `val` and their columns to `col`, where col0 is the
   column of the first element. The function clears the block and returns the number of
   entries. The caller ensures that `col` and `val` can hold `room` entries, at least as
   many as there are.

   Each function pack_eight_...(from_col, from_val, col, val) moves eight entries, of
   which those with column -1 are left out. The arrays `col` and `val` must have room for
   eight. The function returns the number of entries that it moved.

   AVX-512 compresses a block in registers. AVX2 takes the order from a table and stores
   whole vectors, so that garbage follows the entries; where there is no room for garbage,
   and without AVX2, entries are moved one at a time. */
#ifndef HY_SPGEMM_HOST_BLOCKS_H
#define HY_SPGEMM_HOST_BLOCKS_H

#include <string.h>

#include "host/backend/target.h"

enum { HY_BLOCK_F32 = 16, HY_BLOCK_F64 = 8, EIGHT = 8 };

typedef int32_t eight_cols __attribute__((vector_size(EIGHT * 4), aligned(4), may_alias));

#define HY_EMPTY_F32 0x80000000u
#define HY_EMPTY_F64 0x8000000000000000u

/* ---- one element at a time ------------------------------------------------------ */

/* Returns bytes mark[0] to mark[63], each 0 or 1, as the bits of a word. */
static inline uint64_t marks_portable(const uint8_t *mark)
{
    uint64_t bits = 0;

    for (int i = 0; i < 8; i++) {
        uint64_t eight;
        memcpy(&eight, mark + 8 * i, 8);
        bits |= ((eight * 0x0102040810204080u) >> 56) << (8 * i);
    }
    return bits;
}

#define HY_EMIT_PORTABLE(name, T, BITS, EMPTY, BLOCK)                                    \
    static inline int64_t name(T *acc, int32_t col0, int32_t *col, T *val, int64_t room) \
    {                                                                                    \
        int64_t n = 0;                                                                   \
        (void)room;                                                                      \
        for (int i = 0; i < (BLOCK); i++) {                                              \
            BITS bits;                                                                   \
            memcpy(&bits, acc + i, sizeof bits);                                         \
            if (bits == (EMPTY))                                                         \
                continue;                                                                \
            col[n]   = col0 + i;                                                         \
            val[n++] = acc[i];                                                           \
            acc[i]   = (T)-0.0;                                                          \
        }                                                                                \
        return n;                                                                        \
    }

HY_EMIT_PORTABLE(emit_block_f32_portable, float, uint32_t, HY_EMPTY_F32, HY_BLOCK_F32)
HY_EMIT_PORTABLE(emit_block_f64_portable, double, uint64_t, HY_EMPTY_F64, HY_BLOCK_F64)

#define HY_PACK_PORTABLE(name, T)                                                        \
    static inline int64_t name(const int32_t *from_col, const T *from_val, int32_t *col, \
                               T *val)                                                   \
    {                                                                                    \
        int64_t n = 0;                                                                   \
        for (int i = 0; i < 8; i++) {                                                    \
            col[n] = from_col[i];                                                        \
            val[n] = from_val[i];                                                        \
            n += from_col[i] >= 0;                                                       \
        }                                                                                \
        return n;                                                                        \
    }

HY_PACK_PORTABLE(pack_eight_f32_portable, float)
HY_PACK_PORTABLE(pack_eight_f64_portable, double)

#if HY_X86

/* ---- AVX2 ----------------------------------------------------------------------- */

/* For each byte: the numbers of its set bits, ascending, one byte each. */
#define BIT(m, i, above)                                                                 \
    ((uint64_t)(above) << (((m) >> (i)&1) * 8) | ((m) >> (i)&1) * (uint64_t)(i))
#define BITS_OF(m)                                                                       \
    BIT(m, 0,                                                                            \
        BIT(m, 1, BIT(m, 2, BIT(m, 3, BIT(m, 4, BIT(m, 5, BIT(m, 6, BIT(m, 7, 0))))))))
#define FOUR(m) BITS_OF(m), BITS_OF((m) + 1), BITS_OF((m) + 2), BITS_OF((m) + 3)
#define SIXTEEN(m) FOUR(m), FOUR((m) + 4), FOUR((m) + 8), FOUR((m) + 12)
#define SIXTY_FOUR(m) SIXTEEN(m), SIXTEEN((m) + 16), SIXTEEN((m) + 32), SIXTEEN((m) + 48)

static const uint64_t bits_of[256] = {SIXTY_FOUR(0), SIXTY_FOUR(64), SIXTY_FOUR(128),
                                      SIXTY_FOUR(192)};

#undef BIT
#undef BITS_OF
#undef FOUR
#undef SIXTEEN
#undef SIXTY_FOUR

HY_AVX2 static inline uint64_t marks_avx2(const uint8_t *mark)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i a    = _mm256_load_si256((const __m256i *)(const void *)mark);
    const __m256i b    = _mm256_load_si256((const __m256i *)(const void *)(mark + 32));

    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(a, zero)) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(b, zero)) << 32;
}

/* Returns the positions of the set bits of `mask`, one in each element of the vector; the
   remaining elements are 0. */
HY_AVX2 static inline __m256i lanes_of(unsigned mask)
{
    return _mm256_cvtepu8_epi32(
        _mm_loadl_epi64((const __m128i *)(const void *)&bits_of[mask]));
}

HY_AVX2 static inline void put_cols(int32_t *col, int32_t col0, __m256i lanes)
{
    _mm256_storeu_si256((void *)col, _mm256_add_epi32(lanes, _mm256_set1_epi32(col0)));
}

HY_AVX2 static inline __m256i load_vector(const void *from)
{
    return _mm256_loadu_si256(from);
}

HY_AVX2 static inline void store_vector(void *to, __m256i v)
{
    _mm256_storeu_si256(to, v);
}

/* Returns a mask with a bit for each column that is not -1. */
HY_AVX2 static inline unsigned present(__m256i cols)
{
    return 255 ^ (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(cols));
}

HY_AVX2 static inline int64_t pack_eight_f32_avx2(const int32_t *from_col,
                                                  const float *from_val, int32_t *col,
                                                  float *val)
{
    const __m256i cols  = load_vector(from_col);
    const unsigned mask = present(cols);
    const __m256i lanes = lanes_of(mask);

    store_vector(col, _mm256_permutevar8x32_epi32(cols, lanes));
    store_vector(val, _mm256_permutevar8x32_epi32(load_vector(from_val), lanes));
    return _mm_popcnt_u32(mask);
}

HY_AVX2 static inline int64_t emit_block_f32_avx2(float *acc, int32_t col0, int32_t *col,
                                                  float *val, int64_t room)
{
    const __m256i empty = _mm256_set1_epi32((int)HY_EMPTY_F32);
    __m256i *block      = (__m256i *)(void *)acc;

    if (room < HY_BLOCK_F32)
        return emit_block_f32_portable(acc, col0, col, val, room);
    const __m256i a = _mm256_load_si256(block), b = _mm256_load_si256(block + 1);
    const unsigned a_empty =
        (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, empty)));
    const unsigned b_empty =
        (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(b, empty)));
    const __m256i a_lanes = lanes_of(a_empty ^ 255), b_lanes = lanes_of(b_empty ^ 255);
    const int n = 8 - _mm_popcnt_u32(a_empty);

    _mm256_store_si256(block, empty);
    _mm256_store_si256(block + 1, empty);
    put_cols(col, col0, a_lanes);
    put_cols(col + n, col0 + 8, b_lanes);
    store_vector(val, _mm256_permutevar8x32_epi32(a, a_lanes));
    store_vector(val + n, _mm256_permutevar8x32_epi32(b, b_lanes));
    return n + 8 - _mm_popcnt_u32(b_empty);
}

/* Returns a mask with each bit of `four` twice, since a double takes two 32-bit
   elements. */
static inline unsigned doubled(unsigned four)
{
    static const uint8_t twice[16] = {0x00, 0x03, 0x0c, 0x0f, 0x30, 0x33, 0x3c, 0x3f,
                                      0xc0, 0xc3, 0xcc, 0xcf, 0xf0, 0xf3, 0xfc, 0xff};
    return twice[four];
}

HY_AVX2 static inline int64_t emit_block_f64_avx2(double *acc, int32_t col0, int32_t *col,
                                                  double *val, int64_t room)
{
    const __m256i empty = _mm256_set1_epi64x((long long)HY_EMPTY_F64);
    __m256i *block      = (__m256i *)(void *)acc;

    if (room < HY_BLOCK_F64)
        return emit_block_f64_portable(acc, col0, col, val, room);
    const __m256i a = _mm256_load_si256(block), b = _mm256_load_si256(block + 1);
    const unsigned a_full = 15 ^ (unsigned)_mm256_movemask_pd(
                                     _mm256_castsi256_pd(_mm256_cmpeq_epi64(a, empty)));
    const unsigned b_full = 15 ^ (unsigned)_mm256_movemask_pd(
                                     _mm256_castsi256_pd(_mm256_cmpeq_epi64(b, empty)));
    const int n = _mm_popcnt_u32(a_full);

    _mm256_store_si256(block, empty);
    _mm256_store_si256(block + 1, empty);
    put_cols(col, col0, lanes_of(a_full | b_full << 4));
    store_vector(val, _mm256_permutevar8x32_epi32(a, lanes_of(doubled(a_full))));
    store_vector(val + n, _mm256_permutevar8x32_epi32(b, lanes_of(doubled(b_full))));
    return n + _mm_popcnt_u32(b_full);
}

HY_AVX2 static inline int64_t pack_eight_f64_avx2(const int32_t *from_col,
                                                  const double *from_val, int32_t *col,
                                                  double *val)
{
    const __m256i cols  = load_vector(from_col);
    const unsigned mask = present(cols);
    const int n         = _mm_popcnt_u32(mask & 15);

    store_vector(col, _mm256_permutevar8x32_epi32(cols, lanes_of(mask)));
    store_vector(val, _mm256_permutevar8x32_epi32(load_vector(from_val),
                                                  lanes_of(doubled(mask & 15))));
    store_vector(val + n, _mm256_permutevar8x32_epi32(load_vector(from_val + 4),
                                                      lanes_of(doubled(mask >> 4))));
    return n + _mm_popcnt_u32(mask >> 4);
}

/* ---- AVX-512 -------------------------------------------------------------------- */

HY_AVX512 static inline uint64_t marks_avx512(const uint8_t *mark)
{
    const __m512i m = _mm512_load_si512(mark);
    return _mm512_test_epi8_mask(m, m);
}

HY_AVX512 static inline int64_t
emit_block_f32_avx512(float *acc, int32_t col0, int32_t *col, float *val, int64_t room)
{
    const __m512i empty = _mm512_set1_epi32((int)HY_EMPTY_F32);
    const __m512i iota =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i v      = _mm512_load_si512(acc);
    const __mmask16 full = _mm512_cmpneq_epi32_mask(v, empty);
    const int n          = _mm_popcnt_u32(full);
    const __mmask16 head = (__mmask16)((1u << n) - 1);
    const __m512i c      = _mm512_add_epi32(iota, _mm512_set1_epi32(col0));

    (void)room;
    _mm512_store_si512(acc, empty);
    _mm512_mask_storeu_epi32(val, head, _mm512_maskz_compress_epi32(full, v));
    _mm512_mask_storeu_epi32(col, head, _mm512_maskz_compress_epi32(full, c));
    return n;
}

HY_AVX512 static inline int64_t
emit_block_f64_avx512(double *acc, int32_t col0, int32_t *col, double *val, int64_t room)
{
    const __m512i empty = _mm512_set1_epi64((long long)HY_EMPTY_F64);
    const __m256i iota  = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i v     = _mm512_load_si512(acc);
    const __mmask8 full = _mm512_cmpneq_epi64_mask(v, empty);
    const int n         = _mm_popcnt_u32(full);
    const __mmask8 head = (__mmask8)((1u << n) - 1);
    const __m256i c     = _mm256_add_epi32(iota, _mm256_set1_epi32(col0));

    (void)room;
    _mm512_store_si512(acc, empty);
    _mm512_mask_storeu_epi64(val, head, _mm512_maskz_compress_epi64(full, v));
    _mm256_mask_storeu_epi32(col, head, _mm256_maskz_compress_epi32(full, c));
    return n;
}

/* Entries are counted in `mask`, an ordinary integer: gcc 12.2 with -fsanitize=thread
   stores the 8 bits of an __mmask8 on the stack, and counts the bits of 32. */
HY_AVX512 static inline int64_t pack_eight_f32_avx512(const int32_t *from_col,
                                                      const float *from_val, int32_t *col,
                                                      float *val)
{
    const __m256i cols  = load_vector(from_col);
    const unsigned mask = present(cols);
    const __mmask8 full = (__mmask8)mask;

    _mm256_storeu_si256((void *)col, _mm256_maskz_compress_epi32(full, cols));
    _mm256_storeu_ps(val, _mm256_maskz_compress_ps(full, _mm256_loadu_ps(from_val)));
    return _mm_popcnt_u32(mask);
}

HY_AVX512 static inline int64_t pack_eight_f64_avx512(const int32_t *from_col,
                                                      const double *from_val,
                                                      int32_t *col, double *val)
{
    const __m256i cols  = load_vector(from_col);
    const unsigned mask = present(cols);
    const __mmask8 full = (__mmask8)mask;

    _mm256_storeu_si256((void *)col, _mm256_maskz_compress_epi32(full, cols));
    _mm512_storeu_pd(val, _mm512_maskz_compress_pd(full, _mm512_loadu_pd(from_val)));
    return _mm_popcnt_u32(mask);
}

#endif /* HY_X86 */
#endif /* HY_SPGEMM_HOST_BLOCKS_H */
