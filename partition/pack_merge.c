/* partition/pack_merge.c - the merge path of a CSR matrix, cut into tiles of equal work.
 */
#include "partition/merge.h"

#include "base/csr.h"
#include "base/pool.h"
#include "partition/pack.h"

enum { CUTS = 1 << 9 }; /* that one worker makes at a time */

/* ---- layout: pieces | cuts, after hy_pack_csr()'s arrays ------------------- */

enum { TILES, PIECES }; /* words of the head */

int64_t hy_merge_tiles_most(const hy_features *f, hy_merge_shape shape)
{
    return (f->rows + f->nnz) / shape.items + 2;
}

static size_t cuts_at(int64_t tiles)
{
    return hy_align((size_t)tiles * sizeof(hy_merge_piece));
}

static size_t cuts_end(int64_t tiles)
{
    return cuts_at(tiles) + ((size_t)tiles + 1) * sizeof(hy_merge_cut);
}

static size_t own_at(const hy_features *f)
{
    return hy_align(hy_pack_csr_bytes(HY_SPMM, f));
}

size_t hy_pack_merge_bytes(const hy_features *f, hy_merge_shape shape)
{
    return own_at(f) + cuts_end(hy_merge_tiles_most(f, shape));
}

/* ---- the path of the whole matrix --------------------------------------------- */

/* A place on the path: rows that end, and entries that lie, before it. */
typedef struct place {
    int64_t row, entry;
} place;

static int64_t item_of(place p)
{
    return p.row + p.entry;
}

static place start_of(const hybrid_csr *A, int64_t row)
{
    return (place){row, hy_offset(A, row)};
}

/* The first row of [low, high] that does not end before this item. */
static int64_t row_at(const hybrid_csr *A, int64_t low, int64_t high, int64_t item)
{
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (hy_offset(A, middle + 1) + middle < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where tile t begins; `near` is a row that ends no later. */
static place tile_start(const hybrid_csr *A, hy_merge_shape shape, int64_t t,
                        int64_t near, int64_t far)
{
    const int64_t item = t * shape.items;

    if (item >= A->rows + A->nnz)
        return start_of(A, A->rows);
    const int64_t row = row_at(A, near, far < A->rows ? far : A->rows, item);
    place p           = {row, item - row};
    if (row < A->rows && hy_offset(A, row + 1) - hy_offset(A, row) <= shape.longest)
        p = start_of(A, row);
    return p;
}

/* ---- the cuts of a chunk ------------------------------------------------------ */

typedef struct cutter {
    const hybrid_csr *A;
    hy_merge_shape shape;
    place begin, end;     /* of the chunk */
    int64_t first, tiles; /* of the whole matrix, that the chunk has a part of */
    hy_merge_cut *cut;
    hy_merge_piece *piece;
} cutter;

static cutter cutter_of(const hy_job *job, hy_merge_shape shape)
{
    const hybrid_csr *A = job->problem->A;
    cutter c            = {.A     = A,
                           .shape = shape,
                           .begin = start_of(A, job->chunk->row_begin),
                           .end   = start_of(A, job->chunk->row_end)};

    c.first = item_of(c.begin) / shape.items;
    c.tiles = (item_of(c.end) + shape.items - 1) / shape.items - c.first;
    return c;
}

static hybrid_status make_cuts(void *arg, int part, int64_t begin, int64_t end)
{
    const cutter *c     = arg;
    const int64_t items = c->shape.items;
    place here          = tile_start(c->A, c->shape, c->first + begin, 0, c->A->rows);

    (void)part;
    for (int64_t t = begin; t < end; t++) {
        const place next =
            tile_start(c->A, c->shape, c->first + t + 1, here.row, here.row + items);
        const int64_t length = item_of(next) - item_of(here);
        const int64_t share  = (length + c->shape.shares - 1) / c->shape.shares;
        const int64_t lead   = item_of(c->begin) - item_of(here);
        const place from     = lead > 0 ? c->begin : here;
        c->cut[t]            = (hy_merge_cut){.row   = from.row - c->begin.row,
                                              .entry = from.entry - c->begin.entry,
                                              .lead  = (int32_t)(lead > 0 ? lead : 0),
                                              .share = (int32_t)share | 1};
        here                 = next;
    }
    return HYBRID_OK;
}

/* Whether tile t begins inside a row. */
static int inside_row(const cutter *c, int64_t t)
{
    const hy_merge_cut *cut = &c->cut[t];
    return cut->entry + c->begin.entry > hy_offset(c->A, c->begin.row + cut->row);
}

/* Rows that are in pieces; returns how many. */
static int64_t find_pieces(const cutter *c)
{
    int64_t count = 0, first = 0;

    for (int64_t t = 1; t < c->tiles; t++) {
        const int64_t row = c->cut[t].row;
        if (!inside_row(c, t))
            continue;
        if (c->cut[t - 1].row != row || !inside_row(c, t - 1))
            first = t - 1;
        if (c->cut[t + 1].row > row)
            c->piece[count++] = (hy_merge_piece){row, (int32_t)first, (int32_t)t};
    }
    return count;
}

hybrid_status hy_pack_merge(hy_job *job, hy_merge_shape shape)
{
    hy_context *ctx = job->problem->ctx;
    cutter c        = cutter_of(job, shape);

    HY_TRY(hy_pack_csr(job));
    const size_t at    = own_at(&job->chunk->features);
    const size_t bytes = at + cuts_end(c.tiles);
    if (bytes > job->pack.mem.bytes)
        return hy_fail(ctx, HYBRID_BAD_STATE,
                       "chunk %lld packs into %zu bytes, its block has %zu",
                       (long long)job->chunk->id, bytes, job->pack.mem.bytes);
    char *own       = (char *)job->pack.mem.ptr + at;
    c.piece         = (void *)own;
    c.cut           = (void *)(own + cuts_at(c.tiles));
    job->pack.bytes = bytes;
    HY_TRY(hy_pool_for(ctx->pool, HY_PACK, 0, c.tiles, CUTS, make_cuts, &c));
    c.cut[c.tiles] = (hy_merge_cut){
        .row = c.end.row - c.begin.row, .entry = c.end.entry - c.begin.entry, .share = 1};
    job->pack.head[TILES]  = c.tiles;
    job->pack.head[PIECES] = find_pieces(&c);
    return HYBRID_OK;
}

hy_merge_view hy_packed_merge(const hy_job *job)
{
    const char *own     = (const char *)job->in.ptr + own_at(&job->chunk->features);
    const int64_t tiles = job->pack.head[TILES];

    return (hy_merge_view){.tiles  = tiles,
                           .pieces = job->pack.head[PIECES],
                           .cut    = (const void *)(own + cuts_at(tiles)),
                           .piece  = (const void *)own};
}
