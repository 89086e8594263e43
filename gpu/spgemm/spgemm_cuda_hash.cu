/* gpu/spgemm/spgemm_cuda_hash.cu - C = A*B on the GPU: each row on its own, in shared
   memory.

   multiply()  puts rows in bins and computes them, each sorted, in any order
   finish()    puts them in order

   A product here is a scalar product. The position of a column in its row is its rank,
   the number of lower columns, in the bitmap of the row's columns, so ranking replaces a
   hash table and needs no sort afterwards. The bitmap is wide and sparse, and is stored
   as a tree of bitmaps with nodes only where columns exist. Rows are computed by size:

       up to 256 products   part of a warp sorts them in registers     hash_sort.cuh
       a tree that fits     a warp or a block builds it, then adds     hash_tree.cuh
       the others           blocks share the row, by windows of
                            columns that are dense in shared memory    hash_dense.cuh

   No kernel counts entries first. The room of a row is guessed from the plan's estimate
   of products / entries. A row that does not fit its bin's memory is passed to the next
   bin, and the kernel of that bin runs later. hash_walk.cuh divides the products of a row
   among threads.

   Rows computed by a warp or a part of one are the same on every run. Blocks add with
   atomics, so floating-point sums of longer rows may differ in the last bits.

   Scratch of a chunk: 4 + s bytes for each entry of C for which the chunk has room
   (hy_features.out_room), where s is the bytes of a value, and 16 or 24 bytes for each
   entry of A. Kernels count entries for which there is no room, and store none of them.

   After spECK (Parger et al. 2020: bins by a light analysis, dense windows, lanes for a
   row of B by its length) and OpSparse (Du et al. 2022: bins, shared memory to its
   limit). */
#include "base/data/value_type.h"
#include "gpu/spgemm/hash_bins.cuh"
#include "gpu/spgemm/hash_dense.cuh"
#include "gpu/spgemm/hash_scratch.cuh"
#include "gpu/spgemm/hash_sort.cuh"
#include "gpu/spgemm/hash_store.cuh"
#include "gpu/spgemm/hash_tree.cuh"
#include "partition/format/pack.h"

/* Maximum rows, entries of A and scalar products of a chunk: 32-bit numbers must not
   overflow at the end of the last block. */
constexpr int64_t MAX_COUNT = INT32_MAX - 65536;

/* ---- multiply ---- */

template <typename T> static hybrid_status fill_bins(hy_lane *lane, const places<T> &p)
{
    const cudaStream_t stream = hy_stream(lane);
    HY_CUDA(lane->backend, cudaMemsetAsync(p.h.counts, 0, sizeof *p.h.counts, stream));
    hash_spans<<<hy_blocks(p.h.nnz, HY_CUDA_THREADS), HY_CUDA_THREADS, 0, stream>>>(p.h);
    HY_TRY(hy_launched(lane, "hash_spans"));
    hash_bins<<<hy_blocks(p.h.rows, HY_HASH_BLOCK_ROWS), HY_CUDA_THREADS, 0, stream>>>(
        p.h);
    return hy_launched(lane, "hash_bins");
}

template <typename T, typename K>
static hybrid_status sort_rows(hy_lane *lane, const places<T> &p, cudaStream_t stream)
{
    const int64_t room = int64_t(hy_width(lane)) * HY_HASH_SM_BLOCKS;
    auto *const kernel =
        p.h.late ? hash_sort_rows<T, K, true> : hash_sort_rows<T, K, false>;
    kernel<<<hy_blocks(p.f->rows, HY_CUDA_THREADS / 32, room), HY_CUDA_THREADS, 0,
             stream>>>(p.h);
    return hy_launched(lane, "hash_sort_rows");
}

template <typename T, int THREADS>
static hybrid_status tree_rows(hy_lane *lane, const places<T> &p, int bin)
{
    constexpr int BLOCK = THREADS == 32 ? HY_CUDA_THREADS : THREADS;
    const int bytes     = p.h.room[bin - HY_HASH_SORTS] * (BLOCK / THREADS);
    const int64_t room  = int64_t(hy_width(lane)) * (HY_HASH_SM_THREADS / BLOCK);
    hash_tree_rows<T, THREADS><<<hy_blocks(rows_of(p.f, bin), BLOCK / THREADS, room),
                                 BLOCK, size_t(bytes), hy_stream(lane)>>>(p.h, bin);
    return hy_launched(lane, "hash_tree_rows");
}

/* Launches the kernels of all tree bins (sets of rows whose trees have the same size)
   from small to large trees, because a row that does not fit its tree is passed on to the
   next bin. */
template <typename T> static hybrid_status all_trees(hy_lane *lane, const places<T> &p)
{
    const int64_t most =
        tree_bytes(p.f->products_max, p.f->out_cols, hy_value_size(p.f->type));
    int tree = 0;
    /* true while the next tree bin may get rows: rows of its size, or rows passed on from
       a smaller bin */
    bool more = p.f->products_max > HY_HASH_SHORT;
#define HY_LAUNCH(threads, bytes, products)                                              \
    if (more)                                                                            \
        HY_TRY((tree_rows<T, threads>(lane, p, HY_HASH_SORTS + tree)));                  \
    more = more && (most > p.h.room[tree] || p.f->products_max > TREE_PRODUCTS[tree]);   \
    tree++;
    HY_HASH_TREE_BINS(HY_LAUNCH)
#undef HY_LAUNCH
    if (!more)
        return HYBRID_OK;
    const int bytes = p.h.window_width * int(4 * sizeof(T) + 1) / 4;
    hash_windows<<<unsigned(hy_width(lane)), HY_HASH_DENSE_THREADS, size_t(bytes),
                   hy_stream(lane)>>>(p.h);
    return hy_launched(lane, "hash_windows");
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, const hy_job *job)
{
    places<T> p = {};
    HY_TRY(places_of(lane, job, &p));
    HY_TRY(fill_bins(lane, p));
    if (p.f->products == 0)
        return HYBRID_OK;
    /* trees need shared memory and sorting short rows does not, so both run side by side
     */
    cudaStream_t side;
    HY_TRY(hy_fork(lane, &side));
    HY_TRY(all_trees(lane, p));
    HY_TRY(p.f->out_cols > (int64_t(1) << 32) / HY_HASH_SHORT
               ? (sort_rows<T, uint64_t>(lane, p, side))
               : (sort_rows<T, uint32_t>(lane, p, side)));
    return hy_join(lane);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    const hy_features *f = &job->chunk->features;
    if (f->products > MAX_COUNT || f->nnz > MAX_COUNT || f->rows > MAX_COUNT)
        return hy_pack_too_many(job, MAX_COUNT);
    HY_TRY(hy_lane_enter(lane));
    HY_TRY(hy_lane_loaded(lane));
    return HY_CALL_BY_TYPE(f->type, multiply_as, lane, job);
}

/* ---- finish ---- */

template <typename T> static hybrid_status finish_as(hy_lane *lane, const hy_job *job)
{
    const hy_rows *out        = &job->out;
    const cudaStream_t stream = hy_stream(lane);
    places<T> p               = {};
    HY_TRY(places_of(lane, job, &p));
    HY_TRY(hy_scan_counts(lane, p.temp, p.h.count, p.h.rows, out->row_ptr));

    if (p.f->products > 0) {
        const int64_t warps = int64_t(hy_width(lane)) * (HY_SM_THREADS / 32);
        int rows            = 32; /* rows that a warp stores; reduced if warps would be
                                     idle */
        while (rows > 1 && p.f->rows < warps * rows)
            rows /= 2;
        hash_store_rows<<<hy_blocks(p.f->rows, rows * (HY_CUDA_THREADS / 32)),
                          HY_CUDA_THREADS, 0, stream>>>(p.h, rows, out->row_ptr, out->col,
                                                        static_cast<T *>(out->val));
        HY_TRY(hy_launched(lane, "hash_store_rows"));
    }
    if (p.f->products_max > HY_HASH_UNCUT) {
        const unsigned blocks =
            unsigned(hy_width(lane)) * (HY_SM_THREADS / HY_CUDA_THREADS);
        hash_store_windows<<<blocks, HY_CUDA_THREADS, 0, stream>>>(
            p.h, out->row_ptr, out->col, static_cast<T *>(out->val));
        HY_TRY(hy_launched(lane, "hash_store_windows"));
    }
    return hy_publish(lane, job->out_nnz, out->row_ptr + p.h.rows);
}

static hybrid_status finish(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->chunk->features.type, finish_as, lane, job);
}

/* ---- loading kernels in advance ---- */

/* Raises the shared-memory limit of a kernel to all that the device gives a block. The
   limit belongs to the kernel and holds for launches by all engines. A limit that fits
   one launch could be too low for a launch by another engine. */
template <typename K> static cudaError_t allow_shared(K *kernel, int limit)
{
    cudaFuncAttributes code;
    const cudaError_t error = cudaFuncGetAttributes(&code, kernel);
    if (error != cudaSuccess)
        return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                limit - int(code.sharedSizeBytes));
}

template <typename T> static cudaError_t load_as(int limit)
{
    cudaError_t error = allow_shared(hash_windows<T>, limit);
#define HY_LOAD(threads, bytes, products)                                                \
    if (error == cudaSuccess)                                                            \
        error = allow_shared(hash_tree_rows<T, threads>, limit);
    HY_HASH_TREE_BINS(HY_LOAD)
#undef HY_LOAD
    hy_load(hash_spans<T>);
    hy_load(hash_bins<T>);
    hy_load(hash_sort_rows<T, uint32_t, false>);
    hy_load(hash_sort_rows<T, uint32_t, true>);
    hy_load(hash_store_rows<T>);
    hy_load(hash_store_windows<T>);
    return error;
}

cudaError_t hy_hash_load(int device)
{
    int limit = 0;
    cudaError_t error =
        cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = load_as<float>(limit);
    return error == cudaSuccess ? load_as<double>(limit) : error;
}

/* ---- the variant ---- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return f->products_max > MAX_COUNT ? "a row has 2^31 - 2^16 products or more"
                                       : nullptr;
}

/* Returns the predicted scalar products that one multiprocessor computes in a second. */
static double sm_products(const hy_features *f)
{
    const double b_row = double(f->products) / double(f->nnz > 0 ? f->nnz : 1);
    const double ratio = max(f->out_ratio, 1.0);
    const double rate  = f->row_cv < 1
                             ? HY_HASH_SM_PRODUCTS
                             : HY_HASH_SM_SKEWED * pow(ratio, HY_HASH_SKEWED_POWER);
    const double share = (b_row + HY_HASH_B_ROW_LEAST) / HY_HASH_B_ROW;
    return rate * min(share, 1.0);
}

/* Returns the predicted seconds of the chunk in which most of the device is idle. Trees
   of one size are computed after those of another, and few rows are left at the end of
   each size and of the windows. The smallest trees take less if all rows are short. */
static double chain_s(const hy_features *f)
{
    if (f->products_max <= HY_HASH_SHORT)
        return 0;
    double bins = min(double(f->products_max) / HY_HASH_BIN_PRODUCTS, 1.0);
    for (const int most : TREE_PRODUCTS)
        bins += f->products_max > most;
    return bins * HY_HASH_BIN_S;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const double value    = double(hy_value_size(f->type));
    const double products = double(f->products);
    const double entries  = products / (f->out_ratio >= 1 ? f->out_ratio : 1);
    const double busy_s   = products / (sm_products(f) * r->width);

    hy_cost c    = {};
    c.pack_bytes = hy_pack_csr_bytes(HY_SPGEMM, f);
    c.work_bytes = scratch_of(f, r).at[PARTS];
    c.out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 0);
    c.prepare_s  = double(c.pack_bytes) / HY_PACK_BPS;
    c.multiply_s = 8 * r->launch_s +
                   (64 * double(f->nnz) + 24 * double(f->rows)) / r->mem_Bps +
                   (products > 0 ? busy_s + chain_s(f) : 0);
    c.finish_s = 5 * r->launch_s + 3 * entries * (4 + value) / r->mem_Bps;
    return c;
}

extern "C" const hy_variant hy_spgemm_cuda_hash = {
    .name      = "spgemm.cuda.hash",
    .summary   = "rows in shared memory, columns ranked by trees of bitmaps",
    .source    = "Parger 2020 (spECK), Du 2022 (OpSparse), ranks instead of a hash table",
    .op        = HY_SPGEMM,
    .form      = HY_FORM_CSR,
    .csr       = 1,
    .in_place  = 0,
    .overflows = 1,
    .unordered = 1,
    .rings     = 1,
    .refuse    = refuse,
    .cost      = cost,
    .prepare   = hy_pack_csr,
    .arrange   = hy_arrange_csr,
    .multiply  = multiply,
    .finish    = finish,
};
