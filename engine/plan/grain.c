/* engine/plan/grain.c - chooses the number and the length of chunks.

   Each chunk costs launches and hand-overs between threads, whatever its size, but
   copies, kernels and workers overlap only if there are several chunks, and the first
   chunk's operands and the last chunk's result overlap with nothing. On a device the
   number of chunks is the one with the least estimate, within the limits below. If
   operands and result are in device memory nothing is copied, and one chunk is best. */
#include "engine/plan/grain.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/run/prefetch.h"
#include "engine/rates/estimate.h"
#include "partition/parts/passes.h"

enum {
    DEVICE_PRODUCTS = 128 << 20, /* SpGEMM on a device: maximum scalar products of a
                                    chunk; this many keep a GPU busy for some
                                    milliseconds */
    OUT_BYTES = 128 << 20,       /* SpGEMM on a device: maximum predicted bytes of C in a
                                    chunk */
    CARRIED_BYTES = 32 << 20,    /* SpGEMM on a device whose packs contain B: maximum
                                    bytes of B in a pack, so that it stays in the CPU's
                                    cache */
    DENSE_BYTES  = 32 << 20,     /* SpMM on a device: maximum bytes of Y in a chunk */
    BLOCK_CHUNKS = 8,            /* SpMM on a device: minimum number of chunks of each
                                    column block of X */
    MOST_TIMES = 16,             /* on a device, the number of chunks is at most this
                                    multiple of the minimum with which every chunk fits */
    MIN_PRODUCTS  = 1 << 12,     /* device: minimum scalar products of a chunk */
    HOST_PRODUCTS = 256 << 10,   /* SpGEMM on the host: scalar products of a chunk for
                                    each worker; results of all slots then stay in the
                                    last-level cache */
    HOST_LEAST = 1 << 20,        /* SpGEMM on the host: minimum scalar products of a
                                    chunk; with few threads (hy_portion_by_few()) the
                                    maximum */
    FEW_LEAST = 256 << 10, /* SpGEMM on the host with few threads: minimum scalar products
                              of a chunk */
    FEW_CHUNKS = 16,       /* SpGEMM on the host with few threads: a chunk has
                              1/FEW_CHUNKS of the scalar products, within FEW_LEAST and
                              HOST_LEAST */
    HOST_DENSE = 128 << 20 /* SpMM on the host: scalar products of a chunk for each
                              worker, who needs about 0.1 s for them */
};

/* ---- limits ------------------------------------------------------------------------ */

/* Returns the maximum scalar products of an SpGEMM chunk on a device: the number
   that makes OUT_BYTES of C, as the features predict, but at most DEVICE_PRODUCTS in a
   pass. If packs contain an entry of B for each scalar product, these entries take
   CARRIED_BYTES instead. */
static double most_sparse(const hy_planning *p, const hy_layout *layout)
{
    const double passes = (double)hy_passes(&layout->image);
    const double entry  = 4 + (double)hy_value_size(p->features.type);
    const double bytes  = p->portion->variant->form == HY_FORM_NONE
                              ? CARRIED_BYTES
                              : OUT_BYTES * p->features.out_ratio;

    return fmin(bytes / entry, DEVICE_PRODUCTS * passes);
}

/* Returns the minimum number of chunks that column blocks or a ring require; 1 for other
   images. */
static int64_t least_of_image(const hy_portion *portion, const hy_image *image)
{
    const int64_t blocks = hy_image_col_blocks(image);
    const int64_t ring   = image->axis == HY_AXIS_ROWS ? image->held : 0;

    return hy_max(blocks > 1 ? BLOCK_CHUNKS * blocks : 1,
                  hy_ring_chunks(ring, portion->product->b_rows));
}

static int64_t least_chunks(const hy_planning *p, const hy_layout *layout)
{
    const hy_features *f = &p->features;
    const int64_t bytes  = f->out_bound * (int64_t)hy_value_size(f->type);

    if (p->product->op == HY_SPGEMM)
        return (int64_t)((double)f->products / most_sparse(p, layout)) + 1;
    return hy_max(bytes / DENSE_BYTES + 1, least_of_image(p->portion, &layout->image));
}

/* Returns 1 if `n` equal chunks each fit a slot of `slot` bytes. */
static int fits(const hy_planning *p, const hy_image *image, int64_t n, size_t slot)
{
    const hy_variant *variant = p->portion->variant;
    const hy_features all     = hy_features_share(&p->features, n);
    const hy_features f       = hy_image_in_passes(image) ? hy_pass_features(image, &all)
                                                          : hy_with_least_room(variant, &all);
    const hy_cost cost        = variant->cost(&f, &p->portion->rates);

    return hy_cost_bytes(&cost) <= slot;
}

/* Returns the minimum number of equal chunks that each fit a slot. Slots are small if B
   or X is large. */
static int64_t least_of_room(const hy_planning *p, const hy_layout *layout)
{
    const hy_portion *portion = p->portion;
    const size_t image        = hy_align(hy_image_room(&layout->image));
    const size_t memory =
        portion->rates.memory > image ? portion->rates.memory - image : 0;
    const size_t slot  = memory / (size_t)(layout->share * layout->depth);
    const int64_t rows = portion->product->rows;
    int64_t low = 0, high = 1; /* `low` chunks do not fit their slots; 0 stands for no
                                  chunk */

    for (; high < rows && !fits(p, &layout->image, high, slot); high += high / 4 + 1)
        low = high;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (fits(p, &layout->image, middle, slot))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- a device ---------------------------------------------------------------------- */

/* Returns the predicted seconds of a run with `chunks` equal chunks. */
static double seconds_if(const hy_planning *p, const hy_layout *layout, int64_t x_end,
                         int64_t chunks, const hy_circumstances *found)
{
    const hy_estimate e =
        hy_estimate_even(p->portion, &p->features, layout, x_end, chunks, found);

    return hy_estimate_seconds(p->portion, &e);
}

/* Returns the predicted seconds of a run. A plan for several runs does not know whether X
   and Y will be pinned, so the result is the mean of both cases. It is also the mean for
   a one-shot call, which so makes the same chunks. With a reduced A, workers copy X and Y
   in both cases. */
static double seconds(const hy_planning *p, const hy_layout *layout, int64_t x_end,
                      int64_t chunks)
{
    hy_circumstances found = hy_circumstances_planned(p->portion, p->A, p->B);
    const double s         = seconds_if(p, layout, x_end, chunks, &found);

    if (p->product->op == HY_SPGEMM || !hy_product_has_views(p->product))
        return s;
    found.pinned = !found.pinned;
    return (s + seconds_if(p, layout, x_end, chunks, &found)) / 2;
}

/* Returns the number of chunks with the shortest predicted run. Tries increasing numbers,
   each a third or a half above the last. Stops at a number that is no improvement and
   more than twice the best one. */
static int64_t device_chunks(const hy_planning *p, const hy_layout *layout)
{
    const int64_t least = hy_max(least_chunks(p, layout), least_of_room(p, layout));
    const int64_t most =
        hy_min(MOST_TIMES * least, p->features.products / MIN_PRODUCTS + 1);
    const int64_t x_end = hy_prefetch_x_end(p->A);
    double best_s       = seconds(p, layout, x_end, least);
    int64_t best        = least;

    for (int64_t n = least + 1; n <= most; n += n / 2) {
        const double s = seconds(p, layout, x_end, n);
        if (s >= best_s && n > 2 * best)
            break;
        best   = s < best_s ? n : best;
        best_s = fmin(s, best_s);
    }
    return best;
}

/* ---- either ------------------------------------------------------------------------ */

/* Returns the maximum scalar products of a chunk of SpGEMM on a host with few threads.
   Short chunks need small buffers. Getting the pages of a fresh buffer takes as long as
   computing its contents once, and a product with few chunks fills each buffer only a few
   times. */
static int64_t products_of_few(int64_t products)
{
    const int64_t share = products / FEW_CHUNKS;

    return hy_min(hy_max(share, FEW_LEAST), HOST_LEAST);
}

/* Returns the maximum scalar products of a chunk that the host computes in place. A chunk
   of SpMM is one parallel loop, at whose end workers wait for the slowest. So chunks are
   long, but short enough for the caller to cancel the run soon. */
static int64_t host_products(const hy_planning *p)
{
    const int64_t threads = hy_pool_threads(p->product->engine->ctx.pool);

    if (hy_portion_by_few(p->portion))
        return products_of_few(p->features.products);
    return p->product->op == HY_SPMM ? HOST_DENSE * threads
                                     : hy_max(HOST_PRODUCTS * threads, HOST_LEAST);
}

int64_t hy_grain_host_chunks(const hy_planning *p)
{
    const int64_t rows = p->product->options.chunk_rows;

    return rows > 0 ? hy_max(p->features.rows - 1, 0) / rows + 1
                    : p->features.products / host_products(p) + 1;
}

int64_t hy_grain_chunks(const hy_planning *p, const hy_layout *layout)
{
    if (hy_product_in_gpu_memory(p->product)) /* one chunk: operands and result are in GPU
                                                 memory, so several would overlap
                                                 nothing */
        return least_of_room(p, layout);
    return hy_portion_on_device(p->portion) ? device_chunks(p, layout)
                                            : hy_grain_host_chunks(p);
}

int64_t hy_grain_products(const hy_planning *p, const hy_layout *layout)
{
    const hy_features *f = &p->features;

    if (!hy_portion_on_device(p->portion))
        return host_products(p);
    /* up to 1/16 more, so that no small remainder becomes a chunk of its own */
    const int64_t even = f->products / hy_grain_chunks(p, layout) + 1;
    return even + hy_min(f->products_max, even / 16);
}
