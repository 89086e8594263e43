/* gpu/spmm/merge_vector.cuh - y = A*x by merge path: a segmented sum over the entries of
   A.

   A block takes a tile of the path, and a warp a part of the tile's entries. Neighbouring
   lanes read neighbouring entries, which often have neighbouring columns, and write the
   products to shared memory. Each lane then sums EACH neighbouring products. At the end
   of a row, marked by a bit for each entry, the sum replaces the last product of the row.

   The first row of a lane may have begun in earlier lanes. A scan over the warp that
   restarts after each end of a row gives their contribution. A sum that is open at the
   end of a warp goes to the next warps of the block; one that is open at the end of the
   block goes to the next tiles (the carry). All sums are in the order of entries.

   Finally one thread for each row of the tile stores its sum to y, so that stores are
   coalesced and empty rows need no special case. If several tiles have pieces of a row,
   the tile that finishes last adds their carries, always in the same order. No tile waits
   for another, and no second kernel is needed. */
#ifndef HY_MERGE_VECTOR_CUH
#define HY_MERGE_VECTOR_CUH

#include "gpu/spmm/merge_tile.cuh"

enum {
    VECTOR_EACH = 4, /* entries of a lane; large tiles have twice as many */
    VECTOR_ROWS = 2, /* for this many of its rows a thread keeps the number of the last
                        entry in registers */
    VECTOR_WARPS = int(HY_CUDA_THREADS) / 32
};

/* Maximum entries of a tile: EACH for each thread of a block. */
template <int EACH> constexpr int vector_room = EACH *int(HY_CUDA_THREADS);

static_assert(5 * int(HY_MERGE_VECTOR_ITEMS) / 4 <= vector_room<VECTOR_EACH>,
              "a tile and the longest row that is not cut");

template <typename T> struct vector_path {
    const hy_merge_cut *cut;
    const hy_merge_join *join;
    const uint16_t *last;
    int32_t *arrived;
    T *carry; /* `tiles` elements: for each tile, the sum so far of the row that continues
                 in the next tile */
};

struct vector_tile {
    int64_t row, entry; /* first row and first entry of the tile, counted from the chunk's
                           first */
    int rows, entries;
};

/* ---- rows ---- */

/* For each of the thread's first VECTOR_ROWS rows in the tile, the row's last entry; -1
   for a row without entries in the tile. These numbers stay in registers, because reading
   them again would be slow. */
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

/* A lane's entries within the part of the tile that its warp takes: every 32nd entry. If
   the part is full (`whole`), as most are, no entry needs a test. */
template <typename T, int EACH> struct vector_part {
    int32_t col[EACH];
    T val[EACH];
    int first, left; /* first: index in the tile of the lane's first entry; left: number
                        of entries of the tile from that index on */
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

/* Sums a lane's EACH products of entries and x from `mine` on. Where a row ends, which
   `bits` marks, the sum replaces the last product of the row. Returns the open sum: that
   of the products after the last end of a row. */
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

/* The open sum of a warp. It belongs to a row that may continue in the next warp. */
template <typename T> struct vector_carry {
    T sum;      /* sum since the last end of a row in the warp, or since the beginning of
                   the warp */
    bool ended; /* true if a row ended in the warp */
};

/* Returns the open sum of the lanes before this one: the sum of `left` back to the last
   lane in `ended`, the mask of the lanes in which a row ended. Sets *carry to the open
   sum of the warp. */
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

/* Returns the open sum of the block after its first `warps` warps. */
template <typename T> static __device__ T carried(const vector_carry<T> *carry, int warps)
{
    T sum = T(0);
    for (int w = 0; w < warps; w++)
        sum = carry[w].ended ? carry[w].sum : sum + carry[w].sum;
    return sum;
}

/* Turns products of entries and x into sums of rows, which replace the last products of
   the rows. The open sum of the block becomes the tile's carry. */
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
        /* true in the first lane of the warp with an end of a row */
        const bool first = (ended & ((1u << lane) - 1)) == 0;
        slot[at + __ffs(int(bits)) - 1] += first ? carried(carry, warp) + before : before;
    }
    if (threadIdx.x == 0)
        *tile_carry = carried(carry, VECTOR_WARPS);
    __syncthreads();
}

/* ---- rows in pieces ---- */

/* All lanes of a warp call it. Returns the sum of the carries of the tiles that have
   pieces of a row, except the last of these tiles. */
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

/* A warp counts this tile as finished for a row of which several tiles have pieces. The
   tile that finishes last adds the carries to the value that the tile with the row's end
   has stored in y. */
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
    __syncwarp(); /* orders accesses to memory, which a shuffle does not */
    __threadfence();
    const T sum = warp_carried(p.carry, of);
    if (leads) {
        *y                  = __ldcg(y) + sum;
        p.arrived[of.first] = 0; /* the next run of the kernel counts from 0 again */
    }
}

/* Calls warp_join() for the row that continues from an earlier tile and ends here, and
   for the row that continues in the next tile. */
template <typename T>
static __device__ void block_join(const vector_path<T> &p, const vector_tile &t,
                                  hy_merge_join before, hy_merge_join after, T *y)
{
    if (before.first < 0 && after.first < 0)
        return;
    __syncthreads(); /* waits until all threads have stored their rows to y */
    if (threadIdx.x >= 32)
        return;
    if (before.first >= 0 && t.rows > 0)
        warp_join(p, before, y);
    if (after.first >= 0)
        warp_join(p, after, y + t.rows);
}

/* Computes y. Thread block x takes tile x of the merge path. */
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
