/* engine/api/api.c - public functions that make plans and run them. */
#include "base/threads/clock.h"
#include "base/data/csr.h"
#include "engine/api/check.h"
#include "engine/device/direct.h"
#include "engine/files/file.h"
#include "engine/run/match.h"
#include "engine/run/multiply.h"
#include "engine/run/resident.h"
#include "engine/api/scale.h"
#include "engine/api/prepare.h"
#include "partition/move/sources.h"
#include "pipeline/sink/sink_each.h"

/* ---- plans -------------------------------------------------------------------- */

static hybrid_status make_plan(hybrid_engine *engine, const hybrid_csr *A,
                               const hybrid_csr *B, int64_t dense_cols,
                               const hybrid_plan_options *options, hybrid_plan **out)
{
    const int64_t begin = hy_now_ns();
    hybrid_plan *plan;

    HY_TRY(hy_plan_make(engine, A, B, dense_cols, options, NULL, &plan));
    hybrid_status status = hy_plan_finish(plan, A, B);
    if (status == HYBRID_OK && options->flags & HYBRID_ASYNC)
        status = hy_direct_check_async(plan);
    if (status == HYBRID_OK)
        status = hy_progress_check(&engine->ctx.progress);
    if (status != HYBRID_OK) {
        hybrid_plan_destroy(plan);
        return status;
    }
    plan->a_offsets             = hy_spaces_move_offsets(&engine->spaces, A);
    plan->a_offset_type         = A->offset_type;
    plan->plan_s                = (double)(hy_now_ns() - begin) * 1e-9;
    plan->history.report.plan_s = plan->plan_s;
    *out                        = plan;
    return HYBRID_OK;
}

static hybrid_status plan_sparse(hybrid_engine *engine, const hybrid_csr *A,
                                 const hybrid_csr *B, const hybrid_plan_options *options,
                                 hybrid_plan **plan)
{
    hybrid_plan_options o;

    if (!plan)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "plan is NULL");
    HY_TRY(hy_find_sparse(engine, options, A, B, &o));
    HY_TRY(hy_prepare(engine, o.flags, &A, &B));
    return make_plan(engine, A, B, 0, &o, plan);
}

hybrid_status hybrid_spgemm_plan(hybrid_engine *engine, const hybrid_csr *A,
                                 const hybrid_csr *B, const hybrid_plan_options *options,
                                 hybrid_plan **plan)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, plan_sparse(engine, A, B, options, plan));
}

static hybrid_status plan_dense(hybrid_engine *engine, const hybrid_csr *A,
                                int64_t dense_cols, const hybrid_plan_options *options,
                                hybrid_plan **plan)
{
    hy_context *ctx = &engine->ctx;
    hybrid_plan_options o;

    if (!plan)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "plan is NULL");
    HY_TRY(hy_read_plan_options(ctx, options, &o));
    HY_TRY(hy_check_csr_anywhere(ctx, A, "A"));
    HY_TRY(hy_check_dense_cols(ctx, A, dense_cols));
    HY_TRY(hy_spaces_csr(&engine->spaces, A, "A"));
    HY_TRY(hy_begin_rows(engine, A->rows));
    HY_TRY(hy_spaces_options(&engine->spaces, 1, &o));
    HY_TRY(hy_prepare(engine, o.flags, &A, NULL));
    return make_plan(engine, A, NULL, dense_cols, &o, plan);
}

hybrid_status hybrid_spmm_plan(hybrid_engine *engine, const hybrid_csr *A,
                               int64_t dense_cols, const hybrid_plan_options *options,
                               hybrid_plan **plan)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, plan_dense(engine, A, dense_cols, options, plan));
}

/* ---- runs ----------------------------------------------------------------------- */

/* Checks the operands of a run, and that they match the plan; with HYBRID_REUSE also that
   their patterns do. Waits until the caller's stream has produced them. Replaces *A and
   *B by the matrices to compute with: views of operands in device memory, and copies with
   32-bit columns of those with 64-bit columns. */
static hybrid_status take_operands(const hybrid_plan *plan, const hybrid_csr **A,
                                   const hybrid_csr **B)
{
    hybrid_engine *engine = plan->product.engine;
    hy_context *ctx       = &engine->ctx;

    HY_TRY(hy_check_spgemm(ctx, *A, *B));
    HY_TRY(hy_spaces_csr(&engine->spaces, *A, "A"));
    HY_TRY(hy_spaces_csr(&engine->spaces, *B, "B"));
    HY_TRY(hy_match_product(&plan->product, HY_SPGEMM, *A, (*B)->rows, (*B)->cols,
                            (*B)->nnz));
    HY_TRY(hy_match_spaces(&plan->product, (*A)->space, (*B)->space, NULL));
    HY_TRY(hy_begin_rows(engine, (*A)->rows));
    hy_spaces_view(&engine->spaces, A, plan->a_offsets, plan->a_offset_type);
    hy_spaces_view(&engine->spaces, B, NULL, HYBRID_I64);
    HY_TRY(hy_narrow_two(ctx, &engine->narrow, A, B));
    HY_TRY(hy_match_ring(plan, *B));
    return plan->history.pattern.row_ptr ? hy_match_patterns(plan, *A, *B) : HYBRID_OK;
}

static hybrid_status run_sparse(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B, hybrid_csr *C)
{
    const hy_beginning start = hy_usage_begin(plan->product.engine);

    if (!C)
        return hy_fail(&plan->product.engine->ctx, HYBRID_BAD_ARGUMENT, "C is NULL");
    HY_TRY(take_operands(plan, &A, &B));
    return hy_multiply_sparse(plan, A, B, &start, &plan->history, C);
}

hybrid_status hybrid_spgemm_run(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B, hybrid_csr *C)
{
    if (!plan)
        return HYBRID_BAD_ARGUMENT;
    HY_TRY(hy_engine_begin(plan->product.engine));
    return hy_engine_end(plan->product.engine, run_sparse(plan, A, B, C));
}

static hybrid_status run_each(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                              hybrid_each_fn fn, void *user)
{
    hybrid_engine *engine    = plan->product.engine;
    const hy_beginning start = hy_usage_begin(engine);

    if (!fn)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "fn is NULL");
    if (plan->product.result_on)
        return hy_fail(&engine->ctx, HYBRID_BAD_STATE,
                       "the plan leaves C in device memory, but hybrid_spgemm_each() "
                       "delivers rows in host memory");
    HY_TRY(take_operands(plan, &A, &B));
    hy_each_sink sink;
    hy_each_sink_open(&engine->ctx, A, B, fn, user, &sink);
    return hy_multiply_to(plan, A, B, &start, &plan->history, &sink.sink);
}

hybrid_status hybrid_spgemm_each(hybrid_plan *plan, const hybrid_csr *A,
                                 const hybrid_csr *B, hybrid_each_fn fn, void *user)
{
    if (!plan)
        return HYBRID_BAD_ARGUMENT;
    HY_TRY(hy_engine_begin(plan->product.engine));
    return hy_engine_end(plan->product.engine, run_each(plan, A, B, fn, user));
}

/* Computes Y = beta*Y for a run with alpha 0, which reads neither A nor X. *report
   becomes that of the run, with the plan's numbers of chunks, resident chunks and
   resident bytes. */
static hybrid_status scale(hybrid_engine *engine, double beta, const hybrid_dense *Y,
                           const hy_beginning *start, hybrid_report *report)
{
    const hybrid_report before = *report;

    HY_TRY(hy_scale(engine, beta, Y, start, report));
    report->chunks          = before.chunks;
    report->resident_chunks = before.resident_chunks;
    report->resident_bytes  = before.resident_bytes;
    engine->report          = *report;
    return HYBRID_OK;
}

/* Returns 1 if runs read columns of the caller's A. Returns 0 once all of A is cached on
   devices, or if the plan computes with the reduced A. */
static int reads_columns(const hybrid_plan *plan)
{
    return !hy_resident_everywhere(plan->portions, plan->count) &&
           hy_product_has_views(&plan->product);
}

/* Runs an SpMM plan; with HYBRID_ASYNC, only enqueues the run. The caller has checked the
   operands; this function checks that they match the plan. */
static hybrid_status run_dense(hybrid_plan *plan, const hybrid_csr *A, const hy_source *X,
                               const hy_update *update, const hy_beginning *start)
{
    hybrid_engine *engine = plan->product.engine;
    hy_direct_end end     = HY_DIRECT_LEFT;

    HY_TRY(hy_match_product(&plan->product, HY_SPMM, A, X->rows, X->cols, 0));
    HY_TRY(hy_match_spaces(&plan->product, A->space, X->dense->space, update->Y));
    if (plan->product.options.flags & HYBRID_ASYNC)
        return hy_direct_run_async(plan, A, X->dense, update, start);
    HY_TRY(hy_begin_rows(engine, A->rows));
    if (update->alpha == 0)
        return scale(engine, update->beta, update->Y, start, &plan->history.report);
    if (hy_direct_accepts_plan(plan))
        HY_TRY(hy_direct_run(plan, A, X->dense, update, start, &end));
    if (end == HY_DIRECT_DONE)
        return HYBRID_OK;
    hy_spaces_view(&engine->spaces, &A, plan->a_offsets, plan->a_offset_type);
    if (reads_columns(plan))
        HY_TRY(hy_narrow_add(&engine->ctx, &engine->narrow, &A, "A"));
    return hy_multiply_dense(plan, A, X, update, start, &plan->history);
}

static hybrid_status run_in_memory(hybrid_plan *plan, double alpha, const hybrid_csr *A,
                                   const hybrid_dense *X, double beta, hybrid_dense *Y)
{
    hy_context *ctx          = &plan->product.engine->ctx;
    const hy_beginning start = hy_usage_begin(plan->product.engine);

    HY_TRY(hy_check_spmm(ctx, A, X, Y));
    HY_TRY(hy_find_dense(plan->product.engine, A, X, Y));
    const hy_source source = hy_source_dense(ctx, X);
    return run_dense(plan, A, &source, &(hy_update){Y, alpha, beta}, &start);
}

hybrid_status hybrid_spmm_run(hybrid_plan *plan, double alpha, const hybrid_csr *A,
                              const hybrid_dense *X, double beta, hybrid_dense *Y)
{
    if (!plan)
        return HYBRID_BAD_ARGUMENT;
    HY_TRY(hy_engine_begin(plan->product.engine));
    return hy_engine_end(plan->product.engine, run_in_memory(plan, alpha, A, X, beta, Y));
}

static hybrid_status run_file(hybrid_plan *plan, double alpha, const hybrid_csr *A,
                              const hybrid_file *X, double beta, hybrid_dense *Y)
{
    hy_context *ctx          = &plan->product.engine->ctx;
    const hy_beginning start = hy_usage_begin(plan->product.engine);

    HY_TRY(hy_file_check(plan->product.engine, X, 0, "X"));
    HY_TRY(hy_check_csr(ctx, A, "A"));
    HY_TRY(hy_check_spmm_shapes(ctx, A, &X->matrix.dense, Y));
    const hy_source source = hy_source_file(&X->matrix);
    return run_dense(plan, A, &source, &(hy_update){Y, alpha, beta}, &start);
}

hybrid_status hybrid_spmm_run_file(hybrid_plan *plan, double alpha, const hybrid_csr *A,
                                   const hybrid_file *X, double beta, hybrid_dense *Y)
{
    if (!plan)
        return HYBRID_BAD_ARGUMENT;
    HY_TRY(hy_engine_begin(plan->product.engine));
    return hy_engine_end(plan->product.engine, run_file(plan, alpha, A, X, beta, Y));
}

void hybrid_plan_refresh(hybrid_plan *plan)
{
    if (!plan || hy_engine_barred(plan->product.engine))
        return;
    for (int i = 0; i < plan->count; i++)
        hy_pack_cache_forget(&plan->portions[i].site->cache);
}
