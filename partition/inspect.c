/* partition/inspect.c - patterns become numbers. */
#include "partition/inspect.h"

#include <math.h>
#include <string.h>

#include "base/csr.h"
#include "base/extremes.h"
#include "base/pool.h"
#include "base/results.h"

enum {
    PIECE       = 1 << 16, /* rows and entries that one worker inspects at a time */
    LENGTHS     = 1 << 14, /* rows of B of which one worker notes the lengths at a time */
    LONG_LENGTH = UINT8_MAX,
    LARGE       = 1 << 20 /* bytes of an array whose pages are kept from plan to plan */
};

/* ---- counting ---------------------------------------------------------------- */

/* Sums and maxima over some rows. */
typedef struct tally {
    double squares;  /* of the row lengths */
    double products; /* as a number that cannot overflow */
    int64_t row_max, products_max;
    int64_t end; /* of the columns that the rows since the last whole block touch */
    uint64_t products_sum, bound_sum; /* of the rows; then of the pieces before */
} tally;

typedef struct inspection {
    const hybrid_csr *A, *B;
    hy_profile *profile;
    /* of the rows of B, up to LONG_LENGTH: a small array stays in a cache */
    uint8_t *length;
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

static int64_t row_length(const hybrid_csr *B, int64_t row)
{
    return hy_offset(B, row + 1) - hy_offset(B, row);
}

static hybrid_status note_lengths(void *arg, int part, int64_t begin, int64_t end)
{
    const inspection *in = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t length = row_length(in->B, i);
        in->length[i]        = (uint8_t)(length < LONG_LENGTH ? length : LONG_LENGTH);
    }
    return HYBRID_OK;
}

/* Entries of the rows of B that a row of A touches. */
static int64_t row_products(const inspection *in, int64_t begin, int64_t end)
{
    const int32_t *col = in->A->col;
    int64_t sum        = 0;

    for (int64_t k = begin; k < end; k++) {
        const int64_t length = in->length[col[k]];
        sum += length < LONG_LENGTH ? length : row_length(in->B, col[k]);
    }
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
        if (end > begin && in->A->col[end - 1] >= t->end)
            t->end = (int64_t)in->A->col[end - 1] + 1;
        p->bound[i] = products < p->out_cols ? products : p->out_cols;
        t->products_sum += (uint64_t)products;
        t->bound_sum += (uint64_t)p->bound[i];
    }
    t->squares += (double)(end - begin) * (double)(end - begin);
    t->products += (double)products;
    if (end - begin > t->row_max)
        t->row_max = end - begin;
    if (products > t->products_max)
        t->products_max = products;
}

/* A block of rows is done, or the piece; blocks may have rows in two. */
static void note_end(const inspection *in, int64_t i, int64_t last, tally *t)
{
    if (!in->B || ((i + 1) % HY_ENDS_ROWS != 0 && i + 1 < last))
        return;
    hy_raise_to(&in->profile->ends[i / HY_ENDS_ROWS], t->end);
    t->end = 0;
}

static hybrid_status inspect_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const inspection *in = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const int64_t last = piece_begin(in, k + 1);
        tally t            = {0};
        for (int64_t i = piece_begin(in, k); i < last; i++) {
            inspect_row(in, i, &t);
            note_end(in, i, last, &t);
        }
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

/* ---- prefix sums ---- */

static void sum_piece(hy_profile *p, int64_t row, int64_t last, const tally *before)
{
    int64_t products = (int64_t)before->products_sum, bound = (int64_t)before->bound_sum;

    for (; row < last; row++) {
        const int64_t own[] = {p->products[row], p->bound[row]};
        p->products[row]    = products;
        p->bound[row]       = bound;
        products += own[0];
        bound += own[1];
    }
}

static hybrid_status sum_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const inspection *in = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++)
        sum_piece(in->profile, piece_begin(in, k), piece_begin(in, k + 1),
                  &in->tallies[k]);
    return HYBRID_OK;
}

/* Counts of rows become sums over the rows before. */
static hybrid_status sum_up(hy_context *ctx, inspection *in)
{
    uint64_t products = 0, bound = 0;

    for (int64_t k = 0; k < in->pieces; k++) {
        tally *t             = &in->tallies[k];
        const uint64_t own[] = {t->products_sum, t->bound_sum};
        t->products_sum      = products;
        t->bound_sum         = bound;
        products += own[0];
        bound += own[1];
    }
    in->profile->products[in->A->rows] = (int64_t)products;
    in->profile->bound[in->A->rows]    = (int64_t)bound;
    return hy_pool_for(ctx->pool, HY_COMPUTE, 0, in->pieces, 1, sum_pieces, in);
}

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

static hybrid_status count_rows(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                hy_profile *profile, tally *sum)
{
    inspection in = {
        .A = A, .B = B, .profile = profile, .pieces = (A->rows + A->nnz) / PIECE + 1};
    hybrid_status status;
    void *memory;

    HY_TRY_ELSE_DONE(hy_array(ctx, in.pieces, sizeof(tally), "tallies of rows", &memory));
    in.tallies = memory;
    if (B) {
        HY_TRY_ELSE_DONE(hy_array(ctx, B->rows, 1, "lengths of rows", &memory));
        in.length = memory;
        HY_TRY_ELSE_DONE(
            hy_pool_for(ctx->pool, HY_COMPUTE, 0, B->rows, LENGTHS, note_lengths, &in));
    }
    HY_TRY_ELSE_DONE(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, in.pieces, 1, inspect_pieces, &in));
    *sum = total(&in);
    HY_TRY_ELSE_DONE(check_size(ctx, A, B, profile->out_cols, sum->products));
    if (B)
        HY_TRY_ELSE_DONE(sum_up(ctx, &in));
done:
    hy_array_free(ctx, in.length);
    hy_array_free(ctx, in.tallies);
    return status;
}

/* ---- the profile ------------------------------------------------------------- */

/* Touching fresh pages took as long as what is written to them: large arrays are of pages
   that the engine keeps. */
static hybrid_status sums_of_rows(hy_context *ctx, int64_t rows, const char *what,
                                  int64_t **out)
{
    void *array;

    HY_TRY(rows >= LARGE / 8 ? hy_results_array(ctx, rows + 1, 8, what, &array)
                             : hy_array(ctx, rows + 1, 8, what, &array));
    *out = array;
    return HYBRID_OK;
}

static void free_sums(hy_context *ctx, int64_t *sums)
{
    if (!hy_results_release(ctx, sums))
        hy_array_free(ctx, sums);
}

static hybrid_status alloc_profile(hy_context *ctx, int64_t rows, hy_profile *p)
{
    const int64_t blocks = rows / HY_ENDS_ROWS + 1;
    void *array;

    HY_TRY(sums_of_rows(ctx, rows, "row offsets", &p->nnz));
    if (p->op == HY_SPMM) {
        p->products = p->nnz;
        return HYBRID_OK;
    }
    HY_TRY(sums_of_rows(ctx, rows, "products of rows", &p->products));
    HY_TRY(sums_of_rows(ctx, rows, "bounds of rows", &p->bound));
    HY_TRY(hy_array(ctx, blocks, sizeof *p->ends, "ends of rows", &array));
    p->ends = array;
    memset(p->ends, 0, (size_t)blocks * sizeof *p->ends);
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
    p.nnz[A->rows] = A->nnz;
    set_features(&p, &sum);
    if (B)
        HY_TRY_ELSE_DONE(hy_estimate_ratio(ctx, A, B, &p, &p.features.out_ratio));
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
        free_sums(ctx, profile->products);
    free_sums(ctx, profile->nnz);
    free_sums(ctx, profile->bound);
    hy_array_free(ctx, profile->ends);
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
