/* engine/files/spgemm_files.c - C = A*B with operands in memory or in files. */
#include <math.h>

#include "base/data/csr.h"
#include "base/memory/shortage.h"
#include "engine/api/check.h"
#include "engine/files/files.h"
#include "engine/files/result_size.h"
#include "engine/api/struct_size.h"
#include "partition/parts/a_part.h"
#include "partition/parts/b_rows.h"
#include "pipeline/sink/sink_csr.h"
#include "pipeline/sink/sink_each.h"

/* State of one call of a public function, such as hybrid_spgemm_files(). */
typedef struct product {
    hy_files call;
    hy_sparse A, B;
    hy_b_rows b_rows;    /* rows of B that the part of A in work touches */
    hy_sink *sink;       /* sink of C */
    hy_result_size size; /* estimated size of C; 0 if check_size() needs no estimate */
} product;

static const char remedy[] =
    ", or take the rows of C one after another (hybrid_spgemm_files_each)";

/* ---- products of parts ----------------------------------------------------------- */

/* Computes A*B, where row 0 of A is row `first` of the operand. */
static hybrid_status multiply(product *p, const hybrid_csr *A, const hybrid_csr *B,
                              int64_t first)
{
    hybrid_engine *engine      = p->call.engine;
    const hy_beginning start   = hy_usage_begin(engine);
    const hy_one_shot one_shot = {0};
    hybrid_plan *plan;

    HY_TRY(hy_plan_make(engine, A, B, 0, &p->call.options, &one_shot, &plan));
    p->sink->ops->begin(p->sink, first, first + A->rows,
                        (int64_t)hy_expected_entries(&plan->product.profile.features));
    const hybrid_status status =
        hy_multiply_to(plan, A, B, &start, &plan->history, p->sink);
    if (status == HYBRID_OK)
        hy_files_add(&p->call, plan);
    hybrid_plan_destroy(plan);
    return status;
}

/* Multiplies a part of the operand A with the rows of B that it touches, one range of its
   rows after another. Row 0 of this A is row `first` of the operand. */
static hybrid_status multiply_rows(product *p, const hybrid_csr *A, int64_t first)
{
    int64_t begin = 0, next;

    do {
        HY_TRY(hy_b_rows_next(&p->b_rows, A, first, begin, &next));
        HY_TRY(multiply(p, p->b_rows.A, p->b_rows.B, first + begin));
        begin = next;
    } while (begin < A->rows);
    return HYBRID_OK;
}

static hybrid_status multiply_parts(product *p)
{
    hy_a_parts parts;
    const hy_a_part *part;
    hybrid_status status;

    hy_a_parts_open(&p->A.source, hy_files_part_bytes(&p->call, &p->A), &parts);
    do {
        status = hy_a_parts_next(&parts, &part);
        if (status == HYBRID_OK && part)
            status = multiply_rows(p, part->A, part->begin);
    } while (status == HYBRID_OK && part);
    hy_a_parts_close(&parts);
    return status;
}

static hybrid_status multiply_all(product *p)
{
    hy_b_rows_open(&p->B.source, hy_files_rows(&p->call), &p->b_rows);
    const hybrid_status status = multiply_parts(p);
    hy_b_rows_close(&p->b_rows);
    if (status != HYBRID_OK)
        p->sink->ops->abort(p->sink);
    return status;
}

/* ---- the call -------------------------------------------------------------------- */

static hybrid_status begin(product *p, hybrid_engine *engine, const hybrid_operand *A,
                           const hybrid_operand *B, const hybrid_plan_options *options)
{
    p->size = (hy_result_size){0, 0, 0};
    HY_TRY(hy_files_begin(&p->call, engine, options));
    HY_TRY(hy_sparse_find(&p->call, A, "A", &p->A));
    HY_TRY(hy_sparse_find(&p->call, B, "B", &p->B));
    HY_TRY(hy_check_spgemm_shapes(&engine->ctx, p->A.source.csr, p->B.source.csr));
    hy_progress_begin(&engine->ctx.progress, p->A.source.csr->rows);
    hy_progress_expect(&engine->ctx.progress, p->A.source.csr->rows);
    return HYBRID_OK;
}

/* Reads each operand completely that is in a file and small enough (hy_files_whole()),
   and checks operands in memory. A file given as both A and B is read once. */
static hybrid_status read_what_fits(product *p)
{
    const int same = p->A.source.csr == p->B.source.csr;

    HY_TRY(hy_sparse_read_small(&p->call, &p->A));
    if (same)
        p->B.source = p->A.source;
    else
        HY_TRY(hy_sparse_read_small(&p->call, &p->B));
    HY_TRY(hy_sparse_check(&p->call, &p->A, "A"));
    return p->B.source.csr == p->A.source.csr ? HYBRID_OK
                                              : hy_sparse_check(&p->call, &p->B, "B");
}

/* ---- whether C fits -------------------------------------------------------------- */

static int64_t bytes_of_c(const product *p, double entries)
{
    const double most = (double)(INT64_MAX / 32);

    return hy_result_bytes(&p->call.options, p->A.source.csr->type, p->A.source.csr->rows,
                           (int64_t)(entries < most ? entries : most));
}

/* Fails if C almost certainly does not fit into host memory, before anything is computed.
   No estimate is made if C would fit even as a full matrix, or if host memory has no
   limit. */
static hybrid_status check_size(product *p)
{
    hy_context *ctx    = &p->call.engine->ctx;
    const int64_t left = hy_idle_host_left(p->call.engine);
    const double all   = (double)p->A.source.csr->rows * (double)p->B.source.csr->cols;
    const double one   = (double)bytes_of_c(p, 1) - (double)bytes_of_c(p, 0);
    const double limit = ((double)left - (double)bytes_of_c(p, 0)) / one;

    if (left == INT64_MAX || all <= limit)
        return HYBRID_OK;
    HY_TRY(hy_estimate_result(&p->call, &p->A.source, &p->B.source, limit, &p->size));
    if (bytes_of_c(p, p->size.least) <= left)
        return HYBRID_OK;
    return hy_memory_full(ctx, "C, whose size is estimated",
                          bytes_of_c(p, p->size.entries), remedy);
}

/* Returns the number of entries for which address space is reserved: the number that fits
   into the engine's limit on host memory (without a limit, 2^40 bytes), or the most that
   C can have if that is less. */
static int64_t most_entries(const product *p)
{
    const hybrid_csr *A = p->A.source.csr, *B = p->B.source.csr;
    const int64_t cap = p->call.engine->ctx.memory.meter.cap;
    const int64_t room =
        (cap > 0 ? cap : (int64_t)1 << 40) / (4 + (int64_t)hy_value_size(A->type));

    return B->cols == 0 || A->rows < room / B->cols ? A->rows * B->cols : room;
}

static void end(product *p)
{
    const hybrid_csr *A = p->A.source.csr, *B = p->B.source.csr;
    const int64_t b_bytes = A == B ? 0 : hy_sparse_bytes(&p->B);

    hy_files_end(&p->call, hy_sparse_bytes(&p->A) + b_bytes,
                 hy_csr_bytes(A->rows, p->sink->nnz, A->type));
}

static void release(product *p)
{
    hy_sparse_free(&p->call, &p->A);
    hy_sparse_free(&p->call, &p->B);
}

static hybrid_status store(hybrid_engine *engine, const hybrid_operand *A,
                           const hybrid_operand *B, const hybrid_plan_options *options,
                           hybrid_csr *C)
{
    hybrid_status status;
    hy_csr_sink csr;
    hybrid_csr made;
    product p;

    HY_TRY(begin(&p, engine, A, B, options));
    if (!C)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "C is NULL");
    HY_TRY_ELSE_DONE(read_what_fits(&p));
    HY_TRY_ELSE_DONE(check_size(&p));
    const hy_csr_shape shape = {.rows      = p.A.source.csr->rows,
                                .cols      = p.B.source.csr->cols,
                                .type      = p.A.source.csr->type,
                                .bound     = most_entries(&p),
                                .total     = (int64_t)p.size.entries,
                                .remedy    = remedy,
                                .offsets   = p.call.options.offsets,
                                .columns   = p.call.options.columns,
                                .index_max = hy_settings_of(engine)->index_max};
    HY_TRY_ELSE_DONE(hy_csr_sink_open(&engine->ctx, &shape, &made, &csr));
    p.sink = &csr.sink;
    HY_TRY_ELSE_DONE(multiply_all(&p));
    end(&p);
    *C = made;
done:
    release(&p);
    return status;
}

static hybrid_status hand(hybrid_engine *engine, const hybrid_operand *A,
                          const hybrid_operand *B, const hybrid_plan_options *options,
                          hybrid_each_fn fn, void *user)
{
    hybrid_status status;
    hy_each_sink each;
    product p;

    HY_TRY(begin(&p, engine, A, B, options));
    if (!fn)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "fn is NULL");
    HY_TRY_ELSE_DONE(read_what_fits(&p));
    hy_each_sink_open(&engine->ctx, p.A.source.csr, p.B.source.csr, fn, user, &each);
    p.sink = &each.sink;
    HY_TRY_ELSE_DONE(multiply_all(&p));
    end(&p);
done:
    release(&p);
    return status;
}

hybrid_status hybrid_spgemm_files(hybrid_engine *engine, const hybrid_operand *A,
                                  const hybrid_operand *B,
                                  const hybrid_plan_options *options, hybrid_csr *C)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, store(engine, A, B, options, C));
}

hybrid_status hybrid_spgemm_files_each(hybrid_engine *engine, const hybrid_operand *A,
                                       const hybrid_operand *B,
                                       const hybrid_plan_options *options,
                                       hybrid_each_fn fn, void *user)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, hand(engine, A, B, options, fn, user));
}

static hybrid_status predict(hybrid_engine *engine, const hybrid_operand *A,
                             const hybrid_operand *B, const hybrid_plan_options *options,
                             hybrid_report *out)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    product p;

    HY_TRY(begin(&p, engine, A, B, options));
    if (!out)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "out is NULL");
    HY_TRY(hy_struct_check(&engine->ctx, &hy_report_struct, out->struct_size));
    HY_TRY(hy_sparse_check(&p.call, &p.A, "A"));
    HY_TRY(hy_sparse_check(&p.call, &p.B, "B"));
    HY_TRY(hy_estimate_result(&p.call, &p.A.source, &p.B.source, NAN, &p.size));
    report.rows                   = p.A.source.csr->rows;
    report.flops                  = 2 * (int64_t)(p.size.products + 0.5);
    report.predicted_nnz_out      = (int64_t)(p.size.entries + 0.5);
    report.predicted_result_bytes = bytes_of_c(&p, p.size.entries + 0.5);
    hy_struct_write(&hy_report_struct, &report, out);
    return HYBRID_OK;
}

hybrid_status hybrid_spgemm_files_predict(hybrid_engine *engine, const hybrid_operand *A,
                                          const hybrid_operand *B,
                                          const hybrid_plan_options *options,
                                          hybrid_report *out)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, predict(engine, A, B, options, out));
}
