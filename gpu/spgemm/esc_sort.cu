/* gpu/spgemm/esc_sort.cu - turns scalar products of known rows into rows of C: sorts by
   column within rows, adds equal columns, closes the gaps. esc_work.cuh explains the
   words bin, key and id. */
#include "gpu/spgemm/esc_sort.cuh"

#include "base/data/csr.h"
#include "gpu/spgemm/esc_compress.cuh"
#include "gpu/spgemm/esc_expand.cuh"
#include "gpu/spgemm/esc_rows.cuh"

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
    int64_t ids;            /* maximum number of long rows; 0 = none */
    int col_bits, key_bits; /* col_bits: bits of a column; key_bits: bits of a key (id and
                               column) of long rows */
    size_t at[PARTS + 1];   /* start of each array in bytes; the last element is the size
                               of the scratch */
};

/* Returns the number of bits that the numbers 0 to n need, at least 1. */
static int bits_of(int64_t n)
{
    int bits = 1;
    while (n >> bits > 0)
        bits++;
    return bits;
}

/* Returns the layout of the scratch. Its size does not fall when rows, nnz or scalar
   products grow, because cutting chunks relies on that. */
static scratch scratch_of(const hy_features *f)
{
    const size_t rows = size_t(f->rows), nnz = size_t(f->nnz);
    const size_t products = size_t(f->products), value = hy_value_size(f->type);

    scratch s  = {};
    s.ids      = f->products_max > HY_ESC_LONG ? f->products / (HY_ESC_LONG + 1) : 0;
    s.col_bits = bits_of(f->out_cols - 1);
    /* Ids are below s.ids, so no key has all bits set: that value is free for `none`, the
       key of other rows. */
    s.key_bits     = s.col_bits + bits_of(s.ids);
    const size_t l = s.ids > 0 ? products : 0; /* elements of the arrays that only long
                                                  rows need, one for each scalar
                                                  product */
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

template <typename T> static places<T> places_of(const hy_job *job, const hy_esc<T> &e)
{
    places<T> p = {};
    p.e         = e;
    p.s         = scratch_of(&job->chunk->features);
    p.work      = static_cast<char *>(job->work.ptr);
    p.temp      = {p.template part<void>(TEMP), p.s.at[PARTS] - p.s.at[TEMP]};
    return p;
}

template <typename T> hy_esc<T> hy_esc_of(const hy_job *job, hy_scratch *temp)
{
    const hy_features *f = &job->chunk->features;
    const places<T> p    = places_of<T>(job, {});
    hy_esc<T> e          = {};

    e.rows      = int(f->rows);
    e.nnz       = int(f->nnz);
    e.products  = int(f->products);
    e.start     = p.template part<int>(START);
    e.row_start = p.template part<int>(ROW_START);
    e.count     = p.template part<int>(COUNT);
    e.order     = p.template part<int>(ORDER);
    e.bin_rows  = p.template part<int>(BINS);
    e.bin_used  = p.template part<int>(USED);
    e.long_id   = p.s.ids > 0 ? p.template part<int>(ID) : nullptr;
    e.col       = p.template part<int32_t>(KEYS);
    e.val       = p.template part<T>(VALS);
    *temp       = p.temp;
    return e;
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

/* ---- bins ---- */

template <typename T, typename K>
static hybrid_status expand_long(hy_lane *lane, const places<T> &p)
{
    esc_expand_long<<<hy_blocks(p.e.products, HY_ESC_TILE), HY_CUDA_THREADS, 0,
                      hy_stream(lane)>>>(p.e, long_of<T, K>(p));
    return hy_launched(lane, "esc_expand_long");
}

template <typename T>
hybrid_status hy_esc_bin_rows(hy_lane *lane, const hy_job *job, const hy_esc<T> &e)
{
    const places<T> p         = places_of(job, e);
    const unsigned blocks     = hy_blocks(int64_t(e.rows) + 1, HY_CUDA_THREADS);
    const cudaStream_t stream = hy_stream(lane);

    HY_CUDA(lane->backend,
            cudaMemsetAsync(e.bin_rows, 0, p.s.at[USED + 1] - p.s.at[BINS], stream));
    esc_count_bins<<<blocks, HY_CUDA_THREADS, 0, stream>>>(e);
    HY_TRY(hy_launched(lane, "esc_count_bins"));
    esc_fill_bins<<<blocks, HY_CUDA_THREADS, 0, stream>>>(e);
    HY_TRY(hy_launched(lane, "esc_fill_bins"));
    if (p.s.ids == 0)
        return HYBRID_OK;
    return p.s.key_bits <= 32 ? expand_long<T, uint32_t>(lane, p)
                              : expand_long<T, uint64_t>(lane, p);
}

hybrid_status hy_esc_check(hy_lane *lane, const hy_job *job)
{
    const hy_features *f = &job->chunk->features;

    if (f->products <= HY_ESC_MOST && f->nnz <= HY_ESC_MOST && f->rows <= HY_ESC_MOST)
        return HYBRID_OK;
    return hy_pack_too_many(job, HY_ESC_MOST);
}

/* ---- sort and compress ---- */

template <typename T, typename K>
static hybrid_status sort_long(hy_lane *lane, const places<T> &p, hy_esc_long<T, K> *l)
{
    HY_TRY(hy_sort_pairs(lane, p.temp, l->key, l->val, p.e.products, l->key_bits));
    HY_TRY(hy_rank_keys(lane, p.temp, l->key[0], p.e.products, l->none, l->rank));
    esc_count_long<<<hy_blocks(p.s.ids, HY_CUDA_THREADS), HY_CUDA_THREADS, 0,
                     hy_stream(lane)>>>(p.e, *l);
    return hy_launched(lane, "esc_count_long");
}

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

template <typename T>
static hybrid_status store_short(hy_lane *lane, const hy_esc<T> &e, const hy_rows *out)
{
    int shift = 2; /* log2 of the threads for a row: 4 to 32 threads, with a few entries
                      each */
    while (shift < 5 && int64_t(e.rows) << (shift + 1) < e.products)
        shift++;
    esc_store_short<<<hy_blocks(e.rows, HY_CUDA_THREADS >> shift), HY_CUDA_THREADS, 0,
                      hy_stream(lane)>>>(e, shift, out->row_ptr, out->col,
                                         static_cast<T *>(out->val));
    return hy_launched(lane, "esc_store_short");
}

template <typename T, typename K>
static hybrid_status finish_as(hy_lane *lane, const hy_job *job, const hy_esc<T> &e)
{
    places<T> p               = places_of(job, e);
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
    return hy_publish(lane, job->out_nnz, out->row_ptr + p.e.rows);
}

template <typename T>
hybrid_status hy_esc_finish(hy_lane *lane, const hy_job *job, const hy_esc<T> &e)
{
    return scratch_of(&job->chunk->features).key_bits > 32
               ? finish_as<T, uint64_t>(lane, job, e)
               : finish_as<T, uint32_t>(lane, job, e);
}

/* ---- cost ---- */

const char *hy_esc_refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return f->products_max > HY_ESC_MOST ? "a row has 2^31 - 2^16 products or more"
                                         : nullptr;
}

hy_cost hy_esc_cost(const hy_features *f, const hy_rates *r)
{
    const scratch s       = scratch_of(f);
    const double value    = double(hy_value_size(f->type));
    const double products = double(f->products);
    const double key      = s.key_bits > 32 ? 8 : 4;
    const double passes   = (s.key_bits + 7) / 8;
    const double entries  = products / (f->out_ratio >= 1 ? f->out_ratio : 1);

    hy_cost c    = {};
    c.work_bytes = s.at[PARTS];
    c.out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 0);
    c.multiply_s = 3 * r->launch_s + 24 * double(f->rows) / r->mem_Bps;
    c.finish_s   = 16 * r->launch_s + 2 * entries * (4 + value) / r->mem_Bps;
    if (s.ids > 0) {
        c.multiply_s += products * (8 + key + 2 * value) / r->mem_Bps;
        c.finish_s += products * (key + value) * (2 * passes + 3) /
                      (HY_ESC_LONG_BYTES * r->mem_Bps);
    } else {
        c.finish_s += products / (HY_ESC_SM_PRODUCTS * r->width);
    }
    return c;
}

/* ---- instances ---- */

#define HY_VALUE(T)                                                                      \
    template hy_esc<T> hy_esc_of(const hy_job *, hy_scratch *);                          \
    template hybrid_status hy_esc_bin_rows(hy_lane *, const hy_job *,                    \
                                           const hy_esc<T> &);                           \
    template hybrid_status hy_esc_finish(hy_lane *, const hy_job *, const hy_esc<T> &);
HY_VALUE(float)
HY_VALUE(double)
