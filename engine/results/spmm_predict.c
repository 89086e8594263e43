/* engine/results/spmm_predict.c - predicts memory and time of Y = alpha*A*X that is
   written to a file while it is computed.

   Reading, computing and writing overlap, so the slowest of them determines the time. */
#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/clock.h"
#include "engine/api/struct_size.h"
#include "engine/files/spmm_parts.h"
#include "engine/rates/rates.h"
#include "engine/results/result_file.h"

enum {
    SAMPLES      = 4,       /* places of a file that are read to see how fast it is, */
    SAMPLE_BYTES = 2 << 20, /* and bytes of each */
    TOUCHES = 3 /* times that an entry moves a row of Y or X if X comes in blocks: one row
                   of X is read, and one of Y is read and written. An X in memory: 1. */
};

/* A sample of X: `count` consecutive lines, which are rows of a row-major X, or a part of
   one line. */
typedef struct piece {
    int64_t lines, length; /* lines of X, and elements of a line */
    int64_t count, width;  /* lines of the sample, and elements of each */
} piece;

/* Returns the size of a sample of at most SAMPLE_BYTES bytes. X has elements. */
static piece piece_of(const hy_source *X)
{
    const int in_rows  = X->order == HYBRID_ROW_MAJOR;
    const int64_t most = SAMPLE_BYTES / (int64_t)hy_value_size(X->dense->type);
    piece p            = {.lines  = in_rows ? X->rows : X->cols,
                          .length = in_rows ? X->cols : X->rows};

    p.width = hy_min(p.length, most);
    p.count = hy_min(p.lines, most / p.width);
    return p;
}

/* Reads sample k, 0 to SAMPLES - 1. The samples are spread over X. */
static hybrid_status read_sample(const hy_source *X, const piece *p, int k, void *sample)
{
    const int64_t first = (p->lines - p->count) / SAMPLES * k;
    const int64_t begin = (p->length - p->width) / SAMPLES * k;
    const hy_rect rows  = {first, p->count, begin, p->width};
    const hy_rect cols  = {begin, p->width, first, p->count};
    const int in_rows   = X->order == HYBRID_ROW_MAJOR;
    const hy_grid to    = {sample, in_rows ? p->width : 1, in_rows ? 1 : p->width};

    return X->ops->fill(X, in_rows ? &rows : &cols, &to);
}

/* Sets *seconds to the time of reading `bytes` bytes like X, at the speed of samples. */
static hybrid_status time_reading(const hy_source *X, double bytes, double *seconds)
{
    const size_t size    = hy_value_size(X->dense->type);
    const int64_t start  = hy_now_ns();
    hybrid_status status = HYBRID_OK;
    void *sample;

    *seconds = 0;
    if (X->rows == 0 || X->cols == 0)
        return HYBRID_OK;
    const piece p = piece_of(X);
    HY_TRY(hy_array(X->ctx, p.count * p.width, size, "rows of X", &sample));
    for (int k = 0; k < SAMPLES && status == HYBRID_OK; k++)
        status = read_sample(X, &p, k, sample);
    const double read = (double)SAMPLES * (double)(p.count * p.width) * (double)size;
    *seconds          = (double)(hy_now_ns() - start) * 1e-9 * bytes / read;
    hy_array_free(X->ctx, sample);
    return status;
}

/* Returns the seconds in which the CPU computes Y. */
static double host_s(const hy_spmm *u, double row)
{
    const int in_blocks = !hy_source_at_hand(&u->caller_x) && !u->room.whole_x;
    const double rows   = (double)u->A.source.csr->nnz * (in_blocks ? TOUCHES : 1);
    hy_rates host;

    hy_rates_of(u->call.engine->host, &host);
    return rows * row / host.mem_Bps;
}

/* Memory and time that the plan of a part of A predicts. */
typedef struct part_plan {
    int64_t host_bytes; /* host memory that blocks of X take on the CPU, or that is pinned
                           for a device */
    int64_t device_bytes, pinned_bytes;
    double seconds; /* of computing all parts, if they are like this one */
} part_plan;

static hybrid_status plan_part(hy_spmm *u, const hybrid_csr *A, int64_t first,
                               part_plan *out)
{
    hybrid_plan *plan;

    *out = (part_plan){.host_bytes = 0};
    HY_TRY(hy_spmm_plan(u, A, first, &plan));
    const hybrid_status status = hy_plan_finish(plan, A, NULL);
    for (int i = 0; i < plan->count; i++) {
        out->device_bytes += hy_meter_used(&plan->portions[i].backend->device);
        out->pinned_bytes += hy_meter_used(&plan->portions[i].backend->pinned);
    }
    const int on_host = plan->portions[0].backend == u->call.engine->host;
    out->host_bytes   = on_host ? u->room.block_bytes : out->pinned_bytes;
    out->seconds      = plan->history.report.predicted_s * (double)u->A.source.csr->nnz /
                   (double)hy_max(1, A->nnz);
    hybrid_plan_destroy(plan);
    return status;
}

/* Plans the part of A that contains row `row`. *end is the row after it. */
static hybrid_status plan_part_at(hy_spmm *u, int64_t row, part_plan *out, int64_t *end)
{
    hy_a_parts parts;
    const hy_a_part *part;

    hy_a_parts_open(&u->A.source, u->room.part_bytes, &parts);
    if (u->room.in_parts)
        hy_a_parts_range(&parts, 0, u->A.source.rows, u->room.panel_rows);
    hybrid_status status = hy_a_parts_skip(&parts, row);
    if (status == HYBRID_OK)
        status = hy_a_parts_next(&parts, &part);
    if (status == HYBRID_OK) {
        *end   = part->begin + part->A->rows;
        status = plan_part(u, part->A, part->begin, out);
    }
    hy_a_parts_close(&parts);
    return status;
}

/* Adds the memory of chunks and sets *seconds to the time of computing. If the engine has
   devices, plans the first part of A, and the last part, which may be shorter. Otherwise
   the memory of chunks is part of the room for operands. */
static hybrid_status predict_computing(hy_spmm *u, double row, hybrid_report *r,
                                       double *seconds)
{
    const int64_t rows = u->A.source.rows;
    part_plan first, last;
    int64_t end;

    *seconds = host_s(u, row);
    if (u->call.engine->device_count == 0 || rows == 0)
        return HYBRID_OK;
    HY_TRY(hy_spmm_check_a(u));
    HY_TRY(plan_part_at(u, 0, &first, &end));
    last = first;
    if (end < rows)
        HY_TRY(plan_part_at(u, rows - 1, &last, &end));
    *seconds             = first.seconds;
    r->peak_device_bytes = hy_max(first.device_bytes, last.device_bytes);
    r->peak_pinned_bytes = hy_max(first.pinned_bytes, last.pinned_bytes);
    r->peak_host_bytes += hy_max(first.host_bytes, last.host_bytes) - u->room.block_bytes;
    return HYBRID_OK;
}

static hybrid_status fill_report(hy_spmm *u, const hybrid_dense *Y, hybrid_report *r)
{
    const hybrid_csr *A = u->A.source.csr;
    const double row    = (double)Y->cols * (double)hy_value_size(Y->type);
    const int64_t x     = u->caller_x.rows * (int64_t)row * u->room.x_passes;
    const int64_t a     = hy_source_at_hand(&u->A.source) ? 0 : hy_sparse_bytes(&u->A);
    double reading      = 0, computing;

    r->rows                   = A->rows;
    r->flops                  = 2 * A->nnz * Y->cols;
    r->predicted_nnz_out      = A->rows * Y->cols;
    r->predicted_result_bytes = A->rows * (int64_t)row;
    r->peak_host_bytes        = u->room.peak_bytes;
    r->host_bytes             = x + a;
    r->file_bytes             = r->predicted_result_bytes;
    if (!hy_source_at_hand(&u->caller_x))
        HY_TRY(time_reading(&u->caller_x, (double)(x + a), &reading));
    HY_TRY(predict_computing(u, row, r, &computing));
    r->predicted_s =
        fmax(fmax(reading, computing), (double)r->predicted_result_bytes / HY_WRITE_BPS);
    return HYBRID_OK;
}

/* Marks a call whose rows of Y go to a file. Nothing is computed. */
static hybrid_status take_nothing(void *user, const hybrid_dense *rows)
{
    (void)user;
    (void)rows;
    return HYBRID_OK;
}

static hybrid_status predict(hybrid_engine *engine, const hybrid_operand *A,
                             const hybrid_operand *X, const hybrid_plan_options *options,
                             hybrid_report *out)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    hy_spmm u            = {.alpha = 1, .take = take_nothing};

    HY_TRY(hy_spmm_begin(&u, engine, A, X, options));
    if (!out)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "out is NULL");
    HY_TRY(hy_struct_check(&engine->ctx, &hy_report_struct, out->struct_size));
    const hybrid_dense *x = u.caller_x.dense;
    const hybrid_dense Y  = {u.A.source.rows,  x->cols, x->cols,
                             HYBRID_ROW_MAJOR, &u,      x->type};
    HY_TRY(hy_spmm_check(&u, &Y));
    HY_TRY(fill_report(&u, &Y, &report));
    hy_struct_write(&hy_report_struct, &report, out);
    return HYBRID_OK;
}

hybrid_status hybrid_spmm_files_predict(hybrid_engine *engine, const hybrid_operand *A,
                                        const hybrid_operand *X,
                                        const hybrid_plan_options *options,
                                        hybrid_report *out)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, predict(engine, A, X, options, out));
}
