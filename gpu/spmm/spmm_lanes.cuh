/* gpu/spmm/spmm_lanes.cuh - declarations for kernels of Y = A*X in which each GPU lane
   (thread) computes a few columns of Y.

   A group of neighbouring lanes works on one row of A at a time. Each lane owns VEC
   columns, so a group reads up to 128 bytes of a row of X, a line, at once. These columns
   are a tile. One pass over A covers up to HY_SPMM_TILES tiles. Columns that take up to
   16 bytes beyond whole lines may be stored apart, as tail columns
   (hy_image.tail_lines). */
#ifndef HY_SPMM_LANES_CUH
#define HY_SPMM_LANES_CUH

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_tuning.h"
#include "partition/format/pack.h"

/* VEC neighbouring values that are loaded and stored at once. */
template <typename T, int VEC> struct alignas(sizeof(T) * VEC) hy_vec {
    T x[VEC];
};

template <typename T> struct hy_spmm_operands {
    int64_t rows, n; /* rows: rows of A; n: columns of X without the tail columns */
    const int64_t *row_ptr;
    const int32_t *col;
    const T *val;
    const T *x;
    uint32_t
        pitch;     /* bytes from row to row of X, as 32 bits, which save an instruction */
    bool whole;    /* true if rows of Y can be stored VEC values at a time */
    T *y;          /* Y, row-major */
    int64_t ld;    /* elements from row to row of Y: n + rest_n */
    const T *rest; /* first tail column of row 0 of X; rows of tail columns are
                      rest_pitch bytes apart */
    uint32_t rest_pitch;
    int rest_n;
};

static_assert(int(HY_X_LINE) == int(HY_SPMM_LINE), "slabs are what groups read at once");

/* How a group of lanes covers the columns of X. */
struct hy_spmm_columns {
    int log_lanes;         /* log2 of the lanes of a group */
    int64_t tiles, passes; /* tiles: number of tiles that all columns make, without the
                              tail columns; passes: number of walks over A in which they
                              are computed */
};

/* Loads columns [j, j + VEC) of row `row` of X; x_j points to column j of row 0. */
template <typename T, int VEC>
__device__ hy_vec<T, VEC> hy_load_x(const T *x_j, int32_t row, uint32_t pitch)
{
    const char *at =
        reinterpret_cast<const char *>(x_j) + uint64_t(uint32_t(row)) * pitch;
    return *reinterpret_cast<const hy_vec<T, VEC> *>(at);
}

/* Adds a * x to sum. */
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

/* Stores the values to global memory in one instruction, however the compiler treats
   structs. */
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

/* Stores columns [j, j + VEC) of a row of Y that has n columns; those from n on are not
   stored. With WHOLE, rows must be aligned to VEC values and VEC must divide n. */
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

/* Returns the smallest s with 2^s >= n, but at most `most`. */
inline int hy_log_lanes(double n, int most)
{
    int s = 0;
    while (s < most && double(1 << s) < n)
        s++;
    return s;
}

/* Maximum number of lanes that read a tile of X at once. */
template <typename T, int VEC>
constexpr int hy_tile_lanes = HY_SPMM_LINE / (VEC * int(sizeof(T))) < 32
                                  ? HY_SPMM_LINE / (VEC * int(sizeof(T)))
                                  : 32;

/* Rows of X that a lane requests before it uses the first: as many as fill 32 registers
   of 4 bytes, at most eight, a power of two. */
template <typename T, int VEC, int TILES>
constexpr int
    hy_rows_in_flight = 128 / ((TILES < 3 ? TILES : 4) * VEC * int(sizeof(T))) < 8
                            ? 128 / ((TILES < 3 ? TILES : 4) * VEC * int(sizeof(T)))
                            : 8;

/* Returns the division of n columns of X into tiles, and of these into passes of at most
   `max_tiles` tiles. */
template <typename T, int VEC> hy_spmm_columns hy_columns_of(int64_t n, int64_t max_tiles)
{
    constexpr int most  = hy_tile_lanes<T, VEC>;
    const int64_t tiles = (n + most * VEC - 1) / (most * VEC);
    const double lanes  = double((n + VEC - 1) / VEC);
    return {hy_log_lanes(lanes < most ? lanes : most, 5), tiles,
            (tiles + max_tiles - 1) / max_tiles};
}

/* Calls f.template operator()<TILES>(first tile) for a pass, where TILES is the number of
   tiles of the pass. Passes share the tiles evenly; none has more than MOST. */
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

/* Returns how many threads a multiprocessor should hold at least if a pass has up to
   max_tiles tiles. More tiles need more registers. */
constexpr int hy_spmm_resident(int max_tiles)
{
    return max_tiles > 1 ? HY_SPMM_RESIDENT_MANY : HY_SPMM_RESIDENT;
}

/* Returns true if rows of X can be read `vec` values at a time, where the last vector of
   a row may extend into the gap before the next row. Sets o->whole to true if rows of Y
   can be stored `vec` values at a time. */
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

/* Returns the operands of a product of A with the tail columns only. */
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

/* Returns true if a row of X takes more than half a line; then groups read whole
   lines. */
inline bool hy_spmm_is_wide(int64_t n, hybrid_type type)
{
    return n * int64_t(hy_value_size(type)) > HY_SPMM_LINE / 2;
}

/* Returns true if rows of A share next to nothing of X (tile_fill is known and below
   HY_SPMM_SCATTERED), and X exceeds the L2 cache. */
inline bool hy_is_scattered(double tile_fill, double x_bytes, const hy_rates *r)
{
    return tile_fill > 0 && tile_fill < HY_SPMM_SCATTERED && x_bytes > double(r->cache);
}

/* Returns the relative cost of an entry: 1 if tile_fill is at most HY_SPMM_NEAR, since
   then neighbouring rows of A share hardly any columns of X, falling linearly to 1 -
   `save` at HY_SPMM_NEARER. */
inline double hy_spmm_near(const hy_features *f, double save)
{
    const double near = (f->tile_fill - HY_SPMM_NEAR) / (HY_SPMM_NEARER - HY_SPMM_NEAR);
    return 1 - save * (near < 0 ? 0 : near > 1 ? 1 : near);
}

/* Returns the predicted seconds to read all entries of A, each with its row of X. */
inline double hy_spmm_nonzero_s(const hy_features *f, const hy_rates *r)
{
    const double size = double(hy_value_size(f->type));
    return (4 + size + size * double(f->out_cols)) / (HY_SPMM_REUSE * r->mem_Bps);
}

/* Returns the predicted seconds to multiply A by a single column of X. */
inline double hy_vector_s(const hy_features *f, const hy_rates *r)
{
    const double alone = 1.0 / 16, fill = f->tile_fill > alone ? f->tile_fill : alone;
    const double apart    = alone * alone / (fill * fill);
    const double sector_s = 32 / (HY_SPMM_REUSE * r->mem_Bps);
    return double(f->nnz) * (HY_VECTOR_NONZERO * hy_spmm_nonzero_s(f, r) +
                             HY_VECTOR_SCATTERED * apart * sector_s);
}

/* Returns the reason why X is too wide for these kernels, or NULL. */
inline const char *hy_spmm_refuse_width(const hy_features *f)
{
    /* a row is padded to a multiple of 16 bytes, and its size must fit 32 bits */
    return f->out_cols * int64_t(hy_value_size(f->type)) > UINT32_MAX - 15
               ? "a row of X has 4 GiB or more"
               : nullptr;
}

#endif /* HY_SPMM_LANES_CUH */
