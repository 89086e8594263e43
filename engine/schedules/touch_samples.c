/* engine/schedules/touch_samples.c - counts, for a few ranges of rows of A, the rows of B
   or X that they touch. */
#include "engine/schedules/touch_samples.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/pattern/cut.h"
#include "partition/pattern/touched.h"

/* Rows of B for which one worker adds up entries at a time. */
enum { ROWS_GRAIN = 1 << 14 };

/* Longer ranges are sampled if a slot has room for LONGER times as much. */
static const double LONGER = 1.25;

/* ---- counting -------------------------------------------------------------------- */

/* Sum of the entries of some rows of B, which a parallel loop computes. */
typedef struct entries {
    const hybrid_csr *B;
    const int32_t *rows;
    int64_t sum; /* number of entries summed so far; atomic */
} entries;

static hybrid_status sum_entries(void *arg, int part, int64_t begin, int64_t end)
{
    entries *e  = arg;
    int64_t sum = 0;

    (void)part;
    for (int64_t r = begin; r < end; r++)
        sum += hy_offset(e->B, (int64_t)e->rows[r] + 1) - hy_offset(e->B, e->rows[r]);
    __atomic_fetch_add(&e->sum, sum, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

/* Sets *out to the number of rows of B or X that a chunk would gather and to the number
   of entries in these rows of B. The latter is 0 for SpMM. */
static hybrid_status touch(const hy_portion *portion, const hy_chunk *chunk,
                           const hybrid_csr *A, const hybrid_csr *B, hy_touch *out)
{
    hy_context *ctx      = &portion->product->engine->ctx;
    hybrid_status status = HYBRID_OK;
    hy_touched touched;

    HY_TRY_ELSE_DONE(hy_touched_find(ctx, A, chunk->row_begin, chunk->row_end, &touched));
    entries e = {B, touched.rows, 0};
    if (B)
        HY_TRY_ELSE_DONE(hy_pool_for(ctx->pool, HY_PLAN, 0, touched.count, ROWS_GRAIN,
                                     sum_entries, &e));
    *out = (hy_touch){touched.count, e.sum};
done:
    hy_touched_free(ctx, &touched);
    return status;
}

typedef struct counting {
    const hy_portion *portion;
    const hybrid_csr *A, *B;
    hy_touch_samples *samples;
} counting;

static hybrid_status touch_some(void *arg, int part, int64_t begin, int64_t end)
{
    const counting *c   = arg;
    hy_touch_samples *s = c->samples;

    (void)part;
    for (int64_t k = begin; k < end; k++)
        HY_TRY(touch(c->portion, &s->chunks[k], c->A, c->B, &s->touched[k]));
    return HYBRID_OK;
}

hybrid_status hy_touch_count(const hy_portion *portion, const hybrid_csr *A,
                             const hybrid_csr *B, hy_touch_samples *samples)
{
    counting c = {portion, A, B, samples};

    return hy_pool_for(portion->product->engine->ctx.pool, HY_PLAN, 0, samples->count, 1,
                       touch_some, &c);
}

/* ---- ranges that fill a slot ----------------------------------------------------- */

static double slot_of(const hy_portion *portion, const hy_layout *asked)
{
    return (double)portion->rates.memory / (double)(asked->share * asked->depth);
}

/* Returns the rows of a gathered chunk that fills its slot, if rows of A share no row of
   B. On average 16 * tile_fill of 16 neighbouring rows of A share a row of B or X. */
static int64_t rows_of_slot(const hy_portion *portion, const hy_layout *asked)
{
    hy_features all     = portion->profile.features;
    const double shared = fmax(1, 16 * all.tile_fill);

    all.gather_rows    = (int64_t)((double)all.nnz / shared);
    all.gather_nnz     = portion->product->op == HY_SPGEMM ? all.products : 0;
    const hy_cost cost = portion->variant->cost(&all, &portion->rates);
    const double bytes = (double)hy_cost_bytes(&cost) / (double)hy_max(all.rows, 1);
    return hy_max(1, (int64_t)fmin((double)all.rows, slot_of(portion, asked) / bytes));
}

/* Returns the mean number of bytes of a slot that the sampled chunks take. */
static double mean_bytes(const hy_portion *portion, const hy_touch_samples *s)
{
    double sum = 0;

    for (int64_t k = 0; k < s->count; k++) {
        const hy_chunk *chunk = &s->chunks[k];
        hy_features f =
            hy_profile_range(&portion->profile, chunk->row_begin, chunk->row_end,
                             portion->profile.features.out_cols);
        f.gather_rows      = s->touched[k].rows;
        f.gather_nnz       = s->touched[k].nnz;
        f                  = hy_with_least_room(portion->variant, &f);
        const hy_cost cost = portion->variant->cost(&f, &portion->rates);
        sum += (double)hy_cost_bytes(&cost);
    }
    return sum / (double)hy_max(s->count, 1);
}

/* Counts what ranges of `rows` rows, at even distances, touch. */
static hybrid_status sample(const hy_planning *p, int64_t rows, hy_touch_samples *s)
{
    const hy_profile *profile = &p->portion->profile;
    const int64_t all         = profile->features.rows;

    s->count = hy_min(all / rows, HY_TOUCH_SAMPLES);
    for (int64_t k = 0; k < s->count; k++) {
        const int64_t begin =
            profile->begin + (2 * k + 1) * (all - rows) / (2 * s->count);
        s->chunks[k] = (hy_chunk){.row_begin = begin, .row_end = begin + rows};
    }
    return hy_touch_count(p->portion, p->A, p->B, s);
}

/* Samples longer and longer ranges until they fill a slot. Rows of A that share rows of B
   make chunks longer than rows_of_slot() says. */
static hybrid_status sample_slots(const hy_planning *p, const hy_layout *asked,
                                  hy_touch_samples *s)
{
    const double slot = slot_of(p->portion, asked);
    const int64_t all = p->portion->profile.features.rows;
    int64_t rows      = rows_of_slot(p->portion, asked);

    for (;;) {
        HY_TRY(sample(p, rows, s));
        const double longer = (double)rows * slot / fmax(mean_bytes(p->portion, s), 1);
        if (longer < fmax((double)rows * LONGER, (double)rows + 1) ||
            longer * HY_TOUCH_SAMPLES > (double)all)
            return HYBRID_OK;
        rows = (int64_t)longer;
    }
}

hybrid_status hy_touch_estimate(const hy_planning *p, const hy_layout *asked,
                                hy_touch *out)
{
    double rows = 0, found = 0, nnz = 0;
    hy_touch_samples s;

    HY_TRY(sample_slots(p, asked, &s));
    for (int64_t k = 0; k < s.count; k++) {
        rows += (double)s.touched[k].rows;
        found += (double)s.touched[k].nnz;
        nnz += (double)(hy_offset(p->A, s.chunks[k].row_end) -
                        hy_offset(p->A, s.chunks[k].row_begin));
    }
    const double times = nnz > 0 ? (double)p->portion->profile.features.nnz / nnz : 0;
    *out = (hy_touch){.rows = (int64_t)(times * rows), .nnz = (int64_t)(times * found)};
    return HYBRID_OK;
}
