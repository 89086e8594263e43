/* gpu/spmm/spmm_lanes.cuh - Y = A*X for kernels whose lanes own columns of X.

   A group of neighbouring lanes works on one row of A at a time. Each lane owns VEC
   columns, so that a group reads up to 128 bytes of a row of X at once: a tile of
   columns, and up to HY_SPMM_TILES of them in one pass over A. */
#ifndef HY_SPMM_LANES_CUH
#define HY_SPMM_LANES_CUH

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_tuning.h"
#include "partition/format/pack.h"

/* VEC neighbours, loaded and stored at once. */
template <typename T, int VEC> struct alignas(sizeof(T) * VEC) hy_vec {
    T x[VEC];
};

template <typename T> struct hy_spmm_operands {
    int64_t rows, n; /* n columns of X, behind which those are that lie apart */
    const int64_t *row_ptr;
    const int32_t *col;
    const T *val;
    const T *x;
    uint32_t pitch; /* bytes from row to row of X: 32 bits make one multiply-add */
    bool whole;     /* rows of Y can be stored VEC values at a time */
    T *y;           /* row-major, */
    int64_t ld;     /* ld = n + rest_n values a row */
    const T *rest;  /* the columns that lie apart, rows rest_pitch bytes long */
    uint32_t rest_pitch;
    int rest_n;
};

static_assert(int(HY_X_LINE) == int(HY_SPMM_LINE), "slabs are what groups read at once");

/* Where the columns go. */
struct hy_spmm_columns {
    int log_lanes;         /* of a group */
    int64_t tiles, passes; /* 1 pass if a group has less than a whole tile */
};

/* Columns [j, j + VEC) of row `row`; x_j is where they are in row 0. */
template <typename T, int VEC>
__device__ hy_vec<T, VEC> hy_load_x(const T *x_j, int32_t row, uint32_t pitch)
{
    const char *at =
        reinterpret_cast<const char *>(x_j) + uint64_t(uint32_t(row)) * pitch;
    return *reinterpret_cast<const hy_vec<T, VEC> *>(at);
}

/* sum += a * x */
template <typename T, int VEC>
__device__ void hy_add_x(T (&sum)[VEC], T a, const hy_vec<T, VEC> &x)
{
#pragma unroll
    for (int e = 0; e < VEC; e++)
        sum[e] += a * x.x[e];
}

template <typename T, int VEC> __device__ void hy_store_vec(T *to, const T (&from)[VEC])
{
    hy_vec<T, VEC> v;
#pragma unroll
    for (int e = 0; e < VEC; e++)
        v.x[e] = from[e];
    *reinterpret_cast<hy_vec<T, VEC> *>(to) = v;
}

/* The same to global memory, in one store whatever the compiler makes of structs. */
static __device__ inline void hy_store_once(float *to, const float (&from)[4])
{
    __stwb(reinterpret_cast<float4 *>(to),
           make_float4(from[0], from[1], from[2], from[3]));
}

static __device__ inline void hy_store_once(float *to, const float (&from)[2])
{
    __stwb(reinterpret_cast<float2 *>(to), make_float2(from[0], from[1]));
}

static __device__ inline void hy_store_once(double *to, const double (&from)[2])
{
    __stwb(reinterpret_cast<double2 *>(to), make_double2(from[0], from[1]));
}

template <typename T> static __device__ void hy_store_once(T *to, const T (&from)[1])
{
    *to = from[0];
}

/* Columns [j, j + VEC) of a row of Y, as far as there are n. Rows that are not WHOLE
   begin anywhere. */
template <bool WHOLE, typename T, int VEC>
__device__ void hy_store_y(int64_t n, T *y, int64_t j, const T (&sum)[VEC])
{
    if constexpr (WHOLE) {
        if (j < n)
            hy_store_once(y + j, sum);
    } else {
#pragma unroll
        for (int e = 0; e < VEC; e++)
            if (j + e < n)
                y[j + e] = sum[e];
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

/* Lanes that read a tile of X at once, at most. */
template <typename T, int VEC>
constexpr int hy_tile_lanes = HY_SPMM_LINE / (VEC * int(sizeof(T))) < 32
                                  ? HY_SPMM_LINE / (VEC * int(sizeof(T)))
                                  : 32;

/* Rows of X in flight in a lane: 32 registers full of them, eight at most; a power of
   two. */
template <typename T, int VEC, int TILES>
constexpr int hy_prefault = 128 / ((TILES < 3 ? TILES : 4) * VEC * int(sizeof(T))) < 8
                                ? 128 / ((TILES < 3 ? TILES : 4) * VEC * int(sizeof(T)))
                                : 8;

/* With up to `most_tiles` tiles in a pass. */
template <typename T, int VEC>
hy_spmm_columns hy_columns_of(int64_t n, int64_t most_tiles)
{
    constexpr int most  = hy_tile_lanes<T, VEC>;
    const int64_t tiles = (n + most * VEC - 1) / (most * VEC);
    const double lanes  = double((n + VEC - 1) / VEC);
    return {hy_log_lanes(lanes < most ? lanes : most, 5), tiles,
            (tiles + most_tiles - 1) / most_tiles};
}

/* Call f.template operator()<TILES>(first tile) for a pass: they share tiles evenly, and
   none has more than MOST. */
template <int MOST, typename F>
__device__ void hy_for_pass(const hy_spmm_columns &c, int64_t pass, const F &f)
{
    const int64_t first = pass * c.tiles / c.passes;
    const int64_t tiles = (pass + 1) * c.tiles / c.passes - first;
    static_assert(MOST <= 4, "a case for each");
    if (tiles == 1)
        f.template operator()<1>(first);
    if constexpr (MOST > 1)
        if (tiles == 2)
            f.template operator()<2>(first);
    if constexpr (MOST > 2) {
        if (tiles == 3)
            f.template operator()<3>(first);
        if (tiles == 4)
            f.template operator()<4>(first);
    }
}

/* Threads that a multiprocessor should hold: registers for more tiles cost some. */
constexpr int hy_spmm_resident(int most_tiles)
{
    return most_tiles > 1 ? HY_SPMM_RESIDENT_MANY : HY_SPMM_RESIDENT;
}

/* Whether rows of X can be read `vec` values at a time, the last ones of each row with
   what lies between it and the next. */
template <typename T> bool hy_vectors_fit(hy_spmm_operands<T> *o, int vec)
{
    const size_t bytes = vec * sizeof(T);
    const size_t row   = size_t((o->n + vec - 1) / vec) * bytes;
    o->whole = o->n % vec == 0 && o->ld % vec == 0 && uintptr_t(o->y) % bytes == 0;
    return (uintptr_t(o->x) | o->pitch) % bytes == 0 && row <= o->pitch;
}

template <typename T> hy_spmm_operands<T> hy_spmm_operands_of(const hy_job *job)
{
    const hy_csr_view a         = hy_packed_a(job);
    const hy_dense_view x       = hy_packed_x(job);
    const int64_t cols          = job->chunk->col_end - job->chunk->col_begin;
    const hy_spmm_operands<T> o = {a.rows,
                                   cols - x.rest_cols,
                                   a.row_ptr,
                                   a.col,
                                   static_cast<const T *>(a.val),
                                   static_cast<const T *>(x.x),
                                   uint32_t(x.ld * int64_t(sizeof(T))),
                                   true,
                                   static_cast<T *>(job->out.val),
                                   cols,
                                   static_cast<const T *>(x.rest),
                                   uint32_t(x.rest_ld * int64_t(sizeof(T))),
                                   int(x.rest_cols)};
    return o;
}

/* The columns that lie apart, as operands of their own. */
template <typename T> hy_spmm_operands<T> hy_spmm_rest_of(const hy_spmm_operands<T> &o)
{
    hy_spmm_operands<T> rest = o;
    rest.x                   = o.rest;
    rest.pitch               = o.rest_pitch;
    rest.n                   = o.rest_n;
    rest.y                   = o.y + o.n;
    rest.rest_n              = 0;
    return rest;
}

/* Whether a row of X takes more than half a line: then groups read whole lines. */
inline bool hy_spmm_is_wide(int64_t n, hybrid_type type)
{
    return n * int64_t(hy_value_size(type)) > HY_SPMM_LINE / 2;
}

/* Whether rows of A share next to nothing of an X that the L2 cache does not hold. */
inline bool hy_is_apart(double tile_fill, double x_bytes)
{
    return tile_fill > 0 && tile_fill < HY_SPMM_APART && x_bytes > HY_SPMM_L2;
}

/* What a nonzero costs where rows of A that are near each other share columns: 1 where
   they share none, less by `save` where they share what they can. */
inline double hy_spmm_near(const hy_features *f, double save)
{
    const double near = (f->tile_fill - HY_SPMM_NEAR) / (HY_SPMM_NEARER - HY_SPMM_NEAR);
    return 1 - save * (near < 0 ? 0 : near > 1 ? 1 : near);
}

/* Seconds in which a nonzero and its row of X can be read. */
inline double hy_spmm_nonzero_s(const hy_features *f, const hy_rates *r)
{
    const double size = double(hy_value_size(f->type));
    return (4 + size + size * double(f->out_cols)) / (HY_SPMM_REUSE * r->mem_Bps);
}

/* Seconds in which all nonzeros are multiplied by one column of X. */
inline double hy_vector_s(const hy_features *f, const hy_rates *r)
{
    const double alone = 1.0 / 16, fill = f->tile_fill > alone ? f->tile_fill : alone;
    const double apart    = alone * alone / (fill * fill);
    const double sector_s = 32 / (HY_SPMM_REUSE * r->mem_Bps);
    return double(f->nnz) * (HY_VECTOR_NONZERO * hy_spmm_nonzero_s(f, r) +
                             HY_VECTOR_APART * apart * sector_s);
}

/* The reason why X is too wide for these kernels, or NULL. */
inline const char *hy_spmm_refuse_width(const hy_features *f)
{
    /* a row is filled up to 16 bytes */
    return f->out_cols * int64_t(hy_value_size(f->type)) > UINT32_MAX - 15
               ? "a row of X has 4 GB or more"
               : nullptr;
}

#endif /* HY_SPMM_LANES_CUH */
