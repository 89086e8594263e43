/* pipeline/run/exact.c - turns a planned chunk into chunks with exact numbers. */
#include "pipeline/run/exact.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/stream/range_counts.h"

enum {
    PIECES = 8 /* pieces into which a chunk that does not fit is cut. hy_exact_join()
                  joins most of them again, so that 8 chunks which are slightly too large
                  become about 9. */
};

/* Returns rows [begin, end) of a planned chunk with exact numbers. */
static hy_chunk counted(const hy_exact *e, const hy_chunk *planned, int64_t begin,
                        int64_t end)
{
    const hy_range_counts counts =
        hy_count_range(e->A, e->lengths, e->B->cols, begin, end);
    hy_chunk chunk = *planned;
    hy_features *f = &chunk.features;

    chunk.row_begin = begin;
    chunk.row_end   = end;
    chunk.fewer     = 0;
    chunk.x_begin   = e->with_own ? hy_min(counts.first, begin) : counts.first;
    chunk.x_end     = e->with_own ? hy_max(counts.end, end) : counts.end;
    f->rows         = end - begin;
    f->nnz          = hy_offset(e->A, end) - hy_offset(e->A, begin);
    f->row_max      = counts.row_max;
    f->products     = counts.products;
    f->products_max = counts.products_max;
    f->out_bound    = counts.bound;
    f->gather_rows = f->gather_nnz = 0;
    return chunk;
}

/* Returns 1 if the ring of entries can hold all that the chunk touches, or there is
   none. */
static int in_ring(const hy_exact *e, const hy_chunk *chunk)
{
    const hy_image *image = &e->site->image;

    return image->axis != HY_AXIS_ENTRIES || chunk->x_begin >= chunk->x_end ||
           hy_offset(e->B, chunk->x_end) - hy_offset(e->B, chunk->x_begin) <= image->span;
}

/* Lets the chunk bring the rows of B that it touches, in numbers that are upper bounds if
   `bounded` is 1. */
static hybrid_status gather(const hy_exact *e, int bounded, hy_chunk *chunk)
{
    hy_features *f = &chunk->features;

    f->gather_rows = hy_min(f->nnz, e->A->cols);
    f->gather_nnz  = hy_min(f->products, e->B->nnz);
    chunk->fewer   = bounded;
    if (!bounded && f->nnz > 0)
        HY_TRY(hy_count_touched(e->site->ctx, e->A, e->B, chunk->row_begin,
                                chunk->row_end, &f->gather_rows, &f->gather_nnz));
    chunk->x_begin = chunk->x_end = 0;
    return HYBRID_OK;
}

/* Lets the chunk have the room for its result that a slot leaves. Returns 1 if the chunk
   then fits a slot. */
static int fit(const hy_exact *e, hy_chunk *chunk)
{
    const hy_site *site = e->site;
    hy_features *f      = &chunk->features;

    *f                 = hy_with_room(chunk->variant, &site->rates, site->slot_device, f);
    const hy_cost cost = chunk->variant->cost(f, &site->rates);

    return hy_chunk_is_counted(f) && hy_cost_bytes(&cost) <= site->slot_device &&
           hy_slot_pinned_bytes(chunk->variant, f, &site->rates) <= site->slot_pinned;
}

int hy_exact_join(const hy_exact *e, const hy_chunk *first, const hy_chunk *next,
                  hy_chunk *out)
{
    const hy_features *g = &next->features;
    hy_chunk joined      = *first;
    hy_features *f       = &joined.features;

    if ((f->gather_rows > 0) != (g->gather_rows > 0))
        return 0;
    joined.row_end = next->row_end;
    joined.x_begin = hy_min(first->x_begin, next->x_begin);
    joined.x_end   = hy_max(first->x_end, next->x_end);
    joined.fewer   = f->gather_rows > 0; /* both may touch the same rows of B */
    f->rows += g->rows;
    f->nnz += g->nnz;
    f->products += g->products;
    f->out_bound += g->out_bound;
    f->row_max      = hy_max(f->row_max, g->row_max);
    f->products_max = hy_max(f->products_max, g->products_max);
    f->gather_rows  = hy_min(f->gather_rows + g->gather_rows, e->A->cols);
    f->gather_nnz   = hy_min(f->gather_nnz + g->gather_nnz, e->B->nnz);
    *out            = joined;
    return in_ring(e, out) && fit(e, out);
}

hybrid_status hy_exact_cut(const hy_exact *e, const hy_chunk *planned, int64_t begin,
                           int64_t end, int gathers, hy_chunk_array *out)
{
    const int64_t rows = end - begin, pieces = hy_min(rows, PIECES);
    hy_chunk chunk = counted(e, planned, begin, end);

    if (gathers || hy_image_is_gathered(&e->site->image) || !in_ring(e, &chunk))
        HY_TRY(gather(e, planned->fewer, &chunk));
    if (fit(e, &chunk) || rows == 1)
        return hy_chunk_array_append(e->site->ctx, out, &chunk);
    for (int64_t i = 0; i < pieces; i++)
        HY_TRY(hy_exact_cut(e, planned, begin + rows * i / pieces,
                            begin + rows * (i + 1) / pieces, gathers, out));
    return HYBRID_OK;
}
