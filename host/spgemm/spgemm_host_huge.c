/* host/spgemm/spgemm_host_huge.c - makes one row of C with all workers.

   The row of a hub (an index with very many entries) may have most of a product's work.
   All workers make its scalar products (here: products) and put them in ranges of
   columns, each in the order of A's row. Then one worker adds up each range, as if it
   were a row of A with one entry, 1. Since 1 * x is x, and the products of an entry of C
   come in the usual order, the bits are those of one worker.

     load     reads the terms of the row: for each entry of A, the row of B that it names;
              a sample of the products gives ranges of about equal work
     count    counts the products of each block of terms in each range
     scatter  stores products and their columns in their range
     make     makes each range by an accumulator, which spans less and may fit a cache
     join     moves ranges, each made in room for its bound, to their place in the row

   Memory: 16 bytes per entry of A's row, 4 bytes and a value per product, and the row's
   room. */
#include "host/spgemm/spgemm_host.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "host/backend/target.h"
#include "partition/format/pack.h"

enum {
    PARTS    = 64,      /* maximum number of ranges of columns */
    SAMPLES  = 64,      /* number of products sampled for each range */
    BINS     = 1 << 12, /* number of equal intervals of columns for the sample */
    BLOCKS   = 4,       /* number of blocks of terms (entries of A's row) per worker */
    DISTANCE = 16       /* entries of A by which cache prefetches are in advance */
};

/* One range of the columns of C. */
typedef struct part {
    int64_t begin, end; /* the range's products have indices [begin, end) in product_col
                           and product */
    int64_t at, bound;  /* elements [at, at + bound) of `col` and of the values hold the
                           range's entries of C */
    int64_t nnz;
} part;

typedef struct split {
    const hy_huge *h;
    int64_t k0, count; /* index in A of the first entry of A's row, and number of its
                          entries */
    int64_t blocks, grain;
    int parts, shift;     /* parts: number of ranges; shift: the bin of a column is column
                             >> shift */
    hy_term *terms;       /* for each entry of A's row, the range of entries of B that it
                             is multiplied by */
    int64_t *next;        /* blocks x PARTS elements, for each block of terms and each
                             range: first the number of products, later the index at which
                             the next product is stored */
    uint64_t *sample;     /* 2 x SAMPLES elements for each range: (bin of a sampled
                             product) << 32; the second half is for sorting */
    int32_t *product_col; /* columns of the products */
    void *product;
    int32_t *col; /* columns of the entries of all ranges; has h->room elements */
    void *val;
    part part[PARTS];
    uint8_t part_of[BINS];
} split;

/* Takes memory for n arrays from one workspace of the worker that executes h->lane.
   Workspaces of other workers stay free for them. */
static hybrid_status take_memory(const split *s, hy_scratch_kind kind, int n,
                                 const size_t *bytes, void **array)
{
    size_t sum = 0, fresh;
    void *memory;

    for (int i = 0; i < n; i++)
        sum += hy_align(bytes[i]);
    HY_TRY(hy_host_workspace(s->h->lane, kind, sum, &memory, &fresh));
    for (int i = 0; i < n; i++) {
        array[i] = memory;
        memory   = (char *)memory + hy_align(bytes[i]);
    }
    return HYBRID_OK;
}

/* ---- terms and ranges ------------------------------------------------------------- */

static hybrid_status open_terms(split *s)
{
    const size_t bytes[] = {(size_t)s->count * sizeof *s->terms,
                            (size_t)s->blocks * PARTS * sizeof *s->next,
                            (size_t)s->parts * 2 * SAMPLES * sizeof *s->sample};
    void *array[3];

    HY_TRY(take_memory(s, HY_SCRATCH_HUGE_TERMS, 3, bytes, array));
    s->terms  = array[0];
    s->next   = array[1];
    s->sample = array[2];
    memset(s->next, 0, bytes[1]);
    return HYBRID_OK;
}

static int64_t block_end(const split *s, int64_t block)
{
    return hy_min((block + 1) * s->grain, s->count);
}

static hybrid_status load_terms(void *arg, int worker, int64_t begin, int64_t end)
{
    const split *s      = arg;
    const hybrid_csr *B = s->h->B;
    const int32_t *col  = hy_cols(s->h->A) + s->k0;
    const int64_t size  = B->offset_type == HYBRID_I32 ? 4 : 8;

    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        if (t + DISTANCE < end)
            HY_PREFETCH((const char *)B->row_ptr + col[t + DISTANCE] * size);
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

/* Returns the number of the k-th sampled product: a pseudo-random one among the k-th
   `step` products of the row. Equal distances might always meet the same place of equally
   long rows of B. */
static int64_t sample_at(int64_t k, int64_t step)
{
    const uint64_t anywhere = (uint64_t)k * 0x9e3779b97f4a7c15u >> 32;
    return k * step + (int64_t)(anywhere % (uint64_t)step);
}

/* Stores the bins of the sampled products in s->sample; returns their number. */
static int64_t take_sample(const split *s, int64_t products)
{
    const int64_t step = products / ((int64_t)s->parts * SAMPLES) + 1;
    int64_t before = 0, k = 0;

    for (int64_t t = 0; t < s->count; t++) {
        const hy_term term = s->terms[t];
        const int64_t upto = before + term.end - term.begin;
        for (int64_t at; (at = sample_at(k, step)) < upto; k++)
            s->sample[k] =
                (uint64_t)(hy_cols(s->h->B)[term.begin + at - before] >> s->shift) << 32;
        before = upto;
    }
    return k;
}

/* Divides the columns into ranges with about equal numbers of sampled products: sets
   s->shift, and s->part_of for each bin. Each bin is in one range. */
static void choose_ranges(split *s, int64_t products)
{
    int q = 0;

    while ((s->h->B->cols - 1) >> s->shift >= BINS)
        s->shift++;
    const int64_t n = take_sample(s, products);
    hy_sort_by_column(s->sample, s->sample + s->parts * SAMPLES, n, 12);
    for (int bin = 0; bin < BINS; bin++) {
        while (q + 1 < s->parts &&
               s->sample[n * (q + 1) / s->parts] >> 32 <= (uint64_t)bin)
            q++;
        s->part_of[bin] = (uint8_t)q;
    }
}

/* ---- products --------------------------------------------------------------------- */

static void prefetch(const split *s, int64_t t, int64_t end)
{
    if (t + DISTANCE >= end)
        return;
    const int64_t k = s->terms[t + DISTANCE].begin;
    HY_PREFETCH(hy_cols(s->h->B) + k);
    HY_PREFETCH((const char *)s->h->B->val + (size_t)k * hy_value_size(s->h->A->type));
}

/* Adds the products of term t, and one, to *work. If the sum has reached HY_UNCHECKED,
   sets it to 0 and returns CANCELLED if the call is cancelled. */
static hybrid_status pass(const split *s, int64_t t, int64_t *work)
{
    *work += s->terms[t].end - s->terms[t].begin + 1;
    if (*work < HY_UNCHECKED)
        return HYBRID_OK;
    *work = 0;
    return hy_progress_check(&s->h->lane->backend->ctx->progress);
}

static hybrid_status count_blocks(void *arg, int worker, int64_t begin, int64_t end)
{
    const split *s     = arg;
    const int32_t *col = s->h->B->col;
    int64_t work       = 0;

    (void)worker;
    for (int64_t b = begin; b < end; b++) {
        int64_t sum[PARTS] = {0};
        for (int64_t t = b * s->grain; t < block_end(s, b); t++) {
            prefetch(s, t, block_end(s, b));
            for (int64_t k = s->terms[t].begin; k < s->terms[t].end; k++)
                sum[s->part_of[col[k] >> s->shift]]++;
            HY_TRY(pass(s, t, &work));
        }
        memcpy(s->next + b * PARTS, sum, sizeof sum);
    }
    return HYBRID_OK;
}

/* Turns the counts in s->next into the indices at which the products of each block of
   terms begin in each range. The products of a range lie together, block after block. */
static void set_offsets(split *s)
{
    int64_t sum = 0;

    for (int q = 0; q < s->parts; q++) {
        s->part[q].begin = sum;
        for (int64_t b = 0; b < s->blocks; b++) {
            const int64_t count    = s->next[b * PARTS + q];
            s->next[b * PARTS + q] = sum;
            sum += count;
        }
        s->part[q].end = sum;
    }
}

static hybrid_status open_products(split *s, int64_t products)
{
    const size_t n = (size_t)products, room = (size_t)s->h->room;
    const size_t bytes[] = {n * sizeof(int32_t), n * hy_value_size(s->h->A->type),
                            room * sizeof(int32_t), room * hy_value_size(s->h->A->type)};
    void *array[4];

    HY_TRY(take_memory(s, HY_SCRATCH_HUGE_PRODUCTS, 4, bytes, array));
    s->product_col = array[0];
    s->product     = array[1];
    s->col         = array[2];
    s->val         = array[3];
    return HYBRID_OK;
}

#define HY_SCATTER(is, T, suffix, ...)                                                   \
    static hybrid_status scatter_##suffix(void *arg, int worker, int64_t begin,          \
                                          int64_t end)                                   \
    {                                                                                    \
        const split *s = arg;                                                            \
        const T *a = (const T *)s->h->A->val + s->k0, *val = s->h->B->val;               \
        const int32_t *col = s->h->B->col;                                               \
        int64_t next[PARTS], work = 0;                                                   \
                                                                                         \
        (void)worker;                                                                    \
        for (int64_t b = begin; b < end; b++) {                                          \
            memcpy(next, s->next + b * PARTS, sizeof next);                              \
            for (int64_t t = b * s->grain; t < block_end(s, b); t++) {                   \
                prefetch(s, t, block_end(s, b));                                         \
                for (int64_t k = s->terms[t].begin; k < s->terms[t].end; k++) {          \
                    const int64_t at      = next[s->part_of[col[k] >> s->shift]]++;      \
                    s->product_col[at]    = col[k];                                      \
                    ((T *)s->product)[at] = a[t] * val[k];                               \
                }                                                                        \
                HY_TRY(pass(s, t, &work));                                               \
            }                                                                            \
        }                                                                                \
        return HYBRID_OK;                                                                \
    }

HY_VALUE_TYPES(HY_SCATTER)

/* ---- rows of ranges --------------------------------------------------------------- */

/* Gives each range room for its bound, the smaller of its number of products and its
   number of columns. All bounds together do not exceed the row's, because ranges share
   neither products nor columns. */
static void give_room(split *s)
{
    int64_t columns[PARTS] = {0}, at = 0;

    for (int64_t bin = 0; bin <= (s->h->B->cols - 1) >> s->shift; bin++) {
        const int64_t first = bin << s->shift;
        columns[s->part_of[bin]] += hy_min(s->h->B->cols - first, (int64_t)1 << s->shift);
    }
    for (int q = 0; q < s->parts; q++) {
        part *p  = &s->part[q];
        p->at    = at;
        p->bound = hy_min(p->end - p->begin, columns[q]);
        at += p->bound;
    }
}

static void find_columns(const split *s, const part *p, hy_row *row)
{
    row->col_min = INT32_MAX;
    row->col_max = -1;
    for (int64_t k = p->begin; k < p->end; k++) {
        const int32_t col = s->product_col[k];
        row->col_min      = col < row->col_min ? col : row->col_min;
        row->col_max      = col > row->col_max ? col : row->col_max;
    }
}

static hybrid_status make_part(split *s, part *p)
{
    const hybrid_type type = s->h->A->type;
    const hy_seat seat     = {s->h->lane, type, NULL};
    hy_value one;
    const hy_term all = {p->begin, p->end};
    hy_row row        = {.terms    = &all,
                         .count    = 1,
                         .b_col    = s->product_col,
                         .b_val    = s->product,
                         .products = p->end - p->begin,
                         .bound    = p->bound,
                         .room     = p->bound,
                         .lanes    = 1,
                         .shuffled = 1,
                         .a        = {&one},
                         .col      = {s->col + p->at},
                         .val      = {(char *)s->val + (size_t)p->at * hy_value_size(type)}};

    hy_value_put(type, &one, 0, 1);
    find_columns(s, p, &row);
    return s->h->make(&seat, &row, &p->nnz);
}

static hybrid_status make_parts(void *arg, int worker, int64_t begin, int64_t end)
{
    split *s = arg;

    (void)worker;
    for (int64_t q = begin; q < end; q++)
        if (s->part[q].begin < s->part[q].end)
            HY_TRY(make_part(s, &s->part[q]));
    return HYBRID_OK;
}

static hybrid_status join_parts(void *arg, int worker, int64_t begin, int64_t end)
{
    const split *s = arg;
    size_t to = 0, size = hy_value_size(s->h->A->type);

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

/* ---- the row ---------------------------------------------------------------------- */

static hybrid_status run_split(split *s, int64_t *nnz)
{
    hy_pool *pool          = s->h->lane->backend->ctx->pool;
    const int64_t products = count_products(s), cols = s->h->B->cols;
    const int64_t bound = hy_min(products, cols);

    *nnz = 0;
    if (bound > s->h->room)
        return hy_row_too_long(s->h->lane, s->h->row, 1, bound, s->h->room);
    if (products == 0)
        return HYBRID_OK;
    choose_ranges(s, products);
    HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, s->blocks, 1, count_blocks, s));
    set_offsets(s);
    give_room(s);
    HY_TRY(open_products(s, products));
    HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, s->blocks, 1,
                       HY_BY_TYPE(s->h->A->type, scatter), s));
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

    s.count  = hy_offset(h->A, h->row + 1) - s.k0;
    s.grain  = s.count / ((int64_t)threads * BLOCKS) + 1;
    s.blocks = (s.count + s.grain - 1) / s.grain;
    HY_TRY(open_terms(&s));
    HY_TRY(hy_pool_for(h->lane->backend->ctx->pool, HY_COMPUTE, 0, s.count, s.grain,
                       load_terms, &s));
    return run_split(&s, nnz);
}
