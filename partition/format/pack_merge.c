/* partition/format/pack_merge.c - cuts the merge path of a CSR matrix into tiles of equal
   work. */
#include "partition/format/merge.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "partition/format/gather.h"
#include "partition/format/pack.h"

enum {
    CUTS = 1 << 9
}; /* number of tile starts (cuts) that one worker computes at a time */

/* ---- layout of the pack: hy_pack_csr()'s arrays, then pieces | cuts | joins | arrived |
   last (hy_merge_view) ---- */

enum { TILES, PIECES }; /* indices of the numbers of tiles and of pieces in pack.head */

/* Offsets of the arrays of hy_merge_view in bytes, from the beginning of the array
   `piece`. All but `cut` and `end` are for shape.vector only. */
typedef struct layout {
    size_t cut, join, arrived, last, end;
} layout;

int64_t hy_merge_max_tiles(const hy_features *f, hy_merge_shape shape)
{
    return (f->rows + f->nnz) / shape.items + 2;
}

static layout layout_of(const hy_features *f, int64_t tiles, hy_merge_shape shape)
{
    const size_t count = (size_t)tiles;
    layout at          = {.cut = hy_align(count * sizeof(hy_merge_piece))};

    at.end = at.cut + (count + 1) * sizeof(hy_merge_cut);
    if (!shape.vector)
        return at;
    at.join    = hy_align(at.end);
    at.arrived = at.join + hy_align((count + 1) * sizeof(hy_merge_join));
    at.last    = at.arrived + hy_align(count * sizeof(int32_t));
    at.end     = at.last + (size_t)f->rows * sizeof(uint16_t);
    return at;
}

static size_t own_at(const hy_features *f)
{
    return hy_align(hy_pack_csr_bytes(HY_SPMM, f));
}

size_t hy_pack_merge_bytes(const hy_features *f, hy_merge_shape shape, int64_t tiles)
{
    return own_at(f) + layout_of(f, tiles, shape).end;
}

/* ---- the path of the whole matrix --------------------------------------------- */

/* A place on the merge path: `row` ends of rows and `entry` entries precede it. */
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

/* Returns the first row in [low, high) whose end is item `item` of the merge path or a
   later one; `high` if none is. */
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

/* Returns the place where tile t begins: item t * shape.items of the merge path. If that
   item is in a row of at most shape.longest entries, the tile begins where the row does,
   so that the row is not cut. The row of the item must be in [near, far]. */
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
    place begin, end;     /* where the chunk begins and ends */
    int64_t first, tiles; /* range of tiles of the whole matrix that overlap the chunk:
                             first tile and number */
    hy_merge_cut *cut;
    hy_merge_piece *piece;
    uint16_t *last; /* for each row, the number of its last entry in the tile that ends
                       the row (hy_merge_view); NULL unless X has one column */
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

/* Sets `last` (hy_merge_view) of the rows that end in the tile from place `from` to place
   `next`. */
static void note_last(const cutter *c, place from, place next)
{
    const int64_t stop = next.row < c->end.row ? next.row : c->end.row;

    for (int64_t row = from.row; row < stop; row++) {
        const int64_t begin = hy_offset(c->A, row), end = hy_offset(c->A, row + 1);
        const int has = end > begin && end > from.entry;
        c->last[row - c->begin.row] =
            has ? (uint16_t)(end - from.entry - 1) : HY_MERGE_NO_ENTRY;
    }
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
        if (c->last)
            note_last(c, from, next);
        here = next;
    }
    return HYBRID_OK;
}

/* Returns 1 if tile t begins inside a row. */
static int inside_row(const cutter *c, int64_t t)
{
    const hy_merge_cut *cut = &c->cut[t];
    return cut->entry + c->begin.entry > hy_offset(c->A, c->begin.row + cut->row);
}

/* Lists the rows that are cut by tiles and returns their number. */
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

/* Sets join[t] for every cut (the tiles that have pieces of the row in which cut t lies),
   and sets arrived[], the counters of finished pieces, to 0. */
static void find_joins(const cutter *c, int64_t pieces, hy_merge_join *join,
                       int32_t *arrived)
{
    for (int64_t t = 0; t <= c->tiles; t++)
        join[t] = (hy_merge_join){-1, -1};
    for (int64_t k = 0; k < pieces; k++)
        for (int64_t t = c->piece[k].first + 1; t <= c->piece[k].last; t++)
            join[t] = (hy_merge_join){c->piece[k].first, c->piece[k].last};
    memset(arrived, 0, (size_t)c->tiles * sizeof *arrived);
}

hybrid_status hy_pack_merge(hy_job *job, hy_merge_shape shape)
{
    hy_context *ctx      = job->problem->ctx;
    const hy_features *f = &job->chunk->features;
    cutter c             = cutter_of(job, shape);

    HY_TRY(hy_pack_csr(job));
    const layout at    = layout_of(f, c.tiles, shape);
    const size_t bytes = own_at(f) + at.end;
    HY_TRY(hy_pack_check_room(job, bytes, job->pack.mem.bytes));
    char *own       = (char *)job->pack.mem.ptr + own_at(f);
    c.piece         = (void *)own;
    c.cut           = (void *)(own + at.cut);
    c.last          = shape.vector ? (void *)(own + at.last) : NULL;
    job->pack.bytes = bytes;
    job->pack.rest  = own_at(f);
    HY_TRY(hy_pool_for(ctx->pool, HY_PACK, 0, c.tiles, CUTS, make_cuts, &c));
    c.cut[c.tiles] = (hy_merge_cut){
        .row = c.end.row - c.begin.row, .entry = c.end.entry - c.begin.entry, .share = 1};
    job->pack.head[TILES]  = c.tiles;
    job->pack.head[PIECES] = find_pieces(&c);
    if (shape.vector)
        find_joins(&c, job->pack.head[PIECES], (void *)(own + at.join),
                   (void *)(own + at.arrived));
    return HYBRID_OK;
}

hybrid_status hy_arrange_merge_room(hy_job *job, hy_merge_shape shape)
{
    const hy_features *f = &job->chunk->features;
    const int64_t tiles  = (f->rows + f->nnz + shape.items - 1) / shape.items;
    const size_t bytes   = job->pack.rest + layout_of(f, tiles, shape).end;
    const int any_cut    = f->row_max > shape.longest;

    HY_TRY(hy_pack_check_room(job, bytes, job->in.bytes));
    job->pack.bytes        = bytes;
    job->pack.head[TILES]  = tiles;
    job->pack.head[PIECES] = any_cut ? tiles : 0;
    return HYBRID_OK;
}

hy_merge_view hy_packed_merge(const hy_job *job, hy_merge_shape shape)
{
    const hy_features *f = &job->chunk->features;
    char *own            = (char *)job->in.ptr + job->pack.rest;
    const int64_t tiles  = job->pack.head[TILES];
    const layout at      = layout_of(f, tiles, shape);
    hy_merge_view view   = {.tiles  = tiles,
                            .pieces = job->pack.head[PIECES],
                            .cut    = (const void *)(own + at.cut),
                            .piece  = (const void *)own};

    if (shape.vector) {
        view.join    = (const void *)(own + at.join);
        view.arrived = (void *)(own + at.arrived);
        view.last    = (const void *)(own + at.last);
    }
    return view;
}
