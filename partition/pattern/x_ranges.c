/* partition/pattern/x_ranges.c - which rows of B or X chunks wait for, and which they are
   done with.

   Columns ascend in rows, so the first and the last entry of each row tell; but reading
   them costs a line of the caches each. Of SpGEMM the profile knows the ends of blocks of
   rows, since all of A was read for it. Otherwise rows are shared out evenly whatever the
   chunks are, and nothing more is read of a chunk that needs nearly all of B or X: it
   might as well wait for the rest. What a ring of rows holds is to be known to the row:
   extents.h.
 */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/pattern/chunks.h"

enum {
    ROWS       = 1 << 13, /* that one worker looks at, */
    ROWS_KNOWN = 1 << 19, /* or whose blocks it does */
    CHUNKS     = 1 << 6,  /* the same of what is known of rows */
    NEARLY_ALL = 32
};

typedef struct needing {
    const hybrid_csr *A;
    const int64_t *ends; /* of blocks of rows; NULL: not known */
    hy_chunk *chunks;    /* of the first panel */
    int64_t count;
    int64_t enough; /* who needs so many rows needs all */
} needing;

/* The chunk that has the row. */
static int64_t chunk_of(const needing *n, int64_t row)
{
    int64_t low = 0, high = n->count - 1;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (n->chunks[middle].row_end <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t end_of_row(const hybrid_csr *A, int64_t row)
{
    const int64_t stop = hy_offset(A, row + 1);
    return stop > hy_offset(A, row) ? (int64_t)hy_cols(A)[stop - 1] + 1 : 0;
}

/* One begins at the row, and is over before `end`. */
static int is_known_block(const needing *n, int64_t row, int64_t end)
{
    return n->ends && row % HY_ENDS_ROWS == 0 && end - row >= HY_ENDS_ROWS;
}

/* The chunk's needs so far and those of its rows [begin, end). */
static int64_t needs_of(const needing *n, int64_t needs, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end && needs < n->enough;) {
        const int block     = is_known_block(n, i, end);
        const int64_t after = block ? n->ends[i / HY_ENDS_ROWS] : end_of_row(n->A, i);
        needs               = after > needs ? after : needs;
        i += block ? HY_ENDS_ROWS : 1;
    }
    return needs;
}

static hybrid_status look(void *arg, int part, int64_t begin, int64_t end)
{
    const needing *n = arg;

    (void)part;
    for (int64_t c = chunk_of(n, begin); begin < end; c++) {
        hy_chunk *chunk     = &n->chunks[c];
        const int64_t stop  = chunk->row_end < end ? chunk->row_end : end;
        const int64_t needs = __atomic_load_n(&chunk->needs, __ATOMIC_RELAXED);
        hy_raise_to(&chunk->needs, needs_of(n, needs, begin, stop));
        begin = stop;
    }
    return HYBRID_OK;
}

void hy_chunks_need_all(hy_chunk *chunks, int64_t count, int64_t rows)
{
    for (int64_t c = 0; c < count; c++)
        chunks[c].needs = rows;
}

hybrid_status hy_chunks_find_x_ranges(hy_context *ctx, const hybrid_csr *A,
                                      const int64_t *ends, int with_own, hy_chunk *chunks,
                                      int64_t count)
{
    const int64_t ranges = hy_chunk_ranges(chunks, count);
    needing n            = {A, ends, chunks, ranges, A->cols - A->cols / NEARLY_ALL};

    for (int64_t c = 0; c < ranges; c++) {
        const int64_t own = chunks[c].row_end < A->cols ? chunks[c].row_end : A->cols;
        chunks[c].needs   = with_own ? own : 0;
    }
    if (ranges > 0)
        HY_TRY(hy_pool_for(ctx->pool, HY_PLAN, chunks[0].row_begin,
                           chunks[ranges - 1].row_end, ends ? ROWS_KNOWN : ROWS, look,
                           &n));
    for (int64_t c = 0; c < count; c++) {
        const int64_t needs = chunks[c % ranges].needs;
        chunks[c].needs     = needs < n.enough ? needs : A->cols;
    }
    return HYBRID_OK;
}

typedef struct banding {
    const hy_extents *extents;
    hy_chunk *chunks;
} banding;

static hybrid_status set_band(void *arg, int part, int64_t begin, int64_t end)
{
    const banding *b = arg;

    (void)part;
    for (int64_t c = begin; c < end; c++) {
        hy_chunk *chunk = &b->chunks[c];
        const hy_extent rows =
            hy_extents_of(b->extents, chunk->row_begin, chunk->row_end);
        const int64_t cols = b->extents->A->cols;
        chunk->first       = rows.first < cols ? rows.first : cols;
        chunk->needs       = rows.end;
    }
    return HYBRID_OK;
}

hybrid_status hy_chunks_find_band(hy_context *ctx, const hy_extents *extents,
                                  hy_chunk *chunks, int64_t count)
{
    banding b = {extents, chunks};

    HY_TRY(hy_pool_for(ctx->pool, HY_PLAN, 0, count, CHUNKS, set_band, &b));
    for (int64_t c = count - 1; c > 0; c--) /* what later ones touch is not done with */
        if (chunks[c].first < chunks[c - 1].first)
            chunks[c - 1].first = chunks[c].first;
    return HYBRID_OK;
}
