/* partition/pattern/x_ranges.c - finds which rows of B or X each chunk needs.

   hy_chunk.x_end is the end of the range of rows that a chunk waits for.
   hy_chunk.x_begin, for a ring, is the first row that this chunk and all later ones still
   need.

   Columns ascend within a row, so the last entry of a row suffices, but reading it costs
   a cache line. For SpGEMM the profile has the ends of blocks of HY_ENDS_ROWS rows,
   because all of A was read for it. Otherwise rows are shared out evenly among the
   workers, whatever the chunks are. No more rows of a chunk are read once it needs nearly
   all of B or X: it then waits for all. A ring of rows needs exact ranges, which come
   from extents.h. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/pattern/chunks.h"

enum {
    ROWS       = 1 << 13, /* rows that one worker takes at a time */
    ROWS_KNOWN = 1 << 19, /* number of rows that one worker takes at a time if
                             hy_profile.ends is set */
    CHUNKS = 1 << 6,      /* number of chunks that one worker takes at a time if it reads
                             extents (extents.h) */
    NEARLY_ALL = 32
};

typedef struct search {
    const hybrid_csr *A;
    const int64_t *ends; /* 1 + last column of each HY_ENDS_ROWS rows (hy_profile.ends),
                            or NULL */
    hy_chunk *chunks;    /* chunks of the first column block, for which x_end and x_begin
                            are set */
    int64_t count;
    int64_t enough; /* a chunk that needs at least this many rows of B or X waits for all
                       of them */
} search;

static int64_t chunk_of(const search *n, int64_t row)
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

/* Returns 1 if a block of HY_ENDS_ROWS rows begins at `row`, lies within [row, end), and
   has a known end. */
static int is_known_block(const search *n, int64_t row, int64_t end)
{
    return n->ends && row % HY_ENDS_ROWS == 0 && end - row >= HY_ENDS_ROWS;
}

/* Returns the maximum of `x_end` and the ends of rows [begin, end) of A (1 + last
   column). The search stops early once the maximum is at least n->enough. */
static int64_t x_end_of(const search *n, int64_t x_end, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end && x_end < n->enough;) {
        const int block     = is_known_block(n, i, end);
        const int64_t after = block ? n->ends[i / HY_ENDS_ROWS] : end_of_row(n->A, i);
        x_end               = after > x_end ? after : x_end;
        i += block ? HY_ENDS_ROWS : 1;
    }
    return x_end;
}

static hybrid_status find_x_ends(void *arg, int part, int64_t begin, int64_t end)
{
    const search *n = arg;

    (void)part;
    for (int64_t c = chunk_of(n, begin); begin < end; c++) {
        hy_chunk *chunk     = &n->chunks[c];
        const int64_t stop  = chunk->row_end < end ? chunk->row_end : end;
        const int64_t x_end = __atomic_load_n(&chunk->x_end, __ATOMIC_RELAXED);
        hy_raise_to(&chunk->x_end, x_end_of(n, x_end, begin, stop));
        begin = stop;
    }
    return HYBRID_OK;
}

void hy_chunks_read_all(hy_chunk *chunks, int64_t count, int64_t rows)
{
    for (int64_t c = 0; c < count; c++)
        chunks[c].x_end = rows;
}

hybrid_status hy_chunks_find_x_ranges(hy_context *ctx, const hybrid_csr *A,
                                      const int64_t *ends, int with_own, hy_chunk *chunks,
                                      int64_t count)
{
    const int64_t ranges = hy_chunk_ranges(chunks, count);
    search n             = {A, ends, chunks, ranges, A->cols - A->cols / NEARLY_ALL};

    for (int64_t c = 0; c < ranges; c++) {
        const int64_t own = chunks[c].row_end < A->cols ? chunks[c].row_end : A->cols;
        chunks[c].x_end   = with_own ? own : 0;
    }
    if (ranges > 0)
        HY_TRY(hy_pool_for(ctx->pool, HY_PLAN, chunks[0].row_begin,
                           chunks[ranges - 1].row_end, ends ? ROWS_KNOWN : ROWS,
                           find_x_ends, &n));
    for (int64_t c = 0; c < count; c++) {
        const int64_t x_end = chunks[c % ranges].x_end;
        chunks[c].x_end     = x_end < n.enough ? x_end : A->cols;
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
        chunk->x_begin     = rows.first < cols ? rows.first : cols;
        chunk->x_end       = rows.end;
    }
    return HYBRID_OK;
}

hybrid_status hy_chunks_find_band(hy_context *ctx, const hy_extents *extents,
                                  hy_chunk *chunks, int64_t count)
{
    banding b = {extents, chunks};

    HY_TRY(hy_pool_for(ctx->pool, HY_PLAN, 0, count, CHUNKS, set_band, &b));
    for (int64_t c = count - 1; c > 0; c--) /* a ring still needs a row of X if a later
                                               chunk does: lowers each x_begin to the
                                               x_begin of the next chunk */
        if (chunks[c].x_begin < chunks[c - 1].x_begin)
            chunks[c - 1].x_begin = chunks[c].x_begin;
    return HYBRID_OK;
}

/* Lowers x_begin and raises x_end of each chunk so that they cover the rows of B that are
   the chunk's own rows of A (A is squared). Rows of chunks ascend, so x_begin still holds
   for later chunks. */
void hy_chunks_read_own(hy_chunk *chunks, int64_t count)
{
    for (int64_t c = 0; c < count; c++) {
        chunks[c].x_begin = hy_min(chunks[c].x_begin, chunks[c].row_begin);
        chunks[c].x_end   = hy_max(chunks[c].x_end, chunks[c].row_end);
    }
}
