/* gpu/hrpb_mma.cuh - 16 x 16 of A times 16 x 8 of X on tensor cores, at full accuracy.

   A is four bricks of 16 x 4. Of brick b, lane l of the warp holds elements (l / 4, l %
   4) and (l / 4 + 8, l % 4) of A in a[2 b] and a[2 b + 1], and element (l % 4, l / 4) of
   the brick's rows of X in x[b]. Of the result it holds (l / 4 + 8 h, 2 (l % 4) + e) in
   sum[2 h + e]. Two bricks are the operand of one m16n8k8 (PTX ISA, matrix fragments).

   f32 is not an operand of tensor cores. TF32 has 11 of its 24 bits: each number is the
   sum of a high and a low part, and the four products of parts are summed, small ones
   first. Three of them, without low * low, would miss the f32 bound of a sum of one
   product by 2^-22. Tensor cores round towards zero when they add, so each block is added
   up for itself and its sum is added to that of the row in f32. */
#ifndef HY_HRPB_MMA_CUH
#define HY_HRPB_MMA_CUH

#include <stdint.h>

/* The bricks of a block as operands. */
template <typename T> struct block_a;

template <> struct block_a<float> {
    uint32_t high[8], low[8];
};

template <> struct block_a<double> {
    double value[8];
};

/* v = high + low, high rounded to TF32. Of low, the tensor cores read the leading bits;
   what they ignore is less than 2^-23 of v. */
__device__ inline void split(float v, uint32_t *high, uint32_t *low)
{
    *high = (__float_as_uint(v) + 0x1000u) & 0xffffe000u;
    *low  = __float_as_uint(v - __uint_as_float(*high));
}

__device__ inline void as_operand(const float *a, block_a<float> *out)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        split(a[i], &out->high[i], &out->low[i]);
}

__device__ inline void as_operand(const double *a, block_a<double> *out)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        out->value[i] = a[i];
}

/* sum += a * b for two bricks; b: of the rows of X of each. */
__device__ inline void mma(float *sum, const uint32_t *a, uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

__device__ inline void mma(double *sum, const double *a, double b0, double b1)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b0), "d"(b1));
#elif __CUDA_ARCH__ >= 800
#pragma unroll
    for (int half = 0; half < 2; half++)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%4}, {%0, "
            "%1};\n\t"
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%3}, {%5}, {%0, "
            "%1};"
            : "+d"(sum[2 * half]), "+d"(sum[2 * half + 1])
            : "d"(a[half]), "d"(a[half + 2]), "d"(b0), "d"(b1));
#endif
}

/* sum += a * x; `both`: also the third and fourth brick, which else are empty. */
__device__ inline void add_product(float *sum, const block_a<float> &a, const float *x,
                                   bool both)
{
    uint32_t high[4], low[4];
    float part[4] = {};
#pragma unroll
    for (int b = 0; b < 4; b++)
        split(x[b], &high[b], &low[b]);
#pragma unroll
    for (int s = 0; s < 4; s += 2)
        if (s == 0 || both) {
            mma(part, a.low + 2 * s, low[s], low[s + 1]);
            mma(part, a.low + 2 * s, high[s], high[s + 1]);
            mma(part, a.high + 2 * s, low[s], low[s + 1]);
        }
#pragma unroll
    for (int s = 0; s < 4; s += 2)
        if (s == 0 || both)
            mma(part, a.high + 2 * s, high[s], high[s + 1]);
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum[i] += part[i];
}

__device__ inline void add_product(double *sum, const block_a<double> &a, const double *x,
                                   bool both)
{
    mma(sum, a.value, x[0], x[1]);
    if (both)
        mma(sum, a.value + 4, x[2], x[3]);
}

#endif /* HY_HRPB_MMA_CUH */
