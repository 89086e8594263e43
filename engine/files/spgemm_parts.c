/* engine/files/spgemm_parts.c - C = A*B, part by part of A. */
#include "engine/files/spgemm_parts.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/clock.h"
#include "engine/api/check.h"
#include "pipeline/sink/sink_each.h"

enum {
    LEAST_LEFT = 8
}; /* a plan is made while rows of B are gathered only if these leave
      1 / LEAST_LEFT of the budget of host memory */

/* ---- ranges of rows ---------------------------------------------------------------- */

/* Does something with a range of rows of A and the rows of B that it touches. Row 0 of
   this A is row `first` of the operand. *more is 1, and the function may set it to 0 to
   end the walk. */
typedef hybrid_status range_fn(hy_spgemm *p, const hybrid_csr *A, const hybrid_csr *B,
                               int64_t first, void *arg, int *more);

/* Walks through a part of the operand A, from its row `begin` on, one range of rows after
   another. Row 0 of this A is row `first` of the operand. */
static hybrid_status walk_rows(hy_spgemm *p, const hybrid_csr *A, int64_t first,
                               int64_t begin, range_fn *fn, void *arg, int *more)
{
    int64_t next;

    do {
        HY_TRY(hy_b_rows_next(&p->b_rows, A, first, begin, &next));
        hy_files_gathered(&p->call, &p->b_rows, first + begin);
        HY_TRY(fn(p, p->b_rows.A, p->b_rows.B, first + begin, arg, more));
        begin = next;
    } while (*more && begin < A->rows);
    return HYBRID_OK;
}

/* Walks through the rows of A, from row `first` on. */
static hybrid_status walk(hy_spgemm *p, int64_t first, range_fn *fn, void *arg)
{
    const int64_t begin =
        hy_source_at_hand(&p->A.source) && !hy_source_at_hand(&p->B.source) ? first : 0;
    const hy_a_part *part;
    hybrid_status status;
    int more = 1;

    hy_b_rows_open(&p->B.source, p->rows_bytes, p->row_bytes, &p->b_rows);
    hy_a_parts_open(&p->A.source, hy_files_part_bytes(&p->call, &p->A), &p->a_parts);
    if (first > begin)
        hy_a_parts_range(&p->a_parts, first, p->A.source.rows, 0);
    do {
        status = hy_a_parts_next(&p->a_parts, &part);
        if (part)
            hy_files_read(&p->call, part);
        if (status == HYBRID_OK && part)
            status = walk_rows(p, part->A, part->begin, begin, fn, arg, &more);
    } while (status == HYBRID_OK && part && more);
    hy_b_rows_close(&p->b_rows); /* first, because its thread may be using a part of A */
    hy_a_parts_close(&p->a_parts);
    return status;
}

/* ---- multiplying ------------------------------------------------------------------- */

/* Sets memory->expected for a plan that runs while the next rows of B are gathered. If
   little memory would be left, waits until they are in memory, and are counted exactly.
 */
static hybrid_status expect_rows(hy_spgemm *p, hy_memory *memory)
{
    const int64_t cap = hy_meter_cap(&memory->meter);

    memory->expected = p->b_rows.used;
    if (cap == 0 || memory->expected <= cap - cap / LEAST_LEFT)
        return HYBRID_OK;
    memory->expected = 0;
    return hy_background_wait(&p->b_rows.background);
}

/* Leaves the plan only a part of the memory that it would have, if the product goes on
   after memory was short (hy_files.shrink). */
static void shrink_plan(const hy_files *call, hy_memory *memory)
{
    const int64_t cap  = hy_meter_cap(&memory->meter);
    const int64_t used = hy_max(memory->expected, hy_meter_used(&memory->meter));

    if (call->shrink > 1 && cap > used)
        memory->expected = cap - (cap - used) / call->shrink;
}

/* Plans A*B, where row 0 of this A is row `first` of the operand. */
static hybrid_status make_plan(hy_spgemm *p, const hybrid_csr *A, const hybrid_csr *B,
                               int64_t first, hybrid_plan **plan)
{
    hy_memory *memory          = &p->call.engine->ctx.memory;
    const hy_one_shot one_shot = {.first_row = first};

    HY_TRY(expect_rows(p, memory));
    shrink_plan(&p->call, memory);
    const hybrid_status status =
        hy_plan_make(p->call.engine, A, B, 0, &p->call.options, &one_shot, plan);
    memory->expected = 0;
    return status;
}

/* Adds the rows of a range to the report that the caller has received before an error,
   and their scalar products. Row 0 of the range is row `first` of the operand. */
static void add_received(hy_spgemm *p, const hy_profile *profile, int64_t first)
{
    const int64_t rows  = hy_max(p->next - first, 0);
    const hy_features f = hy_profile_range(profile, 0, rows, profile->out_cols);

    p->call.report.rows += rows;
    p->call.report.flops += 2 * f.products;
}

/* Computes A*B and gives its rows to the sink. */
static hybrid_status multiply(hy_spgemm *p, const hybrid_csr *A, const hybrid_csr *B,
                              int64_t first, void *arg, int *more)
{
    const hy_beginning start = hy_usage_begin(p->call.engine);
    hybrid_plan *plan;

    (void)arg;
    (void)more;
    HY_TRY(make_plan(p, A, B, first, &plan));
    p->sink->ops->begin(p->sink, first, first + A->rows,
                        (int64_t)hy_expected_entries(&plan->product.profile.features));
    const hybrid_status status =
        hy_multiply_to(plan, A, B, &start, &plan->history, p->sink);
    if (status == HYBRID_OK)
        hy_files_add(&p->call, plan);
    else
        add_received(p, &plan->product.profile, first);
    hybrid_plan_destroy(plan);
    return status;
}

hybrid_status hy_spgemm_multiply(hy_spgemm *p, int64_t first)
{
    const hybrid_status status = walk(p, first, multiply, NULL);

    if (status != HYBRID_OK)
        p->sink->ops->abort(p->sink);
    return status;
}

/* ---- forecasting ------------------------------------------------------------------- */

typedef struct forecast {
    hy_spgemm_estimate *estimate;
    int64_t entries, b_bytes; /* entries of A in the ranges planned so far; bytes of their
                                 rows of B */
    double gather_s, a_read_s; /* seconds of gathering these rows; seconds of reading
                                  all parts of A, at the speed of the last one */
} forecast;

/* Returns the maximum bytes of the rows of a chunk that the sink puts together. */
static int64_t chunk_bytes(const hybrid_plan *plan)
{
    const hy_product *product = &plan->product;
    double entries            = 0;

    for (int i = 0; i < plan->count; i++)
        for (int64_t k = 0; k < plan->portions[i].layout.count; k++)
            entries =
                fmax(entries,
                     hy_expected_entries(&plan->portions[i].layout.chunks[k].features));
    return hy_each_sink_room((int64_t)entries) *
           (4 + (int64_t)hy_value_size(product->profile.features.type));
}

/* Raises the estimate to the memory that is in use while the plan runs. Host memory does
   not exceed its cap, because a run that is short of memory frees what it pools. */
static void note_memory(const hybrid_plan *plan, hy_spgemm_estimate *estimate)
{
    const hy_meter *host = &plan->product.engine->ctx.memory.meter;
    int64_t device = 0, pinned = 0;

    for (int i = 0; i < plan->count; i++) {
        device += hy_meter_used(&plan->portions[i].backend->device);
        pinned += hy_meter_used(&plan->portions[i].backend->pinned);
    }
    const int64_t used     = hy_meter_used(host) + chunk_bytes(plan);
    const int64_t most     = hy_meter_cap(host) > 0 ? hy_meter_cap(host) : used;
    estimate->host_bytes   = hy_max(estimate->host_bytes, hy_min(used, most));
    estimate->device_bytes = hy_max(estimate->device_bytes, device);
    estimate->pinned_bytes = hy_max(estimate->pinned_bytes, pinned);
}

/* Waits until the next part of A and the next rows of B are in memory, which they are
   while a range is multiplied. */
static hybrid_status await_next(hy_spgemm *p, forecast *f)
{
    const hy_background *reader = &p->a_parts.background;

    HY_TRY(hy_background_wait(&p->a_parts.background));
    if (p->a_parts.reading)
        f->a_read_s = (double)(reader->end_ns - reader->begin_ns) * 1e-9 *
                      (double)p->A.source.csr->nnz /
                      (double)hy_max(1, p->a_parts.reading->own.nnz);
    return hy_background_wait(&p->b_rows.background);
}

static hybrid_status forecast_range(hy_spgemm *p, const hybrid_csr *A,
                                    const hybrid_csr *B, int64_t first, void *arg,
                                    int *more)
{
    forecast *f = arg;
    hybrid_plan *plan;

    f->entries += A->nnz;
    f->gather_s += (double)(p->b_rows.end_ns - p->b_rows.begin_ns) * 1e-9;
    f->b_bytes +=
        hy_source_at_hand(&p->B.source) ? 0 : hy_csr_bytes(B->rows, B->nnz, B->type);
    const int64_t begin = hy_now_ns();
    HY_TRY(make_plan(p, A, B, first, &plan));
    f->estimate->multiply_s += (double)(hy_now_ns() - begin) * 1e-9;
    hybrid_status status = await_next(p, f);
    if (status == HYBRID_OK) {
        note_memory(plan, f->estimate);
        status = hy_plan_finish(plan, A, B);
    }
    f->estimate->multiply_s += plan->history.report.predicted_s;
    hybrid_plan_destroy(plan);
    /* two ranges are in memory at a time: if no second one has been gathered, this part
       of A has no further range, and the next part begins one */
    *more = !p->b_rows.has_next && p->b_rows.ranges[1].entries.bytes == 0;
    return status;
}

hybrid_status hy_spgemm_forecast(hy_spgemm *p, hy_spgemm_estimate *out)
{
    forecast f = {.estimate = out};

    *out = (hy_spgemm_estimate){.read_s = 0};
    HY_TRY(walk(p, 0, forecast_range, &f));
    if (!hy_source_at_hand(&p->A.source) || !hy_source_at_hand(&p->B.source))
        HY_TRY(walk(p, p->A.source.rows / 2, forecast_range, &f));
    const double ranges =
        f.entries > 0 ? (double)p->A.source.csr->nnz / (double)f.entries : 1;
    out->multiply_s *= ranges;
    out->read_s     = f.gather_s * ranges + f.a_read_s;
    out->read_bytes = (int64_t)((double)f.b_bytes * ranges) +
                      (hy_source_at_hand(&p->A.source) ? 0 : hy_sparse_bytes(&p->A));
    return HYBRID_OK;
}

/* ---- operands --------------------------------------------------------------------- */

hybrid_status hy_spgemm_begin(hy_spgemm *p, hybrid_engine *engine,
                              const hybrid_operand *A, const hybrid_operand *B,
                              const hybrid_plan_options *options)
{
    HY_TRY(hy_files_begin(&p->call, engine, options));
    p->rows_bytes = hy_files_rows(&p->call, 0);
    p->row_bytes  = hy_files_row(&p->call);
    HY_TRY(hy_sparse_find(&p->call, A, "A", &p->A));
    HY_TRY(hy_sparse_find(&p->call, B, "B", &p->B));
    HY_TRY(hy_check_spgemm_shapes(&engine->ctx, p->A.source.csr, p->B.source.csr));
    hy_progress_begin(&engine->ctx.progress, p->A.source.csr->rows);
    hy_progress_expect(&engine->ctx.progress, p->A.source.csr->rows);
    return HYBRID_OK;
}

hybrid_status hy_spgemm_read_small(hy_spgemm *p)
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

void hy_spgemm_end(hy_spgemm *p, int64_t nnz)
{
    const hybrid_csr *A = p->A.source.csr, *B = p->B.source.csr;
    const int64_t b_bytes = A == B ? 0 : hy_sparse_bytes(&p->B);

    hy_files_end(&p->call, hy_sparse_bytes(&p->A) + b_bytes,
                 hy_csr_bytes(A->rows, nnz, A->type));
}

void hy_spgemm_release(hy_spgemm *p)
{
    hy_sparse_free(&p->call, &p->A);
    hy_sparse_free(&p->call, &p->B);
}
