/* partition/pattern/gathered.c - cuts rows of A whose chunks bring the rows of B or X
   that they touch.

   The cut reads A to find the rows that a chunk touches. The rows of A are divided
   into ranges of about equal numbers of scalar products, and workers cut the ranges side
   by side. A chunk ends at the end of its range, or where one more row would not fit. The
   ranges depend on the product and on the limits of a chunk, and not on the number of
   workers, so the same product is always cut in the same way. */
#include "partition/pattern/gathered.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    BATCH         = 64,     /* rows that are added to a chunk at a time */
    MOST_RANGES   = 64,     /* four for each worker of a large machine */
    LEAST_ENTRIES = 1 << 18 /* minimum entries of A in a range, so that reading them takes
                               much longer than waking a worker */
};

/* Number of rows of B or X that a chunk touches, and of entries in the touched rows of
   B. */
typedef struct reach {
    int64_t rows, entries;
} reach;

typedef struct gathering {
    const hy_cut *cut;
    hy_context *ctx;
    int64_t width;  /* columns of the chunks */
    int64_t words;  /* words of a bitmap with a bit for each row of B or X */
    uint64_t *bits; /* a bitmap for each part of the loop: set for the rows that the
                       current chunk touches */
    int64_t count;
    hy_chunk_array ranges[MOST_RANGES]; /* chunks of each range */
} gathering;

/* ---- one chunk --------------------------------------------------------------- */

/* Sets the bits of the rows of B or X that row `row` of A touches, and adds those that
   were not set to *sum. */
static void touch(const gathering *g, int64_t row, uint64_t *bits, reach *sum)
{
    const hybrid_csr *A = g->cut->A, *B = g->cut->B;
    const int64_t end = hy_offset(A, row + 1);

    for (int64_t k = hy_offset(A, row); k < end; k++) {
        const int64_t col   = hy_cols(A)[k];
        const uint64_t mask = (uint64_t)1 << (col % 64);
        if (bits[col / 64] & mask)
            continue;
        bits[col / 64] |= mask;
        sum->rows++;
        sum->entries += B ? hy_offset(B, col + 1) - hy_offset(B, col) : 0;
    }
}

static hy_features features_of(const gathering *g, int64_t begin, int64_t end, reach sum)
{
    hy_features f = hy_profile_range(g->cut->profile, begin, end, g->width);

    f.gather_rows = sum.rows;
    f.gather_nnz  = sum.entries;
    return f;
}

/* Counts how many of the `count` rows from `end` on can be added to a chunk of rows
   [begin, end) so that it still fits a slot. sum[i] describes what the chunk touches
   after i of these rows are added. A chunk of one row always fits. */
static int64_t fitting(const gathering *g, int64_t begin, int64_t end, int64_t count,
                       const reach *sum)
{
    int64_t low = end > begin ? 0 : 1, high = count + 1;

    for (int64_t tried = count; high - low > 1; tried = low + (high - low) / 2) {
        const hy_features f = features_of(g, begin, end + tried, sum[tried]);
        if (hy_cut_fits(g->cut, &f))
            low = tried;
        else
            high = tried;
    }
    return low;
}

/* Clears the bits that rows [begin, end) of A have set, the quicker way. */
static void clear(const gathering *g, int64_t begin, int64_t end, uint64_t *bits)
{
    const hybrid_csr *A = g->cut->A;
    const int64_t first = hy_offset(A, begin), last = hy_offset(A, end);

    if (last - first > g->words) {
        memset(bits, 0, (size_t)g->words * sizeof *bits);
        return;
    }
    for (int64_t k = first; k < last; k++)
        bits[hy_cols(A)[k] / 64] = 0;
}

/* Sets *out to the features of the longest chunk that begins at `begin` and ends at
   `last` or before. All bits are clear before and afterwards. */
static hybrid_status longest(const gathering *g, int64_t begin, int64_t last,
                             uint64_t *bits, hy_features *out)
{
    reach sum[BATCH + 1] = {{0, 0}};
    int64_t end          = begin, count, more;

    do {
        HY_TRY(hy_progress_check(&g->ctx->progress));
        count = hy_min(last - end, BATCH);
        for (int64_t i = 0; i < count; i++) {
            sum[i + 1] = sum[i];
            touch(g, end + i, bits, &sum[i + 1]);
        }
        more = fitting(g, begin, end, count, sum);
        end += more;
        sum[0] = sum[more];
    } while (more == count && end < last);
    clear(g, begin, end - more + count, bits);
    *out = features_of(g, begin, end, sum[0]);
    return HYBRID_OK;
}

/* ---- ranges ------------------------------------------------------------------ */

/* Returns the number of ranges. Each has room for a whole number of chunks with the
   maximum of scalar products or of rows. */
static int64_t count_ranges(const hy_cut *cut)
{
    const hy_features *all = &cut->profile->features;
    int64_t chunks         = all->products / hy_max(cut->products_max, 1) + 1;

    if (cut->chunk_rows > 0)
        chunks = hy_max(chunks, (all->rows - 1) / cut->chunk_rows + 1);
    const int64_t most = hy_min(all->nnz / LEAST_ENTRIES + 1, MOST_RANGES);
    const int64_t each = (chunks + most - 1) / most;
    return hy_max(1, hy_min((chunks + each - 1) / each, all->rows));
}

/* Returns the first row of range `i`. */
static int64_t range_begin(const gathering *g, int64_t i)
{
    const hy_cut *cut   = g->cut;
    const hy_profile *p = cut->profile;
    int64_t low = p->begin, high = p->end;

    if (i == g->count)
        return p->end;
    if (cut->chunk_rows > 0) {
        const int64_t chunks = (p->end - p->begin - 1) / cut->chunk_rows + 1;
        return p->begin + chunks * i / g->count * cut->chunk_rows;
    }
    const int64_t first = p->products[low], all = p->products[high] - first;
    const double goal = (double)first + (double)all * (double)i / (double)g->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((double)p->products[middle] < goal)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static hybrid_status cut_ranges(void *arg, int part, int64_t begin, int64_t end)
{
    gathering *g   = arg;
    uint64_t *bits = g->bits + part * g->words;

    for (int64_t i = begin; i < end; i++) {
        const int64_t last = range_begin(g, i + 1);
        for (int64_t row = range_begin(g, i); row < last;) {
            hy_features f;
            HY_TRY(longest(g, row, last, bits, &f));
            HY_TRY(hy_chunk_array_add(g->ctx, &g->ranges[i], g->cut, g->width, row, &f));
            row += f.rows;
        }
    }
    return HYBRID_OK;
}

/* Appends the chunks of all ranges to `out`. */
static hybrid_status join(const gathering *g, hy_chunk_array *out)
{
    int64_t count = 0;

    for (int64_t i = 0; i < g->count; i++)
        count += g->ranges[i].count;
    HY_TRY(hy_chunk_array_reserve(g->ctx, out, count));
    for (int64_t i = 0; i < g->count; i++)
        for (int64_t k = 0; k < g->ranges[i].count; k++) {
            out->of[out->count]    = g->ranges[i].of[k];
            out->of[out->count].id = out->count;
            out->count++;
        }
    return HYBRID_OK;
}

hybrid_status hy_cut_gathered(hy_context *ctx, const hy_cut *cut, int64_t width,
                              hy_chunk_array *out)
{
    gathering g = {.cut   = cut,
                   .ctx   = ctx,
                   .width = width,
                   .words = (cut->A->cols + 63) / 64,
                   .count = count_ranges(cut)};
    hybrid_status status;
    void *bits;

    const int64_t words = hy_pool_threads(ctx->pool) * g.words;
    HY_TRY(hy_array(ctx, words, sizeof *g.bits, "marks of touched rows", &bits));
    g.bits = bits;
    HY_TRY_ELSE_DONE(
        hy_pool_set(ctx->pool, HY_PLAN, bits, 0, words * (int64_t)sizeof *g.bits));
    HY_TRY_ELSE_DONE(hy_pool_for(ctx->pool, HY_PLAN, 0, g.count, 1, cut_ranges, &g));
    HY_TRY_ELSE_DONE(join(&g, out));
done:
    for (int64_t i = 0; i < g.count; i++)
        hy_array_free(ctx, g.ranges[i].of);
    hy_array_free(ctx, bits);
    return status;
}
