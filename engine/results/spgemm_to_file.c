/* engine/results/spgemm_to_file.c - C = A*B, written to a file while it is computed, and
   what this will take. */
#include <math.h>

#include "base/data/csr.h"
#include "base/threads/clock.h"
#include "engine/api/struct_size.h"
#include "engine/files/result_size.h"
#include "engine/files/spgemm_parts.h"
#include "engine/results/result_file.h"
#include "pipeline/sink/sink_each.h"

enum { MOST_SHRINK = 8 }; /* maximum of hy_files.shrink */

typedef struct writing {
    hy_spgemm parts;
    hy_result_file result;
    int64_t next; /* first row that the writer has not received yet */
    int64_t nnz;  /* number of entries that the writer has received */
    int writes;   /* 1: the writer is receiving rows, or has failed to */
} writing;

static hybrid_status take(void *user, int64_t begin, const hybrid_csr *rows)
{
    writing *w = user;

    w->writes = 1;
    HY_TRY(hy_row_writer_sparse(&w->result.rows, rows));
    w->writes = 0;
    w->next   = begin + rows->rows;
    w->nnz += rows->nnz;
    return HYBRID_OK;
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

/* Gives rows of B a share of free memory. */
static void share_memory(writing *w)
{
    w->parts.rows_bytes = hy_files_rows(&w->parts.call, 1);
    w->parts.row_bytes  = w->parts.rows_bytes;
}

/* Opens the file of the result. */
static hybrid_status open_result(writing *w)
{
    const hybrid_csr *A = w->parts.A.source.csr, *B = w->parts.B.source.csr;
    const hy_file_shape shape = {
        .sparse = 1, .rows = A->rows, .cols = B->cols, .nnz = -1, .type = A->type};
    hy_facts facts = {.bytes = 0};

    if (w->result.options.resume)
        HY_TRY(describe(w, &facts));
    HY_TRY(hy_result_open(&w->result, &shape, &facts,
                          hy_row_writer_bytes(w->parts.call.engine)));
    w->next = w->result.first;
    share_memory(w);
    return HYBRID_OK;
}

/* Computes the rows from w->next on. */
static hybrid_status multiply_rest(writing *w)
{
    hy_each_sink each;

    hy_take_sink_open(&w->parts.call.engine->ctx, w->parts.A.source.csr,
                      w->parts.B.source.csr, take, w, &each);
    w->parts.sink              = &each.sink;
    each.next_row              = w->next;
    const hybrid_status status = hy_spgemm_multiply(&w->parts, w->next);
    w->parts.sink              = NULL;
    return status;
}

/* Lets the product go on with smaller ranges and chunks, after memory was short. Returns
   0 if it may not: the caller set no budget, the ranges are small already, or the writer
   has received a part of some rows. */
static int shrink(writing *w)
{
    hy_files *call = &w->parts.call;

    if (!call->engine->ctx.memory.strict || w->writes || call->shrink == MOST_SHRINK)
        return 0;
    hy_message_clear(&call->engine->ctx.message);
    call->shrink *= 2;
    share_memory(w);
    return 1;
}

/* Ranges get shares of free memory by estimate. If that leaves too little for workspaces
   or for an uncommonly dense chunk, smaller ranges are tried. */
static hybrid_status multiply(writing *w)
{
    hybrid_status status;

    HY_TRY(open_result(w));
    HY_TRY(hy_spgemm_read_small(&w->parts));
    const int64_t rows = w->parts.A.source.rows;
    do
        status = w->next < rows || rows == 0 ? multiply_rest(w) : HYBRID_OK;
    while (status == HYBRID_NO_MEMORY && shrink(w));
    /* the report lacks the rows of ranges that were short of memory after some chunks */
    w->parts.call.report.rows    = w->next - w->result.first;
    w->parts.call.report.nnz_out = w->nnz;
    return status;
}

static hybrid_status begin(hybrid_engine *engine, const hybrid_operand *A,
                           const hybrid_operand *B, const hybrid_plan_options *options,
                           const char *path, const hybrid_file_options *file_options,
                           writing *w)
{
    *w = (writing){.nnz = 0};
    HY_TRY(hy_result_check(engine, path, file_options, &w->result));
    HY_TRY(hy_spgemm_begin(&w->parts, engine, A, B, options));
    if (w->result.options.resume) /* panels (files of successive rows) of several runs
                                     make one result */
        w->parts.call.options.flags |= HYBRID_DETERMINISTIC;
    return HYBRID_OK;
}

static hybrid_status compute(hybrid_engine *engine, const hybrid_operand *A,
                             const hybrid_operand *B, const hybrid_plan_options *options,
                             const char *path, const hybrid_file_options *file_options)
{
    writing w;

    HY_TRY(begin(engine, A, B, options, path, file_options, &w));
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

/* ---- predicting ----------------------------------------------------------------------
 */

/* Returns the seconds of a run. Reading, multiplying and writing overlap; panels are
   copied to the file at the end. */
static double seconds_of(const hy_spgemm_estimate *estimate, const hy_result_sizes *sizes,
                         int64_t result_bytes)
{
    const double file    = (double)(sizes->file > 0 ? sizes->file : result_bytes);
    const double panels  = (double)sizes->panels;
    const double beside  = (panels > 0 ? panels : file) / HY_WRITE_BPS;
    const double at_last = panels > 0 ? (panels + file) / HY_WRITE_BPS : 0;

    return fmax(fmax(estimate->read_s, estimate->multiply_s), beside) + at_last;
}

static void fill_report(const writing *w, const hy_result_size *size,
                        const hy_spgemm_estimate *estimate, double begin_s,
                        hybrid_report *r)
{
    const hybrid_csr *A         = w->parts.A.source.csr;
    const int64_t nnz           = (int64_t)(size->entries + 0.5);
    const hy_result_sizes sizes = hy_result_sizes_of(&w->result, nnz);

    r->rows                   = A->rows;
    r->flops                  = 2 * (int64_t)(size->products + 0.5);
    r->predicted_nnz_out      = nnz;
    r->predicted_result_bytes = hy_csr_bytes(A->rows, nnz, w->result.shape.type);
    r->peak_host_bytes        = estimate->host_bytes;
    r->peak_device_bytes      = estimate->device_bytes;
    r->peak_pinned_bytes      = estimate->pinned_bytes;
    r->host_bytes             = estimate->read_bytes;
    r->file_bytes             = sizes.file > 0 ? sizes.file + sizes.panels : 0;
    r->predicted_s = begin_s + seconds_of(estimate, &sizes, r->predicted_result_bytes);
}

static hybrid_status plan_ranges(writing *w, hybrid_report *report)
{
    const int64_t begin = hy_now_ns();
    const hy_spgemm *p  = &w->parts;
    hy_spgemm_estimate estimate;
    hy_result_size size;

    HY_TRY(hy_spgemm_read_small(&w->parts));
    const double begin_s = (double)(hy_now_ns() - begin) * 1e-9;
    HY_TRY(hy_estimate_result(&p->call, &p->A.source, &p->B.source, NAN, &size));
    HY_TRY(hy_spgemm_forecast(&w->parts, &estimate));
    fill_report(w, &size, &estimate, begin_s, report);
    return HYBRID_OK;
}

/* Does what hybrid_spgemm_to_file() does until it has planned a range of rows: the memory
   of its file and panels counts, and operands get a share of what these leave. Then
   removes the file. Panels of a resumable result stay untouched. */
static hybrid_status plan_some(writing *w, hybrid_report *report)
{
    const int resume = w->result.options.resume;

    w->result.options.resume = 0;
    hybrid_status status     = open_result(w);
    w->result.options.resume = resume;
    if (status == HYBRID_OK)
        status = plan_ranges(w, report);
    w->result.options.resume = 0;
    const hybrid_status closed =
        hy_result_close(&w->result, status == HYBRID_OK ? HYBRID_CANCELLED : status);
    return status == HYBRID_OK ? HYBRID_OK : closed;
}

static hybrid_status predict(hybrid_engine *engine, const hybrid_operand *A,
                             const hybrid_operand *B, const hybrid_plan_options *options,
                             const char *path, const hybrid_file_options *file_options,
                             hybrid_report *out)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    writing w;

    HY_TRY(begin(engine, A, B, options, path, file_options, &w));
    if (!out)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "out is NULL");
    HY_TRY(hy_struct_check(&engine->ctx, &hy_report_struct, out->struct_size));
    const hybrid_status status = plan_some(&w, &report);
    hy_spgemm_release(&w.parts);
    if (status == HYBRID_OK)
        hy_struct_write(&hy_report_struct, &report, out);
    return status;
}

hybrid_status
hybrid_spgemm_to_file_predict(hybrid_engine *engine, const hybrid_operand *A,
                              const hybrid_operand *B, const hybrid_plan_options *options,
                              const char *path, const hybrid_file_options *file_options,
                              hybrid_report *out)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, predict(engine, A, B, options, path, file_options, out));
}
