/* partition/pattern/gathered.c - cuts rows of A into chunks that carry the rows of B or X
   that they touch.

   The cut reads A to find the rows that a chunk touches. The rows of A are divided into
   ranges of about equal numbers of scalar products, and workers cut the ranges side by
   side. A chunk ends at the end of its range, or where one more row would not fit a slot.
   The ranges depend on the product and on the limits of a chunk, and not on the number of
   workers, so the same product is always cut in the same way.

   If positions of entries are random, as in Erdos-Renyi graphs, nearly every entry of a
   chunk touches another row of B. The cut of a large SpGEMM then need not read A: a chunk
   touches at most one row of B for each of its entries, and these rows together have at
   most one entry for each of the chunk's scalar products. A few chunks (probes) are
   inspected to find out whether positions are random in this sense. */
#include "partition/pattern/gathered.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    BATCH       = 64,        /* rows that are added to a chunk at a time */
    MOST_RANGES = 64,        /* maximum number of ranges of rows of A: four for each of 16
                                workers */
    LEAST_ENTRIES = 1 << 18, /* minimum entries of A in a range, so that reading them
                                takes much longer than waking a worker */
    LARGE = 1 << 21,         /* minimum entries of A for which chunks are inspected;
                                fewer are read in a millisecond */
    PROBES = 8,              /* number of chunks that are inspected (probes) */
    ROUNDS = 2, /* number of times that longer chunks are probed to find how many rows of
                   B their entries share */
    FEW = 16    /* chunks are cut by upper bounds only if at most 1/FEW of the entries of
                   all probes touch a row that another entry of the probe touches */
};

/* Number of rows of B or X that a chunk touches; for SpGEMM, also the number of entries
   of B in these rows. */
typedef struct reach {
    int64_t rows, entries;
} reach;

typedef struct gathering {
    const hy_cut *cut;
    hy_context *ctx;
    int64_t width;  /* number of columns of the result in each chunk */
    int64_t words;  /* words of a bitmap with a bit for each row of B or X */
    uint64_t *bits; /* one bitmap for each thread of the loop: set for the rows that the
                       current chunk touches */
    int64_t count;
    hy_chunk_array ranges[MOST_RANGES]; /* chunks of each range */
    int64_t probed, distinct;           /* sums over all probes, updated atomically:
                                           entries, and different rows of B that these
                                           touch */
    double share;                       /* number of rows of B that a chunk is taken to
                                           touch for each of its entries; 1: an upper
                                           bound */
} gathering;

/* ---- one chunk --------------------------------------------------------------- */

/* Sets the bits of the rows of B or X that row `row` of A touches. Returns how many of
   them were not set. */
static int64_t mark(const hybrid_csr *A, int64_t row, uint64_t *bits)
{
    const int64_t end = hy_offset(A, row + 1);
    int64_t count     = 0;

    for (int64_t k = hy_offset(A, row); k < end; k++) {
        const int64_t col   = hy_cols(A)[k];
        const uint64_t mask = (uint64_t)1 << (col % 64);
        count += !(bits[col / 64] & mask);
        bits[col / 64] |= mask;
    }
    return count;
}

/* Sets the bits of the rows of B or X that row `row` of A touches, and adds those rows
   that no row before touched to *sum. */
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

/* Returns how many of the `count` rows from `end` on can be added to a chunk of rows
   [begin, end) so that the chunk still fits a slot; at least 1 if begin == end. sum[i] is
   the reach of the chunk after i of these rows are added. */
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

/* Clears all bits that rows [begin, end) of A have set. If the rows have fewer entries
   than `bits` has words, clears the word of each entry; else all words. */
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

/* Sets *out to the features of the longest chunk that begins at row `begin`, ends at row
   `last` or before, and fits a slot. All of `bits` is clear before and afterwards. */
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

/* ---- bounds instead of counts ------------------------------------------------ */

static int64_t part_of(double share, int64_t count)
{
    return share < 1 ? (int64_t)(share * (double)count) : count;
}

/* Returns the features of rows [begin, end), with upper bounds times g->share instead of
   counts of the touched rows of B and their entries. */
static hy_features bounds_of(const gathering *g, int64_t begin, int64_t end)
{
    const hy_cut *cut   = g->cut;
    const hy_features f = hy_profile_range(cut->profile, begin, end, g->width);
    const reach sum     = {hy_min(part_of(g->share, f.nnz), cut->A->cols),
                           hy_min(part_of(g->share, f.products), cut->B->nnz)};

    return features_of(g, begin, end, sum);
}

/* Returns the features of the longest chunk that begins at row `begin` and fits a slot
   even if it touches as many rows of B, with as many entries, as its upper bounds say. */
static hy_features longest_bound(const gathering *g, int64_t begin)
{
    int64_t low = begin + 1, high = g->cut->profile->end + 1;

    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        const hy_features f  = bounds_of(g, begin, middle);
        if (hy_cut_fits(g->cut, &f))
            low = middle;
        else
            high = middle;
    }
    return bounds_of(g, begin, low);
}

/* Inspects probes [begin, end), which are evenly spaced chunks. Adds their entries to
   g->probed, and the different rows of B that each probe touches to g->distinct. */
static hybrid_status probe(void *arg, int part, int64_t begin, int64_t end)
{
    gathering *g        = arg;
    const hy_profile *p = g->cut->profile;
    const int64_t rows  = p->end - p->begin;
    uint64_t *bits      = g->bits + part * g->words;

    for (int64_t i = begin; i < end; i++) {
        const int64_t row   = p->begin + rows / PROBES * i;
        const hy_features f = longest_bound(g, row);
        int64_t distinct    = 0;
        for (int64_t k = row; k < row + f.rows; k++)
            distinct += mark(g->cut->A, k, bits);
        clear(g, row, row + f.rows, bits);
        __atomic_fetch_add(&g->probed, f.nnz, __ATOMIC_RELAXED);
        __atomic_fetch_add(&g->distinct, distinct, __ATOMIC_RELAXED);
    }
    return HYBRID_OK;
}

static hybrid_status cut_bounds(const gathering *g, hy_chunk_array *out)
{
    for (int64_t row = g->cut->profile->begin; row < g->cut->profile->end;) {
        const hy_features f = longest_bound(g, row);
        HY_TRY(hy_progress_check(&g->ctx->progress));
        HY_TRY(hy_chunk_array_add(g->ctx, out, g->cut, g->width, row, &f));
        out->of[out->count - 1].fewer = g->share >= 1;
        row += f.rows;
    }
    return HYBRID_OK;
}

static hybrid_status probe_all(gathering *g)
{
    g->probed = g->distinct = 0;
    return hy_pool_for(g->ctx->pool, HY_PLAN, 0, PROBES, 1, probe, g);
}

/* Sets *bounded to 1 if chunks may be cut by upper bounds of what they touch, without
   reading A: SpGEMM, at least LARGE entries, and random positions in the probes. If the
   profile is sampled, chunks are cut by estimates in place of bounds, because the run
   counts what each chunk touches. Longer chunks share more rows, so they are probed,
   too. */
static hybrid_status may_bound(gathering *g, int *bounded)
{
    const int sampled = hy_profile_is_sampled(g->cut->profile);

    *bounded = sampled;
    g->share = 1;
    if (!g->cut->B || (g->cut->profile->features.nnz < LARGE && !sampled))
        return HYBRID_OK;
    HY_TRY(probe_all(g));
    if (g->probed - g->distinct <= g->probed / FEW) {
        *bounded = 1;
        return HYBRID_OK;
    }
    for (int i = 0; i < ROUNDS && sampled; i++) {
        g->share = (double)g->distinct / (double)g->probed;
        HY_TRY(probe_all(g));
    }
    return HYBRID_OK;
}

/* ---- ranges ------------------------------------------------------------------ */

/* Returns the number of ranges. A range has as many scalar products and rows as a whole
   number of the largest allowed chunks. */
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

/* Returns the first row of A in range `i`; the end of all rows if `i` is the number of
   ranges. */
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

/* Appends the chunks of all ranges, in order of rows, to `out`. */
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

/* Cuts the ranges of rows of A side by side, and counts for each chunk the rows of B or X
   that it touches. */
static hybrid_status cut_counted(gathering *g, hy_chunk_array *out)
{
    hy_context *ctx = g->ctx;

    hybrid_status status = hy_pool_for(ctx->pool, HY_PLAN, 0, g->count, 1, cut_ranges, g);
    if (status == HYBRID_OK)
        status = join(g, out);
    for (int64_t i = 0; i < g->count; i++)
        hy_array_free(ctx, g->ranges[i].of);
    return status;
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
    int bounded;
    void *bits;

    const int64_t words = hy_pool_threads(ctx->pool) * g.words;
    HY_TRY(hy_array(ctx, words, sizeof *g.bits, "marks of touched rows", &bits));
    g.bits = bits;
    HY_TRY_ELSE_DONE(
        hy_pool_set(ctx->pool, HY_PLAN, bits, 0, words * (int64_t)sizeof *g.bits));
    HY_TRY_ELSE_DONE(may_bound(&g, &bounded));
    status = bounded ? cut_bounds(&g, out) : cut_counted(&g, out);
done:
    hy_array_free(ctx, bits);
    return status;
}
