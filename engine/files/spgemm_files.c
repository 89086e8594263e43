/* engine/files/spgemm_files.c - C = A*B with operands in memory or in files. */
#include <math.h>

#include "base/data/csr.h"
#include "base/memory/shortage.h"
#include "engine/files/result_size.h"
#include "engine/files/spgemm_parts.h"
#include "engine/api/struct_size.h"
#include "pipeline/sink/sink_csr.h"
#include "pipeline/sink/sink_each.h"

/* State of one call of a public function, such as hybrid_spgemm_files(). */
typedef struct product {
    hy_spgemm parts;
    hy_result_size size; /* estimated size of C; 0 if check_size() needs no estimate */
} product;

static const char remedy[] =
    ", or take the rows of C one after another (hybrid_spgemm_files_each)";

/* ---- whether C fits -------------------------------------------------------------- */

static int64_t bytes_of_c(const product *p, double entries)
{
    const double most = (double)(INT64_MAX / 32);

    return hy_result_bytes(&p->parts.call.options, p->parts.A.source.csr->type,
                           p->parts.A.source.csr->rows,
                           (int64_t)(entries < most ? entries : most));
}

/* Fails if C almost certainly does not fit into host memory, before anything is computed.
   No estimate is made if C would fit even as a full matrix, or if host memory has no
   limit. */
static hybrid_status check_size(product *p)
{
    hy_context *ctx    = &p->parts.call.engine->ctx;
    const int64_t left = hy_idle_host_left(p->parts.call.engine);
    const double all =
        (double)p->parts.A.source.csr->rows * (double)p->parts.B.source.csr->cols;
    const double one   = (double)bytes_of_c(p, 1) - (double)bytes_of_c(p, 0);
    const double limit = ((double)left - (double)bytes_of_c(p, 0)) / one;

    if (left == INT64_MAX || all <= limit)
        return HYBRID_OK;
    HY_TRY(hy_estimate_result(&p->parts.call, &p->parts.A.source, &p->parts.B.source,
                              limit, &p->size));
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
    const hybrid_csr *A = p->parts.A.source.csr, *B = p->parts.B.source.csr;
    const int64_t cap = hy_meter_cap(&p->parts.call.engine->ctx.memory.meter);
    const int64_t room =
        (cap > 0 ? cap : (int64_t)1 << 40) / (4 + (int64_t)hy_value_size(A->type));

    return B->cols == 0 || A->rows < room / B->cols ? A->rows * B->cols : room;
}

static hybrid_status store(hybrid_engine *engine, const hybrid_operand *A,
                           const hybrid_operand *B, const hybrid_plan_options *options,
                           hybrid_csr *C)
{
    hybrid_status status;
    hy_csr_sink csr;
    hybrid_csr made;
    product p = {.size = {0, 0, 0}};

    HY_TRY(hy_spgemm_begin(&p.parts, engine, A, B, options));
    if (!C)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "C is NULL");
    HY_TRY_ELSE_DONE(hy_spgemm_read_small(&p.parts));
    HY_TRY_ELSE_DONE(check_size(&p));
    const hy_csr_shape shape = {.rows      = p.parts.A.source.csr->rows,
                                .cols      = p.parts.B.source.csr->cols,
                                .type      = p.parts.A.source.csr->type,
                                .bound     = most_entries(&p),
                                .total     = (int64_t)p.size.entries,
                                .remedy    = remedy,
                                .offsets   = p.parts.call.options.offsets,
                                .columns   = p.parts.call.options.columns,
                                .index_max = hy_settings_of(engine)->index_max};
    HY_TRY_ELSE_DONE(hy_csr_sink_open(&engine->ctx, &shape, &made, &csr));
    p.parts.sink = &csr.sink;
    HY_TRY_ELSE_DONE(hy_spgemm_multiply(&p.parts, 0));
    hy_spgemm_end(&p.parts, csr.sink.nnz);
    *C = made;
done:
    hy_spgemm_release(&p.parts);
    return status;
}

static hybrid_status hand(hybrid_engine *engine, const hybrid_operand *A,
                          const hybrid_operand *B, const hybrid_plan_options *options,
                          hybrid_each_fn fn, void *user)
{
    hybrid_status status;
    hy_each_sink each;
    product p = {.size = {0, 0, 0}};

    HY_TRY(hy_spgemm_begin(&p.parts, engine, A, B, options));
    if (!fn)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "fn is NULL");
    HY_TRY_ELSE_DONE(hy_spgemm_read_small(&p.parts));
    hy_each_sink_open(&engine->ctx, p.parts.A.source.csr, p.parts.B.source.csr, fn, user,
                      &each);
    p.parts.sink = &each.sink;
    HY_TRY_ELSE_DONE(hy_spgemm_multiply(&p.parts, 0));
    hy_spgemm_end(&p.parts, each.sink.nnz);
done:
    hy_spgemm_release(&p.parts);
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
    product p            = {.size = {0, 0, 0}};

    HY_TRY(hy_spgemm_begin(&p.parts, engine, A, B, options));
    if (!out)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "out is NULL");
    HY_TRY(hy_struct_check(&engine->ctx, &hy_report_struct, out->struct_size));
    HY_TRY(hy_sparse_check(&p.parts.call, &p.parts.A, "A"));
    HY_TRY(hy_sparse_check(&p.parts.call, &p.parts.B, "B"));
    HY_TRY(hy_estimate_result(&p.parts.call, &p.parts.A.source, &p.parts.B.source, NAN,
                              &p.size));
    report.rows                   = p.parts.A.source.csr->rows;
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
