/* tests/support/fake/fake_tiled.c - SpMM from the packed format of spmm.cuda.tiled, on
   the CPU.

   The code visits panels, stages, slices and steps (partition/format/pack_tiled.h) in the
   order of the CUDA kernel. X and the result are stored by columns. */
#include <stdlib.h>

#include "base/data/csr.h"
#include "partition/format/pack_tiled.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/fake/fake_backend.h"

/* Rows of A with more entries are cut into segments of this length, unless the variant
   has parameters, which then decide. It is small enough for rows of the small test cases
   to be cut. */
static const int64_t segment = 20;

static hy_tiled_rules rules_for(const hy_features *f, const hy_rates *r)
{
    for (int i = 0; i < HY_PARAMETERS; i++)
        if (f->parameter[i])
            return hy_tiled_rules_for(f, r);
    return (hy_tiled_rules){.segment = segment, .partials = 2 * f->nnz / segment};
}

static size_t partials_bytes(const hy_features *f, const hy_rates *r)
{
    return (size_t)rules_for(f, r).partials * (size_t)f->out_cols *
           hy_value_size(f->type);
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const hy_tiled_rules rules = rules_for(f, r);

    return (hy_cost){.pack_bytes = hy_pack_tiled_bytes(f, &rules),
                     .work_bytes = partials_bytes(f, r),
                     .out_bytes  = hy_rows_bytes(HY_SPMM, f, 0)};
}

static hybrid_status prepare(hy_job *job)
{
    const hy_tiled_rules rules = rules_for(&job->chunk->features, job->rates);
    return hy_pack_tiled(job, &rules);
}

/* Adds a scalar product to element (out, j) of the result or, if out < 0, to element (-1
   - out, j) of the partial sums in job->work. Both are stored by columns. */
static void add(const hy_job *job, const hy_tiled_view *a, int32_t out, int64_t j,
                double product)
{
    const hybrid_type type = job->chunk->features.type;
    void *to               = out >= 0 ? job->out.val : job->work.ptr;
    const int64_t at       = out >= 0 ? j * job->chunk->features.rows + out
                                      : j * a->head.partials + (-1 - out);

    value_set(to, type, at, value_at(to, type, at) + product);
}

/* Multiplies column j of X by the entries of one slice (32 rows or segments) of a stage,
   in the order in which they are stored. */
static void walk_slice(const hy_job *job, const hy_tiled_view *a, const hy_cols_view *x,
                       int64_t stage, const int32_t *out, int slice, int64_t j)
{
    const hybrid_type type  = job->chunk->features.type;
    const hy_tiled_stage *s = &a->stage[stage];
    const uint16_t *count   = a->count + stage * HY_TILED_ROWS + slice * HY_TILED_SLICE;
    int64_t at              = s->entry[slice];

    for (int step = 0, more = 1; more; step++) {
        more = 0;
        for (int l = 0; l < HY_TILED_SLICE; l++) {
            if (count[l] <= step)
                continue;
            more = 1;
            if (a->index[at] != HY_TILED_PAD) {
                const int32_t row = a->map[s->first + a->index[at]];
                add(job, a, out[slice * HY_TILED_SLICE + l], j,
                    value_at(a->val, type, at) *
                        value_at(x->x, type, hy_x_at(x, row, j)));
            }
            at++;
        }
    }
}

static void walk_panels(const hy_job *job, const hy_tiled_view *a, int64_t j)
{
    const hy_cols_view x = hy_packed_x_cols(job);

    for (int64_t p = 0; p < a->head.panels; p++)
        for (int64_t s = a->start[p]; s < a->start[p + 1]; s++)
            for (int w = 0; w < HY_TILED_SLICES; w++)
                walk_slice(job, a, &x, s, a->out + p * HY_TILED_ROWS, w, j);
}

static void combine(const hy_job *job, const hy_tiled_view *a, int64_t j)
{
    const hybrid_type type = job->chunk->features.type;

    for (int64_t k = 0; k < a->head.splits; k++)
        for (int32_t i = 0; i < a->split[k].parts; i++)
            add(job, a, a->split[k].row, j,
                value_at(job->work.ptr, type,
                         j * a->head.partials + a->split[k].partial + i));
}

static hybrid_status walk(hy_lane *lane, void *arg)
{
    const hy_job *job      = arg;
    const hybrid_type type = job->chunk->features.type;
    const hy_tiled_view a  = hy_packed_tiled(job);
    const int64_t cols     = job->chunk->col_end - job->chunk->col_begin;

    (void)lane;
    for (int64_t k = 0; k < job->chunk->features.rows * cols; k++)
        value_set(job->out.val, type, k, 0);
    for (int64_t k = 0; k < a.head.partials * cols; k++)
        value_set(job->work.ptr, type, k, 0);
    for (int64_t j = 0; j < cols; j++) {
        walk_panels(job, &a, j);
        combine(job, &a, j);
    }
    return HYBRID_OK;
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    return hy_fake_enqueue(lane, walk, job);
}

const hy_variant hy_spmm_fake_tiled = {
    .name       = "spmm.fake.tiled",
    .summary    = "the packs of spmm.cuda.tiled, on the fake device",
    .source     = "for tests",
    .parameters = "R=4|8|16 segment=off|on reorder=off|on paper=1",
    .op         = HY_SPMM,
    .form       = HY_FORM_SLABS,
    .refuse     = hy_tiled_refuse,
    .cost       = cost,
    .model      = hy_tiled_model,
    .prepare    = prepare,
    .multiply   = multiply,
};
