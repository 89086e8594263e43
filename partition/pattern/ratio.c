/* partition/pattern/ratio.c - estimates how much C = AB compresses, scalar products /
   entries of C, from sampled rows of C. In this file a product is a scalar product. */
#include "partition/pattern/inspect.h"

#include <math.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    SAMPLES      = 512,    /* maximum rows of C that are sampled */
    MIN_SAMPLES  = 16,     /* rows sampled in the first draw */
    MORE         = 4,      /* each further draw samples this many times as many rows */
    COUNTED_PART = 1024,   /* draws after the first sample may count up to 1/COUNTED_PART
                              of all scalar products */
    SAMPLE_COST = 2 << 20, /* maximum scalar products of the first sample. A row with more
                              products is not counted. */
    BOUND_PART = 8,        /* the sampled rows may have at most 1/BOUND_PART as many
                              scalar products as the upper bound on C's entries: counting
                              more takes longer than a better estimate saves */
    MIN_COST = 1 << 12,    /* number of scalar products that may be counted even if
                              BOUND_PART allows fewer */
    DRAWS     = 64,        /* rows that one worker draws at a time */
    NEAR_ROWS = 1 << 15,   /* one worker makes all draws if A has fewer rows than this,
                              because that worker's cache holds the prefix sums */
    PIECE = 1 << 11,  /* scalar products that one worker counts at a time, about 8 us */
    FINE  = 4,        /* one worker is woken for every FINE pieces */
    SHARE = 1 << 13,  /* scalar products of a share, the part of a row that one worker
                         counts */
    MANY = 1 << 12,   /* a row of C with an upper bound of at most MANY entries is counted
                         exactly; of a longer row, only a fraction of the columns is
                         counted */
    PLACES = 4 * MANY /* maximum number of places in the hash table of a row */
};

/* no more rows are drawn once the relative standard error of the estimate is below
   this */
#define ALIKE 0.03

/* Set of columns in a hash table. For a long row, a column is inserted only if its hash
   begins with `thin` zero bits; each inserted column stands for 2^thin columns. */
typedef struct column_set {
    int32_t *table; /* mask + 1 places; each has a column, or -1 if it is empty */
    uint32_t mask;
    int thin, shared; /* thin: zero bits with which the hash of an inserted column begins;
                         shared: 1 if several workers insert into the table */
    int64_t count;    /* columns that this worker has inserted */
} column_set;

/* Rows of C that contain evenly spaced scalar products, so that a row is drawn in
   proportion to its products. The mean of entries / products over the draws therefore
   estimates nnz(C) / products. */
typedef struct sample {
    hy_context *ctx;
    const hybrid_csr *A, *B;
    const hy_profile *profile;
    int draws;
    int64_t drawn[SAMPLES]; /* drawn rows in ascending order; a row drawn twice appears
                               twice */
    int count;              /* number of distinct rows drawn */
    int64_t row[SAMPLES];
    int weight[SAMPLES];        /* how often each distinct row was drawn */
    int64_t first[SAMPLES + 1]; /* shares of all distinct rows are numbered together:
                                   number of each row's first share */
    column_set empty[SAMPLES];  /* for each distinct row, an empty set with a table of the
                                   right size */
    int64_t columns[SAMPLES];   /* number of columns inserted by all workers into the set
                                   of each distinct row */
    double density[SAMPLES];
} sample;

/* Returns the i with sums[i] <= at < sums[i + 1] and 0 <= i < count, which must exist. */
static int64_t holder_of(const int64_t *sums, int64_t count, int64_t at)
{
    int64_t low = 0, high = count;

    while (low + 1 < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sums[middle] <= at)
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

static hybrid_status draw_rows(void *arg, int part, int64_t begin, int64_t end)
{
    sample *s              = arg;
    const int64_t products = s->profile->products[s->profile->rows];
    const int64_t step = products / s->draws, rest = products % s->draws;

    (void)part;
    for (int64_t k = begin; k < end; k++)
        s->drawn[k] = holder_of(s->profile->products, s->profile->rows,
                                k * step + k * rest / s->draws + step / 2);
    return HYBRID_OK;
}

/* Draws the rows that contain `draws` evenly spaced scalar products. Sets *cost to the
   number of products of the distinct rows. */
static hybrid_status draw(sample *s, int draws, int64_t *cost)
{
    s->draws        = draws;
    s->count        = 0;
    *cost           = 0;
    const int grain = s->profile->rows < NEAR_ROWS ? draws : DRAWS;
    HY_TRY(hy_pool_for(s->ctx->pool, HY_PLAN, 0, draws, grain, draw_rows, s));
    for (int k = 0; k < draws; k++) {
        if (s->count > 0 && s->row[s->count - 1] == s->drawn[k]) {
            s->weight[s->count - 1]++;
            continue;
        }
        s->row[s->count]      = s->drawn[k];
        s->weight[s->count++] = 1;
        *cost += products_of(s->profile, s->drawn[k]);
    }
    return HYBRID_OK;
}

/* ---- columns of a row -------------------------------------------------------- */

static int is_full(const column_set *set)
{
    return set->count > set->mask / 4 * 3;
}

/* Stores `col` at place `at`, which was empty, and returns 1. If another worker took the
   place, returns 0 and sets *found to the column there. */
static int put(column_set *set, uint32_t at, int32_t col, int32_t *found)
{
    if (!set->shared)
        set->table[at] = col;
    else if (!__atomic_compare_exchange_n(&set->table[at], found, col, 0,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return 0;
    set->count++;
    return 1;
}

static void insert(column_set *set, int32_t col)
{
    uint32_t at = (uint32_t)col * 0x85ebca6bu >> 7 & set->mask;

    if (is_full(set))
        return;
    for (uint32_t seen = 0; seen <= set->mask; seen++, at = (at + 1) & set->mask) {
        int32_t found = __atomic_load_n(&set->table[at], __ATOMIC_RELAXED);
        if ((found == -1 && put(set, at, col, &found)) || found == col)
            return;
    }
    /* every place was tried, so the table is full: counts all places as inserted, even if
       other workers filled them */
    set->count = (int64_t)set->mask + 1;
}

static int64_t bound_of(const sample *s, int k)
{
    const int64_t *bound = s->profile->bound + s->row[k];
    return bound[1] - bound[0];
}

/* Returns an empty set for row k. Its table is at most half full if all columns, or the
   hashed fraction of them (up to MANY), are distinct. */
static column_set set_for(const sample *s, int k)
{
    const int64_t bound = bound_of(s, k);
    column_set set      = {.mask = 15};

    while (bound >> set.thin > MANY)
        set.thin++;
    while ((bound >> set.thin) * 2 > set.mask)
        set.mask = 2 * set.mask + 1;
    return set;
}

static void clear(column_set *set, int32_t *table)
{
    set->table = table;
    memset(table, -1, ((size_t)set->mask + 1) * sizeof *table);
}

/* Inserts the columns of the rows of B that entries [begin, end) of A touch; if the set
   is thin, only columns with a fitting hash. Returns how many columns were new; more than
   3/4 of the places if the table was too small. */
static int64_t insert_entries(const sample *s, int64_t begin, int64_t end, column_set set)
{
    const hybrid_csr *A = s->A, *B = s->B;
    const uint32_t max = UINT32_MAX >> set.thin;

    for (int64_t e = begin; e < end; e++) {
        const int64_t last = hy_offset(B, (int64_t)hy_cols(A)[e] + 1);
        for (int64_t l = hy_offset(B, hy_cols(A)[e]); l < last; l++)
            if ((uint32_t)hy_cols(B)[l] * 2654435769u <= max)
                insert(&set, hy_cols(B)[l]);
    }
    return set.count;
}

/* Computes the density, entries / scalar products, of distinct row k. If the row was not
   counted, because it has too many products or its table was too small, its entries are
   assumed to equal their upper bound. */
static void note_density(sample *s, int k)
{
    const int64_t bound = bound_of(s, k);
    column_set all      = s->empty[k];

    all.count             = s->columns[k];
    const int64_t counted = all.count << all.thin;
    const int is_known    = all.count > 0 && !is_full(&all) && counted < bound;
    s->density[k] =
        (double)(is_known ? counted : bound) / (double)products_of(s->profile, s->row[k]);
}

/* ---- counting ---------------------------------------------------------------- */

static int shares_of(const sample *s, int64_t row)
{
    const int64_t products = products_of(s->profile, row);
    const int64_t entries  = hy_offset(s->A, row + 1) - hy_offset(s->A, row);
    const int64_t shares   = products / SHARE + 1;

    if (products > SAMPLE_COST)
        return 0;
    return (int)(shares < entries ? shares : entries);
}

/* Divides all distinct rows into shares and allocates tables for rows with several
   shares. */
static hybrid_status share_out(sample *s, int32_t **tables)
{
    int64_t places = 0;
    void *memory;

    s->first[0] = 0;
    for (int k = 0; k < s->count; k++) {
        const int shares   = shares_of(s, s->row[k]);
        s->first[k + 1]    = s->first[k] + shares;
        s->empty[k]        = set_for(s, k);
        s->empty[k].shared = shares > 1;
        s->columns[k]      = 0;
        places += shares > 1 ? (int64_t)s->empty[k].mask + 1 : 0;
    }
    HY_TRY(hy_array(s->ctx, places, sizeof **tables, "columns of sampled rows", &memory));
    *tables = memory;
    for (int k = s->count - 1; k >= 0; k--)
        if (s->empty[k].shared)
            clear(&s->empty[k], *tables + (places -= (int64_t)s->empty[k].mask + 1));
    return HYBRID_OK;
}

static void count_share(sample *s, int k, int64_t share)
{
    const int64_t begin = hy_offset(s->A, s->row[k]);
    const int64_t n     = hy_offset(s->A, s->row[k] + 1) - begin;
    const int64_t parts = s->first[k + 1] - s->first[k];
    column_set set      = s->empty[k];
    int32_t own[PLACES];

    if (!set.shared)
        clear(&set, own);
    const int64_t more = insert_entries(s, begin + n * share / parts,
                                        begin + n * (share + 1) / parts, set);
    __atomic_fetch_add(&s->columns[k], more, __ATOMIC_RELAXED);
}

static hybrid_status count_shares(void *arg, int part, int64_t begin, int64_t end)
{
    sample *s = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int k = (int)holder_of(s->first, s->count, i);
        count_share(s, k, i - s->first[k]);
    }
    return HYBRID_OK;
}

/* Counts the different columns of all distinct sampled rows of C. `cost` is the number of
   scalar products of these rows. */
static hybrid_status count_samples(sample *s, int64_t cost)
{
    hybrid_status status;
    int32_t *tables = NULL;

    HY_TRY_ELSE_DONE(share_out(s, &tables));
    const int64_t shares = s->first[s->count], grain = shares * PIECE / (cost + 1) + 1;
    HY_TRY_ELSE_DONE(
        hy_pool_for_fine(s->ctx->pool, HY_PLAN, 0, shares, grain, FINE, count_shares, s));
    for (int k = 0; k < s->count; k++)
        note_density(s, k);
done:
    hy_array_free(s->ctx, tables);
    return status;
}

/* Computes the mean of entries / scalar products over the draws and its relative standard
   error. */
static hybrid_status estimate(sample *s, int64_t cost, double *mean, double *error)
{
    double sum = 0, squares = 0;
    int weight = 0;

    HY_TRY(count_samples(s, cost));
    for (int k = 0; k < s->count; k++) {
        sum += s->weight[k] * s->density[k];
        squares += s->weight[k] * s->density[k] * s->density[k];
        weight += s->weight[k];
    }
    *mean                 = sum / weight;
    const double variance = squares / weight - *mean * *mean;
    *error                = sqrt((variance > 0 ? variance : 0) / weight) / *mean;
    return HYBRID_OK;
}

/* Returns the maximum number of scalar products to count in all draws together: the
   larger of `cost` and 1/COUNTED_PART of all products, limited to 1/BOUND_PART of the
   upper bound on C's entries, but at least MIN_COST. */
static int64_t worth(const hy_profile *p, int64_t cost)
{
    const int64_t max = hy_max(cost, p->products[p->rows] / COUNTED_PART);

    return hy_max(hy_min(max, p->bound[p->rows] / BOUND_PART), MIN_COST);
}

/* Draws MIN_SAMPLES rows, then MORE times as many and so on, at most SAMPLES, until the
   relative standard error is at most ALIKE or more would cost too much (worth()). If even
   the first sample would cost more than a better estimate can save, C is assumed to be as
   large as its upper bound. */
hybrid_status hy_estimate_ratio(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                const hy_profile *profile, double *ratio)
{
    const int64_t products = profile->products[profile->rows];
    const int64_t bound    = profile->bound[profile->rows];
    const int few          = products <= SAMPLES;
    sample s               = {.ctx = ctx, .A = A, .B = B, .profile = profile};
    double mean = (double)bound / (double)hy_max(products, 1), error = 1;
    int64_t max = worth(profile, SAMPLE_COST), cost;

    for (int draws = few ? (int)products : MIN_SAMPLES;
         products > 0 && draws <= SAMPLES && error > ALIKE; draws *= MORE) {
        HY_TRY(draw(&s, draws, &cost));
        if (cost > max)
            break;
        HY_TRY(estimate(&s, cost, &mean, &error));
        max = worth(profile, 0);
    }
    *ratio = products > 0 ? 1 / mean : 1;
    return HYBRID_OK;
}
