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
#include "partition/pattern/chunks.h"

enum {
    DEVICE_PRODUCTS = 128 << 20, /* SpGEMM on a device: most scalar products of a chunk;
                                    they keep a GPU busy for some milliseconds */
    OUT_BYTES = 128 << 20,       /* most bytes of C that a chunk on a device is expected
                                    to make */
    CARRIED_BYTES = 32 << 20,    /* most bytes of B in the pack of a chunk, so that packs
                                    stay in the CPU's cache */
    DENSE_BYTES  = 32 << 20,     /* SpMM on a device: most bytes of Y in a chunk */
    BLOCK_CHUNKS = 8,            /* least number of chunks of each column block of X */
    MOST_TIMES   = 16,           /* the number of chunks is at most this many times the
                                    least possible */
    MIN_PRODUCTS  = 1 << 12,     /* fewest scalar products of a chunk on a device */
    HOST_PRODUCTS = 256 << 10,   /* SpGEMM on the host: scalar products of a chunk per
                                    core, with which results of all slots stay in the
                                    last-level cache */
    HOST_LEAST = 1 << 20,        /* SpGEMM on the host: scalar products that a chunk
                                    should have, at least; with few threads, at most */
    FEW_LEAST = 256 << 10, /* as HOST_LEAST, but for hy_product_by_few(), where buffers
                              are fresh pages */
    FEW_CHUNKS = 16,       /* hy_product_by_few(): a product with more chunks of
                              FEW_LEAST than this has longer chunks, up to HOST_LEAST */
    HOST_DENSE = 128 << 20 /* SpMM on the host: scalar products of a chunk per core,
                              about 0.1 s of work */
};

/* ---- limits ------------------------------------------------------------------------ */

/* Returns the most scalar products of an SpGEMM chunk on a device: those that make
   OUT_BYTES of C, as far as is known, or, if packs contain an entry of B for each scalar
   product, those that need CARRIED_BYTES. */
static double most_sparse(const hy_planning *p)
{
    const double entry = 4 + (double)hy_value_size(p->features.type);
    const double bytes = p->product->variant->form == HY_FORM_NONE
                             ? CARRIED_BYTES
                             : OUT_BYTES * p->features.out_ratio;

    return fmin(bytes / entry, DEVICE_PRODUCTS);
}

/* Returns the least number of chunks if X comes in column blocks or passes through a
   ring. */
static int64_t least_of_image(const hy_product *product, const hy_image *image)
{
    const int64_t blocks = hy_image_col_blocks(image);
    const int64_t ring   = image->axis == HY_AXIS_ROWS ? image->held : 0;

    return hy_max(blocks > 1 ? BLOCK_CHUNKS * blocks : 1,
                  hy_ring_chunks(ring, product->b_rows));
}

static int64_t least_chunks(const hy_planning *p, const hy_layout *layout)
{
    const hy_features *f = &p->features;
    const int64_t bytes  = f->out_bound * (int64_t)hy_value_size(f->type);

    if (p->product->op == HY_SPGEMM)
        return (int64_t)((double)f->products / most_sparse(p)) + 1;
    return hy_max(bytes / DENSE_BYTES + 1, least_of_image(p->product, &layout->image));
}

/* Returns the least number of equal chunks of which each fits a slot; a large B or X
   leaves little room for slots. */
static int64_t least_of_room(const hy_planning *p, const hy_layout *layout)
{
    const hy_product *product = p->product;
    const size_t image        = hy_align(hy_image_room(&layout->image));
    const size_t memory =
        product->rates.memory > image ? product->rates.memory - image : 0;
    const size_t slot = memory / (size_t)(layout->share * layout->depth);
    int64_t n         = 1;

    for (; n < product->rows; n += n / 4 + 1) {
        const hy_features f = hy_features_share(&p->features, n);
        const hy_cost cost  = product->variant->cost(&f, &product->rates);
        if (hy_cost_bytes(&cost) <= slot)
            break;
    }
    return n;
}

/* ---- a device ---------------------------------------------------------------------- */

/* Returns the predicted seconds of a run with `chunks` equal chunks. */
static double seconds_if(const hy_planning *p, const hy_layout *layout, int64_t x_end,
                         int64_t chunks, const hy_circumstances *found)
{
    const hy_estimate e =
        hy_estimate_even(p->product, &p->features, layout, x_end, chunks, found);

    return hy_estimate_seconds(p->product, &e);
}

/* Returns the predicted seconds of a run. A plan that will run often does not know
   whether X and Y will be pinned, so it takes the mean of both cases. With a reduced A,
   workers copy X and Y in any case. */
static double seconds(const hy_planning *p, const hy_layout *layout, int64_t x_end,
                      int64_t chunks)
{
    hy_circumstances found = hy_circumstances_planned(p->product, p->A, p->B);
    const double s         = seconds_if(p, layout, x_end, chunks, &found);

    if (p->product->one_shot || p->product->op == HY_SPGEMM ||
        !hy_product_has_views(p->product))
        return s;
    found.pinned = 1;
    return (s + seconds_if(p, layout, x_end, chunks, &found)) / 2;
}

/* Returns the number of chunks with the shortest predicted run. Tries larger and larger
   numbers, by a third or a half at a time, until one is no better and more than twice the
   best. */
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

/* Getting the pages of a buffer takes as long as computing what fills the buffer once. A
   product with few chunks, which fill each buffer only a few times, therefore has short
   chunks, with small buffers. */
static int64_t products_of_few(int64_t products)
{
    const int64_t share = products / FEW_CHUNKS;

    return hy_min(hy_max(share, FEW_LEAST), HOST_LEAST);
}

/* Returns the scalar products of a chunk that the host computes in place. A chunk of SpMM
   is one parallel loop, at whose end workers wait for the last of them, so there are as
   few chunks as let an interrupt be seen soon. */
static int64_t host_products(const hy_planning *p)
{
    const int64_t threads = hy_pool_threads(p->product->engine->ctx.pool);

    if (hy_product_by_few(p->product))
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
    if (hy_product_in_gpu_memory(p->product)) /* several chunks would overlap nothing */
        return least_of_room(p, layout);
    return hy_product_on_device(p->product) ? device_chunks(p, layout)
                                            : hy_grain_host_chunks(p);
}

int64_t hy_grain_products(const hy_planning *p, const hy_layout *layout)
{
    const hy_features *f = &p->features;

    if (!hy_product_on_device(p->product))
        return host_products(p);
    /* a little more, so that no remainder becomes a chunk of its own */
    const int64_t even = f->products / hy_grain_chunks(p, layout) + 1;
    return even + hy_min(f->products_max, even / 16);
}
