/* gpu/spgemm_cuda_esc.cu - C = A*B on the GPU: expand, sort, compress.

   multiply()  counts products, puts rows in bins by them, expands the long rows
   finish()    sorts by column within rows, adds equal ones, closes the gaps

   A product's row is known, so only its column is a key; how to sort depends on how
   many products a row has (cuda_tuning.h):
     up to 64      a warp compares all with all               esc_rows.cuh
     up to 4096    a block: expand, radix sort, sum           cuda_sort.cu
     more          all such rows at once, by (row, column)    esc_expand, esc_compress
   Rows of the first two kinds are never expanded in memory. Every sort is stable and
   sums run in the order of A's row: the same bits on every run, whatever the chunks.

   Scratch of a chunk: (4 + s) bytes a product, s bytes a value; with long rows twice
   that, with keys of 4 or 8 bytes, and 4 bytes a product of ranks. */
#include "base/csr.h"
#include "gpu/cuda_sort.cuh"
#include "gpu/esc_compress.cuh"
#include "gpu/esc_expand.cuh"
#include "gpu/esc_rows.cuh"
#include "partition/pack.h"

/* So that 32-bit numbers of products do not overflow at the end of the last tile. */
constexpr int64_t MOST = INT32_MAX - 65536;

/* ---- scratch ---- */

enum part {
    START,
    ROW_START,
    COUNT,
    ORDER,
    BINS,
    USED,
    KEYS,
    KEYS2,
    VALS,
    VALS2,
    RANK,
    ID,
    FIRST,
    TEMP,
    PARTS
};

struct scratch {
    int64_t ids;            /* long rows, at most; 0 = there are none */
    int col_bits, key_bits; /* of the keys of long rows */
    size_t at[PARTS + 1];   /* where each array starts; the last is the size */
};

/* Bits of the numbers 0 .. n, at least one. */
static int bits_of(int64_t n)
{
    int bits = 1;
    while (n >> bits > 0)
        bits++;
    return bits;
}

/* Grows with rows, nnz and products, as the chunker demands. */
static scratch scratch_of(const hy_features *f)
{
    const size_t rows = size_t(f->rows), nnz = size_t(f->nnz);
    const size_t products = size_t(f->products), value = hy_value_size(f->type);

    scratch s      = {};
    s.ids          = f->products_max > HY_ESC_LONG ? f->products / (HY_ESC_LONG + 1) : 0;
    s.col_bits     = bits_of(f->out_cols - 1);
    s.key_bits     = s.col_bits + bits_of(s.ids); /* ids < s.ids: all ones is no key */
    const size_t l = s.ids > 0 ? products : 0;    /* length of what only long rows need */
    const size_t key = s.ids > 0 && s.key_bits > 32 ? 8 : 4;

    size_t bytes[PARTS] = {};
    bytes[START]        = (nnz + 1) * sizeof(int);
    bytes[ROW_START]    = (rows + 1) * sizeof(int);
    bytes[COUNT]        = rows * sizeof(int);
    bytes[ORDER]        = rows * sizeof(int);
    bytes[BINS] = bytes[USED] = HY_ESC_BINS * sizeof(int);
    bytes[KEYS]               = products * key;
    bytes[KEYS2]              = l * key;
    bytes[VALS]               = products * value;
    bytes[VALS2]              = l * value;
    bytes[RANK]               = l * sizeof(int);
    bytes[ID]                 = (s.ids > 0 ? rows : 0) * sizeof(int);
    bytes[FIRST]              = size_t(s.ids) * sizeof(int);
    bytes[TEMP]               = hy_scan_scratch(f->nnz + f->rows + int64_t(l)) +
                  (s.ids > 0 ? hy_sort_scratch(f->products) : 0);
    for (int i = 0; i < PARTS; i++)
        s.at[i + 1] = s.at[i] + hy_align(bytes[i]);
    return s;
}

/* Where everything of a job is. */
template <typename T> struct places {
    hy_esc<T> e;
    scratch s;
    hy_scratch temp;
    char *work;

    template <typename U> U *part(enum part i) const
    {
        return reinterpret_cast<U *>(work + s.at[i]);
    }
};

template <typename T> static places<T> places_of(const hy_job *job)
{
    const hy_features *f = &job->chunk->features;
    const hy_csr_view a = hy_packed_a(job), b = hy_packed_b(job);
    places<T> p = {};
    p.s         = scratch_of(f);
    p.work      = static_cast<char *>(job->work.ptr);
    p.temp      = {p.template part<void>(TEMP), p.s.at[PARTS] - p.s.at[TEMP]};
    p.e         = {int(f->rows),
                   int(f->nnz),
                   int(f->products),
                   a.row_ptr,
                   a.col,
                   static_cast<const T *>(a.val),
                   b.row_ptr,
                   b.col,
                   static_cast<const T *>(b.val),
                   p.template part<int>(START),
                   p.template part<int>(ROW_START),
                   p.template part<int>(COUNT),
                   p.template part<int>(ORDER),
                   p.template part<int>(BINS),
                   p.template part<int>(USED),
           p.s.ids > 0 ? p.template part<int>(ID) : nullptr,
                   p.template part<int32_t>(KEYS),
                   p.template part<T>(VALS)};
    return p;
}

template <typename T, typename K> static hy_esc_long<T, K> long_of(const places<T> &p)
{
    return {{p.template part<K>(KEYS), p.template part<K>(KEYS2)},
            {p.template part<T>(VALS), p.template part<T>(VALS2)},
            p.template part<int>(RANK),
            p.template part<int>(FIRST),
            p.s.col_bits,
            p.s.key_bits,
            K(K(~K(0)) >> (8 * int(sizeof(K)) - p.s.key_bits))};
}

/* ---- multiply ---- */

template <typename T, typename K>
static hybrid_status expand_long(hy_lane *lane, const places<T> &p)
{
    esc_expand_long<<<hy_blocks(p.e.products, HY_ESC_TILE), HY_CUDA_THREADS, 0,
                      hy_stream(lane)>>>(p.e, long_of<T, K>(p));
    return hy_launched(lane, "esc_expand_long");
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, const hy_job *job)
{
    const places<T> p         = places_of<T>(job);
    const unsigned blocks     = hy_blocks(int64_t(p.e.rows) + 1, HY_CUDA_THREADS);
    const cudaStream_t stream = hy_stream(lane);

    HY_CUDA(lane->backend->ctx,
            cudaMemsetAsync(p.e.bin_rows, 0, p.s.at[USED + 1] - p.s.at[BINS], stream));
    HY_TRY(hy_scan_products(lane, p.temp, p.e.a_col, p.e.b_row, p.e.nnz, p.e.start));
    esc_count_bins<<<blocks, HY_CUDA_THREADS, 0, stream>>>(p.e);
    HY_TRY(hy_launched(lane, "esc_count_bins"));
    esc_fill_bins<<<blocks, HY_CUDA_THREADS, 0, stream>>>(p.e);
    HY_TRY(hy_launched(lane, "esc_fill_bins"));
    if (p.s.ids == 0)
        return HYBRID_OK;
    return p.s.key_bits <= 32 ? expand_long<T, uint32_t>(lane, p)
                              : expand_long<T, uint64_t>(lane, p);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    const hy_features *f = &job->chunk->features;
    hy_context *ctx      = lane->backend->ctx;
    if (f->products > MOST || f->nnz > MOST || f->rows > MOST)
        return hy_fail(ctx, HYBRID_UNSUPPORTED,
                       "chunk %lld has %lld rows, %lld entries and %lld products: "
                       "spgemm.cuda.esc takes %lld of each at most",
                       (long long)job->chunk->id, (long long)f->rows, (long long)f->nnz,
                       (long long)f->products, (long long)MOST);
    HY_TRY(hy_lane_enter(lane));
    return f->type == HYBRID_F64 ? multiply_as<double>(lane, job)
                                 : multiply_as<float>(lane, job);
}

/* ---- finish ---- */

template <typename T, typename K>
static hybrid_status sort_long(hy_lane *lane, const places<T> &p, hy_esc_long<T, K> *l)
{
    HY_TRY(hy_sort_pairs(lane, p.temp, l->key, l->val, p.e.products, l->key_bits));
    HY_TRY(hy_rank_keys(lane, p.temp, l->key[0], p.e.products, l->none, l->rank));
    esc_count_long<<<hy_blocks(p.s.ids, HY_CUDA_THREADS), HY_CUDA_THREADS, 0,
                     hy_stream(lane)>>>(p.e, *l);
    return hy_launched(lane, "esc_count_long");
}

/* Rows that one warp sorts. */
template <typename T>
static hybrid_status warp_rows(hy_lane *lane, const hy_esc<T> &e, int64_t products_max)
{
    const int64_t room = int64_t(hy_width(lane)) * (HY_SM_THREADS / HY_CUDA_THREADS);
    int bin            = 1;
    int64_t above      = 0;
#define HY_LAUNCH(items)                                                                 \
    if (products_max > above) {                                                          \
        esc_warp_rows<T, items>                                                          \
            <<<hy_blocks(e.products / (above + 1), HY_CUDA_THREADS / 32, room),          \
               HY_CUDA_THREADS, 0, hy_stream(lane)>>>(e, bin);                           \
        HY_TRY(hy_launched(lane, "esc_warp_rows"));                                      \
    }                                                                                    \
    bin++, above = 32 * items;
    HY_ESC_WARP_BINS(HY_LAUNCH)
#undef HY_LAUNCH
    return HYBRID_OK;
}

/* Close the gaps between short rows. */
template <typename T>
static hybrid_status store_short(hy_lane *lane, const hy_esc<T> &e, const hy_rows *out)
{
    int shift = 2; /* 4 to 32 lanes a row, a few entries for each */
    while (shift < 5 && int64_t(e.rows) << (shift + 1) < e.products)
        shift++;
    esc_store_short<<<hy_blocks(e.rows, HY_CUDA_THREADS >> shift), HY_CUDA_THREADS, 0,
                      hy_stream(lane)>>>(e, shift, out->row_ptr, out->col,
                                         static_cast<T *>(out->val));
    return hy_launched(lane, "esc_store_short");
}

template <typename T, typename K>
static hybrid_status finish_as(hy_lane *lane, const hy_job *job)
{
    places<T> p               = places_of<T>(job);
    const hy_rows *out        = &job->out;
    const int64_t most        = job->chunk->features.products_max;
    hy_esc_long<T, K> l       = long_of<T, K>(p);
    const cudaStream_t stream = hy_stream(lane);

    if (p.s.ids > 0) {
        HY_TRY(sort_long(lane, p, &l));
        p.e.col = reinterpret_cast<int32_t *>(l.key[1]);
        p.e.val = l.val[1];
    }
    if (p.e.products > 0) {
        HY_TRY(warp_rows(lane, p.e, most));
        HY_TRY(hy_sort_block_rows(lane, p.e, most));
    }
    HY_TRY(hy_scan_counts(lane, p.temp, p.e.count, p.e.rows, out->row_ptr));
    if (p.e.products > 0)
        HY_TRY(store_short(lane, p.e, out));
    if (p.s.ids > 0) {
        esc_store_long<<<hy_blocks(p.e.products, HY_CUDA_THREADS), HY_CUDA_THREADS, 0,
                         stream>>>(p.e, l, out->row_ptr, out->col,
                                   static_cast<T *>(out->val));
        HY_TRY(hy_launched(lane, "esc_store_long"));
    }
    HY_CUDA(lane->backend->ctx,
            cudaMemcpyAsync(job->out_nnz, out->row_ptr + p.e.rows, sizeof *job->out_nnz,
                            cudaMemcpyDefault, stream));
    return HYBRID_OK;
}

static hybrid_status finish(hy_lane *lane, hy_job *job)
{
    const hy_features *f = &job->chunk->features;
    const bool wide      = scratch_of(f).key_bits > 32;
    HY_TRY(hy_lane_enter(lane));
    if (f->type == HYBRID_F64)
        return wide ? finish_as<double, uint64_t>(lane, job)
                    : finish_as<double, uint32_t>(lane, job);
    return wide ? finish_as<float, uint64_t>(lane, job)
                : finish_as<float, uint32_t>(lane, job);
}

/* ---- the variant ---- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return f->products_max > MOST ? "a row has 2^31 - 2^16 products or more" : nullptr;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const scratch s       = scratch_of(f);
    const double value    = double(hy_value_size(f->type));
    const double products = double(f->products);
    const double key      = s.key_bits > 32 ? 8 : 4;
    const double passes   = (s.key_bits + 7) / 8;
    const double entries  = products / (f->out_ratio >= 1 ? f->out_ratio : 1);

    hy_cost c    = {};
    c.pack_bytes = hy_pack_csr_bytes(HY_SPGEMM, f);
    c.work_bytes = s.at[PARTS];
    c.out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 0);
    c.prepare_s  = double(c.pack_bytes) / HY_PACK_BPS;
    c.multiply_s =
        4 * r->launch_s + (24 * double(f->nnz) + 24 * double(f->rows)) / r->mem_Bps;
    c.finish_s = 16 * r->launch_s + 2 * entries * (4 + value) / r->mem_Bps;
    if (s.ids > 0) {
        c.multiply_s += products * (8 + key + 2 * value) / r->mem_Bps;
        c.finish_s += products * (key + value) * (2 * passes + 3) /
                      (HY_ESC_LONG_BYTES * r->mem_Bps);
    } else {
        c.finish_s += products / (HY_ESC_SM_PRODUCTS * r->width);
    }
    return c;
}

extern "C" const hy_variant hy_spgemm_cuda_esc = {
    .name     = "spgemm.cuda.esc",
    .summary  = "expand, sort by column within rows, add equal ones",
    .source   = "Wu 2015 (hySpMM), the expansion moved to the GPU",
    .op       = HY_SPGEMM,
    .in_place = 0,
    .refuse   = refuse,
    .cost     = cost,
    .prepare  = hy_pack_csr,
    .multiply = multiply,
    .finish   = finish,
};
