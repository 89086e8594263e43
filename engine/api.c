/* engine/api.c - the products: plan, run, one shot. */
#include <string.h>

#include "base/clock.h"
#include "base/csr.h"
#include "engine/check.h"
#include "engine/early.h"
#include "engine/file.h"
#include "engine/multiply.h"
#include "engine/scale.h"
#include "engine/struct_size.h"
#include "partition/sources.h"
#include "pipeline/sink_each.h"

/* ---- plans -------------------------------------------------------------------- */

static hybrid_status make_plan(hybrid_engine *engine, const hybrid_csr *A,
                               const hybrid_csr *B, int64_t dense_cols,
                               const hybrid_plan_options *options, hybrid_plan **out)
{
    const int64_t begin = hy_now_ns();
    hybrid_plan *plan;

    HY_TRY(hy_plan_make(engine, A, B, dense_cols, options, 0, NULL, &plan));
    hybrid_status status = hy_plan_finish(plan, A, B);
    if (status == HYBRID_OK)
        status = hy_progress_check(&engine->ctx.progress);
    if (status != HYBRID_OK) {
        hybrid_plan_destroy(plan);
        return status;
    }
    plan->plan_s                = (double)(hy_now_ns() - begin) * 1e-9;
    plan->history.report.plan_s = plan->plan_s;
    *out                        = plan;
    return HYBRID_OK;
}

static hybrid_status plan_sparse(hybrid_engine *engine, const hybrid_csr *A,
                                 const hybrid_csr *B, const hybrid_plan_options *options,
                                 hybrid_plan **plan)
{
    hy_context *ctx = &engine->ctx;
    hybrid_plan_options o;

    if (!plan)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "plan is NULL");
    HY_TRY(hy_read_plan_options(ctx, options, &o));
    if (o.flags & HYBRID_RESIDENT)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "plan options: HYBRID_RESIDENT keeps A of a product with a dense "
                       "matrix; what stays of sparse ones, the planner decides");
    HY_TRY(hy_check_spgemm(ctx, A, B));
    hy_progress_begin(&ctx->progress, A->rows);
    HY_TRY(hy_check_patterns(ctx, A, B, o.flags));
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
    HY_TRY(hy_check_csr(ctx, A, "A"));
    HY_TRY(hy_check_dense_cols(ctx, A, dense_cols));
    hy_progress_begin(&ctx->progress, A->rows);
    HY_TRY(hy_check_patterns(ctx, A, NULL, o.flags));
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

static hybrid_status check_run(const hy_product *product, hy_op op, const hybrid_csr *A,
                               int64_t b_rows, int64_t b_cols, int64_t b_nnz)
{
    hy_context *ctx = &product->engine->ctx;

    if (product->op != op)
        return hy_fail(ctx, HYBRID_BAD_STATE, "the plan is for the other product");
    if (A->type != product->profile.type)
        return hy_fail(ctx, HYBRID_BAD_STATE, "A holds f%d, planned for f%d",
                       A->type == HYBRID_F64 ? 64 : 32,
                       product->profile.type == HYBRID_F64 ? 64 : 32);
    if (A->rows != product->rows || A->cols != product->cols ||
        A->nnz != product->profile.features.nnz)
        return hy_fail(
            ctx, HYBRID_BAD_STATE,
            "A is %lld x %lld with %lld entries, planned for %lld x %lld with %lld",
            (long long)A->rows, (long long)A->cols, (long long)A->nnz,
            (long long)product->rows, (long long)product->cols,
            (long long)product->profile.features.nnz);
    if (b_rows != product->cols || b_cols != product->b_cols || b_nnz != product->b_nnz)
        return hy_fail(ctx, HYBRID_BAD_STATE,
                       "the second operand is %lld x %lld with %lld entries, planned for "
                       "%lld x %lld with %lld",
                       (long long)b_rows, (long long)b_cols, (long long)b_nnz,
                       (long long)product->cols, (long long)product->b_cols,
                       (long long)product->b_nnz);
    return HYBRID_OK;
}

/* They are those that the plan was made for. From here on progress is told. */
static hybrid_status check_operands(const hybrid_plan *plan, const hybrid_csr *A,
                                    const hybrid_csr *B)
{
    hy_context *ctx = &plan->product.engine->ctx;

    HY_TRY(hy_check_spgemm(ctx, A, B));
    HY_TRY(check_run(&plan->product, HY_SPGEMM, A, B->rows, B->cols, B->nnz));
    hy_progress_begin(&ctx->progress, A->rows);
    return plan->history.pattern.row_ptr
               ? hy_pattern_check(ctx, &plan->history.pattern, A, B)
               : HYBRID_OK;
}

static hybrid_status run_sparse(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B, hybrid_csr *C)
{
    const hy_beginning start = hy_usage_begin(plan->product.engine);

    if (!C)
        return hy_fail(&plan->product.engine->ctx, HYBRID_BAD_ARGUMENT, "C is NULL");
    HY_TRY(check_operands(plan, A, B));
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
    HY_TRY(check_operands(plan, A, B));
    hy_each_sink sink;
    hy_each_sink_open(&engine->ctx, A, B, fn, user, &sink);
    return hy_multiply_to(plan, A, B, &start, &plan->history, &sink.sink, &sink.nnz);
}

hybrid_status hybrid_spgemm_each(hybrid_plan *plan, const hybrid_csr *A,
                                 const hybrid_csr *B, hybrid_each_fn fn, void *user)
{
    if (!plan)
        return HYBRID_BAD_ARGUMENT;
    HY_TRY(hy_engine_begin(plan->product.engine));
    return hy_engine_end(plan->product.engine, run_each(plan, A, B, fn, user));
}

/* What is resident, and of how many chunks, is as it was. */
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

/* Operands are checked, but not against the plan. */
static hybrid_status run_dense(hybrid_plan *plan, double alpha, const hybrid_csr *A,
                               const hy_source *X, double beta, const hy_beginning *start,
                               hybrid_dense *Y)
{
    HY_TRY(check_run(&plan->product, HY_SPMM, A, X->rows, X->cols, 0));
    hy_progress_begin(&plan->product.engine->ctx.progress, A->rows);
    if (alpha == 0)
        return scale(plan->product.engine, beta, Y, start, &plan->history.report);
    return hy_multiply_dense(plan, alpha, A, X, beta, start, &plan->history, Y);
}

static hybrid_status run_in_memory(hybrid_plan *plan, double alpha, const hybrid_csr *A,
                                   const hybrid_dense *X, double beta, hybrid_dense *Y)
{
    hy_context *ctx          = &plan->product.engine->ctx;
    const hy_beginning start = hy_usage_begin(plan->product.engine);

    HY_TRY(hy_check_spmm(ctx, A, X, Y));
    const hy_source source = hy_source_dense(ctx, X);
    return run_dense(plan, alpha, A, &source, beta, &start, Y);
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
    HY_TRY(hy_check_spmm_shapes(ctx, A, &X->matrix.dense.shape, Y));
    const hy_source source = hy_source_file(&X->matrix.dense);
    return run_dense(plan, alpha, A, &source, beta, &start, Y);
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

/* ---- one shot -----------------------------------------------------------------------
 */

static hybrid_status multiply_sparse(hybrid_engine *engine, const hybrid_csr *A,
                                     const hybrid_csr *B, hybrid_csr *C)
{
    const hybrid_plan_options defaults = HYBRID_PLAN_OPTIONS_INIT;
    const hy_beginning start           = hy_usage_begin(engine);
    hy_loader *early;
    hybrid_plan *plan;

    if (!C)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "C is NULL");
    HY_TRY(hy_check_spgemm(&engine->ctx, A, B));
    hy_progress_begin(&engine->ctx.progress, A->rows);
    HY_TRY(hy_check_patterns(&engine->ctx, A, B, 0));
    HY_TRY(hy_early_begin(engine, A, B, &early));
    HY_TRY(hy_plan_make(engine, A, B, 0, &defaults, 1, early, &plan));
    const hybrid_status status =
        hy_multiply_sparse(plan, A, B, &start, &plan->history, C);
    hybrid_plan_destroy(plan);
    return status;
}

hybrid_status hybrid_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                            const hybrid_csr *B, hybrid_csr *C)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, multiply_sparse(engine, A, B, C));
}

static hybrid_status multiply_dense(hybrid_engine *engine, double alpha,
                                    const hybrid_csr *A, const hybrid_dense *X,
                                    double beta, hybrid_dense *Y)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    const hy_beginning start    = hy_usage_begin(engine);
    hybrid_plan *plan;

    HY_TRY(hy_check_spmm(&engine->ctx, A, X, Y));
    HY_TRY(hy_check_dense_cols(&engine->ctx, A, X->cols));
    hy_progress_begin(&engine->ctx.progress, A->rows);
    if (alpha == 0)
        return hy_scale(engine, beta, Y, &start, &engine->report);
    HY_TRY(hy_check_patterns(&engine->ctx, A, NULL, 0));
    const hy_source source = hy_source_dense(&engine->ctx, X);
    options.order          = X->order == HYBRID_COL_MAJOR ? X->order : Y->order;
    HY_TRY(hy_plan_make(engine, A, NULL, X->cols, &options, 1, NULL, &plan));
    const hybrid_status status =
        hy_multiply_dense(plan, alpha, A, &source, beta, &start, &plan->history, Y);
    hybrid_plan_destroy(plan);
    return status;
}

hybrid_status hybrid_spmm(hybrid_engine *engine, double alpha, const hybrid_csr *A,
                          const hybrid_dense *X, double beta, hybrid_dense *Y)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, multiply_dense(engine, alpha, A, X, beta, Y));
}

hybrid_status hybrid_spmv(hybrid_engine *engine, double alpha, const hybrid_csr *A,
                          const void *x, double beta, void *y)
{
    HY_TRY(hy_engine_begin(engine));
    HY_TRY(hy_check_csr(&engine->ctx, A, "A"));
    /* borrowed: hybrid_spmm() reads X only */
    const hybrid_dense X = {A->cols, 1, 1, HYBRID_ROW_MAJOR, (void *)(uintptr_t)x,
                            A->type};
    hybrid_dense Y       = {A->rows, 1, 1, HYBRID_ROW_MAJOR, y, A->type};
    return hybrid_spmm(engine, alpha, A, &X, beta, &Y);
}

/* ---- what plans and engines tell -----------------------------------------------------
 */

hybrid_status hybrid_engine_report(const hybrid_engine *engine, hybrid_report *out)
{
    if (!engine || !out || !hy_struct_fits(&hy_report_struct, out->struct_size))
        return HYBRID_BAD_ARGUMENT;
    if (engine->report.struct_size == 0 || hy_engine_barred(engine))
        return HYBRID_BAD_STATE;
    hy_struct_write(&hy_report_struct, &engine->report, out);
    return HYBRID_OK;
}

hybrid_status hybrid_plan_report(const hybrid_plan *plan, hybrid_report *out)
{
    if (!plan || !out || !hy_struct_fits(&hy_report_struct, out->struct_size))
        return HYBRID_BAD_ARGUMENT;
    if (hy_engine_barred(plan->product.engine))
        return HYBRID_BAD_STATE;
    hy_struct_write(&hy_report_struct, &plan->history.report, out);
    return HYBRID_OK;
}

hybrid_status hybrid_plan_candidate(const hybrid_plan *plan, int i, hybrid_candidate *out)
{
    if (!plan || !out || i < 0 || i >= plan->candidates.count)
        return HYBRID_BAD_ARGUMENT;
    if (hy_engine_barred(plan->product.engine))
        return HYBRID_BAD_STATE;
    const hy_candidate *c = &plan->candidates.of[i];
    *out = (hybrid_candidate){c->variant->name, c->refused, c->predicted_s,
                              i == plan->candidates.chosen};
    return HYBRID_OK;
}

hybrid_status hybrid_variant_at(int i, hybrid_variant_info *out)
{
    if (!out || i < 0)
        return HYBRID_BAD_ARGUMENT;
    for (const hy_variant *const *v = hy_variants; *v; v++)
        if (i-- == 0) {
            *out = (hybrid_variant_info){(*v)->name, (*v)->summary, (*v)->source};
            return HYBRID_OK;
        }
    return HYBRID_BAD_ARGUMENT;
}
