/* partition/stream/sampled.c - a profile of A*B whose scalar products are estimated. */
#include "partition/stream/sampled.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/stream/range_counts.h"

enum {
    GROUP = HY_SAMPLED_BLOCKS * HY_ENDS_ROWS, /* rows for which a block of HY_ENDS_ROWS
                                                 rows stands */
    GROUPS = 4,      /* groups that one worker takes at a time, about 10 us */
    ROWS   = 1 << 14 /* rows whose offsets one worker copies at a time, about 10 us */
};

static const double MOST = 0x1p59; /* with fewer scalar products than this,
                                      hy_count_check() does not fail */

/* Facts about the rows of a group. */
typedef struct group {
    double squares;  /* estimated sum of (number of entries)^2 */
    int64_t longest; /* largest number of entries of a row */
    int64_t most;    /* largest number of scalar products of a row of the block */
    double rate;     /* estimated scalar products for each entry; -1: the block of the
                        group has no entries */
    int64_t before;  /* estimated scalar products of all earlier groups */
} group;

typedef struct sampling {
    const hybrid_csr *A, *B;
    hy_profile *profile;
    group *groups;
    int64_t count;
} sampling;

/* ---- one group ---------------------------------------------------------------- */

/* Returns the largest number of entries of a row of [begin, end). */
static int64_t longest_of(const int64_t *nnz, int64_t begin, int64_t end)
{
    int64_t longest = 0;

    for (int64_t i = begin; i < end; i++)
        longest = hy_max(longest, nnz[i + 1] - nnz[i]);
    return longest;
}

/* Returns the sum of (number of entries)^2 of rows [begin, end). */
static double squares_of(const int64_t *nnz, int64_t begin, int64_t end)
{
    double sum = 0;

    for (int64_t i = begin; i < end; i++)
        sum += (double)(nnz[i + 1] - nnz[i]) * (double)(nnz[i + 1] - nnz[i]);
    return sum;
}

/* Returns the column, 0 to A->cols, of an entry that moves from column `col` by `rows`
   rows along the diagonal of A. */
static int64_t moved(const sampling *s, int64_t col, int64_t rows)
{
    const double ratio = (double)s->A->cols / (double)s->A->rows;

    return hy_max(0, hy_min(col + (int64_t)(ratio * (double)rows), s->A->cols));
}

/* Estimates where the blocks of rows [begin, end) have entries, from those of the block
   that begins at row `at`. */
static void spread_band(const sampling *s, int64_t begin, int64_t end, int64_t at,
                        const hy_range_counts *counts)
{
    for (int64_t row = begin; row < end && counts->end > 0; row += HY_ENDS_ROWS) {
        s->profile->firsts[row / HY_ENDS_ROWS] = moved(s, counts->first, row - at);
        s->profile->ends[row / HY_ENDS_ROWS]   = moved(s, counts->end, row - at);
    }
}

static hybrid_status sample_groups(void *arg, int part, int64_t begin, int64_t end)
{
    const sampling *s = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const int64_t row = k * GROUP, last = hy_min(row + GROUP, s->A->rows);
        const int64_t at   = row + (last - row) / HY_ENDS_ROWS / 2 * HY_ENDS_ROWS;
        const int64_t stop = hy_min(at + HY_ENDS_ROWS, last);
        const int64_t *nnz = s->profile->nnz;
        group g            = {.rate = -1};
        g.longest          = longest_of(nnz, row, last);
        g.squares =
            squares_of(nnz, at, stop) * (double)(last - row) / (double)(stop - at);
        const hy_range_counts counts =
            hy_count_range(s->A, &s->profile->lengths, s->profile->out_cols, at, stop);
        const int64_t entries = nnz[stop] - nnz[at];
        g.most                = counts.products_max;
        if (entries > 0)
            g.rate = (double)counts.products / (double)entries;
        spread_band(s, row, last, at, &counts);
        s->groups[k] = g;
    }
    return HYBRID_OK;
}

/* ---- the offsets of A --------------------------------------------------------- */

static hybrid_status widen(void *arg, int part, int64_t begin, int64_t end)
{
    const sampling *s = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        s->profile->nnz[i + 1] = hy_offset(s->A, i + 1);
    return HYBRID_OK;
}

/* Lets nnz of the profile be the array of A's offsets, which spares the time of a copy.
   If these are 32-bit numbers, nnz becomes a copy in 64 bits. */
static hybrid_status find_offsets(hy_context *ctx, sampling *s)
{
    hy_profile *profile = s->profile;

    profile->borrows = s->A->offset_type == HYBRID_I64;
    if (profile->borrows)
        profile->nnz = s->A->row_ptr;
    HY_TRY(hy_profile_alloc(ctx, profile));
    return profile->borrows
               ? HYBRID_OK
               : hy_pool_for(ctx->pool, HY_PLAN, 0, s->A->rows, ROWS, widen, s);
}

/* ---- all groups --------------------------------------------------------------- */

static int64_t last_of(const sampling *s, int64_t k)
{
    return hy_min((k + 1) * GROUP, s->A->rows);
}

/* Returns the estimated scalar products of the rows of group k before row `row`. */
static int64_t products_to(const sampling *s, int64_t k, int64_t row)
{
    const int64_t *nnz = s->profile->nnz;

    return (int64_t)(s->groups[k].rate * (double)(nnz[row] - nnz[k * GROUP]));
}

/* Sums the groups up. A group whose block is empty has the mean rate of all entries of
   B's rows. */
static hy_row_counts sum_up(const sampling *s)
{
    const double mean = (double)s->B->nnz / (double)hy_max(s->B->rows, 1);
    hy_row_counts all = {0};
    int64_t products  = 0;

    for (int64_t k = 0; k < s->count; k++) {
        group *g = &s->groups[k];
        all.squares += g->squares;
        all.row_max      = hy_max(all.row_max, g->longest);
        all.products_max = hy_max(all.products_max, g->most);
        g->rate          = g->rate < 0 ? mean : g->rate;
        g->before        = products;
        products += products_to(s, k, last_of(s, k));
    }
    return all;
}

/* Returns 1 if a row with row_max entries cannot have more scalar products than B has
   columns, and all rows together have fewer than MOST. */
static int has_short_rows(const sampling *s, int64_t row_max)
{
    const double longest = (double)s->profile->lengths.longest;

    return (double)row_max * longest <= (double)s->profile->out_cols &&
           (double)s->A->nnz * longest < MOST;
}

static hybrid_status store_products(void *arg, int part, int64_t begin, int64_t end)
{
    const sampling *s = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++)
        for (int64_t i = k * GROUP; i < last_of(s, k); i++)
            s->profile->products[i + 1] = s->groups[k].before + products_to(s, k, i + 1);
    return HYBRID_OK;
}

hybrid_status hy_sample_rows(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                             hy_profile *profile, hy_row_counts *out, int *suits)
{
    sampling s = {A, B, profile, NULL, (A->rows + GROUP - 1) / GROUP};
    hybrid_status status;
    void *memory;

    *suits = 0;
    HY_TRY(find_offsets(ctx, &s));
    HY_TRY(hy_lengths_note(ctx, B, &profile->lengths));
    if (!has_short_rows(&s, A->nnz / hy_max(A->rows, 1))) /* a row of mean length is too
                                                             long, so the longest is */
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, s.count + 1, sizeof(group), "sampled rows", &memory));
    s.groups = memory;
    HY_TRY_ELSE_DONE(
        hy_pool_for(ctx->pool, HY_PLAN, 0, s.count, GROUPS, sample_groups, &s));
    *out           = sum_up(&s);
    *suits         = has_short_rows(&s, out->row_max);
    profile->bound = profile->products;
    if (*suits)
        HY_TRY_ELSE_DONE(
            hy_pool_for(ctx->pool, HY_PLAN, 0, s.count, GROUPS, store_products, &s));
done:
    hy_array_free(ctx, s.groups);
    return status;
}
