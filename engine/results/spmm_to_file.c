/* engine/results/spmm_to_file.c - Y = alpha*A*X, written to a file while it is computed.

   Y is computed in panels. Their sizes depend on the operands and on free host memory
   (spmm_room.h). Each panel is planned as a product of its own, so that a resumed run
   with panels of the same size repeats the plans, and the bits, of an uninterrupted one.
   A panel is written in smaller pieces. */
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/files/spmm_parts.h"
#include "engine/results/result_file.h"

typedef struct writing {
    hy_spmm parts;
    hy_result_file result;
    hybrid_dense panel; /* rows of Y that are computed together */
} writing;

/* ---- panels -------------------------------------------------------------------------
 */

/* Writes a panel in pieces, except for rows that an earlier run has written. */
static hybrid_status take(void *user, const hybrid_dense *rows)
{
    writing *w         = user;
    const int64_t done = hy_max(0, hy_min(w->result.first - w->parts.y_row, rows->rows));
    hybrid_dense rest  = *rows;

    rest.rows -= done;
    rest.data = hy_dense_at(rows, done * rows->ld);
    HY_TRY(hy_row_writer_dense(&w->result.rows, &rest));
    return hy_row_writer_cut(&w->result.rows);
}

/* ---- the call -----------------------------------------------------------------------
 */

static hybrid_status describe(const writing *w, const hybrid_dense *Y, hy_facts *facts)
{
    const hybrid_engine *engine = w->parts.call.engine;
    const hybrid_type type = w->result.options.type ? w->result.options.type : Y->type;

    hy_facts_add(facts, "hybrid_spmm panels 1");
    hy_facts_add(facts, "Y = %.17g*A*X has %lld x %lld values of %d bytes",
                 w->parts.alpha, (long long)Y->rows, (long long)Y->cols, 4 * (int)type);
    HY_TRY(w->parts.A.source.ops->describe(&w->parts.A.source, "A", facts));
    HY_TRY(w->parts.caller_x.ops->describe(&w->parts.caller_x, "X", facts));
    hy_result_describe(engine, &w->parts.call.options, facts);
    hy_facts_add(facts, "panels of %lld rows", (long long)w->panel.rows);
    return HYBRID_OK;
}

static hybrid_status open_result(writing *w, const hybrid_dense *Y)
{
    const hy_file_shape shape = {
        .rows = Y->rows, .cols = Y->cols, .nnz = -1, .type = Y->type};
    hy_facts facts = {.bytes = 0};

    if (w->result.options.resume)
        HY_TRY(describe(w, Y, &facts));
    return hy_result_open(&w->result, &shape, &facts, w->parts.room.piece_bytes);
}

static hybrid_status multiply(writing *w, const hybrid_dense *Y)
{
    HY_TRY(open_result(w, Y));
    if (w->result.first == Y->rows)
        return HYBRID_OK;
    HY_TRY(hy_spmm_check_a(&w->parts));
    HY_TRY(hy_array(&w->parts.call.engine->ctx, w->panel.rows * Y->cols,
                    hy_value_size(Y->type), "a panel of Y", &w->panel.data));
    w->parts.Y = &w->panel;
    return hy_spmm_multiply(&w->parts, w->result.first);
}

static hybrid_status compute(hybrid_engine *engine, double alpha, const hybrid_operand *A,
                             const hybrid_operand *X, const hybrid_plan_options *options,
                             const char *path, const hybrid_file_options *file_options)
{
    writing w = {.parts = {.alpha = alpha, .take = take}};

    w.parts.user = &w;
    HY_TRY(hy_result_check(engine, path, file_options, &w.result));
    HY_TRY(hy_spmm_begin(&w.parts, engine, A, X, options));
    const hybrid_dense *x = w.parts.caller_x.dense;
    hybrid_dense Y        = {w.parts.A.source.rows, x->cols, x->cols,
                             HYBRID_ROW_MAJOR,      &w,      x->type};
    HY_TRY(hy_spmm_check(&w.parts, &Y));
    if (w.result.options.resume) /* panels (files of successive rows) of several runs make
                                    one result */
        w.parts.call.options.flags |= HYBRID_DETERMINISTIC;
    w.panel              = Y;
    w.panel.rows         = hy_min(Y.rows, w.parts.room.panel_rows);
    hybrid_status status = hy_result_close(&w.result, multiply(&w, &Y));
    if (status == HYBRID_OK) {
        hy_spmm_end(&w.parts);
        hy_result_report(&w.result);
    }
    hy_array_free(&engine->ctx, w.panel.data == &w ? NULL : w.panel.data);
    hy_spmm_release(&w.parts);
    return status;
}

hybrid_status hybrid_spmm_to_file(hybrid_engine *engine, double alpha,
                                  const hybrid_operand *A, const hybrid_operand *X,
                                  const hybrid_plan_options *options, const char *path,
                                  const hybrid_file_options *file_options)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine,
                         compute(engine, alpha, A, X, options, path, file_options));
}
