/* gpu/spmm_lanes.cuh - Y = A*X for kernels whose lanes own columns of X.

   A group of 2^log_lanes neighbouring lanes works on one row of A at a time. Each lane
   owns VEC columns, so that a group reads up to 128 bytes of a row of X, a whole cache
   line: a tile of columns. Wider X are done in passes of one tile; rows of X that
   neighbouring rows of A share then stay in the first-level cache, which holds four
   times as many of them as if 512 bytes were read at once. A rest that does not fill a
   tile is done in the last pass together with the tile before it. */
#ifndef HY_SPMM_LANES_CUH
#define HY_SPMM_LANES_CUH

#include "base/csr.h"
#include "gpu/cuda_lane.cuh"
#include "gpu/cuda_tuning.h"
#include "partition/pack.h"

/* VEC neighbours, loaded and stored at once. */
template <typename T, int VEC> struct alignas(sizeof(T) * VEC) hy_vec {
    T x[VEC];
};

template <typename T> struct hy_spmm_operands {
    int64_t rows, n; /* n columns of X */
    const int64_t *row_ptr;
    const int32_t *col;
    const T *val;
    const T *x;
    int64_t ld; /* of X */
    T *y;       /* rows x n, row-major */
};

/* Where the columns go. */
struct hy_spmm_columns {
    int log_lanes;
    int64_t passes;
};

template <typename T, int VEC>
__device__ hy_vec<T, VEC> hy_load_x(const hy_spmm_operands<T> &o, int32_t col, int64_t j)
{
    return *reinterpret_cast<const hy_vec<T, VEC> *>(o.x +
                                                     uint64_t(uint32_t(col)) * o.ld + j);
}

/* Columns [j, j + VEC) of a row of Y, and those of the further tiles. */
template <typename T, int VEC, int TILES>
__device__ void hy_store_y(T *y, int64_t n, int64_t j, int tile,
                           const T (&sum)[TILES][VEC])
{
#pragma unroll
    for (int t = 0; t < TILES; t++) {
        hy_vec<T, VEC> out;
#pragma unroll
        for (int e = 0; e < VEC; e++)
            out.x[e] = sum[t][e];
        if (j + t * tile < n)
            *reinterpret_cast<hy_vec<T, VEC> *>(y + j + t * tile) = out;
    }
}

/* The smallest s with 2^s >= n, at most `most`. */
inline int hy_log_lanes(double n, int most)
{
    int s = 0;
    while (s < most && double(1 << s) < n)
        s++;
    return s;
}

/* Lanes that read a line of X at once. */
template <typename T, int VEC> constexpr int hy_line_lanes()
{
    constexpr int lanes = HY_SPMM_LINE / int(sizeof(T)) / VEC;
    return lanes < 32 ? lanes : 32;
}

/* A group reads a line, or all of a row of X if that is less. */
template <typename T, int VEC> hy_spmm_columns hy_columns_of(int64_t n)
{
    constexpr int most = hy_line_lanes<T, VEC>();
    const int64_t full = n / (most * VEC);
    const double lanes = double((n + VEC - 1) / VEC);
    return {hy_log_lanes(lanes < most ? lanes : most, 5), full > 1 ? full : 1};
}

/* Whether rows of X and Y can be read and written `vec` values at a time. */
template <typename T> bool hy_vectors_fit(const hy_spmm_operands<T> &o, int vec)
{
    const uintptr_t ends =
        reinterpret_cast<uintptr_t>(o.x) | reinterpret_cast<uintptr_t>(o.y);
    return o.n % vec == 0 && o.ld % vec == 0 && ends % (vec * sizeof(T)) == 0;
}

template <typename T> hy_spmm_operands<T> hy_spmm_operands_of(const hy_job *job)
{
    const hy_csr_view a         = hy_packed_a(job);
    const hy_dense_view x       = hy_packed_x(job);
    const hy_spmm_operands<T> o = {a.rows,
                                   job->chunk->col_end - job->chunk->col_begin,
                                   a.row_ptr,
                                   a.col,
                                   static_cast<const T *>(a.val),
                                   static_cast<const T *>(x.x),
                                   x.ld,
                                   static_cast<T *>(job->out.val)};
    return o;
}

#endif /* HY_SPMM_LANES_CUH */
