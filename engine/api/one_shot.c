/* engine/api/one_shot.c - one-shot calls: a plan that runs once, or no plan at all. */
#include "engine/api/check.h"
#include "engine/device/direct.h"
#include "engine/run/prefetch.h"
#include "engine/run/multiply.h"
#include "engine/api/scale.h"
#include "engine/api/prepare.h"
#include "partition/move/sources.h"

/* Returns HYBRID_CHECK if the device found an operand that breaks a rule, else 0. With
   that flag a check on the host finds the place. */
static unsigned checked_after(hy_direct_end end)
{
    return end == HY_DIRECT_WRONG ? HYBRID_CHECK : 0;
}

/* Computes C with a plan that runs once. B is prefetched, unless an operand or C is in
   device memory, the options give the host all work, or they name a variant, which might
   not read B on the device. */
static hybrid_status run_one_shot_sparse(hybrid_engine *engine,
                                         const hybrid_plan_options *o,
                                         const hybrid_csr *A, const hybrid_csr *B,
                                         const hy_beginning *start, hybrid_csr *C)
{
    hy_loader *loader = NULL;
    hybrid_plan *plan;

    if (!o->variant && !engine->spaces.device && o->split != HYBRID_SPLIT_HOST)
        HY_TRY(hy_prefetch_begin(engine, A, B, &loader));
    const hy_one_shot one_shot = {.prefetcher = loader};
    HY_TRY(hy_plan_make(engine, A, B, 0, o, &one_shot, &plan));
    const hybrid_status status = hy_multiply_sparse(plan, A, B, start, &plan->history, C);
    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status multiply_sparse(hybrid_engine *engine,
                                     const hybrid_plan_options *options,
                                     const hybrid_csr *A, const hybrid_csr *B,
                                     hybrid_csr *C)
{
    const hy_beginning start = hy_usage_begin(engine);
    hy_direct_end end        = HY_DIRECT_LEFT;
    hybrid_plan_options o;

    if (!C)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "C is NULL");
    HY_TRY(hy_find_sparse(engine, options, A, B, &o));
    if (o.flags & HYBRID_REUSE)
        return hy_fail(
            &engine->ctx, HYBRID_BAD_ARGUMENT,
            "plan options: HYBRID_REUSE needs a plan: a one-shot call runs once");
    if (hy_direct_accepts_spgemm(engine, A, B, &o))
        HY_TRY(hy_direct_spgemm(engine, &o, A, B, &start, C, &end));
    if (end == HY_DIRECT_DONE)
        return HYBRID_OK;
    HY_TRY(hy_prepare(engine, o.flags | checked_after(end), &A, &B));
    return run_one_shot_sparse(engine, &o, A, B, &start, C);
}

hybrid_status hybrid_spgemm_with(hybrid_engine *engine,
                                 const hybrid_plan_options *options, const hybrid_csr *A,
                                 const hybrid_csr *B, hybrid_csr *C)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, multiply_sparse(engine, options, A, B, C));
}

hybrid_status hybrid_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                            const hybrid_csr *B, hybrid_csr *C)
{
    return hybrid_spgemm_with(engine, NULL, A, B, C);
}

static hybrid_status run_one_shot_dense(hybrid_engine *engine,
                                        hybrid_plan_options *options, const hybrid_csr *A,
                                        const hybrid_dense *X, const hy_update *update,
                                        const hy_beginning *start)
{
    hybrid_dense *Y        = update->Y;
    const hy_source source = hy_source_dense(&engine->ctx, X);
    /* 1: Y = A*X; only then can a device copy pinned X and Y directly */
    const int as_it_is         = update->alpha == 1 && update->beta == 0;
    const hy_one_shot one_shot = {.X = as_it_is ? X : NULL, .Y = Y};
    hybrid_plan *plan;

    options->order = X->order == HYBRID_COL_MAJOR ? X->order : Y->order;
    HY_TRY(hy_plan_make(engine, A, NULL, X->cols, options, &one_shot, &plan));
    const hybrid_status status =
        hy_multiply_dense(plan, A, &source, update, start, &plan->history);
    hybrid_plan_destroy(plan);
    return status;
}

/* Returns BAD_ARGUMENT for flags that make sense only if a plan runs several times or
   asynchronously. */
static hybrid_status check_one_shot(hy_context *ctx, const hybrid_plan_options *o)
{
    const unsigned many = HYBRID_RESIDENT | HYBRID_REUSE | HYBRID_ASYNC;

    return o->flags & many
               ? hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                         "plan options: HYBRID_RESIDENT, HYBRID_REUSE and HYBRID_ASYNC "
                         "need a plan: a one-shot call runs once")
               : HYBRID_OK;
}

/* Finds out where the operands are, checks them, and sets o->x_space and o->result_space
   to where X and Y are. */
static hybrid_status find_dense(hybrid_engine *engine, const hybrid_plan_options *options,
                                const hybrid_csr *A, const hybrid_dense *X,
                                const hybrid_dense *Y, hybrid_plan_options *o)
{
    hy_context *ctx = &engine->ctx;

    HY_TRY(hy_read_plan_options(ctx, options, o));
    HY_TRY(check_one_shot(ctx, o));
    HY_TRY(hy_check_spmm(ctx, A, X, Y));
    HY_TRY(hy_check_dense_cols(ctx, A, X->cols));
    HY_TRY(hy_find_dense(engine, A, X, Y));
    HY_TRY(hy_begin_rows(engine, A->rows));
    o->x_space      = X->space;
    o->result_space = Y->space;
    return hy_spaces_options(&engine->spaces, 1, o);
}

static hybrid_status multiply_dense(hybrid_engine *engine,
                                    const hybrid_plan_options *options, double alpha,
                                    const hybrid_csr *A, const hybrid_dense *X,
                                    double beta, hybrid_dense *Y)
{
    const hy_beginning start = hy_usage_begin(engine);
    const hy_update update   = {Y, alpha, beta};
    hy_direct_end end        = HY_DIRECT_LEFT;
    hybrid_plan_options o;

    HY_TRY(find_dense(engine, options, A, X, Y, &o));
    if (alpha == 0)
        return hy_scale(engine, beta, Y, &start, &engine->report);
    if (hy_direct_accepts_spmm(engine, A, X, Y, &o))
        HY_TRY(hy_direct_spmm(engine, &o, A, X, &update, &start, &end));
    if (end == HY_DIRECT_DONE)
        return HYBRID_OK;
    HY_TRY(hy_prepare(engine, o.flags | checked_after(end), &A, NULL));
    return run_one_shot_dense(engine, &o, A, X, &update, &start);
}

hybrid_status hybrid_spmm_with(hybrid_engine *engine, const hybrid_plan_options *options,
                               double alpha, const hybrid_csr *A, const hybrid_dense *X,
                               double beta, hybrid_dense *Y)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, multiply_dense(engine, options, alpha, A, X, beta, Y));
}

hybrid_status hybrid_spmm(hybrid_engine *engine, double alpha, const hybrid_csr *A,
                          const hybrid_dense *X, double beta, hybrid_dense *Y)
{
    return hybrid_spmm_with(engine, NULL, alpha, A, X, beta, Y);
}

hybrid_status hybrid_spmv(hybrid_engine *engine, double alpha, const hybrid_csr *A,
                          const void *x, double beta, void *y)
{
    HY_TRY(hy_engine_begin(engine));
    HY_TRY(hy_check_csr_anywhere(&engine->ctx, A, "A"));
    /* the cast removes const; hybrid_spmm() only reads X */
    const hybrid_dense X = {A->cols,
                            1,
                            1,
                            HYBRID_ROW_MAJOR,
                            (void *)(uintptr_t)x,
                            A->type,
                            hy_spaces_find(&engine->spaces, x)};
    hybrid_dense Y       = {
              A->rows, 1, 1, HYBRID_ROW_MAJOR, y, A->type, hy_spaces_find(&engine->spaces, y)};
    return hybrid_spmm(engine, alpha, A, &X, beta, &Y);
}
