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

static double compute_s(const hy_spmm *u, double row)
{
    const int in_blocks = !hy_source_at_hand(&u->caller_x) && !u->room.whole_x;
    const double rows   = (double)u->A.source.csr->nnz * (in_blocks ? TOUCHES : 1);
    hy_rates host;

    hy_rates_of(u->call.engine->host, &host);
    return rows * row / host.mem_Bps;
}

static hybrid_status fill_report(const hy_spmm *u, const hybrid_dense *Y,
                                 hybrid_report *r)
{
    const hybrid_csr *A = u->A.source.csr;
    const double row    = (double)Y->cols * (double)hy_value_size(Y->type);
    const int64_t x     = u->caller_x.rows * (int64_t)row * u->room.x_passes;
    const int64_t a     = hy_source_at_hand(&u->A.source) ? 0 : hy_sparse_bytes(&u->A);
    double reading      = 0;

    r->rows                   = A->rows;
    r->flops                  = 2 * A->nnz * Y->cols;
    r->predicted_nnz_out      = A->rows * Y->cols;
    r->predicted_result_bytes = A->rows * (int64_t)row;
    r->peak_host_bytes        = u->room.peak_bytes;
    r->host_bytes             = x + a;
    r->file_bytes             = r->predicted_result_bytes;
    if (!hy_source_at_hand(&u->caller_x))
        HY_TRY(time_reading(&u->caller_x, (double)(x + a), &reading));
    r->predicted_s = fmax(fmax(reading, compute_s(u, row)),
                          (double)r->predicted_result_bytes / HY_WRITE_BPS);
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
