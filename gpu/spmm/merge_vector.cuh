/* gpu/spmm/merge_vector.cuh - y = A*x by merge path: a segmented sum over the entries of
   A.

   A block takes a tile of the path, and a warp a part of the tile's entries. Lanes that
   are neighbours read entries that are, since their columns often are, too, and put the
   products into shared memory. There a lane has EACH neighbours and adds them up; where a
   row ends, which a bit for each entry tells, the sum takes the place of the last
   product. The first of a lane's rows may have begun in lanes before: a scan over the
   warp, which restarts at lanes where a row ended, tells what those have of it. What is
   left at a warp's end goes to the warps that follow in the block, what is left at the
   block's end to the tiles that follow (the carry). All in the order of entries.

   Then a thread to each row of the tile stores it in y, so that stores are coalesced and
   rows without entries need no care. Of the tiles that have a part of one row, the one
   that is done last adds up their carries, always in the same order: nobody waits, and no
   second kernel has to start. */
#ifndef HY_MERGE_VECTOR_CUH
#define HY_MERGE_VECTOR_CUH

#include "gpu/spmm/merge_tile.cuh"

enum {
    VECTOR_EACH  = 4, /* entries of a lane, or twice as many */
    VECTOR_ROWS  = 2, /* of a thread, whose ends it keeps */
    VECTOR_WARPS = int(HY_CUDA_THREADS) / 32
};

/* Entries that a block has room for. */
template <int EACH> constexpr int vector_room = EACH *int(HY_CUDA_THREADS);

static_assert(5 * int(HY_MERGE_VECTOR_ITEMS) / 4 <= vector_room<VECTOR_EACH>,
              "a tile and the longest row that is not cut");

/* What the kernel knows of the path (partition/format/merge.h). */
template <typename T> struct vector_path {
    const hy_merge_cut *cut;
    const hy_merge_join *join;
    const uint16_t *last;
    int32_t *arrived;
    T *carry; /* tiles: the piece of the row that the tile does not end */
};

/* The block's tile. */
struct vector_tile {
    int64_t row, entry; /* of the chunk: the first */
    int rows, entries;
};

/* ---- rows ---- */

/* The last entries of a thread's first rows of the tile, -1 for a row that has none here:
   kept, since the matrix is far. */
struct vector_rows {
    int last[VECTOR_ROWS];
};

static __device__ inline int last_entry(const uint16_t *last, const vector_tile &t, int r)
{
    const int entry = last[t.row + r];
    return entry == HY_MERGE_NO_ENTRY ? -1 : entry;
}

static __device__ inline void mark_end(uint32_t *ends, int k)
{
    if (k >= 0)
        atomicOr(&ends[k / 32], 1u << k % 32);
}

static __device__ inline vector_rows block_mark_ends(const uint16_t *last,
                                                     const vector_tile &t, uint32_t *ends)
{
    vector_rows rows;
    int r = int(threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTOR_ROWS; i++, r += HY_CUDA_THREADS)
        rows.last[i] = r < t.rows ? last_entry(last, t, r) : -1;
#pragma unroll
    for (int i = 0; i < VECTOR_ROWS; i++)
        mark_end(ends, rows.last[i]);
    for (; r < t.rows; r += HY_CUDA_THREADS)
        mark_end(ends, last_entry(last, t, r));
    return rows;
}

template <typename T>
static __device__ void block_store_rows(T *y, const uint16_t *last, const vector_tile &t,
                                        const vector_rows &rows, const T *slot)
{
    int r = int(threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTOR_ROWS; i++, r += HY_CUDA_THREADS)
        if (r < t.rows)
            y[r] = rows.last[i] >= 0 ? slot[rows.last[i]] : T(0);
    for (; r < t.rows; r += HY_CUDA_THREADS) {
        const int k = last_entry(last, t, r);
        y[r]        = k >= 0 ? slot[k] : T(0);
    }
}

/* ---- products ---- */

/* Entries of a warp: one in a lane, and the next 32. Most warps have a whole part of the
   tile; all their lanes know, so that no entry is tested. */
template <typename T, int EACH> struct vector_part {
    int32_t col[EACH];
    T val[EACH];
    int first, left; /* of the tile: this lane's first, and how many from there on */
    bool whole;
};

template <typename T, int EACH>
static __device__ vector_part<T, EACH> load_part(const hy_spmm_operands<T> &o,
                                                 const vector_tile &t)
{
    const int begin = int(threadIdx.x) / 32 * 32 * EACH;
    vector_part<T, EACH> part;
    part.first         = begin + int(threadIdx.x) % 32;
    part.left          = t.entries - part.first;
    part.whole         = begin + 32 * EACH <= t.entries;
    const int32_t *col = o.col + t.entry + part.first;
    const T *val       = o.val + t.entry + part.first;
    if (part.whole)
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            part.col[e] = __ldcg(col + e * 32);
            part.val[e] = __ldcg(val + e * 32);
        }
    else
#pragma unroll
        for (int e = 0; e < EACH; e++)
            if (e * 32 < part.left) {
                part.col[e] = col[e * 32];
                part.val[e] = val[e * 32];
            }
    return part;
}

template <typename T, int EACH>
static __device__ void store_products(const hy_spmm_operands<T> &o,
                                      const vector_part<T, EACH> &part, T *slot)
{
    if (part.whole) {
        T x[EACH];
#pragma unroll
        for (int e = 0; e < EACH; e++)
            x[e] = hy_load_x<T, 1>(o.x, part.col[e], o.pitch).x[0];
#pragma unroll
        for (int e = 0; e < EACH; e++)
            slot[part.first + e * 32] = part.val[e] * x[e];
        return;
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
        slot[part.first + e * 32] =
            e * 32 < part.left
                ? part.val[e] * hy_load_x<T, 1>(o.x, part.col[e], o.pitch).x[0]
                : T(0);
}

/* ---- sums ---- */

/* Add up a lane's products from `mine` on; sums of rows take the place of their last
   products, which `bits` tells. Returns what is left. */
template <typename T, int EACH> static __device__ T lane_sum(T *mine, unsigned bits)
{
    constexpr int WORD = 16 / int(sizeof(T));
    T product[EACH], sum = T(0);
#pragma unroll
    for (int e = 0; e < EACH; e += WORD)
        *reinterpret_cast<uint4 *>(product + e) =
            *reinterpret_cast<const uint4 *>(mine + e);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        sum += product[e];
        if (bits & 1u << e) {
            mine[e] = sum;
            sum     = T(0);
        }
    }
    return sum;
}

/* What a warp leaves to those after it. */
template <typename T> struct vector_carry {
    T sum;      /* since the last end of a row, or of all */
    bool ended; /* there was one */
};

/* What the lanes before this one have of the row that goes on here: the sum of `left`
   back to the last lane in `ended`, lanes in which a row ended. */
template <typename T>
static __device__ T warp_scan(T left, unsigned ended, vector_carry<T> *carry)
{
    const unsigned all = 0xffffffffu, lane = threadIdx.x % 32;
    const unsigned here = ended & ((2u << lane) - 1);
    const int back      = int(lane) - (here ? 31 - __clz(int(here)) : 0);
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        const T other = __shfl_up_sync(all, left, apart);
        if (apart <= back)
            left += other;
    }
    const T before = __shfl_up_sync(all, left, 1);
    *carry         = {__shfl_sync(all, left, 31), ended != 0};
    return lane > 0 ? before : T(0);
}

/* What the first `warps` of the block leave to the next. */
template <typename T> static __device__ T carried(const vector_carry<T> *carry, int warps)
{
    T sum = T(0);
    for (int w = 0; w < warps; w++)
        sum = carry[w].ended ? carry[w].sum : sum + carry[w].sum;
    return sum;
}

/* From products to sums of rows, in the slots of their last entries. What is left goes to
   the tile's carry. */
template <typename T, int EACH>
static __device__ void block_sum(T *slot, const uint32_t *ends, T *tile_carry)
{
    __shared__ vector_carry<T> carry[VECTOR_WARPS];
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    const int at         = int(threadIdx.x) * EACH;
    const unsigned bits  = ends[at / 32] >> at % 32 & ((1u << EACH) - 1);
    const T left         = lane_sum<T, EACH>(slot + at, bits);
    const unsigned ended = __ballot_sync(0xffffffffu, bits != 0);
    vector_carry<T> own;
    const T before = warp_scan(left, ended, &own);
    if (lane == 0)
        carry[warp] = own;
    __syncthreads();
    if (bits) {
        const bool first = (ended & ((1u << lane) - 1)) == 0; /* of the warp */
        slot[at + __ffs(int(bits)) - 1] += first ? carried(carry, warp) + before : before;
    }
    if (threadIdx.x == 0)
        *tile_carry = carried(carry, VECTOR_WARPS);
    __syncthreads();
}

/* ---- rows in pieces ---- */

/* What the tiles that have a part of a row carry of it; a warp. */
template <typename T> static __device__ T warp_carried(const T *carry, hy_merge_join of)
{
    T sum = T(0);
#pragma unroll 4
    for (int t = of.first + int(threadIdx.x) % 32; t < of.last; t += 32)
        sum += __ldcg(carry + t);
    for (int apart = 16; apart > 0; apart >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    return sum;
}

/* This tile is done with its part of a row. The last tile that is adds the carries to
   what the tile that ends the row has stored. A warp. */
template <typename T>
static __device__ void warp_join(const vector_path<T> &p, hy_merge_join of, T *y)
{
    const bool leads = threadIdx.x % 32 == 0;
    int before       = 0;
    if (leads) {
        __threadfence();
        before = atomicAdd(&p.arrived[of.first], 1);
    }
    if (__shfl_sync(0xffffffffu, before, 0) < of.last - of.first)
        return;
    __syncwarp(); /* a shuffle orders no memory */
    __threadfence();
    const T sum = warp_carried(p.carry, of);
    if (leads) {
        *y                  = __ldcg(y) + sum;
        p.arrived[of.first] = 0; /* for the next run */
    }
}

/* The row that the tile goes on with and ends, and the one that goes on after it. */
template <typename T>
static __device__ void block_join(const vector_path<T> &p, const vector_tile &t,
                                  hy_merge_join before, hy_merge_join after, T *y)
{
    if (before.first < 0 && after.first < 0)
        return;
    __syncthreads(); /* rows are stored */
    if (threadIdx.x >= 32)
        return;
    if (before.first >= 0 && t.rows > 0)
        warp_join(p, before, y);
    if (after.first >= 0)
        warp_join(p, after, y + t.rows);
}

/* Block x: tile x. */
template <typename T, int EACH>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    vector_kernel(hy_spmm_operands<T> o, vector_path<T> p)
{
    __shared__ alignas(16) T slot[vector_room<EACH>];
    __shared__ uint32_t ends[vector_room<EACH> / 32];
    const hy_merge_cut from = p.cut[blockIdx.x], to = p.cut[blockIdx.x + 1];
    const hy_merge_join before = p.join[blockIdx.x], after = p.join[blockIdx.x + 1];
    const vector_tile t             = {from.row, from.entry, int(to.row - from.row),
                                       int(to.entry - from.entry)};
    const vector_part<T, EACH> part = load_part<T, EACH>(o, t);
    if (threadIdx.x < vector_room<EACH> / 32)
        ends[threadIdx.x] = 0;
    __syncthreads();
    const vector_rows rows = block_mark_ends(p.last, t, ends);
    store_products(o, part, slot);
    __syncthreads();
    block_sum<T, EACH>(slot, ends, p.carry + blockIdx.x);
    block_store_rows(o.y + t.row, p.last, t, rows, slot);
    block_join(p, t, before, after, o.y + t.row);
}

#endif /* HY_MERGE_VECTOR_CUH */
