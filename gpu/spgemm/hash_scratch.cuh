/* gpu/spgemm/hash_scratch.cuh - sizes of the bins of spgemm.cuda.hash, and the layout of
   a chunk's scratch. */
#ifndef HY_HASH_SCRATCH_CUH
#define HY_HASH_SCRATCH_CUH

#include "base/data/csr.h"
#include "gpu/backend/cuda_sort.cuh"
#include "gpu/spgemm/hash_tree.cuh"
#include "gpu/spgemm/hash_work.cuh"
#include "partition/format/pack.h"

/* ---- bins ---- */

#define HY_BYTES(threads, bytes, products) bytes,
#define HY_PRODUCTS(threads, bytes, products) products,
constexpr int TREE_BYTES[]    = {HY_HASH_TREE_BINS(HY_BYTES)};
constexpr int TREE_PRODUCTS[] = {HY_HASH_TREE_BINS(HY_PRODUCTS)};
constexpr int SORT_PRODUCTS[] = HY_HASH_SORT_PRODUCTS;
#undef HY_BYTES
#undef HY_PRODUCTS
static_assert(SORT_PRODUCTS[HY_HASH_SORTS - 1] == HY_HASH_SHORT, "bins follow");

/* Returns a lower bound, exclusive, on the scalar products of each row of a bin. It is
   HY_HASH_SHORT for all bins whose rows have trees. */
static int64_t above(int bin)
{
    return bin == 0              ? 0
           : bin < HY_HASH_SORTS ? SORT_PRODUCTS[bin - 1]
                                 : int64_t(HY_HASH_SHORT);
}

/* Returns an upper bound on the rows of a bin. */
static int64_t rows_of(const hy_features *f, int bin)
{
    return min(f->products / (above(bin) + 1), f->rows);
}

/* Returns an upper bound on the bytes of the tree of a row with `products` scalar
   products and `cols` columns: its top level, the nodes below, and the entries with
   values of `value` bytes. */
static int64_t tree_bytes(int64_t products, int64_t cols, size_t value)
{
    int64_t nodes = products + HY_HASH_TOP;
    for (int64_t in_level = cols / 32; in_level >= HY_HASH_TOP; in_level /= 32)
        nodes += min(products, in_level + 1);
    return nodes * int64_t(sizeof(hash_node)) +
           min(products, cols) * int64_t(sizeof(int32_t) + value);
}

/* Returns true if a row with `products` scalar products always fits the largest tree, so
   that it is not cut into windows. A thread block has `shared` bytes for the tree. */
static bool always_fits(const hy_features *f, int64_t products, size_t shared)
{
    constexpr int LAST = HY_HASH_TREES - 1;
    return products <= TREE_PRODUCTS[LAST] &&
           tree_bytes(products, f->out_cols, hy_value_size(f->type)) <=
               min(int64_t(TREE_BYTES[LAST]), int64_t(shared));
}

/* Returns how many columns, a multiple of 32, a window in `shared` bytes can have. A
   column takes a value of `value` bytes and a bit; 32 columns share an int, the number of
   entries before them. */
static int64_t window_width(size_t shared, size_t value)
{
    return int64_t(shared * 4 / (4 * value + 1)) / 32 * 32;
}

/* ---- scratch ---- */

enum part {
    SPAN,
    ENDS,
    PRODUCTS,
    RANGE,
    LONGEST,
    PLACE,
    COUNT,
    LISTS,
    COUNTS,
    WINDOWS,
    COL,
    VAL,
    TEMP,
    PARTS
};

struct scratch {
    size_t at[PARTS + 1]; /* start of each array in bytes; the last element is the size of
                             the scratch */
};

/* Returns the bytes of shared memory that a thread block has for a tree or a window. */
static size_t shared_of(const hy_rates *r)
{
    return max(r->block_memory, size_t(HY_HASH_SHARED)) - HY_HASH_STATIC;
}

/* Returns an upper bound on the windows (ranges of columns) of all rows. Only rows with
   more than `most` scalar products are cut. */
static int64_t windows_of(const hy_features *f, const hy_rates *r)
{
    const size_t shared = shared_of(r);
    const int64_t width =
        window_width(HY_HASH_SHARED - HY_HASH_STATIC, hy_value_size(f->type));
    int64_t most = HY_HASH_UNCUT;

    if (f->products_max <= most || always_fits(f, f->products_max, shared))
        return 0;
    while (always_fits(f, 2 * most, shared))
        most *= 2;
    return f->products / most * (f->out_cols / width + 2);
}

/* Returns the layout of the scratch. Its size does not fall when rows, nnz or scalar
   products grow, because cutting chunks relies on that. */
static scratch scratch_of(const hy_features *f, const hy_rates *r)
{
    const size_t rows = size_t(f->rows), nnz = size_t(f->nnz);
    const size_t entries = size_t(hy_out_room(f)), value = hy_value_size(f->type);
    const bool trees = f->products_max > HY_HASH_SHORT;
    size_t listed    = 0;
    for (int bin = 0; bin < HY_HASH_BINS; bin++)
        listed += size_t(rows_of(f, bin));

    size_t bytes[PARTS] = {};
    bytes[SPAN]         = nnz * sizeof(hy_span);
    bytes[ENDS]         = trees ? nnz * sizeof(int2) : 0;
    bytes[PRODUCTS]     = rows * sizeof(int);
    bytes[RANGE]        = trees ? rows * sizeof(int2) : 0;
    bytes[LONGEST]      = trees ? rows * sizeof(int) : 0;
    bytes[PLACE]        = rows * sizeof(int);
    bytes[COUNT]        = rows * sizeof(int);
    bytes[LISTS]        = listed * sizeof(int);
    bytes[COUNTS]       = sizeof(hy_hash_counts);
    bytes[WINDOWS]      = size_t(windows_of(f, r)) * sizeof(hy_window);
    bytes[COL]          = entries * sizeof(int32_t);
    bytes[VAL]          = entries * value;
    bytes[TEMP]         = hy_scan_scratch(f->rows);

    scratch s = {};
    for (int i = 0; i < PARTS; i++)
        s.at[i + 1] = s.at[i] + hy_align(bytes[i]);
    return s;
}

template <typename T> struct places {
    hy_hash<T> h;
    scratch s;
    hy_scratch temp;
    char *work;
    const hy_features *f;

    template <typename U> U *part(enum part i) const
    {
        return reinterpret_cast<U *>(work + s.at[i]);
    }
};

/* Returns the expected entries of a row divided by its scalar products, with room to
   spare (HY_HASH_SPARE). If row lengths vary much (row_cv of at least 1), every product
   is expected to become an entry of its own. */
static float share_of(const hy_features *f)
{
    const double ratio = f->row_cv < 1 ? f->out_ratio : 1;
    return ratio > HY_HASH_SPARE ? float(HY_HASH_SPARE / ratio) : 1.0f;
}

/* Sets *bytes to the shared memory that a thread block of the lane's device may have. */
static hybrid_status shared_limit(hy_lane *lane, int *bytes)
{
    int device = 0;
    HY_CUDA(lane->backend, cudaGetDevice(&device));
    HY_CUDA(lane->backend, cudaDeviceGetAttribute(
                               bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return HYBRID_OK;
}

template <typename T>
static hybrid_status places_of(hy_lane *lane, const hy_job *job, places<T> *p)
{
    const hy_features *f = &job->chunk->features;
    int shared           = 0;
    HY_TRY(shared_limit(lane, &shared));
    p->f             = f;
    p->s             = scratch_of(f, job->rates);
    p->work          = static_cast<char *>(job->work.ptr);
    p->temp          = {p->template part<void>(TEMP), p->s.at[PARTS] - p->s.at[TEMP]};
    const bool trees = f->products_max > HY_HASH_SHORT;
    const int piece  = int(f->products / HY_HASH_WINDOW_SHARE);

    hy_hash<T> &h     = p->h;
    h                 = {hy_factors_of<T>(job)};
    h.products        = int(f->products);
    h.span            = p->template part<hy_span>(SPAN);
    h.ends            = trees ? p->template part<int2>(ENDS) : nullptr;
    h.row_products    = p->template part<int>(PRODUCTS);
    h.range           = p->template part<int2>(RANGE);
    h.longest         = p->template part<int>(LONGEST);
    h.place           = p->template part<int>(PLACE);
    h.count           = p->template part<int>(COUNT);
    h.counts          = p->template part<hy_hash_counts>(COUNTS);
    h.window          = p->template part<hy_window>(WINDOWS);
    h.col             = p->template part<int32_t>(COL);
    h.val             = p->template part<T>(VAL);
    h.entries         = int(hy_out_room(f));
    h.late            = f->out_room > 0;
    h.out_cols        = int(f->out_cols);
    h.share           = share_of(f);
    h.window_width    = int(window_width(size_t(shared) - HY_HASH_STATIC, sizeof(T)));
    h.window_products = max(piece, int(HY_HASH_WINDOW_PRODUCTS));
    int *list         = p->template part<int>(LISTS);
    for (int bin = 0; bin < HY_HASH_BINS; bin++) {
        h.list[bin] = list;
        list += rows_of(f, bin);
    }
    for (int tree = 0; tree < HY_HASH_TREES; tree++)
        h.room[tree] = min(TREE_BYTES[tree], shared - HY_HASH_STATIC);
    return HYBRID_OK;
}

#endif /* HY_HASH_SCRATCH_CUH */
