/* gpu/papers/hrpb_mma.cuh - multiplies two bricks by 8 columns of X on tensor cores.

   A brick is 16 x 4 elements of A (partition/format/pack_hrpb.c). Two of them, 16 x 8,
   are multiplied by 8 x 8 of X, a tile. Lane (thread) l of the warp holds, of each brick,
   elements (l / 4, l % 4) and (l / 4 + 8, l % 4) of A; of the brick's rows of X, element
   (l % 4, l / 4); and of the result, elements (l / 4 + 8 h, 2 (l % 4) + e) as number 2 h
   + e. These are the matrix fragments of m16n8k8 in the PTX ISA.

   Tensor cores do not multiply f32. TF32 has 11 of its 24 bits, so each number is split
   into the sum of a high and a low part, and the four products of these parts are added,
   small ones first. Without low * low, a sum of one scalar product would miss the error
   bound of f32 by 2^-22. Tensor cores round towards zero when they add. The result for
   two bricks is therefore summed from 0 and added to the row's sum in f32. Several tiles
   are interleaved, so that a warp need not wait for one result before it begins the next.

   With HYBRID_ALLOW_TF32 only the high parts are multiplied, which takes one
   multiplication instead of four. The tensor cores then add to the row's sum directly:
   rounding towards zero costs far less than the omitted low parts. */
#ifndef HY_HRPB_MMA_CUH
#define HY_HRPB_MMA_CUH

#include <stdint.h>

/* Splits v into high + low, with high rounded to TF32. Tensor cores read only the leading
   bits of low; the ignored bits are less than 2^-23 of v. */
__device__ inline void split(float v, uint32_t *high, uint32_t *low)
{
    *high = (__float_as_uint(v) + 0x1000u) & 0xffffe000u;
    *low  = __float_as_uint(v - __uint_as_float(*high));
}

/* Returns v rounded to TF32. NaN stays NaN, which adding to the bits, as in split(),
   would not ensure. */
__device__ inline uint32_t rounded(float v)
{
    uint32_t bits = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
#else
    __trap(); /* never reached, because refuse() excludes such devices */
#endif
    return bits;
}

/* Computes d = a * b + c on matrix fragments of m16n8k8. b has one number for each
   brick. */
__device__ inline void mma(float *d, const uint32_t *a, const uint32_t *b, const float *c)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]),
          "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
    __trap();
#endif
}

/* Computes sum += a * b on matrix fragments of m16n8k8. */
__device__ inline void mma(double *sum, const double *a, const double *b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif __CUDA_ARCH__ >= 800
#pragma unroll
    for (int half = 0; half < 2; half++)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%4}, "
            "{%0, %1};\n\t"
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%3}, {%5}, "
            "{%0, %1};"
            : "+d"(sum[2 * half]), "+d"(sum[2 * half + 1])
            : "d"(a[half]), "d"(a[half + 2]), "d"(b[0]), "d"(b[1]));
#else
    __trap();
#endif
}

/* A lane's elements of two bricks and of their rows of X, in TILES tiles of 8 columns. */
template <typename T, int TILES> struct brick_pair {
    T a[4]; /* of lane l: its elements in rows l / 4 and l / 4 + 8 of the first brick,
               then of the second */
    T x[TILES][2];
    unsigned any; /* 0 if both bricks are empty */
};

/* Computes sum += a * x in full f32 precision, AT_ONCE tiles at a time. */
template <int TILES>
__device__ void add_split(const brick_pair<float, TILES> &p, float (*sum)[4])
{
    constexpr int AT_ONCE = TILES < 2 ? TILES : 2;
    const float zero[4]   = {};
    uint32_t a_high[4], a_low[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        split(p.a[i], &a_high[i], &a_low[i]);
#pragma unroll
    for (int first = 0; first < TILES; first += AT_ONCE) {
        uint32_t high[AT_ONCE][2], low[AT_ONCE][2];
        float part[AT_ONCE][4];
#pragma unroll
        for (int i = 0; i < 2 * AT_ONCE && first + i / 2 < TILES; i++)
            split(p.x[first + i / 2][i % 2], &high[i / 2][i % 2], &low[i / 2][i % 2]);
#pragma unroll
        for (int t = 0; t < AT_ONCE && first + t < TILES; t++)
            mma(part[t], a_low, low[t], zero);
#pragma unroll
        for (int t = 0; t < AT_ONCE && first + t < TILES; t++)
            mma(part[t], a_low, high[t], part[t]);
#pragma unroll
        for (int t = 0; t < AT_ONCE && first + t < TILES; t++)
            mma(part[t], a_high, low[t], part[t]);
#pragma unroll
        for (int t = 0; t < AT_ONCE && first + t < TILES; t++)
            mma(part[t], a_high, high[t], part[t]);
#pragma unroll
        for (int i = 0; i < 4 * AT_ONCE && first + i / 4 < TILES; i++)
            sum[first + i / 4][i % 4] += part[i / 4][i % 4];
    }
}

/* Computes sum += a * x in TF32 precision. */
template <int TILES>
__device__ void add_rounded(const brick_pair<float, TILES> &p, float (*sum)[4])
{
    uint32_t a[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        a[i] = rounded(p.a[i]);
#pragma unroll
    for (int t = 0; t < TILES; t++) {
        const uint32_t x[2] = {rounded(p.x[t][0]), rounded(p.x[t][1])};
        mma(sum[t], a, x, sum[t]);
    }
}

template <bool TF32, int TILES>
__device__ void add_product(const brick_pair<float, TILES> &p, float (*sum)[4])
{
    if constexpr (TF32)
        add_rounded(p, sum);
    else
        add_split(p, sum);
}

template <bool, int TILES>
__device__ void add_product(const brick_pair<double, TILES> &p, double (*sum)[4])
{
#pragma unroll
    for (int t = 0; t < TILES; t++)
        mma(sum[t], p.a, p.x[t]);
}

#endif /* HY_HRPB_MMA_CUH */
