/* partition/inspect.c - patterns become numbers. */
#include "partition/inspect.h"

#include <math.h>
#include <string.h>

#include "base/csr.h"
#include "base/pool.h"

enum {
    PIECE       = 1 << 16, /* rows and entries that one worker inspects at a time */
    SAMPLES     = 512,     /* rows of C that are counted exactly, at most */
    MIN_SAMPLES = 16,
    SAMPLE_COST = 2 << 20 /* their products, at most */
};

/* ---- counting ---------------------------------------------------------------- */

/* Sums and maxima over some rows. */
typedef struct tally {
    double squares;  /* of the row lengths */
    double products; /* as a number that cannot overflow */
    int64_t row_max, products_max;
} tally;

typedef struct inspection {
    const hybrid_csr *A, *B;
    hy_profile *profile;
    tally *tallies; /* one a piece */
    int64_t pieces;
} inspection;

/* First row of piece k: pieces have about as many rows and entries together. */
static int64_t piece_begin(const inspection *in, int64_t k)
{
    const int64_t total = in->A->rows + in->A->nnz;
    const int64_t target =
        k * (total / in->pieces) + k * (total % in->pieces) / in->pieces;
    int64_t low = 0, high = in->A->rows;

    if (k == in->pieces)
        return in->A->rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (middle + hy_offset(in->A, middle) < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Entries of the rows of B that a row of A touches. */
static int64_t row_products(const inspection *in, int64_t begin, int64_t end)
{
    const hybrid_csr *B = in->B;
    int64_t sum         = 0;

    for (int64_t k = begin; k < end; k++)
        sum += hy_offset(B, (int64_t)in->A->col[k] + 1) - hy_offset(B, in->A->col[k]);
    return sum;
}

static void inspect_row(const inspection *in, int64_t i, tally *t)
{
    hy_profile *p       = in->profile;
    const int64_t begin = hy_offset(in->A, i), end = hy_offset(in->A, i + 1);
    int64_t products = end - begin;

    p->nnz[i] = begin;
    if (in->B) {
        products       = row_products(in, begin, end);
        p->products[i] = products;
        p->bound[i]    = products < p->out_cols ? products : p->out_cols;
    }
    t->squares += (double)(end - begin) * (double)(end - begin);
    t->products += (double)products;
    if (end - begin > t->row_max)
        t->row_max = end - begin;
    if (products > t->products_max)
        t->products_max = products;
}

static hybrid_status inspect_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const inspection *in = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const int64_t last = piece_begin(in, k + 1);
        tally t            = {0};
        for (int64_t i = piece_begin(in, k); i < last; i++)
            inspect_row(in, i, &t);
        in->tallies[k] = t;
    }
    return HYBRID_OK;
}

static tally total(const inspection *in)
{
    tally sum = {0};

    for (int64_t k = 0; k < in->pieces; k++) {
        const tally *t = &in->tallies[k];
        sum.squares += t->squares;
        sum.products += t->products;
        sum.row_max = t->row_max > sum.row_max ? t->row_max : sum.row_max;
        sum.products_max =
            t->products_max > sum.products_max ? t->products_max : sum.products_max;
    }
    return sum;
}

static hybrid_status count_rows(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                hy_profile *profile, tally *sum)
{
    inspection in = {A, B, profile, NULL, (A->rows + A->nnz) / PIECE + 1};
    void *tallies;

    HY_TRY(hy_array(ctx, in.pieces, sizeof(tally), "tallies of rows", &tallies));
    in.tallies = tallies;
    const hybrid_status status =
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, in.pieces, 1, inspect_pieces, &in);
    if (status == HYBRID_OK)
        *sum = total(&in);
    hy_array_free(ctx, tallies);
    return status;
}

/* ---- how much a product compresses ------------------------------------------- */

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

/* Put the column into the table; 1 if it is new. */
static int insert(int32_t *table, uint32_t mask, int32_t col)
{
    uint32_t at = (uint32_t)col * 2654435769u >> 7 & mask;

    while (table[at] != -1 && table[at] != col)
        at = (at + 1) & mask;
    const int is_new = table[at] == -1;
    table[at]        = col;
    return is_new;
}

static int64_t count_columns(const sample *s, int64_t row, int32_t *table, uint32_t mask)
{
    const hybrid_csr *A = s->A, *B = s->B;
    int64_t count = 0;

    for (int64_t k = hy_offset(A, row); k < hy_offset(A, row + 1); k++) {
        const int64_t end = hy_offset(B, (int64_t)A->col[k] + 1);
        for (int64_t l = hy_offset(B, A->col[k]); l < end; l++)
            count += insert(table, mask, B->col[l]);
    }
    return count;
}

/* Entries of one row of C. A row too costly to count stands at its bound. */
static hybrid_status count_row(const sample *s, int64_t row, int64_t *entries)
{
    const int64_t bound = s->profile->bound[row + 1] - s->profile->bound[row];
    uint32_t slots      = 16;
    void *table;

    *entries = bound;
    if (products_of(s->profile, row) > SAMPLE_COST)
        return HYBRID_OK;
    while ((int64_t)slots < 2 * bound)
        slots *= 2;
    HY_TRY(hy_array(s->ctx, slots, sizeof(int32_t), "columns of a sampled row", &table));
    memset(table, -1, slots * sizeof(int32_t));
    *entries = count_columns(s, row, table, slots - 1);
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

static hybrid_status estimate_ratio(hy_context *ctx, const hybrid_csr *A,
                                    const hybrid_csr *B, const hy_profile *profile,
                                    double *ratio)
{
    const int64_t products = profile->products[profile->rows];
    sample s               = {.ctx = ctx, .A = A, .B = B, .profile = profile};
    double share           = 0;
    int draws              = products < SAMPLES ? (int)products : SAMPLES;
    int weight             = 0;

    *ratio = 1;
    if (products == 0)
        return HYBRID_OK;
    while (draw(&s, draws) > SAMPLE_COST && draws > MIN_SAMPLES)
        draws /= 2;
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, s.count, 8, count_samples, &s));
    for (int k = 0; k < s.count; k++) {
        share += s.weight[k] * s.share[k];
        weight += s.weight[k];
    }
    *ratio = weight / share;
    return HYBRID_OK;
}

/* ---- the profile ------------------------------------------------------------- */

/* A dense operand and result must be countable in 63 bits, as must be the products. */
static hybrid_status check_size(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                int64_t dense_cols, double products)
{
    const double widest = (double)(A->rows > A->cols ? A->rows : A->cols);
    const double most =
        B ? products : (products > widest ? products : widest) * (double)dense_cols;

    if (most > 0x1p60)
        return hy_fail(
            ctx, HYBRID_UNSUPPORTED,
            "the product has %.3g scalar products or elements, 2^60 is the most", most);
    return HYBRID_OK;
}

static hybrid_status alloc_profile(hy_context *ctx, int64_t rows, hy_profile *p)
{
    void *array;

    HY_TRY(hy_array(ctx, rows + 1, 8, "row offsets", &array));
    p->nnz = p->products = array;
    if (p->op == HY_SPMM)
        return HYBRID_OK;
    p->products = NULL;
    HY_TRY(hy_array(ctx, rows + 1, 8, "products of rows", &array));
    p->products = array;
    HY_TRY(hy_array(ctx, rows + 1, 8, "bounds of rows", &array));
    p->bound = array;
    return HYBRID_OK;
}

static void set_features(hy_profile *p, const tally *sum)
{
    const double rows = (double)p->rows;
    hy_features *f    = &p->features;

    *f              = (hy_features){.rows      = p->rows,
                                    .cols      = p->cols,
                                    .nnz       = p->nnz[p->rows],
                                    .out_cols  = p->out_cols,
                                    .row_max   = sum->row_max,
                                    .out_ratio = 1,
                                    .type      = p->type};
    f->products     = p->products[p->rows];
    f->products_max = sum->products_max;
    if (p->op == HY_SPMM) {
        f->products *= p->out_cols;
        f->products_max *= p->out_cols;
    }
    f->out_bound = p->op == HY_SPMM ? p->rows * p->out_cols : p->bound[p->rows];
    if (f->nnz == 0)
        return;
    f->row_mean           = (double)f->nnz / rows;
    const double variance = sum->squares / rows - f->row_mean * f->row_mean;
    f->row_cv             = sqrt(variance > 0 ? variance : 0) / f->row_mean;
}

hybrid_status hy_inspect_fill(hy_context *ctx, const hybrid_csr *A, hy_profile *profile)
{
    hy_features *f = &profile->features;

    HY_TRY(hy_tile_fill(ctx, A, &f->tile_fill));
    return f->out_cols == 1 ? hy_block_fill(ctx, A, f) : HYBRID_OK;
}

hybrid_status hy_inspect(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                         int64_t dense_cols, hy_profile *out)
{
    hybrid_status status;
    tally sum;
    hy_profile p = {.op       = B ? HY_SPGEMM : HY_SPMM,
                    .type     = A->type,
                    .rows     = A->rows,
                    .cols     = A->cols,
                    .out_cols = B ? B->cols : dense_cols};

    HY_TRY_ELSE_DONE(alloc_profile(ctx, A->rows, &p));
    HY_TRY_ELSE_DONE(count_rows(ctx, A, B, &p, &sum));
    HY_TRY_ELSE_DONE(check_size(ctx, A, B, dense_cols, sum.products));
    p.nnz[A->rows] = A->nnz;
    if (B) {
        HY_TRY_ELSE_DONE(hy_prefix_sum(ctx, p.products, A->rows));
        HY_TRY_ELSE_DONE(hy_prefix_sum(ctx, p.bound, A->rows));
    }
    set_features(&p, &sum);
    if (B)
        HY_TRY_ELSE_DONE(estimate_ratio(ctx, A, B, &p, &p.features.out_ratio));
done:
    if (status == HYBRID_OK)
        *out = p;
    else
        hy_profile_free(ctx, &p);
    return status;
}

void hy_profile_free(hy_context *ctx, hy_profile *profile)
{
    if (profile->products != profile->nnz)
        hy_array_free(ctx, profile->products);
    hy_array_free(ctx, profile->nnz);
    hy_array_free(ctx, profile->bound);
    memset(profile, 0, sizeof *profile);
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

hy_features hy_profile_range(const hy_profile *p, int64_t begin, int64_t end,
                             int64_t cols)
{
    hy_features f = p->features;

    f.rows         = end - begin;
    f.nnz          = p->nnz[end] - p->nnz[begin];
    f.row_max      = lesser(f.row_max, f.nnz);
    f.out_cols     = cols;
    f.products     = p->products[end] - p->products[begin];
    f.out_bound    = p->op == HY_SPMM ? f.rows * cols : p->bound[end] - p->bound[begin];
    f.products_max = lesser(f.products_max, f.products);
    if (p->op == HY_SPMM) {
        f.products *= cols;
        f.products_max = f.row_max * cols;
    }
    f.gather_rows = f.gather_nnz = 0;
    return f;
}
