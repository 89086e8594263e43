/* partition/ratio.c - how much a product compresses, from rows of C that are counted. */
#include "partition/inspect.h"

#include <math.h>
#include <string.h>

#include "base/csr.h"
#include "base/pool.h"

enum {
    SAMPLES     = 512, /* rows of C that are counted, at most */
    MIN_SAMPLES = 16,
    SAMPLE_COST = 2 << 20, /* their products, at most */
    FEW         = 64,      /* rows that may be enough, */
    FEW_COST    = 1 << 18, /* with so many products at most, */
    MANY        = 1 << 12  /* entries of which all are counted */
};

#define ALIKE 0.02 /* and so small a standard error, in parts of the mean */

/* Rows of C drawn with a probability that grows with their products, so that the mean
   of entries / products over the draws estimates nnz(C) / products. */
typedef struct sample {
    hy_context *ctx;
    const hybrid_csr *A, *B;
    const hy_profile *profile;
    int count; /* different rows */
    int64_t row[SAMPLES];
    int weight[SAMPLES];   /* times drawn */
    double share[SAMPLES]; /* entries / products */
} sample;

/* The row that holds scalar product `at`. */
static int64_t row_of_product(const hy_profile *p, int64_t at)
{
    int64_t low = 0, high = p->rows;

    while (low + 1 < high) {
        const int64_t middle = low + (high - low) / 2;
        if (p->products[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t products_of(const hy_profile *p, int64_t row)
{
    return p->products[row + 1] - p->products[row];
}

/* The rows at `draws` evenly spaced scalar products; returns the products in them. */
static int64_t draw(sample *s, int draws)
{
    const int64_t products = s->profile->products[s->profile->rows];
    const int64_t step = products / draws, rest = products % draws;
    int64_t cost = 0;

    s->count = 0;
    for (int k = 0; k < draws; k++) {
        const int64_t at  = k * step + k * rest / draws + step / 2;
        const int64_t row = row_of_product(s->profile, at);
        if (s->count > 0 && s->row[s->count - 1] == row) {
            s->weight[s->count - 1]++;
            continue;
        }
        s->row[s->count]      = row;
        s->weight[s->count++] = 1;
        cost += products_of(s->profile, row);
    }
    return cost;
}

/* Set of columns. Of a long row those alone are taken whose hash begins with `thin`
   zeros: they stand for 2^thin times as many. */
typedef struct column_set {
    int32_t *table; /* mask + 1 columns, or -1 */
    uint32_t mask;
    int thin;
    int64_t count;
} column_set;

static int is_full(const column_set *set)
{
    return set->count > set->mask / 4 * 3;
}

static void insert(column_set *set, int32_t col)
{
    uint32_t at = (uint32_t)col * 0x85ebca6bu >> 7 & set->mask;

    if ((uint64_t)((uint32_t)col * 2654435769u) >> (32 - set->thin) != 0 || is_full(set))
        return;
    while (set->table[at] != -1 && set->table[at] != col)
        at = (at + 1) & set->mask;
    set->count += set->table[at] == -1;
    set->table[at] = col;
}

static void insert_row(const sample *s, int64_t row, column_set *set)
{
    const hybrid_csr *A = s->A, *B = s->B;

    for (int64_t k = hy_offset(A, row); k < hy_offset(A, row + 1); k++) {
        const int64_t end = hy_offset(B, (int64_t)A->col[k] + 1);
        for (int64_t l = hy_offset(B, A->col[k]); l < end; l++)
            insert(set, B->col[l]);
    }
}

/* Entries of one row of C. One that is too costly to count, or whose columns defy the
   hash, stands at its bound. */
static hybrid_status count_row(const sample *s, int64_t row, int64_t *entries)
{
    const int64_t bound = s->profile->bound[row + 1] - s->profile->bound[row];
    column_set set      = {.mask = 15};
    void *table;

    *entries = bound;
    if (products_of(s->profile, row) > SAMPLE_COST)
        return HYBRID_OK;
    while (bound >> set.thin > MANY)
        set.thin++;
    while ((bound >> set.thin) * 2 > set.mask)
        set.mask = 2 * set.mask + 1;
    HY_TRY(hy_array(s->ctx, (int64_t)set.mask + 1, sizeof(int32_t),
                    "columns of a sampled row", &table));
    set.table = table;
    memset(table, -1, ((size_t)set.mask + 1) * sizeof(int32_t));
    insert_row(s, row, &set);
    if (set.count > 0 && !is_full(&set) && set.count << set.thin < bound)
        *entries = set.count << set.thin;
    hy_array_free(s->ctx, table);
    return HYBRID_OK;
}

static hybrid_status count_samples(void *arg, int part, int64_t begin, int64_t end)
{
    sample *s = arg;
    int64_t entries;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        HY_TRY(count_row(s, s->row[k], &entries));
        s->share[k] = (double)entries / (double)products_of(s->profile, s->row[k]);
    }
    return HYBRID_OK;
}

/* The mean of entries / products over the draws, and how far off it may be, in parts of
   it: the standard error. */
static hybrid_status estimate(sample *s, double *mean, double *error)
{
    double sum = 0, squares = 0;
    int weight = 0;

    HY_TRY(hy_pool_for(s->ctx->pool, HY_COMPUTE, 0, s->count, 1, count_samples, s));
    for (int k = 0; k < s->count; k++) {
        sum += s->weight[k] * s->share[k];
        squares += s->weight[k] * s->share[k] * s->share[k];
        weight += s->weight[k];
    }
    *mean                 = sum / weight;
    const double variance = squares / weight - *mean * *mean;
    *error                = sqrt((variance > 0 ? variance : 0) / weight) / *mean;
    return HYBRID_OK;
}

/* Where a few rows of C are alike, and cheap, they are enough. */
hybrid_status hy_estimate_ratio(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                const hy_profile *profile, double *ratio)
{
    const int64_t products = profile->products[profile->rows];
    sample s               = {.ctx = ctx, .A = A, .B = B, .profile = profile};
    int draws              = products < SAMPLES ? (int)products : SAMPLES;
    double mean = 1, error = 1;

    *ratio = 1;
    if (products == 0)
        return HYBRID_OK;
    if (draws > FEW && draw(&s, FEW) <= FEW_COST)
        HY_TRY(estimate(&s, &mean, &error));
    if (error > ALIKE) {
        while (draw(&s, draws) > SAMPLE_COST && draws > MIN_SAMPLES)
            draws /= 2;
        HY_TRY(estimate(&s, &mean, &error));
    }
    *ratio = 1 / mean;
    return HYBRID_OK;
}
