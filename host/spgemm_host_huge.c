/* host/spgemm_host_huge.c - one row of C by all workers.

   A hub's row may have most of a product's work. It is cut into ranges of columns of
   about equal products, from a sample of them, and each worker makes one: with the part
   of each row of B whose columns are in its range, by the accumulator that would have
   made the row, so every entry is the same sum as before. An accumulator then spans a
   range, which may fit a cache where the row did not.

     terms   of the row, in parallel; a sample of its products, sorted, gives the ranges
     cut     where each range begins in each term, in parallel over terms
     make    a range by one worker: terms that have something there, in A's order
     join    the ranges, each in room for its bound, move to where they belong

   Memory: 16 + 4 (parts - 1) bytes an entry of A's row, and its bound. */
#include "host/spgemm_host.h"

#include <string.h>

#include "base/csr.h"
#include "host/target.h"
#include "partition/pack.h"

enum { PARTS = 64, SAMPLES = 256 }; /* at most; a part, on average */
enum { GRAIN = 1 << 12 };           /* terms that a worker takes at a time */
enum { AHEAD = 16 };                /* terms whose columns are fetched meanwhile */

/* A range of columns, and its entries of C. */
typedef struct part {
    int32_t first; /* column; the range ends where the next part begins */
    int64_t count; /* terms that have products in it */
    int64_t products;
    int64_t at, nnz; /* of `made` */
} part;

typedef struct split {
    const hy_huge *h;
    int64_t k0, count; /* entries of A's row */
    int parts;
    part part[PARTS + 1];
    hy_term *terms;   /* count */
    uint32_t *cut;    /* (parts - 1) x count: where parts 1.. begin in the terms */
    uint64_t *sample; /* column << 32; 2 x SAMPLES a part, half of it spare */
    int32_t *col;     /* made entries: h->room */
    void *val;
} split;

static size_t value_size(const split *s)
{
    return hy_value_size(s->h->A->type);
}

/* All arrays are one workspace of the worker that runs the lane: it stays in here. */
static hybrid_status open_split(split *s)
{
    const size_t count = (size_t)s->count, room = (size_t)s->h->room;
    const size_t bytes[] = {count * sizeof(hy_term),
                            count * (size_t)(s->parts - 1) * sizeof(uint32_t),
                            (size_t)s->parts * 2 * SAMPLES * sizeof(uint64_t),
                            room * sizeof(int32_t), room * value_size(s)};
    enum { ARRAYS = sizeof bytes / sizeof *bytes };
    void *array[ARRAYS], *memory = NULL;
    size_t sum = 0, fresh;

    for (int i = 0; i < ARRAYS; i++)
        sum += hy_align(bytes[i]);
    HY_TRY(hy_host_workspace(s->h->lane, HY_SCRATCH_HUGE, sum, &memory, &fresh));
    for (int i = 0; i < ARRAYS; i++) {
        array[i] = memory;
        memory   = (char *)memory + hy_align(bytes[i]);
    }
    s->terms  = array[0];
    s->cut    = array[1];
    s->sample = array[2];
    s->col    = array[3];
    s->val    = array[4];
    return HYBRID_OK;
}

/* ---- terms and ranges ------------------------------------------------------------- */

static hybrid_status load_terms(void *arg, int worker, int64_t begin, int64_t end)
{
    const split *s      = arg;
    const hybrid_csr *B = s->h->B;
    const int32_t *col  = s->h->A->col + s->k0;
    const int64_t size  = B->offset_type == HYBRID_I32 ? 4 : 8;

    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        if (t + AHEAD < end)
            HY_PREFETCH((const char *)B->row_ptr + col[t + AHEAD] * size);
        s->terms[t] = (hy_term){hy_offset(B, col[t]), hy_offset(B, (int64_t)col[t] + 1)};
    }
    return HYBRID_OK;
}

static int64_t count_products(const split *s)
{
    int64_t sum = 0;

    for (int64_t t = 0; t < s->count; t++)
        sum += s->terms[t].end - s->terms[t].begin;
    return sum;
}

/* Where in the row the k-th sampled product is: anywhere in the k-th stretch of `step`,
   as equal distances may be in step with rows of B that are equally long. */
static int64_t sample_at(int64_t k, int64_t step)
{
    const uint64_t anywhere = (uint64_t)k * 0x9e3779b97f4a7c15u >> 32;
    return k * step + (int64_t)(anywhere % (uint64_t)step);
}

/* Columns of some products; returns how many. */
static int64_t take_sample(const split *s, int64_t products)
{
    const int64_t step = products / ((int64_t)s->parts * SAMPLES) + 1;
    int64_t before = 0, k = 0;

    for (int64_t t = 0; t < s->count; t++) {
        const hy_term term = s->terms[t];
        const int64_t upto = before + term.end - term.begin;
        for (int64_t at; (at = sample_at(k, step)) < upto; k++)
            s->sample[k] = (uint64_t)s->h->B->col[term.begin + at - before] << 32;
        before = upto;
    }
    return k;
}

/* Ranges of as many samples each, but a column is in one range. */
static void choose_ranges(split *s, int64_t products)
{
    const int64_t n = take_sample(s, products);

    hy_sort_by_column(s->sample, s->sample + s->parts * SAMPLES, n, 31);
    for (int q = 1; q < s->parts; q++)
        s->part[q].first = (int32_t)(s->sample[n * q / s->parts] >> 32);
    s->part[s->parts].first = (int32_t)s->h->B->cols;
}

/* ---- cutting ---------------------------------------------------------------------- */

/* First of col[at, n) that is not below `first`; n if there is none. */
static int64_t begin_of(const int32_t *col, int64_t at, int64_t n, int32_t first)
{
    if (at == n || col[at] >= first)
        return at;
    while (at < n) {
        const int64_t middle = at + (n - at) / 2;
        if (col[middle] < first)
            at = middle + 1;
        else
            n = middle;
    }
    return at;
}

static void cut_term(const split *s, int64_t t, part *sum)
{
    const hy_term term = s->terms[t];
    const int32_t *col = s->h->B->col + term.begin;
    const int64_t n    = term.end - term.begin;
    int64_t at         = 0;

    for (int q = 0; q < s->parts; q++) {
        int64_t end = n;
        if (q + 1 < s->parts) {
            end                      = begin_of(col, at, n, s->part[q + 1].first);
            s->cut[q * s->count + t] = (uint32_t)end;
        }
        sum[q].count += end > at;
        sum[q].products += end - at;
        at = end;
    }
}

static hybrid_status cut_terms(void *arg, int worker, int64_t begin, int64_t end)
{
    split *s        = arg;
    part sum[PARTS] = {{0}};

    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        if (t + AHEAD < end)
            HY_PREFETCH(s->h->B->col + s->terms[t + AHEAD].begin);
        cut_term(s, t, sum);
    }
    for (int q = 0; q < s->parts; q++) {
        __atomic_fetch_add(&s->part[q].count, sum[q].count, __ATOMIC_RELAXED);
        __atomic_fetch_add(&s->part[q].products, sum[q].products, __ATOMIC_RELAXED);
    }
    return HYBRID_OK;
}

/* ---- making ----------------------------------------------------------------------- */

static int64_t bound_of(const split *s, int q)
{
    const int64_t columns = s->part[q + 1].first - s->part[q].first;
    return s->part[q].products < columns ? s->part[q].products : columns;
}

/* Bounds of ranges are together no more than the row's. */
static void give_room(split *s)
{
    int64_t at = 0;

    for (int q = 0; q < s->parts; q++) {
        s->part[q].at = at;
        at += bound_of(s, q);
    }
}

/* The terms that have products in part q, and their values of A; there is room for one
   more. */
static void pick_terms(const split *s, int q, hy_term *terms, char *a)
{
    const size_t size   = value_size(s);
    const char *a_val   = (const char *)s->h->A->val + (size_t)s->k0 * size;
    const uint32_t *cut = s->cut + q * s->count; /* the part's ends */

    for (int64_t t = 0; t < s->count; t++) {
        const hy_term all   = s->terms[t];
        const int64_t begin = q > 0 ? cut[t - s->count] : 0;
        const int64_t end   = q + 1 < s->parts ? cut[t] : all.end - all.begin;
        *terms              = (hy_term){all.begin + begin, all.begin + end};
        memcpy(a, a_val + (size_t)t * size, size);
        terms += end > begin; /* without a branch, which would be mispredicted */
        a += end > begin ? size : 0;
    }
}

static hybrid_status make_part(split *s, int q)
{
    const hy_huge *h   = s->h;
    part *p            = &s->part[q];
    const hy_seat seat = {h->lane, h->A->type, NULL};
    void *terms = NULL, *a = NULL;
    size_t fresh;

    HY_TRY(hy_host_workspace(h->lane, HY_SCRATCH_TERMS,
                             (size_t)(p->count + 1) * sizeof(hy_term), &terms, &fresh));
    HY_TRY(hy_host_workspace(h->lane, HY_SCRATCH_MORE_TERMS,
                             (size_t)(p->count + 1) * value_size(s), &a, &fresh));
    pick_terms(s, q, terms, a);
    hy_row row = {.terms = terms,
                  .count = p->count,
                  .b_col = h->B->col,
                  .b_val = h->B->val,
                  .lanes = 1,
                  .a     = {a},
                  .col   = {s->col + p->at},
                  .val   = {(char *)s->val + (size_t)p->at * value_size(s)}};
    hy_row_measure(h->B, &row);
    row.bound = bound_of(s, q);
    return h->make(&seat, &row, &p->nnz);
}

static hybrid_status make_parts(void *arg, int worker, int64_t begin, int64_t end)
{
    split *s = arg;

    (void)worker;
    for (int64_t q = begin; q < end; q++)
        if (s->part[q].products > 0)
            HY_TRY(make_part(s, (int)q));
    return HYBRID_OK;
}

/* ---- joining ---------------------------------------------------------------------- */

static hybrid_status join_parts(void *arg, int worker, int64_t begin, int64_t end)
{
    const split *s    = arg;
    const size_t size = value_size(s);
    size_t to         = 0;

    (void)worker;
    for (int64_t q = 0; q < end; q++) {
        const size_t at = (size_t)s->part[q].at, nnz = (size_t)s->part[q].nnz;
        if (q >= begin) {
            memcpy(s->h->col + to, s->col + at, nnz * sizeof(int32_t));
            memcpy((char *)s->h->val + to * size, (char *)s->val + at * size, nnz * size);
        }
        to += nnz;
    }
    return HYBRID_OK;
}

static hybrid_status run_split(split *s, int64_t *nnz)
{
    hy_pool *pool = s->h->lane->backend->ctx->pool;

    HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, s->count, GRAIN, load_terms, s));
    const int64_t products = count_products(s), cols = s->h->B->cols;
    const int64_t bound = products < cols ? products : cols;
    if (bound > s->h->room)
        return hy_row_too_long(s->h->lane, s->h->row, 1, bound, s->h->room);
    *nnz = 0;
    if (products == 0)
        return HYBRID_OK;
    choose_ranges(s, products);
    HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, s->count, GRAIN, cut_terms, s));
    give_room(s);
    HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, s->parts, 1, make_parts, s));
    for (int q = 0; q < s->parts; q++)
        *nnz += s->part[q].nnz;
    return hy_pool_for(pool, HY_COMPUTE, 0, s->parts, 1, join_parts, s);
}

hybrid_status hy_row_huge(const hy_huge *h, int64_t *nnz)
{
    const int threads = hy_pool_threads(h->lane->backend->ctx->pool);
    split s           = {.h     = h,
                         .k0    = hy_offset(h->A, h->row),
                         .parts = threads < PARTS ? threads : PARTS};

    s.count = hy_offset(h->A, h->row + 1) - s.k0;
    HY_TRY(open_split(&s));
    return run_split(&s, nnz);
}
