/* engine/results/spgemm_to_file.c - C = A*B, written to a file while it is computed. */
#include "engine/files/spgemm_parts.h"
#include "engine/results/result_file.h"
#include "pipeline/sink/sink_each.h"

typedef struct writing {
    hy_spgemm parts;
    hy_result_file result;
    int64_t nnz; /* number of entries computed so far */
} writing;

static hybrid_status take(void *user, int64_t begin, const hybrid_csr *rows)
{
    (void)begin;
    return hy_row_writer_sparse(&((writing *)user)->result.rows, rows);
}

static hybrid_status describe(const writing *w, hy_facts *facts)
{
    const hybrid_csr *A = w->parts.A.source.csr, *B = w->parts.B.source.csr;

    hy_facts_add(facts, "hybrid_spmm panels 1");
    hy_facts_add(facts, "C = A*B has %lld x %lld values of %d bytes", (long long)A->rows,
                 (long long)B->cols,
                 w->result.options.type ? 4 * w->result.options.type : 4 * A->type);
    HY_TRY(w->parts.A.source.ops->describe(&w->parts.A.source, "A", facts));
    HY_TRY(w->parts.B.source.ops->describe(&w->parts.B.source, "B", facts));
    hy_result_describe(w->parts.call.engine, &w->parts.call.options, facts);
    return HYBRID_OK;
}

static hybrid_status open_result(writing *w)
{
    const hybrid_csr *A = w->parts.A.source.csr, *B = w->parts.B.source.csr;
    const hy_file_shape shape = {
        .sparse = 1, .rows = A->rows, .cols = B->cols, .nnz = -1, .type = A->type};
    hy_facts facts = {.bytes = 0};

    if (w->result.options.resume)
        HY_TRY(describe(w, &facts));
    return hy_result_open(&w->result, &shape, &facts,
                          hy_row_writer_bytes(w->parts.call.engine));
}

static hybrid_status multiply(writing *w)
{
    hy_each_sink each;

    HY_TRY(open_result(w));
    HY_TRY(hy_spgemm_read_small(&w->parts));
    hy_take_sink_open(&w->parts.call.engine->ctx, w->parts.A.source.csr,
                      w->parts.B.source.csr, take, w, &each);
    w->parts.sink = &each.sink;
    each.next_row = w->result.first;
    if (w->result.first < w->parts.A.source.rows || w->parts.A.source.rows == 0)
        HY_TRY(hy_spgemm_multiply(&w->parts, w->result.first));
    w->parts.sink = NULL;
    w->nnz        = each.sink.nnz;
    return HYBRID_OK;
}

static hybrid_status compute(hybrid_engine *engine, const hybrid_operand *A,
                             const hybrid_operand *B, const hybrid_plan_options *options,
                             const char *path, const hybrid_file_options *file_options)
{
    writing w = {.nnz = 0};

    HY_TRY(hy_result_check(engine, path, file_options, &w.result));
    HY_TRY(hy_spgemm_begin(&w.parts, engine, A, B, options));
    w.parts.rows_bytes = hy_files_rows(&w.parts.call, 1);
    if (w.result.options.resume) /* panels (files of successive rows) of several runs make
                                    one result */
        w.parts.call.options.flags |= HYBRID_DETERMINISTIC;
    hybrid_status status = hy_result_close(&w.result, multiply(&w));
    if (status == HYBRID_OK) {
        hy_spgemm_end(&w.parts, w.nnz);
        hy_result_report(&w.result);
    }
    hy_spgemm_release(&w.parts);
    return status;
}

hybrid_status hybrid_spgemm_to_file(hybrid_engine *engine, const hybrid_operand *A,
                                    const hybrid_operand *B,
                                    const hybrid_plan_options *options, const char *path,
                                    const hybrid_file_options *file_options)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, compute(engine, A, B, options, path, file_options));
}
