/* engine/layout.c - how a product could lie on its device: a value, to be compared. */
#include "engine/layout.h"

#include "base/csr.h"
#include "base/extremes.h"
#include "partition/chunks.h"
#include "pipeline/pack_cache.h"

enum {
    DEVICE_PRODUCTS = 32 << 20, /* a chunk that keeps a GPU busy for some milliseconds */
    OUT_BYTES       = 64 << 20, /* of C that a chunk is expected to make */
    OUT_CHUNKS      = 8,        /* of a product large enough */
    CARRIED_BYTES   = 32 << 20, /* of B that a chunk brings: packs stay in the cache */
    MIN_PRODUCTS    = 1 << 20,
    HOST_PRODUCTS =
        256 << 10, /* a core: results of all slots stay in the last-level cache */
    HOST_DENSE  = 128 << 20, /* products of SpMM, a core: some 0.1 s, see below */
    DENSE_BYTES = 32 << 20,  /* of Y in a chunk of SpMM on a device */
    QUICK       = 4          /* times fewer bytes are sent sooner than read */
};

/* ---- how long chunks are to be ---------------------------------------------------- */

/* Products of a chunk of SpGEMM on a device: an eighth of all, but no more than make
   OUT_BYTES, as far as is known. Large enough that kernels, which take 0.2 ms for any
   chunk, and the host keep up with the bus, small enough that the first and the last
   chunk cost little. Or, where each product brings its entry of B, CARRIED_BYTES. */
static int64_t device_products(const hy_features *f, int carried)
{
    const int64_t even = f->products / OUT_CHUNKS + 1;
    const int64_t row  = hy_lesser(f->products_max, even / 16); /* so that none is left */
    const int64_t share   = even + row;
    const double entry    = 4 + (double)hy_value_size(f->type);
    const double bytes    = carried ? CARRIED_BYTES : OUT_BYTES * f->out_ratio;
    const double products = bytes / entry;
    const int64_t most = products < DEVICE_PRODUCTS ? (int64_t)products : DEVICE_PRODUCTS;

    return hy_greater(hy_lesser(share, most), MIN_PRODUCTS);
}

/* Chunks that there are to be of a product large enough. */
static int64_t least_chunks(const hy_product *product, const hy_layout *layout)
{
    const hy_image *image = &layout->image;
    const int64_t blocks  = HY_BLOCK_CHUNKS * hy_image_col_blocks(image);
    const int64_t ring    = image->axis == HY_AXIS_ROWS ? image->places : 0;

    return hy_greater(HY_CHUNKS,
                      hy_greater(blocks, hy_ring_chunks(ring, product->b_rows)));
}

/* Products to aim for in a chunk. */
static int64_t chunk_products(const hy_product *product, const hy_layout *layout)
{
    const hy_features *f  = &product->profile.features;
    const int64_t threads = hy_pool_threads(product->engine->ctx.pool);

    /* in place a chunk is one loop, and all wait for its last piece: as few chunks as let
       an interrupt be seen soon */
    if (product->op == HY_SPMM && !hy_product_on_device(product))
        return HOST_DENSE * threads;
    if (product->op == HY_SPMM) {
        const int64_t bytes = f->out_bound * (int64_t)hy_value_size(f->type);
        const int64_t chunks =
            hy_greater(bytes / DENSE_BYTES, least_chunks(product, layout));
        return hy_greater(f->products / chunks + 1, MIN_PRODUCTS);
    }
    if (hy_product_on_device(product))
        return device_products(f, product->variant->carries_b);
    return hy_greater(HOST_PRODUCTS * threads, MIN_PRODUCTS);
}

int64_t hy_layout_chunks(const hy_product *product, const hy_layout *layout)
{
    return product->profile.features.products / chunk_products(product, layout) + 1;
}

/* ---- what is there ---------------------------------------------------------------- */

/* Which rows of B or X chunks wait for. To look reads a line of the caches for each row
   of A, if rows are not shorter; where X is so much less that all of it is sent sooner, a
   product that may be the only one does without. A ring of rows must know. */
static hybrid_status find_needs(const hy_planning *p, const hy_layout *layout)
{
    hy_context *ctx     = &p->product->engine->ctx;
    const hybrid_csr *A = p->A;
    const size_t rows = (size_t)A->rows * HY_LINE, all = (size_t)A->nnz * 4;
    const size_t read = rows < all ? rows : all;
    const int once    = !(p->product->options.flags & (HYBRID_RESIDENT | HYBRID_REUSE));

    if (layout->image.axis == HY_AXIS_ROWS)
        return hy_chunks_find_band(ctx, p->extents, layout->chunks, layout->count);
    if (once && layout->shared_bytes <= read / QUICK) {
        hy_chunks_need_all(layout->chunks, layout->count, A->cols);
        return HYBRID_OK;
    }
    return hy_chunks_find_needs(ctx, A, p->product->profile.ends,
                                p->product->op == HY_SPGEMM, layout->chunks,
                                layout->count);
}

/* ---- chunks ----------------------------------------------------------------------- */

hybrid_status hy_layout_cut(const hy_planning *p, hy_layout *layout)
{
    const hy_product *product = p->product;
    const size_t room         = hy_align(hy_image_room(&layout->image));
    const size_t kept         = layout->gathered ? 0 : room;
    const size_t parts        = (size_t)layout->share * (size_t)layout->depth;

    layout->gathered = layout->gathered && !product->variant->carries_b;

    const int64_t rows   = p->product->options.chunk_rows;
    const hy_cut request = {
        .A            = p->A,
        .B            = p->B,
        .profile      = &product->profile,
        .variant      = product->variant,
        .rates        = &product->rates,
        .slot_bytes   = (product->rates.memory - kept) / parts & ~(size_t)255,
        .products_max = rows > 0 ? INT64_MAX : chunk_products(product, layout),
        .chunk_rows   = rows,
        .gathered     = layout->gathered,
        .image        = layout->image};
    HY_TRY(
        hy_cut_chunks(&product->engine->ctx, &request, &layout->chunks, &layout->count));
    layout->resident_bytes     = hy_image_bytes(&layout->image);
    layout->shared_bytes       = kept;
    const hybrid_status status = kept > 0 ? find_needs(p, layout) : HYBRID_OK;
    if (status != HYBRID_OK)
        hy_layout_free(product, layout);
    return status;
}

hybrid_status hy_layout_try(const hy_planning *p, hy_layout *layout)
{
    const hybrid_status status = hy_layout_cut(p, layout);

    if (status != HYBRID_NO_DEVICE_MEMORY)
        return status;
    hy_message_clear(&p->product->engine->ctx.message);
    layout->depth = 0;
    return HYBRID_OK;
}

void hy_layout_free(const hy_product *product, hy_layout *layout)
{
    hy_array_free(&product->engine->ctx, layout->chunks);
    layout->chunks = NULL;
    layout->count  = 0;
    layout->depth  = 0;
}

/* ---- packs that stay -------------------------------------------------------------- */

void hy_layout_keep(const hy_product *product, hy_layout *layout)
{
    const size_t shared = layout->count > 0 ? layout->shared_bytes : 0;

    hy_pack_cache_choose(&product->rates, layout->depth, product->rates.memory - shared,
                         layout->chunks, layout->count);
}

int hy_layout_keeps_all(const hy_layout *layout)
{
    return layout->count > 0 && layout->chunks[layout->count - 1].kept;
}
