/* engine/api/verify.c - Freivalds' check of a product.

   Method: C = A*B is checked as C r = A (B r) for a vector r of random signs. Both sides
   are summed row by row, so a trial is one pass over A, B and C. Let entry (i,j) of C be
   wrong by d. For at least one of the two signs of column j, the sides differ by at least
   |d| in row i, whatever the other signs are. So half of all trials find the error if |d|
   exceeds the tolerance of the row.

   Tolerance: an entry that sums k scalar products, with the size S = sum |a||b|, has a
   rounding error of at most k eps S, in any order of summation (Higham, Accuracy and
   Stability, chapter 3). sqrt(k) eps S, the estimate for independent errors, would be too
   small: a sum of equal terms has errors of one sign and reaches a tenth of the bound.
   The signs of different entries of a row are independent. For their errors e,
   Hoeffding's inequality gives

     |sum_j r_j e_j| <= 8 |e|_2      for all r but a share of 2 exp(-32) < 3e-14,

   and the sum is at most |e|_1 for all r. Sizes of row i are sum_l |a_il| |b_lj|. By the
   triangle inequality, the tolerance is eps times the number of scalar products of an
   entry times

     H_i = sum_l |a_il| norm(B_l),   norm(b) = min(|b|_1, 8 |b|_2).

   An entry has at most as many scalar products as row i of A has entries, and at most
   w_j, the number of entries of column j of B. The first bound is good for short rows,
   the second for short columns in long rows. So each trial compares two sums: of r_j c_ij
   with a tolerance of (entries of row i) eps H_i, and of r_j c_ij / w_j with a tolerance
   of eps H_i. In the second sum the error is d / w_j.

   Other errors: SPARE entries are added to both counts. They cover the roundings of this
   file: sums have twice the precision of double, so that their length does not matter,
   and each side rounds terms of size H_i to double three times. They also cover tensor
   cores that split an f32 operand in two. If scalar products underflow, an entry may also
   be wrong by the smallest number of its type for each of them. If f32 operands may be
   rounded to TF32, an operand has a relative error of 2^-11, and a scalar product one of
   2^-10 + 2^-22. These sums are rounded towards zero, so eps is twice as large. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "engine/api/check.h"
#include "engine/api/engine.h"
#include "engine/api/line.h"

enum { GRAIN = 1024, COLUMNS = 1 << 16, SPARE = 6 };

static const double DEVIATIONS = 8;

/* Sums of one row of B or X, for one vector r. */
typedef struct right_row {
    double signs, scaled; /* sum of r_j b_j, and of r_j b_j / w_j */
    double norm;          /* norm(b) of the row; NaN if some b_j is not finite; -1 if the
                             row has no entries */
} right_row;

typedef struct check {
    const hybrid_csr *A, *B, *C; /* operands and result of SpGEMM */
    const hybrid_dense *X, *Y;   /* operand and result of SpMM */
    double eps;
    double operands; /* relative error that rounding the operands gives a scalar product;
                        0 if they are not rounded */
    uint64_t seed;   /* seed of the current trial */
    right_row *right;
    uint32_t *entries; /* number of entries of each column of B */
    float *sign;       /* r_j / w_j of each column j: a random sign, divided by the number
                          of entries of column j plus SPARE */
    int64_t first;     /* lowest number of a wrong row found so far; INT64_MAX if there
                          is none */
} check;

static hy_line right_line(const check *c, int64_t i)
{
    return c->B ? hy_line_sparse(c->B, i) : hy_line_dense(c->X, i);
}

static hy_line left_line(const check *c, int64_t i)
{
    return c->C ? hy_line_sparse(c->C, i) : hy_line_dense(c->Y, i);
}

/* Returns |value|, or NaN if the value is not finite. */
static double size_of(double value)
{
    return isfinite(value) ? fabs(value) : NAN;
}

/* Returns norm(b) of a row, or -1 if the row has no entries and thus adds no scalar
   products, whatever A holds. DBL_MIN for each entry allows for r_j b_j / w_j, which may
   underflow. */
static double norm(const hy_line *l)
{
    double sum = 0, most = 0, squares = 0;

    if (l->count == 0)
        return -1;
    for (int64_t k = 0; k < l->count; k++) {
        const double size = size_of(hy_line_value(l, k));
        sum += size;
        most = size > most ? size : most;
    }
    if (!(sum > 0 && isfinite(sum)))
        return sum;
    for (int64_t k = 0; k < l->count; k++) {
        const double share = hy_line_value(l, k) / most;
        squares += share * share;
    }
    return fmin(sum, DEVIATIONS * most * sqrt(squares)) + (double)l->count * DBL_MIN;
}

typedef struct sums {
    hy_twofold signs, scaled; /* sums of r_j c_ij, and of r_j c_ij / w_j, over a row */
} sums;

static sums sum_line(const check *c, const hy_line *l)
{
    sums s = {{0, 0}, {0, 0}};

    for (int64_t k = 0; k < l->count; k++) {
        const double v    = hy_line_value(l, k);
        const double sign = (double)c->sign[hy_line_col(l, k)];
        hy_twofold_add(&s.signs, sign < 0 ? -v : v);
        hy_twofold_add(&s.scaled, v * sign);
    }
    return s;
}

/* ---- before all trials ----------------------------------------------------------- */

static hybrid_status measure_right(void *arg, int part, int64_t begin, int64_t end)
{
    check *c = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const hy_line l  = right_line(c, i);
        c->right[i].norm = norm(&l);
        if (c->B)
            for (int64_t k = 0; k < l.count; k++)
                __atomic_fetch_add(&c->entries[l.col[l.first + k]], 1, __ATOMIC_RELAXED);
    }
    return HYBRID_OK;
}

/* Returns 1 if row i of C has more entries than scalar products. */
static int row_is_long(const check *c, int64_t i)
{
    int64_t left = hy_offset(c->C, i + 1) - hy_offset(c->C, i);

    for (int64_t k = hy_offset(c->A, i); left > 0 && k < hy_offset(c->A, i + 1); k++) {
        const int32_t j = hy_cols(c->A)[k];
        left -= hy_offset(c->B, j + 1) - hy_offset(c->B, j);
    }
    return left > 0;
}

static hybrid_status check_lengths(void *arg, int part, int64_t begin, int64_t end)
{
    check *c = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        if (!row_is_long(c, i))
            continue;
        hy_lower_to(&c->first, i);
        break; /* later rows of this range cannot be the lowest wrong row */
    }
    return HYBRID_OK;
}

/* ---- a trial ----------------------------------------------------------------------- */

/* Returns 64 pseudo-random bits for column j, from the finalizer of splitmix64. */
static uint64_t hash(uint64_t seed, int64_t j)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15u * (uint64_t)(j + 1);
    z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static hybrid_status draw_signs(void *arg, int part, int64_t begin, int64_t end)
{
    check *c = arg;

    (void)part;
    for (int64_t j = begin; j < end; j++) {
        const uint32_t entries = c->B ? c->entries[j] : (uint32_t)c->A->cols;
        const float scale      = 1 / ((float)entries + SPARE);
        c->sign[j]             = hash(c->seed, j) & 1 ? scale : -scale;
    }
    return HYBRID_OK;
}

static hybrid_status sum_right(void *arg, int part, int64_t begin, int64_t end)
{
    check *c = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const hy_line l    = right_line(c, i);
        const sums s       = sum_line(c, &l);
        c->right[i].signs  = s.signs.sum + s.signs.rest;
        c->right[i].scaled = s.scaled.sum + s.scaled.rest;
    }
    return HYBRID_OK;
}

/* Computes the sums of row i of A (B r) or A (X r). `a` is row i of A. Returns H_i, the
   size of the row. */
static double right_sums(const check *c, const hy_line *a, sums *out)
{
    double size = 0;

    *out = (sums){{0, 0}, {0, 0}};
    for (int64_t k = 0; k < a->count; k++) {
        const double v     = hy_line_value(a, k);
        const right_row *b = &c->right[hy_line_col(a, k)];
        if (b->norm < 0 || (v == 0 && isinf(b->norm)))
            continue;
        hy_twofold_add(&out->signs, v * b->signs);
        hy_twofold_add(&out->scaled, v * b->scaled);
        size += size_of(v) * b->norm;
    }
    return size;
}

/* Returns 1 if row i passes. NaN and infinity follow IEEE on both sides, but in different
   orders. So a row with an operand that is not finite passes if its left side is not
   finite. A row also passes if a sum may overflow in the type of C, or overflows here. */
static int row_passes(const check *c, int64_t i)
{
    const hy_value_type *type = hy_value_type_of(c->A->type);
    const hy_line a = hy_line_sparse(c->A, i), l = left_line(c, i);
    const double cols = (double)(c->B ? c->B->cols : c->X->cols);
    const sums left   = sum_line(c, &l);
    sums right;
    const double size = right_sums(c, &a, &right);

    if (isnan(size))
        return !isfinite(left.signs.sum);
    if (isinf(size) || (size > type->max && !isfinite(left.signs.sum)))
        return 1;
    const double rounded = c->operands * size;
    const double small   = (DEVIATIONS * sqrt(cols) + (double)a.count) * type->min;
    const double product = c->eps * size + small;
    return hy_twofold_distance(left.signs, right.signs) <=
               (double)(a.count + SPARE) * product + rounded &&
           hy_twofold_distance(left.scaled, right.scaled) <= product + rounded;
}

static hybrid_status check_rows(void *arg, int part, int64_t begin, int64_t end)
{
    check *c = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        if (row_passes(c, i))
            continue;
        hy_lower_to(&c->first, i);
        break; /* later rows of this range cannot be the lowest wrong row */
    }
    return HYBRID_OK;
}

/* Calls `fn` for ranges of rows of A on all workers. Rows after the first wrong one
   found so far may be left out. */
static hybrid_status each_row(hy_pool *pool, check *c, hy_loop_fn fn)
{
    const int64_t rows = hy_min(c->first, c->A->rows);
    return hy_pool_for(pool, HY_COMPUTE, 0, rows, GRAIN, fn, c);
}

static hybrid_status run_trials(hy_pool *pool, check *c, int trials, uint64_t seed)
{
    const int64_t cols = c->B ? c->B->cols : c->X->cols;
    const int64_t rows = c->A->cols; /* number of rows of B or X */

    HY_TRY(hy_pool_set(pool, HY_COMPUTE, c->entries, 0, c->B ? cols * 4 : 0));
    HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, rows, GRAIN, measure_right, c));
    if (c->C)
        HY_TRY(each_row(pool, c, check_lengths));
    for (int t = 0; t < trials; t++) {
        c->seed = hash(seed, t);
        HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, cols, COLUMNS, draw_signs, c));
        HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, rows, GRAIN, sum_right, c));
        HY_TRY(each_row(pool, c, check_rows));
    }
    return HYBRID_OK;
}

/* ---- public ------------------------------------------------------------------------ */

static hybrid_status verify(hy_context *ctx, check *c, int trials, uint64_t seed,
                            int64_t *row)
{
    const char *const what = "a vector to verify with";
    const int64_t cols     = c->B ? c->B->cols : c->X->cols;
    void *right = NULL, *entries = NULL, *sign = NULL;
    hybrid_status status;

    HY_TRY_ELSE_DONE(hy_array(ctx, c->A->cols, sizeof(right_row), what, &right));
    HY_TRY_ELSE_DONE(hy_array(ctx, cols, sizeof(uint32_t), what, &entries));
    HY_TRY_ELSE_DONE(hy_array(ctx, cols, sizeof(float), what, &sign));
    c->right   = right;
    c->entries = entries;
    c->sign    = sign;
    c->first   = INT64_MAX;
    HY_TRY_ELSE_DONE(run_trials(ctx->pool, c, trials, seed));
    *row = c->first == INT64_MAX ? -1 : c->first;
done:
    hy_array_free(ctx, right);
    hy_array_free(ctx, entries);
    hy_array_free(ctx, sign);
    return status;
}

static hybrid_status begin(hybrid_engine *engine, int trials, const int64_t *row)
{
    HY_TRY(hy_engine_begin(engine));
    HY_TRY(hy_check_range(&engine->ctx, "verify: trials", trials, 1, INT64_MAX));
    return row ? HYBRID_OK
               : hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "verify: row is NULL");
}

static hybrid_status verify_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                                   const hybrid_csr *B, const hybrid_csr *C, int trials,
                                   uint64_t seed, int64_t *row)
{
    hy_context *ctx = &engine->ctx;

    HY_TRY(hy_check_csr(ctx, A, "A"));
    HY_TRY(hy_check_csr(ctx, B, "B"));
    HY_TRY(hy_check_spgemm_shapes(ctx, A, B));
    hy_progress_begin(&ctx->progress, A->rows);
    HY_TRY(hy_csr_check(ctx, A, "A"));
    HY_TRY(hy_csr_check(ctx, B, "B"));
    HY_TRY(hy_check_rules(ctx, C, "C"));
    if (C->rows != A->rows || C->cols != B->cols || C->type != A->type)
        return hy_fail(
            ctx, HYBRID_BAD_SHAPE,
            "C is %lld x %lld with f%d values, but A*B is %lld x %lld with f%d values",
            (long long)C->rows, (long long)C->cols, hy_value_bits(C->type),
            (long long)A->rows, (long long)B->cols, hy_value_bits(A->type));
    HY_TRY(hy_narrow_two(ctx, &engine->narrow, &A, &B));
    HY_TRY(hy_narrow_add(ctx, &engine->narrow, &C, "C"));
    check c = {.A = A, .B = B, .C = C, .eps = hy_value_type_of(A->type)->epsilon};
    return verify(ctx, &c, trials, seed, row);
}

hybrid_status hybrid_verify_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                                   const hybrid_csr *B, const hybrid_csr *C, int trials,
                                   uint64_t seed, int64_t *row)
{
    HY_TRY(begin(engine, trials, row));
    return hy_engine_end(engine, verify_spgemm(engine, A, B, C, trials, seed, row));
}

static hybrid_status verify_spmm(hybrid_engine *engine, check *c, int tf32, int trials,
                                 uint64_t seed, int64_t *row)
{
    hy_context *ctx = &engine->ctx;

    HY_TRY(hy_check_csr(ctx, c->A, "A"));
    HY_TRY(hy_check_dense(ctx, c->X, "X"));
    HY_TRY(hy_check_spmm_shapes(ctx, c->A, c->X, c->Y));
    hy_progress_begin(&ctx->progress, c->A->rows);
    HY_TRY(hy_csr_check(ctx, c->A, "A"));
    HY_TRY(hy_narrow_add(ctx, &engine->narrow, &c->A, "A"));
    c->eps = hy_value_type_of(c->A->type)->epsilon;
    if (tf32 && hy_value_type_of(c->A->type)->rounds_to_tf32) {
        c->eps *= 2;
        c->operands = 0x1p-10 + 0x1p-22;
    }
    return verify(ctx, c, trials, seed, row);
}

hybrid_status hybrid_verify_spmm(hybrid_engine *engine, const hybrid_csr *A,
                                 const hybrid_dense *X, const hybrid_dense *Y, int trials,
                                 uint64_t seed, int64_t *row)
{
    check c = {.A = A, .X = X, .Y = Y};
    HY_TRY(begin(engine, trials, row));
    return hy_engine_end(engine, verify_spmm(engine, &c, 0, trials, seed, row));
}

hybrid_status hybrid_verify_spmm_tf32(hybrid_engine *engine, const hybrid_csr *A,
                                      const hybrid_dense *X, const hybrid_dense *Y,
                                      int trials, uint64_t seed, int64_t *row)
{
    check c = {.A = A, .X = X, .Y = Y};
    HY_TRY(begin(engine, trials, row));
    return hy_engine_end(engine, verify_spmm(engine, &c, 1, trials, seed, row));
}
