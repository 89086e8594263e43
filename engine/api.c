/* engine/api.c - the products: plan, run, one shot. */
#include <string.h>

#include "base/csr.h"
#include "engine/check.h"
#include "engine/early.h"
#include "engine/panels.h"
#include "engine/plan.h"
#include "engine/scale.h"
#include "engine/usage.h"

/* ---- plans -------------------------------------------------------------------- */

static hybrid_status make_plan(hybrid_engine *engine, const hybrid_csr *A,
                               const hybrid_csr *B, int64_t dense_cols,
                               const hybrid_plan_options *options, hybrid_plan **out)
{
    hybrid_plan *plan;

    HY_TRY(hy_plan_make(engine, A, B, dense_cols, options, NULL, &plan));
    const hybrid_status status = hy_plan_finish(plan, A, B);
    if (status == HYBRID_OK)
        *out = plan;
    else
        hybrid_plan_destroy(plan);
    return status;
}

hybrid_status hybrid_spgemm_plan(hybrid_engine *engine, const hybrid_csr *A,
                                 const hybrid_csr *B, const hybrid_plan_options *options,
                                 hybrid_plan **plan)
{
    const hybrid_plan_options defaults = HYBRID_PLAN_OPTIONS_INIT;
    const hybrid_plan_options *o       = options ? options : &defaults;

    HY_TRY(hy_engine_begin(engine));
    hy_context *ctx = &engine->ctx;
    if (!plan)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "plan is NULL");
    HY_TRY(hy_check_plan_options(ctx, o));
    if (o->flags & HYBRID_RESIDENT)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "plan options: HYBRID_RESIDENT keeps A of a product with a dense "
                       "matrix; what stays of sparse ones, the planner decides");
    HY_TRY(hy_check_spgemm(ctx, A, B));
    HY_TRY(hy_check_patterns(ctx, A, B, o->flags));
    return make_plan(engine, A, B, 0, o, plan);
}

static hybrid_status check_dense_cols(hy_context *ctx, const hybrid_csr *A, int64_t cols)
{
    const int64_t most = cols > 0 ? INT64_MAX / 16 / cols : INT64_MAX;

    if (cols < 0 || cols > INT64_MAX / 1024 || A->nnz > most || A->rows > most ||
        A->cols > most)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "dense_cols %lld is negative or overflows the work",
                       (long long)cols);
    return HYBRID_OK;
}

hybrid_status hybrid_spmm_plan(hybrid_engine *engine, const hybrid_csr *A,
                               int64_t dense_cols, const hybrid_plan_options *options,
                               hybrid_plan **plan)
{
    const hybrid_plan_options defaults = HYBRID_PLAN_OPTIONS_INIT;
    const hybrid_plan_options *o       = options ? options : &defaults;

    HY_TRY(hy_engine_begin(engine));
    hy_context *ctx = &engine->ctx;
    if (!plan)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "plan is NULL");
    HY_TRY(hy_check_plan_options(ctx, o));
    HY_TRY(hy_csr_check_header(ctx, A, "A"));
    HY_TRY(check_dense_cols(ctx, A, dense_cols));
    HY_TRY(hy_check_patterns(ctx, A, NULL, o->flags));
    return make_plan(engine, A, NULL, dense_cols, o, plan);
}

/* ---- runs ----------------------------------------------------------------------- */

static void begin_report(hybrid_plan *plan)
{
    hy_backend *backend = plan->candidates[plan->chosen].backend;

    hy_plan_start_report(plan);
    plan->there_bytes           = hy_plan_there_bytes(plan);
    plan->report.reused_pattern = plan->pattern.known;
    hy_meter_reset_peak(&backend->device);
    hy_meter_reset_peak(&backend->pinned);
    hy_meter_reset_peak(&plan->engine->ctx.memory.meter);
}

/* Operands as they are, the second in so many bytes, but for what is there. */
static hy_reference reference_of(const hybrid_plan *plan, int64_t second_bytes,
                                 int64_t nnz_out)
{
    const hy_features *f = &plan->profile.features;
    const int64_t a      = hy_csr_bytes(plan->rows, f->nnz, f->type);
    const int64_t down   = plan->op == HY_SPGEMM
                               ? hy_csr_bytes(plan->rows, nnz_out, f->type)
                               : nnz_out * (int64_t)hy_value_size(f->type);

    return (hy_reference){a + second_bytes - plan->there_bytes, down};
}

static void end_report(hybrid_plan *plan, const hy_beginning *begin, int64_t nnz_out,
                       int64_t second_bytes)
{
    hybrid_report *r             = &plan->report;
    const hy_backend *backend    = plan->candidates[plan->chosen].backend;
    const hy_reference reference = reference_of(plan, second_bytes, nnz_out);

    r->resident_chunks = hy_plan_resident_chunks(plan);
    r->nnz_out         = nnz_out;
    hy_usage_end(plan->engine, backend, begin, &reference, r);
    r->overlap = (r->load_s + r->prepare_s + r->h2d_s + r->multiply_s + r->finish_s +
                  r->d2h_s + r->place_s) /
                 r->total_s;
    r->peak_device_bytes = hy_meter_peak(&backend->device);
    r->peak_pinned_bytes = hy_meter_peak(&backend->pinned);
    r->peak_host_bytes   = hy_meter_peak(&plan->engine->ctx.memory.meter);
    plan->engine->report = *r;
}

static hybrid_status check_run(hybrid_plan *plan, hy_op op, const hybrid_csr *A,
                               int64_t b_rows, int64_t b_cols, int64_t b_nnz)
{
    hy_context *ctx = &plan->engine->ctx;

    if (plan->op != op)
        return hy_fail(ctx, HYBRID_BAD_STATE, "the plan is for the other product");
    if (A->type != plan->profile.type)
        return hy_fail(ctx, HYBRID_BAD_STATE, "A holds f%d, planned for f%d",
                       A->type == HYBRID_F64 ? 64 : 32,
                       plan->profile.type == HYBRID_F64 ? 64 : 32);
    if (A->rows != plan->rows || A->cols != plan->cols ||
        A->nnz != plan->profile.features.nnz)
        return hy_fail(
            ctx, HYBRID_BAD_STATE,
            "A is %lld x %lld with %lld entries, planned for %lld x %lld with %lld",
            (long long)A->rows, (long long)A->cols, (long long)A->nnz,
            (long long)plan->rows, (long long)plan->cols,
            (long long)plan->profile.features.nnz);
    if (b_rows != plan->cols || b_cols != plan->b_cols || b_nnz != plan->b_nnz)
        return hy_fail(ctx, HYBRID_BAD_STATE,
                       "the second operand is %lld x %lld with %lld entries, planned for "
                       "%lld x %lld with %lld",
                       (long long)b_rows, (long long)b_cols, (long long)b_nnz,
                       (long long)plan->cols, (long long)plan->b_cols,
                       (long long)plan->b_nnz);
    return HYBRID_OK;
}

/* Operands are checked: shapes, and that the patterns are those of the plan. */
static hybrid_status run_spgemm(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B, const hy_beginning *start,
                                hybrid_csr *C)
{
    hybrid_engine *engine = plan->engine;
    hy_context *ctx       = &engine->ctx;
    const hy_features *f  = &plan->profile.features;
    const int64_t *known  = plan->pattern.known ? plan->pattern.row_ptr : NULL;
    hy_problem problem    = {
           .op = HY_SPGEMM, .ctx = ctx, .A = A, .B = B, .profile = &plan->profile};
    hybrid_status status;
    hy_place place;

    const hy_sites sites = hy_split_sites(plan, &problem);
    plan->bound          = hy_plan_bound(plan);
    begin_report(plan);
    HY_TRY(hy_place_open(ctx, A->rows, B->cols, A->type, f->out_bound,
                         (int64_t)((double)f->products / f->out_ratio), known, &place));
    plan->report.host_bytes += known ? A->rows * 8 : 0; /* offsets: chunks store none */
    HY_TRY_ELSE_DONE(hy_run_product(&sites, &plan->bound.list, &problem, &place,
                                    engine->trace, engine->trace_user, &plan->report));
    HY_TRY_ELSE_DONE(hy_place_finish(&place, C));
    hy_pattern_keep(ctx, &plan->pattern, C);
    end_report(plan, start, C->nnz, B == A ? 0 : hy_csr_bytes(B->rows, B->nnz, B->type));
done:
    hy_place_close(&place);
    return status;
}

hybrid_status hybrid_spgemm_run(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B, hybrid_csr *C)
{
    if (!plan)
        return HYBRID_BAD_ARGUMENT;
    HY_TRY(hy_engine_begin(plan->engine));
    hy_context *ctx          = &plan->engine->ctx;
    const hy_beginning start = hy_usage_begin(plan->engine);

    if (!C)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "C is NULL");
    HY_TRY(hy_check_spgemm(ctx, A, B));
    HY_TRY(check_run(plan, HY_SPGEMM, A, B->rows, B->cols, B->nnz));
    if (plan->pattern.row_ptr)
        HY_TRY(hy_pattern_check(ctx, &plan->pattern, A, B));
    return run_spgemm(plan, A, B, &start, C);
}

/* Rows of Y whose rows of A are empty: stored, and read first unless beta is 0. */
static int64_t empty_bytes(const hybrid_plan *plan, const hy_problem *problem)
{
    const hybrid_dense *Y = problem->Y;
    const int64_t rows    = Y->rows - plan->profile.rows;

    return rows * Y->cols * (int64_t)hy_value_size(Y->type) *
           (problem->beta != 0 ? 2 : 1);
}

/* And what no chunk stores of Y. */
static hybrid_status run_chunks(hybrid_plan *plan, hy_problem *problem)
{
    hybrid_engine *engine = plan->engine;
    const hy_sites sites  = hy_split_sites(plan, problem);
    const int compact     = hy_is_compact(&plan->compact);
    hybrid_status empty   = HYBRID_OK;
    hy_empty_rows rows;

    if (compact)
        hy_empty_rows_begin(&rows, problem, &plan->compact);
    const hybrid_status status =
        hy_run_product(&sites, &plan->bound.list, problem, NULL, engine->trace,
                       engine->trace_user, &plan->report);
    if (compact) {
        empty = hy_empty_rows_end(&rows);
        plan->report.host_bytes += empty_bytes(plan, problem);
    }
    return status == HYBRID_OK ? empty : status;
}

static hybrid_status run_spmm(hybrid_plan *plan, double alpha, const hybrid_csr *A,
                              const hybrid_dense *X, double beta, hybrid_dense *Y,
                              const hy_beginning *start)
{
    hybrid_engine *engine = plan->engine;
    hy_context *ctx       = &engine->ctx;
    hy_problem problem    = {.op       = HY_SPMM,
                             .ctx      = ctx,
                             .A        = A,
                             .X        = X,
                             .Y        = Y,
                             .alpha    = alpha,
                             .beta     = beta,
                             .profile  = &plan->profile,
                             .in_cols  = plan->candidates[plan->chosen].variant->in_cols,
                             .in_lines = plan->candidates[plan->chosen].variant->in_lines,
                             .window   = plan->layout.window};
    hy_rest rest;

    hy_empty_settle(plan, &problem, &rest);
    plan->bound = hy_panels_bind(plan, &problem);
    begin_report(plan);
    HY_TRY(run_chunks(plan, &problem));
    end_report(plan, start, Y->rows * Y->cols,
               X->rows * X->cols * (int64_t)hy_value_size(X->type));
    return HYBRID_OK;
}

/* What is resident, and of how many chunks, is as it was. */
static hybrid_status scale(hybrid_plan *plan, double beta, const hybrid_dense *Y,
                           const hy_beginning *start)
{
    const hybrid_report before = plan->report;

    HY_TRY(hy_scale(plan->engine, beta, Y, start, &plan->report));
    plan->report.chunks          = before.chunks;
    plan->report.resident_chunks = before.resident_chunks;
    plan->report.resident_bytes  = before.resident_bytes;
    plan->engine->report         = plan->report;
    return HYBRID_OK;
}

hybrid_status hybrid_spmm_run(hybrid_plan *plan, double alpha, const hybrid_csr *A,
                              const hybrid_dense *X, double beta, hybrid_dense *Y)
{
    if (!plan)
        return HYBRID_BAD_ARGUMENT;
    HY_TRY(hy_engine_begin(plan->engine));
    const hy_beginning start = hy_usage_begin(plan->engine);

    HY_TRY(hy_check_spmm(&plan->engine->ctx, A, X, Y));
    HY_TRY(check_run(plan, HY_SPMM, A, X->rows, X->cols, 0));
    if (alpha == 0)
        return scale(plan, beta, Y, &start);
    return run_spmm(plan, alpha, A, X, beta, Y, &start);
}

void hybrid_plan_refresh(hybrid_plan *plan)
{
    if (plan && !hy_engine_inherited(plan->engine))
        hy_pack_cache_forget(&plan->site->cache);
}

/* ---- one shot -----------------------------------------------------------------------
 */

hybrid_status hybrid_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                            const hybrid_csr *B, hybrid_csr *C)
{
    const hybrid_plan_options defaults = HYBRID_PLAN_OPTIONS_INIT;
    hy_loader *early;
    hybrid_plan *plan;

    HY_TRY(hy_engine_begin(engine));
    const hy_beginning start = hy_usage_begin(engine);
    if (!C)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "C is NULL");
    HY_TRY(hy_check_spgemm(&engine->ctx, A, B));
    HY_TRY(hy_check_patterns(&engine->ctx, A, B, 0));
    HY_TRY(hy_early_begin(engine, A, B, &early));
    HY_TRY(hy_plan_make(engine, A, B, 0, &defaults, early, &plan));
    const hybrid_status status = run_spgemm(plan, A, B, &start, C);
    hybrid_plan_destroy(plan);
    return status;
}

hybrid_status hybrid_spmm(hybrid_engine *engine, double alpha, const hybrid_csr *A,
                          const hybrid_dense *X, double beta, hybrid_dense *Y)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    HY_TRY(hy_engine_begin(engine));
    const hy_beginning start = hy_usage_begin(engine);
    HY_TRY(hy_check_spmm(&engine->ctx, A, X, Y));
    HY_TRY(check_dense_cols(&engine->ctx, A, X->cols));
    if (alpha == 0)
        return hy_scale(engine, beta, Y, &start, &engine->report);
    HY_TRY(hy_check_patterns(&engine->ctx, A, NULL, 0));
    options.order = X->order == HYBRID_COL_MAJOR ? X->order : Y->order;
    HY_TRY(hy_plan_make(engine, A, NULL, X->cols, &options, NULL, &plan));
    const hybrid_status status = run_spmm(plan, alpha, A, X, beta, Y, &start);
    hybrid_plan_destroy(plan);
    return status;
}

hybrid_status hybrid_spmv(hybrid_engine *engine, double alpha, const hybrid_csr *A,
                          const void *x, double beta, void *y)
{
    HY_TRY(hy_engine_begin(engine));
    HY_TRY(hy_csr_check_header(&engine->ctx, A, "A"));
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
    if (!engine || !out || out->struct_size != sizeof *out)
        return HYBRID_BAD_ARGUMENT;
    if (engine->report.struct_size == 0 || hy_engine_inherited(engine))
        return HYBRID_BAD_STATE;
    *out = engine->report;
    return HYBRID_OK;
}

hybrid_status hybrid_plan_report(const hybrid_plan *plan, hybrid_report *out)
{
    if (!plan || !out || out->struct_size != sizeof *out)
        return HYBRID_BAD_ARGUMENT;
    if (hy_engine_inherited(plan->engine))
        return HYBRID_BAD_STATE;
    *out = plan->report;
    return HYBRID_OK;
}

hybrid_status hybrid_plan_candidate(const hybrid_plan *plan, int i, hybrid_candidate *out)
{
    if (!plan || !out || i < 0 || i >= plan->candidate_count)
        return HYBRID_BAD_ARGUMENT;
    if (hy_engine_inherited(plan->engine))
        return HYBRID_BAD_STATE;
    const hy_candidate *c = &plan->candidates[i];
    *out = (hybrid_candidate){c->variant->name, c->refused, c->predicted_s, c->chosen};
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
