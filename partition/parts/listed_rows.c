/* partition/parts/listed_rows.c - reads listed rows of a sparse operand in a file. */
#include "partition/parts/listed_rows.h"

#include <string.h>

#include "base/contract/image.h"
#include "base/data/csr.h"
#include "base/threads/pool.h"

enum {
    NEAR_ROWS = 512,    /* one read brings the offsets of two listed rows if their row
                           numbers differ by at most this */
    WINDOW = 4096,      /* maximum number of rows, gaps included, whose offsets one read
                           brings */
    NEAR_ENTRIES = 512, /* one read brings the entries of two listed rows if at most this
                           many lie between them */
    PIECE_BYTES = 32 << 10,
    ROWS_GRAIN  = 2048 /* number of rows that one worker handles at a time */
};

/* ---- where the rows lie ---------------------------------------------------------- */

/* Returns the index after the last one of the rows, from index i on, whose offsets one
   read brings; at most `end`. */
static int64_t window_end(const int32_t *rows, int64_t i, int64_t end)
{
    int64_t next = i + 1;

    while (next < end && rows[next] - rows[next - 1] <= NEAR_ROWS &&
           rows[next] - rows[i] < WINDOW)
        next++;
    return next;
}

/* Sets the positions of rows with indices [begin, end), and in place of their offsets the
   numbers of their entries. */
static hybrid_status find_some(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_listed_rows *list = arg;
    int64_t window[WINDOW + 1];

    (void)part;
    for (int64_t i = begin, next; i < end; i = next) {
        const int64_t row = list->rows[i];
        next              = window_end(list->rows, i, end);
        HY_TRY(hy_source_array(list->source, HY_CSR_OFFSETS, row,
                               list->rows[next - 1] - row + 2, window));
        for (int64_t k = i; k < next; k++) {
            const int64_t *offset = window + (list->rows[k] - row);
            list->at[k]           = offset[0];
            list->offsets[k]      = offset[1] - offset[0];
        }
    }
    return HYBRID_OK;
}

hybrid_status hy_listed_rows_find(hy_listed_rows *list)
{
    hy_context *ctx = list->source->ctx;

    HY_TRY(hy_pool_for(ctx->pool, HY_PACK, 0, list->count, ROWS_GRAIN, find_some, list));
    return hy_prefix_sum(ctx, list->offsets, list->count);
}

/* ---- their entries --------------------------------------------------------------- */

typedef struct reading {
    const hy_listed_rows *list;
    char *col, *val;
} reading;

/* The listed rows with indices [begin, end). One read brings their entries. */
typedef struct run {
    int64_t begin, end;
    int64_t first, count; /* in the file: number of the first entry, and number of entries
                             including those between the rows */
} run;

/* Returns the run that begins with the row of index i and ends at index `end` or before.
   Its rows have no gaps between them, or they and their gaps fit into the buffer of
   PIECE_BYTES. */
static run run_from(const hy_listed_rows *list, int64_t i, int64_t end)
{
    enum { MOST = PIECE_BYTES / 8 };
    const int64_t *to = list->offsets;
    run r             = {i, i + 1, list->at[i], to[i + 1] - to[i]};

    for (; r.end < end; r.end++) {
        const int64_t gap   = list->at[r.end] - (r.first + r.count);
        const int64_t count = r.count + gap + to[r.end + 1] - to[r.end];
        const int has_gaps  = r.count != to[r.end] - to[i] || gap > 0;
        if (gap < 0 || gap > NEAR_ENTRIES || (has_gaps && count > MOST))
            break;
        r.count = count;
    }
    return r;
}

/* Reads one array (columns or values, with elements of `size` bytes) of the rows of `r`
   from the file. Stores each listed row at its offset in `out`. */
static hybrid_status read_run(const hy_listed_rows *list, const run *r, int array,
                              size_t size, char *out)
{
    const int64_t *to = list->offsets;
    char piece[PIECE_BYTES];

    if (r->count == to[r->end] - to[r->begin])
        return hy_source_array(list->source, array, r->first, r->count,
                               out + (size_t)to[r->begin] * size);
    HY_TRY(hy_source_array(list->source, array, r->first, r->count, piece));
    for (int64_t k = r->begin; k < r->end; k++)
        memcpy(out + (size_t)to[k] * size,
               piece + (size_t)(list->at[k] - r->first) * size,
               (size_t)(to[k + 1] - to[k]) * size);
    return HYBRID_OK;
}

static hybrid_status read_some(void *arg, int part, int64_t begin, int64_t end)
{
    const reading *reads       = arg;
    const hy_listed_rows *list = reads->list;
    const size_t size          = hy_value_size(list->source->csr->type);

    (void)part;
    for (int64_t i = begin; i < end;) {
        const run r = run_from(list, i, end);
        HY_TRY(read_run(list, &r, HY_CSR_COLS, 4, reads->col));
        HY_TRY(read_run(list, &r, HY_CSR_VALUES, size, reads->val));
        i = r.end;
    }
    return HYBRID_OK;
}

hybrid_status hy_listed_rows_read(const hy_listed_rows *list, int32_t *col, void *val)
{
    reading reads = {list, (char *)col, val};

    return hy_pool_for(list->source->ctx->pool, HY_PACK, 0, list->count, ROWS_GRAIN,
                       read_some, &reads);
}
