/* engine/verify.c - Freivalds' check of a product.

   C = A*B holds for a random vector r of +-1 only if C r = A (B r); a wrong row passes
   with probability 1/2 at most. Both sides are summed in double, a row at a time, so the
   check costs one pass over A, B and C and no memory beyond two vectors. Row i may differ
   by rounding: each side sums products of magnitude |a| |b|, in the type of C, so

       |left - right| <= 4 (n_i + 2) eps sum |a| |b|

   and, where products underflow, n_i + 2 times the smallest number of the type besides,
   with n_i the number of scalar products of the row (Higham, Accuracy and Stability,
   chapter 3), counted with the double sums of this file. Where f32 operands may be
   rounded to TF32, each is off by 2^-11 of itself at most and a product by 2^-10 + 2^-22;
   the bound then has another 2^-9 sum |a| |b|, so that both are within it. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csr.h"
#include "base/extremes.h"
#include "base/pool.h"
#include "engine/check.h"
#include "engine/engine.h"

enum { GRAIN = 1024 };

/* Element k of trial t: +1 or -1 (splitmix64's finalizer). */
static double sign(uint64_t seed, int64_t k)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15u * (uint64_t)(k + 1);
    z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) & 1 ? 1.0 : -1.0;
}

static double value(const void *val, hybrid_type type, int64_t k)
{
    return type == HYBRID_F64 ? ((const double *)val)[k]
                              : (double)((const float *)val)[k];
}

static double element(const hybrid_dense *X, int64_t i, int64_t j)
{
    return value(X->data, X->type,
                 X->order == HYBRID_ROW_MAJOR ? i * X->ld + j : i + j * X->ld);
}

typedef struct check {
    const hybrid_csr *A, *B, *C; /* SpGEMM */
    const hybrid_dense *X, *Y;   /* SpMM: in the place of B and C */
    uint64_t seed;
    double operands; /* relative error of a product whose operands were rounded */
    double *right;   /* B r, or X r */
    double *size;    /* sum of |b| in each row of B, or X; NaN: not all are finite */
    int64_t *count;  /* entries of each row of B, or columns of X */
    int64_t first;   /* lowest row that fails, or INT64_MAX */
} check;

/* What is not finite spreads. */
static double size_of(double value)
{
    return isfinite(value) ? fabs(value) : NAN;
}

static hybrid_status sum_sparse(void *arg, int part, int64_t begin, int64_t end)
{
    const check *c      = arg;
    const hybrid_csr *B = c->B;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        double sum = 0, size = 0;
        for (int64_t k = hy_offset(B, i); k < hy_offset(B, i + 1); k++) {
            const double b = value(B->val, B->type, k);
            sum += b * sign(c->seed, B->col[k]);
            size += size_of(b);
        }
        c->right[i] = sum;
        c->size[i]  = size;
        c->count[i] = hy_offset(B, i + 1) - hy_offset(B, i);
    }
    return HYBRID_OK;
}

static hybrid_status sum_dense(void *arg, int part, int64_t begin, int64_t end)
{
    const check *c = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        double sum = 0, size = 0;
        for (int64_t j = 0; j < c->X->cols; j++) {
            const double x = element(c->X, i, j);
            sum += x * sign(c->seed, j);
            size += size_of(x);
        }
        c->right[i] = sum;
        c->size[i]  = size;
        c->count[i] = c->X->cols;
    }
    return HYBRID_OK;
}

/* C r, or Y r, in row i. */
static double left_row(const check *c, int64_t i)
{
    double sum = 0;

    if (c->C)
        for (int64_t k = hy_offset(c->C, i); k < hy_offset(c->C, i + 1); k++)
            sum += value(c->C->val, c->C->type, k) * sign(c->seed, c->C->col[k]);
    else
        for (int64_t j = 0; j < c->Y->cols; j++)
            sum += element(c->Y, i, j) * sign(c->seed, j);
    return sum;
}

/* NaN and infinity follow IEEE on both sides, but in another order: a row with an operand
   that is not finite passes if its left side is not finite either. So does one of which a
   sum may overflow in the type of C; where sums overflow here, nobody can say. */
static int row_passes(const check *c, int64_t i)
{
    const int f64      = c->A->type == HYBRID_F64;
    const double eps   = f64 ? 0x1p-53 : 0x1p-24;
    const double least = f64 ? 0x1p-1074 : 0x1p-149, most = f64 ? DBL_MAX : FLT_MAX;
    double right = 0, size = 0;
    int64_t count = 2;

    for (int64_t k = hy_offset(c->A, i); k < hy_offset(c->A, i + 1); k++) {
        const double a  = value(c->A->val, c->A->type, k);
        const int64_t j = c->A->col[k];
        count += c->count[j];
        if (a == 0 && isinf(c->size[j]))
            continue;
        right += a * c->right[j];
        size += size_of(a) * c->size[j];
    }
    const double left = left_row(c, i);
    if (isnan(size))
        return !isfinite(left);
    if (isinf(size) || (size > most && !isfinite(left)))
        return 1;
    return fabs(left - right) <=
           (4 * (double)count * eps + c->operands) * size + (double)count * least;
}

static hybrid_status check_rows(void *arg, int part, int64_t begin, int64_t end)
{
    check *c = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        if (row_passes(c, i))
            continue;
        hy_lower_to(&c->first, i);
        break; /* later rows of this piece cannot be the first */
    }
    return HYBRID_OK;
}

static hybrid_status run_trials(hy_context *ctx, check *c, int trials, uint64_t seed,
                                int64_t *row)
{
    const int64_t inner = c->A->cols;
    void *right = NULL, *size = NULL, *count = NULL;
    hybrid_status status;

    HY_TRY_ELSE_DONE(
        hy_array(ctx, inner, sizeof(double), "a vector to verify with", &right));
    HY_TRY_ELSE_DONE(
        hy_array(ctx, inner, sizeof(double), "a vector to verify with", &size));
    HY_TRY_ELSE_DONE(
        hy_array(ctx, inner, sizeof(int64_t), "a vector to verify with", &count));
    c->right = right;
    c->size  = size;
    c->count = count;
    c->first = INT64_MAX;
    for (int t = 0; t < trials; t++) { /* rows before one that fails may fail as well */
        const int64_t rows = c->first < c->A->rows ? c->first : c->A->rows;
        c->seed            = seed + 0x632be59bd9b4e019u * (uint64_t)t;
        HY_TRY_ELSE_DONE(hy_pool_for(ctx->pool, HY_COMPUTE, 0, inner, GRAIN,
                                     c->B ? sum_sparse : sum_dense, c));
        HY_TRY_ELSE_DONE(
            hy_pool_for(ctx->pool, HY_COMPUTE, 0, rows, GRAIN, check_rows, c));
    }
    *row = c->first == INT64_MAX ? -1 : c->first;
done:
    hy_array_free(ctx, right);
    hy_array_free(ctx, size);
    hy_array_free(ctx, count);
    return status;
}

static hybrid_status begin(hybrid_engine *engine, int trials, const int64_t *row)
{
    HY_TRY(hy_engine_begin(engine));
    if (trials < 1 || !row)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT,
                       "verify: trials %d is below 1, or row is NULL", trials);
    return HYBRID_OK;
}

hybrid_status hybrid_verify_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                                   const hybrid_csr *B, const hybrid_csr *C, int trials,
                                   uint64_t seed, int64_t *row)
{
    HY_TRY(begin(engine, trials, row));
    hy_context *ctx = &engine->ctx;
    HY_TRY(hy_check_spgemm(ctx, A, B));
    HY_TRY(hy_check_patterns(ctx, A, B, 0));
    HY_TRY(hy_csr_check(ctx, C, "C"));
    if (C->rows != A->rows || C->cols != B->cols || C->type != A->type)
        return hy_fail(ctx, HYBRID_BAD_SHAPE, "C is %lld x %lld, A*B is %lld x %lld",
                       (long long)C->rows, (long long)C->cols, (long long)A->rows,
                       (long long)B->cols);
    check c = {.A = A, .B = B, .C = C};
    return run_trials(ctx, &c, trials, seed, row);
}

static hybrid_status verify_spmm(hybrid_engine *engine, check *c, int trials,
                                 uint64_t seed, int64_t *row)
{
    HY_TRY(begin(engine, trials, row));
    HY_TRY(hy_check_spmm(&engine->ctx, c->A, c->X, c->Y));
    HY_TRY(hy_check_patterns(&engine->ctx, c->A, NULL, 0));
    return run_trials(&engine->ctx, c, trials, seed, row);
}

hybrid_status hybrid_verify_spmm(hybrid_engine *engine, const hybrid_csr *A,
                                 const hybrid_dense *X, const hybrid_dense *Y, int trials,
                                 uint64_t seed, int64_t *row)
{
    check c = {.A = A, .X = X, .Y = Y};
    return verify_spmm(engine, &c, trials, seed, row);
}

hybrid_status hybrid_verify_spmm_tf32(hybrid_engine *engine, const hybrid_csr *A,
                                      const hybrid_dense *X, const hybrid_dense *Y,
                                      int trials, uint64_t seed, int64_t *row)
{
    const int rounded = A && A->type == HYBRID_F32;
    check c           = {.A = A, .X = X, .Y = Y, .operands = rounded ? 0x1p-9 : 0};
    return verify_spmm(engine, &c, trials, seed, row);
}
