/* engine/files/files.c - what products of operands in files have in common. */
#include "engine/files/files.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/api/check.h"
#include "engine/report/reading.h"
#include "partition/move/sources.h"

/* ---- sizes ----------------------------------------------------------------------- */

enum {
    PART_SHARE        = 8, /* a part of A takes at most 1/8 of free host memory */
    ROWS_PART_TO_FILE = 5, /* rows of B take at most 1/5 of free host memory if C is
                              written to a file. Fewer, larger ranges of rows of A read
                              gaps between rows of B less often. */
    ROWS_PART = 8,         /* rows of B for a range of rows of A take at most 1/8 of free
                              host memory otherwise */
    ROW_PART = 4,       /* rows of B for a single row of A take at most 1/4 of free host
                           memory if those of the next row are gathered meanwhile */
    WHOLE_PART = 4,     /* an operand that is read completely takes at most 1/4 of free
                           host memory */
    PARTS = 8,          /* a part of A has at most 1/PARTS of A's bytes, so that reading
                           and computing overlap */
    LEAST   = 64 << 20, /* lower bound, in bytes, on the limit of 1/PARTS of A */
    UNKNOWN = 1 << 30   /* bytes of free host memory that are assumed if the engine has
                           no limit on it */
};

int64_t hy_files_free(const hy_files *call)
{
    const hy_meter *meter = &call->engine->ctx.memory.meter;
    const int64_t cap     = hy_meter_cap(meter);

    return cap > 0 ? cap - hy_meter_used(meter) : UNKNOWN;
}

/* Returns free host memory divided by `part` and call->shrink, or the size that a test
   has set. */
static int64_t part_left(const hy_files *call, int part)
{
    const int64_t piece = hy_settings_of(call->engine)->piece_bytes;

    return piece > 0 ? piece : hy_files_free(call) / part / call->shrink;
}

int64_t hy_files_part_bytes(const hy_files *call, const hy_sparse *A)
{
    return hy_min(part_left(call, PART_SHARE), hy_max(LEAST, hy_sparse_bytes(A) / PARTS));
}

int64_t hy_files_rows(const hy_files *call, int to_file)
{
    return part_left(call, to_file ? ROWS_PART_TO_FILE : ROWS_PART);
}

int64_t hy_files_row(const hy_files *call)
{
    return part_left(call, ROW_PART);
}

int64_t hy_files_whole(const hy_files *call)
{
    return part_left(call, WHOLE_PART);
}

/* ---- operands -------------------------------------------------------------------- */

hybrid_status hy_operand_check(const hy_files *call, const hybrid_operand *operand,
                               const char *name)
{
    const int count = operand ? !!operand->csr + !!operand->dense + !!operand->file : 0;

    if (count == 1)
        return HYBRID_OK;
    return hy_fail(&call->engine->ctx, HYBRID_BAD_ARGUMENT,
                   "%s: exactly one of csr, dense and file must be set, not %d", name,
                   count);
}

hybrid_status hy_sparse_find(const hy_files *call, const hybrid_operand *operand,
                             const char *name, hy_sparse *out)
{
    hy_context *ctx = &call->engine->ctx;

    *out = (hy_sparse){.unchecked = NULL};
    HY_TRY(hy_operand_check(call, operand, name));
    if (operand->dense)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s must be sparse, but is dense", name);
    if (operand->file) {
        HY_TRY(hy_file_check(call->engine, operand->file, 1, name));
        out->source = hy_source_csr_file(&operand->file->matrix);
        return HYBRID_OK;
    }
    out->source    = hy_source_csr(ctx, operand->csr);
    out->unchecked = operand->csr;
    return hy_check_csr(ctx, operand->csr, name);
}

hybrid_status hy_dense_find(const hy_files *call, const hybrid_operand *operand,
                            const char *name, hy_source *out)
{
    hy_context *ctx = &call->engine->ctx;

    HY_TRY(hy_operand_check(call, operand, name));
    if (operand->csr)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s must be dense, but is sparse", name);
    if (operand->file) {
        HY_TRY(hy_file_check(call->engine, operand->file, 0, name));
        *out = hy_source_file(&operand->file->matrix);
        return HYBRID_OK;
    }
    *out = hy_source_dense(ctx, operand->dense);
    return hy_check_dense(ctx, operand->dense, name);
}

hybrid_status hy_sparse_check(const hy_files *call, hy_sparse *sparse, const char *name)
{
    hy_context *ctx     = &call->engine->ctx;
    const hybrid_csr *A = sparse->unchecked;

    if (!A)
        return HYBRID_OK;
    HY_TRY(call->options.flags & HYBRID_CHECK ? hy_csr_check(ctx, A, name)
                                              : hy_csr_check_offsets(ctx, A, name));
    sparse->unchecked = NULL;
    return hy_narrow_add(ctx, &call->engine->narrow, &sparse->source.csr, name);
}

hybrid_status hy_sparse_read_small(const hy_files *call, hy_sparse *sparse)
{
    hy_source *source = &sparse->source;
    const hybrid_csr *whole;

    if (source->rows > 0 && hy_sparse_bytes(sparse) > hy_files_whole(call))
        return HYBRID_OK;
    HY_TRY(source->ops->whole(source, &sparse->own, &whole));
    *source = hy_source_csr(source->ctx, whole);
    return HYBRID_OK;
}

void hy_sparse_free(const hy_files *call, hy_sparse *sparse)
{
    if (sparse->source.csr == &sparse->own)
        hy_csr_free(&call->engine->ctx, &sparse->own);
}

int64_t hy_sparse_bytes(const hy_sparse *sparse)
{
    const hybrid_csr *A = sparse->source.csr;

    return hy_csr_bytes(A->rows, A->nnz, A->type);
}

/* ---- a call ---------------------------------------------------------------------- */

hybrid_status hy_files_begin(hy_files *call, hybrid_engine *engine,
                             const hybrid_plan_options *options)
{
    *call = (hy_files){.engine   = engine,
                       .start    = hy_usage_begin(engine),
                       .report   = HYBRID_REPORT_INIT,
                       .backends = {engine->host},
                       .count    = 1,
                       .shrink   = 1};
    HY_TRY(hy_read_plan_options(&engine->ctx, options, &call->options));
    if (call->options.x_space != HYBRID_SPACE_HOST ||
        call->options.result_space != HYBRID_SPACE_HOST)
        return hy_fail(
            &engine->ctx, HYBRID_UNSUPPORTED,
            "plan options: results of operands in files cannot stay in device memory");
    /* HYBRID_EXPLAIN describes a plan, and the caller receives none */
    call->options.flags &= ~(unsigned)HYBRID_EXPLAIN;
    if (call->options.flags & (HYBRID_RESIDENT | HYBRID_REUSE | HYBRID_ASYNC))
        return hy_fail(
            &engine->ctx, HYBRID_BAD_ARGUMENT,
            "plan options: HYBRID_RESIDENT, HYBRID_REUSE and HYBRID_ASYNC need a "
            "plan: a one-shot call runs once");
    return HYBRID_OK;
}

static void add_seconds(const hybrid_report *r, hybrid_report *sum)
{
    sum->predicted_s += r->predicted_s;
    sum->plan_s += r->plan_s;
    sum->load_s += r->load_s;
    sum->prepare_s += r->prepare_s;
    sum->h2d_s += r->h2d_s;
    sum->multiply_s += r->multiply_s;
    sum->finish_s += r->finish_s;
    sum->d2h_s += r->d2h_s;
    sum->place_s += r->place_s;
    sum->host_s += r->host_s;
}

static void add_counts(const hybrid_report *r, hybrid_report *sum)
{
    sum->chunks += r->chunks;
    sum->rows += r->rows;
    sum->flops += r->flops;
    sum->nnz_out += r->nnz_out;
    sum->h2d_bytes += r->h2d_bytes;
    sum->d2h_bytes += r->d2h_bytes;
    sum->host_bytes += r->host_bytes;
    sum->device_bytes += r->device_bytes;
    sum->gathered |= r->gathered;
    sum->host_chunks += r->host_chunks;
    sum->host_products += r->host_products;
    sum->peak_device_bytes = hy_max(sum->peak_device_bytes, r->peak_device_bytes);
    sum->peak_pinned_bytes = hy_max(sum->peak_pinned_bytes, r->peak_pinned_bytes);
    sum->peak_host_bytes   = hy_max(sum->peak_host_bytes, r->peak_host_bytes);
}

void hy_files_add(hy_files *call, const hybrid_plan *plan)
{
    add_seconds(&plan->history.report, &call->report);
    add_counts(&plan->history.report, &call->report);
    call->count = plan->count;
    for (int i = 0; i < plan->count; i++)
        call->backends[i] = plan->portions[i].backend;
}

void hy_files_read(const hy_files *call, const hy_a_part *part)
{
    const hybrid_csr *A = part->A;

    hy_tell_reading(call->engine,
                    &(hy_reading){.lane      = "reader",
                                  .row_begin = part->begin,
                                  .row_end   = part->begin + A->rows,
                                  .bytes     = hy_csr_bytes(A->rows, A->nnz, A->type),
                                  .begin_ns  = part->begin_ns,
                                  .end_ns    = part->end_ns});
}

void hy_files_gathered(const hy_files *call, const hy_b_rows *rows, int64_t row)
{
    const hybrid_csr *B = rows->B;

    hy_tell_reading(call->engine,
                    &(hy_reading){.lane      = "reader-B",
                                  .row_begin = row,
                                  .row_end   = row + rows->A->rows,
                                  .bytes     = hy_csr_bytes(B->rows, B->nnz, B->type),
                                  .begin_ns  = rows->begin_ns,
                                  .end_ns    = rows->end_ns});
}

void hy_files_end(hy_files *call, int64_t up_bytes, int64_t down_bytes)
{
    const hy_reference reference = {up_bytes, down_bytes};
    hybrid_report *r             = &call->report;

    r->other_h2d_bytes = -1;
    hy_usage_end(call->engine, call->backends, call->count, &call->start, &reference, r);
    r->overlap           = hy_usage_overlap(r);
    call->engine->report = *r;
}
