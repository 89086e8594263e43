/* engine/files/spmm_parts.c - Y = alpha*A*X + beta*Y, part by part of A. */
#include "engine/files/spmm_parts.h"

#include <string.h>

#include "base/data/csr.h"
#include "engine/api/check.h"
#include "partition/move/sources.h"
#include "partition/parts/x_whole.h"

/* ---- products of parts ----------------------------------------------------------- */

hybrid_status hy_spmm_plan(hy_spmm *u, const hybrid_csr *A, int64_t first,
                           hybrid_plan **out)
{
    hybrid_plan_options options = u->call.options;
    const hy_one_shot one_shot  = {.first_row = first};

    options.order = u->X.order == HYBRID_COL_MAJOR ? u->X.order : u->Y->order;
    return hy_plan_make(u->call.engine, A, NULL, u->Y->cols, &options, &one_shot, out);
}

/* Computes rows of the result, one for each row of A, from row `first` of the result on.
   Row 0 of this A is row `first` of the operand. */
static hybrid_status update_rows(hy_spmm *u, const hybrid_csr *A, int64_t first)
{
    const hy_beginning start = hy_usage_begin(u->call.engine);
    const int64_t line       = u->Y->order == HYBRID_ROW_MAJOR ? u->Y->ld : 1;
    hybrid_dense Y           = *u->Y;
    const hy_update update   = {&Y, u->alpha, u->beta};
    hybrid_plan *plan;

    Y.rows = A->rows;
    if (first > u->y_row)
        Y.data = hy_dense_at(u->Y, (first - u->y_row) * line);
    HY_TRY(hy_spmm_plan(u, A, first, &plan));
    const hybrid_status status =
        hy_multiply_dense(plan, A, &u->X, &update, &start, &plan->history);
    if (status == HYBRID_OK)
        hy_files_add(&u->call, plan);
    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status read_x(hy_spmm *u)
{
    HY_TRY(hy_x_read_whole(&u->caller_x, &u->own, &u->whole, &u->call.report));
    u->X = hy_source_dense(&u->call.engine->ctx, &u->whole);
    return HYBRID_OK;
}

/* Computes the rows of Y that belong to the part, and hands them to the caller if it
   takes them. */
static hybrid_status update_part(hy_spmm *u, const hy_a_part *part)
{
    hybrid_dense rows = *u->Y;

    hy_files_read(&u->call, part);
    if (!u->take)
        return update_rows(u, part->A, part->begin);
    u->y_row  = part->begin;
    rows.rows = part->A->rows;
    if (u->alpha == 0) /* Y is 0 whatever A and X hold, as in BLAS */
        memset(rows.data, 0, (size_t)(rows.rows * rows.ld) * hy_value_size(rows.type));
    else
        HY_TRY(update_rows(u, part->A, part->begin));
    return u->take(u->user, &rows);
}

hybrid_status hy_spmm_multiply(hy_spmm *u, int64_t first)
{
    hy_a_parts parts;
    const hy_a_part *part;
    hybrid_status status;

    if (u->room.whole_x && u->alpha != 0)
        HY_TRY(read_x(u));
    hy_a_parts_open(&u->A.source, u->room.part_bytes, &parts);
    if (u->room.in_parts)
        hy_a_parts_range(&parts, 0, u->A.source.rows, u->room.panel_rows);
    HY_TRY_ELSE_DONE(hy_a_parts_skip(&parts, first));
    do {
        status = hy_a_parts_next(&parts, &part);
        if (status == HYBRID_OK && part)
            status = update_part(u, part);
    } while (status == HYBRID_OK && part);
done:
    hy_a_parts_close(&parts);
    return status;
}

/* ---- operands -------------------------------------------------------------------- */

hybrid_status hy_spmm_begin(hy_spmm *u, hybrid_engine *engine, const hybrid_operand *A,
                            const hybrid_operand *X, const hybrid_plan_options *options)
{
    HY_TRY(hy_files_begin(&u->call, engine, options));
    HY_TRY(hy_sparse_find(&u->call, A, "A", &u->A));
    HY_TRY(hy_dense_find(&u->call, X, "X", &u->caller_x));
    u->X    = u->caller_x;
    u->room = hy_spmm_room_of(&u->call, &u->A, &u->caller_x, u->take != NULL);
    return HYBRID_OK;
}

hybrid_status hy_spmm_check(hy_spmm *u, const hybrid_dense *Y)
{
    hy_context *ctx = &u->call.engine->ctx;

    HY_TRY(hy_check_spmm_shapes(ctx, u->A.source.csr, u->caller_x.dense, Y));
    HY_TRY(hy_check_dense_cols(ctx, u->A.source.csr, Y->cols));
    u->Y = Y;
    hy_progress_begin(&ctx->progress, u->A.source.rows);
    hy_progress_expect(&ctx->progress, u->A.source.rows * Y->cols);
    return HYBRID_OK;
}

hybrid_status hy_spmm_check_a(hy_spmm *u)
{
    return hy_sparse_check(&u->call, &u->A, "A");
}

void hy_spmm_end(hy_spmm *u)
{
    const int64_t row = u->Y->cols * (int64_t)hy_value_size(u->Y->type);

    hy_files_end(&u->call, hy_sparse_bytes(&u->A) + u->A.source.csr->cols * row,
                 u->A.source.rows * row);
}

void hy_spmm_release(hy_spmm *u)
{
    hy_array_free_reused(&u->call.engine->ctx, &u->own);
}
