/* engine/check.c - arguments of public calls, checked before anything is done. */
#include "engine/check.h"

#include "base/csr.h"

hybrid_status hy_check_plan_options(hy_context *ctx, const hybrid_plan_options *o)
{
    const unsigned known = HYBRID_DETERMINISTIC | HYBRID_REUSE | HYBRID_EXPLAIN |
                           HYBRID_CHECK | HYBRID_RESIDENT | HYBRID_ALLOW_TF32;

    if (o->struct_size != sizeof *o)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "plan options: start from HYBRID_PLAN_OPTIONS_INIT");
    if (o->flags & ~known)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "plan options: flags %#x are not known",
                       o->flags & ~known);
    if (o->depth < 0 || o->depth > 64 || o->chunk_rows < 0)
        return hy_fail(
            ctx, HYBRID_BAD_ARGUMENT,
            "plan options: depth %d is not in 0..64 or chunk_rows %lld is negative",
            o->depth, (long long)o->chunk_rows);
    if (o->split < HYBRID_SPLIT_DEFAULT || o->split > HYBRID_SPLIT_SHARE ||
        !(o->host_share >= 0 && o->host_share <= 1))
        return hy_fail(
            ctx, HYBRID_BAD_ARGUMENT,
            "plan options: split %d is not known or host_share %g is not in 0..1",
            (int)o->split, o->host_share);
    if (o->order != 0 && o->order != HYBRID_ROW_MAJOR && o->order != HYBRID_COL_MAJOR)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "plan options: order %d is not known",
                       (int)o->order);
    return HYBRID_OK;
}

static hybrid_status check_types(hy_context *ctx, hybrid_type a, hybrid_type b,
                                 const char *name)
{
    if (a != b)
        return hy_fail(ctx, HYBRID_BAD_SHAPE, "A holds f%d and %s holds f%d",
                       a == HYBRID_F64 ? 64 : 32, name, b == HYBRID_F64 ? 64 : 32);
    return HYBRID_OK;
}

hybrid_status hy_check_spgemm(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B)
{
    HY_TRY(hy_csr_check_header(ctx, A, "A"));
    HY_TRY(hy_csr_check_header(ctx, B, "B"));
    HY_TRY(check_types(ctx, A->type, B->type, "B"));
    if (A->cols != B->rows)
        return hy_fail(
            ctx, HYBRID_BAD_SHAPE,
            "A is %lld x %lld and B is %lld x %lld: columns of A and rows of B "
            "differ",
            (long long)A->rows, (long long)A->cols, (long long)B->rows,
            (long long)B->cols);
    return HYBRID_OK;
}

hybrid_status hy_check_dense(hy_context *ctx, const hybrid_dense *X, const char *name)
{
    if (!X)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s is NULL", name);
    if (X->rows < 0 || X->cols < 0 || (X->type != HYBRID_F32 && X->type != HYBRID_F64) ||
        (X->order != HYBRID_ROW_MAJOR && X->order != HYBRID_COL_MAJOR))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: rows %lld, cols %lld, type %d or order %d is out of range",
                       name, (long long)X->rows, (long long)X->cols, (int)X->type,
                       (int)X->order);
    const int64_t least = X->order == HYBRID_ROW_MAJOR ? X->cols : X->rows;
    const int64_t lines = X->order == HYBRID_ROW_MAJOR ? X->rows : X->cols;
    if (X->ld < least)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s: ld %lld is below %lld", name,
                       (long long)X->ld, (long long)least);
    if (lines > 0 && X->ld > INT64_MAX / 8 / lines)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s: %lld x %lld elements overflow",
                       name, (long long)lines, (long long)X->ld);
    if (!X->data && X->rows > 0 && X->cols > 0)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s: data is NULL", name);
    return HYBRID_OK;
}

/* Elements from the first to one past the last. */
static int64_t extent(const hybrid_dense *X)
{
    const int64_t lines = X->order == HYBRID_ROW_MAJOR ? X->rows : X->cols;
    const int64_t line  = X->order == HYBRID_ROW_MAJOR ? X->cols : X->rows;
    return lines > 0 && line > 0 ? (lines - 1) * X->ld + line : 0;
}

static int overlap(const hybrid_dense *X, const hybrid_dense *Y)
{
    const uintptr_t size = hy_value_size(X->type);
    const uintptr_t x = (uintptr_t)X->data, y = (uintptr_t)Y->data;
    return x < y + (uintptr_t)extent(Y) * size && y < x + (uintptr_t)extent(X) * size;
}

hybrid_status hy_check_spmm(hy_context *ctx, const hybrid_csr *A, const hybrid_dense *X,
                            const hybrid_dense *Y)
{
    HY_TRY(hy_csr_check_header(ctx, A, "A"));
    HY_TRY(hy_check_dense(ctx, X, "X"));
    HY_TRY(hy_check_dense(ctx, Y, "Y"));
    HY_TRY(check_types(ctx, A->type, X->type, "X"));
    HY_TRY(check_types(ctx, A->type, Y->type, "Y"));
    if (A->cols != X->rows || A->rows != Y->rows || X->cols != Y->cols)
        return hy_fail(
            ctx, HYBRID_BAD_SHAPE,
            "A is %lld x %lld, X is %lld x %lld and Y is %lld x %lld: they do not "
            "fit",
            (long long)A->rows, (long long)A->cols, (long long)X->rows,
            (long long)X->cols, (long long)Y->rows, (long long)Y->cols);
    if (overlap(X, Y))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "X and Y overlap");
    return HYBRID_OK;
}
