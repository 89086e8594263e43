/* engine/api/prepare.c - finds, checks and prepares the operands of a call. */
#include "engine/api/prepare.h"

#include "engine/api/check.h"

hybrid_status hy_begin_rows(hybrid_engine *engine, int64_t rows)
{
    hy_progress_begin(&engine->ctx.progress, rows);
    return hy_spaces_wait(&engine->spaces);
}

hybrid_status hy_find_sparse(hybrid_engine *engine, const hybrid_plan_options *options,
                             const hybrid_csr *A, const hybrid_csr *B,
                             hybrid_plan_options *o)
{
    hy_context *ctx = &engine->ctx;

    HY_TRY(hy_read_plan_options(ctx, options, o));
    if (o->flags & HYBRID_RESIDENT)
        return hy_fail(
            ctx, HYBRID_BAD_ARGUMENT,
            "plan options: HYBRID_RESIDENT is for products with a dense matrix; for "
            "sparse products the planner decides what stays on the device");
    if (o->flags & HYBRID_ASYNC)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "plan options: HYBRID_ASYNC is for products with a dense matrix: "
                       "the size of a sparse C is not known before it is computed");
    if (o->x_space != HYBRID_SPACE_HOST)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "plan options: x_space is for products with a dense matrix");
    HY_TRY(hy_check_spgemm(ctx, A, B));
    HY_TRY(hy_spaces_csr(&engine->spaces, A, "A"));
    HY_TRY(hy_spaces_csr(&engine->spaces, B, "B"));
    HY_TRY(hy_begin_rows(engine, A->rows));
    return hy_spaces_options(&engine->spaces, 0, o);
}

hybrid_status hy_prepare(hybrid_engine *engine, unsigned flags, const hybrid_csr **A,
                         const hybrid_csr **B)
{
    hy_context *ctx = &engine->ctx;

    HY_TRY(hy_spaces_fetch(&engine->spaces, A));
    if (B)
        HY_TRY(hy_spaces_fetch(&engine->spaces, B));
    HY_TRY(hy_check_patterns(ctx, *A, B ? *B : NULL, flags));
    HY_TRY(hy_narrow_add(ctx, &engine->narrow, A, "A"));
    return B ? hy_narrow_add(ctx, &engine->narrow, B, "B") : HYBRID_OK;
}

hybrid_status hy_find_dense(hybrid_engine *engine, const hybrid_csr *A,
                            const hybrid_dense *X, const hybrid_dense *Y)
{
    HY_TRY(hy_spaces_csr(&engine->spaces, A, "A"));
    HY_TRY(hy_spaces_dense(&engine->spaces, X, "X"));
    return hy_spaces_dense(&engine->spaces, Y, "Y");
}
