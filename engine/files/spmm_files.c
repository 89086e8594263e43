/* engine/files/spmm_files.c - Y = alpha*A*X + beta*Y with operands in files. */
#include "base/data/csr.h"
#include "engine/api/check.h"
#include "engine/files/files.h"
#include "engine/api/scale.h"
#include "partition/move/sources.h"
#include "partition/parts/a_part.h"
#include "partition/parts/x_block.h"

typedef struct update {
    hy_files call;
    hy_sparse A;
    hy_source X;        /* X as the products read it */
    hy_source caller_x; /* X as the caller passed it */
    hy_x_block whole;   /* X if it was read from a file completely */
    double alpha, beta;
    const hybrid_dense *Y;
} update;

/* Computes rows of Y, one for each row of A, from row `first` of Y on. Row 0 of this A is
   row `first` of the operand. */
static hybrid_status update_rows(update *u, const hybrid_csr *A, int64_t first)
{
    hybrid_engine *engine       = u->call.engine;
    const hy_beginning start    = hy_usage_begin(engine);
    const int64_t line          = u->Y->order == HYBRID_ROW_MAJOR ? u->Y->ld : 1;
    hybrid_plan_options options = u->call.options;
    hybrid_dense Y              = *u->Y;
    const hy_one_shot one_shot  = {0};
    hybrid_plan *plan;

    Y.rows = A->rows;
    if (first > 0)
        Y.data = hy_dense_at(u->Y, first * line);
    options.order = u->X.order == HYBRID_COL_MAJOR ? u->X.order : Y.order;
    HY_TRY(hy_plan_make(engine, A, NULL, Y.cols, &options, &one_shot, &plan));
    const hybrid_status status =
        hy_multiply_dense(plan, u->alpha, A, &u->X, u->beta, &start, &plan->history, &Y);
    if (status == HYBRID_OK)
        hy_files_add(&u->call, plan);
    hybrid_plan_destroy(plan);
    return status;
}

/* Reads an X in a file completely if it has at most hy_files_whole() bytes. Otherwise it
   is read again for every part of A. */
static hybrid_status read_x_if_small(update *u)
{
    const hybrid_dense *X = u->caller_x.dense;
    const int64_t bytes   = X->rows * X->cols * (int64_t)hy_value_size(X->type);

    hy_x_block_open(&u->caller_x, bytes, &u->whole);
    if (bytes > hy_files_whole(&u->call))
        return HYBRID_OK;
    HY_TRY(hy_x_block_next(&u->whole, &u->call.report));
    u->X = hy_source_dense(&u->call.engine->ctx, &u->whole.X);
    return HYBRID_OK;
}

/* Returns 1 if the part is the first of several. */
static int has_more(const update *u, const hy_a_part *part)
{
    return part->begin == 0 && part->A->rows < u->A.source.rows;
}

static hybrid_status update_parts(update *u)
{
    hy_a_parts parts;
    const hy_a_part *part;
    hybrid_status status;

    hy_a_parts_open(&u->A.source, hy_files_part_bytes(&u->call, &u->A), &parts);
    do {
        status = hy_a_parts_next(&parts, &part);
        if (status == HYBRID_OK && part && has_more(u, part))
            status = read_x_if_small(u);
        if (status == HYBRID_OK && part)
            status = update_rows(u, part->A, part->begin);
    } while (status == HYBRID_OK && part);
    hy_a_parts_close(&parts);
    return status;
}

/* ---- the call -------------------------------------------------------------------- */

static hybrid_status find_x(update *u, const hybrid_operand *X)
{
    hy_context *ctx = &u->call.engine->ctx;

    HY_TRY(hy_operand_check(&u->call, X, "X"));
    if (X->csr)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "X must be dense, but is sparse");
    if (X->file) {
        HY_TRY(hy_file_check(u->call.engine, X->file, 0, "X"));
        u->caller_x = hy_source_file(&X->file->matrix);
    } else {
        HY_TRY(hy_check_dense(ctx, X->dense, "X"));
        u->caller_x = hy_source_dense(ctx, X->dense);
    }
    u->X = u->caller_x;
    return HYBRID_OK;
}

static hybrid_status check(update *u, const hybrid_operand *A, const hybrid_operand *X,
                           const hybrid_dense *Y)
{
    hy_context *ctx = &u->call.engine->ctx;

    HY_TRY(hy_sparse_find(&u->call, A, "A", &u->A));
    HY_TRY(find_x(u, X));
    HY_TRY(hy_check_spmm_shapes(ctx, u->A.source.csr, u->caller_x.dense, Y));
    return hy_check_dense_cols(ctx, u->A.source.csr, Y->cols);
}

static hybrid_status multiply(update *u)
{
    HY_TRY(hy_sparse_read_small(&u->call, &u->A));
    HY_TRY(hy_sparse_check(&u->call, &u->A, "A"));
    return update_parts(u);
}

static hybrid_status compute(hybrid_engine *engine, double alpha, const hybrid_operand *A,
                             const hybrid_operand *X, double beta,
                             const hybrid_plan_options *options, hybrid_dense *Y)
{
    update u = {.alpha = alpha, .beta = beta, .Y = Y};

    HY_TRY(hy_files_begin(&u.call, engine, options));
    HY_TRY(check(&u, A, X, Y));
    hy_progress_begin(&engine->ctx.progress, Y->rows);
    hy_progress_expect(&engine->ctx.progress, Y->rows * Y->cols);
    if (alpha == 0)
        return hy_scale(engine, beta, Y, &u.call.start, &engine->report);
    const hybrid_status status = multiply(&u);
    if (status == HYBRID_OK) {
        const int64_t row = Y->cols * (int64_t)hy_value_size(Y->type);
        hy_files_end(&u.call, hy_sparse_bytes(&u.A) + u.A.source.csr->cols * row,
                     Y->rows * row);
    }
    if (u.whole.source)
        hy_x_block_close(&u.whole);
    hy_sparse_free(&u.call, &u.A);
    return status;
}

hybrid_status hybrid_spmm_files(hybrid_engine *engine, double alpha,
                                const hybrid_operand *A, const hybrid_operand *X,
                                double beta, const hybrid_plan_options *options,
                                hybrid_dense *Y)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, compute(engine, alpha, A, X, beta, options, Y));
}
