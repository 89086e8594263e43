/* io/sort/entry_pack.c - makes records of entries, on the pool of workers.

   The number of records before a piece of the entries is the position of the records of
   the piece, so that records keep the order of the entries. */
#include "io/sort/entry_pack.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "io/text/io_sizes.h"

typedef struct packing {
    const hy_entry *from;
    int64_t count, each, pieces; /* each: number of entries in a piece */
    double mirror;
    hy_record *to;
    int64_t *first; /* pieces + 1 numbers: records before each piece; NULL: a record for
                       each entry */
} packing;

static int64_t piece_end(const packing *p, int64_t piece)
{
    return hy_min((piece + 1) * p->each, p->count);
}

static hybrid_status count_records(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        int64_t records = 0;
        for (int64_t k = piece * p->each; k < piece_end(p, piece); k++)
            records += p->from[k].row == p->from[k].col ? 1 : 2;
        p->first[piece] = records;
    }
    return HYBRID_OK;
}

static hybrid_status pack_both(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        hy_record *to = p->to + p->first[piece];
        for (int64_t k = piece * p->each; k < piece_end(p, piece); k++) {
            const hy_entry e = p->from[k];
            *to++            = (hy_record){hy_key(e.row, e.col), e.value};
            if (e.row != e.col)
                *to++ = (hy_record){hy_key(e.col, e.row) | 1, p->mirror * e.value};
        }
    }
    return HYBRID_OK;
}

static hybrid_status pack(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;
    (void)part;

    for (int64_t k = begin; k < end; k++)
        p->to[k] = (hy_record){hy_key(p->from[k].row, p->from[k].col), p->from[k].value};
    return HYBRID_OK;
}

static hybrid_status pack_mirrored(hy_context *ctx, packing *p, int64_t *packed)
{
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, p->pieces, 1, count_records, p));
    HY_TRY(hy_prefix_sum(ctx, p->first, p->pieces));
    *packed = p->first[p->pieces];
    return hy_pool_for(ctx->pool, HY_COMPUTE, 0, p->pieces, 1, pack_both, p);
}

hybrid_status hy_entry_pack(hy_context *ctx, const hy_entry *entries, int64_t count,
                            int mirror, hy_record *to, int64_t *packed)
{
    const int64_t each = hy_io_sizes_of(ctx)->records_piece;
    packing p          = {.from   = entries,
                          .count  = count,
                          .each   = each,
                          .pieces = hy_pieces_of(count, each),
                          .mirror = mirror,
                          .to     = to};
    void *array;

    *packed = count;
    if (mirror == 0)
        return hy_pool_for(ctx->pool, HY_COMPUTE, 0, count, each, pack, &p);
    HY_TRY(hy_array(ctx, p.pieces + 1, sizeof *p.first, "pieces of entries", &array));
    p.first                    = array;
    const hybrid_status status = pack_mirrored(ctx, &p, packed);
    hy_array_free(ctx, array);
    return status;
}
