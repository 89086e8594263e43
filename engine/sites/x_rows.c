/* engine/sites/x_rows.c - rows of X for each of several devices. Columns ascend within a
   row of A, so its first and its last entry suffice. */
#include "engine/sites/x_rows.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    GRAIN   = 1 << 13, /* rows that one worker reads at a time */
    LEAST_X = 32 /* least bytes of X for each row of A for which a plan that runs once
                    reads A: reading a row takes about as long as sending them */
};

/* Devices get only the rows of X that they touch if these are at most MOST_TOGETHER times
   all rows, summed over the devices; or, if the devices cannot copy X from each other, at
   most the share MOST_EACH of all rows for each device. */
static const double MOST_TOGETHER = 1.25, MOST_EACH = 0.9;

/* Widens [*first, *last] to the columns of row i. */
static void add_row(const hybrid_csr *A, int64_t i, int64_t *first, int64_t *last)
{
    const int64_t begin = hy_offset(A, i), end = hy_offset(A, i + 1);

    if (begin == end)
        return;
    *first = hy_min(*first, hy_cols(A)[begin]);
    *last  = hy_max(*last, hy_cols(A)[end - 1]);
}

/* ---- the sample -------------------------------------------------------------------- */

/* Returns 1 if limits may save more than it takes to find them. */
static int may_gain(const hy_portion *portion, const hybrid_csr *A)
{
    const hy_layout *layout = &portion->layout;
    const int runs_once =
        !(portion->product->options.flags & (HYBRID_RESIDENT | HYBRID_REUSE));

    return layout->image.axis == HY_AXIS_NONE &&
           !(runs_once && (int64_t)layout->image_bytes / LEAST_X < A->rows);
}

void hy_x_rows_sample(const hy_portion *portion, const hybrid_csr *A, const hybrid_csr *B,
                      hy_x_rows *out)
{
    const int wanted = !B && may_gain(portion, A);

    out->A      = A;
    out->relays = portion->product->engine->relays;
    out->count  = wanted ? (int)hy_min(A->rows, HY_X_SAMPLES) : 0;
    for (int k = 0; k < out->count; k++) {
        int64_t first = INT32_MAX, last = -1;
        add_row(A, A->rows * k / out->count, &first, &last);
        out->first[k] = (int32_t)first;
        out->last[k]  = (int32_t)last;
    }
}

double hy_x_rows_touched(const hy_x_rows *x, int parts)
{
    double sum = 0;

    for (int part = 0; part < parts; part++) {
        const int end = x->count * (part + 1) / parts;
        int64_t first = INT32_MAX, last = -1;
        for (int k = x->count * part / parts; k < end; k++) {
            first = hy_min(first, x->first[k]);
            last  = hy_max(last, x->last[k]);
        }
        sum += last < first ? 0 : (double)(last + 1 - first);
    }
    return sum / parts / (double)hy_max(x->A->cols, 1);
}

/* ---- decisions --------------------------------------------------------------------- */

/* Returns the largest mean share of X that devices may touch if each gets only the rows
   that it touches. */
static double most_share(const hy_x_rows *x, int devices)
{
    return x->relays ? MOST_TOGETHER / devices : MOST_EACH;
}

int hy_x_rows_limited(const hy_x_rows *x, int devices)
{
    return x->count > 0 && devices > 1 &&
           hy_x_rows_touched(x, devices) <= most_share(x, devices);
}

double hy_x_rows_sent(const hy_x_rows *x, int devices)
{
    if (hy_x_rows_limited(x, devices))
        return hy_x_rows_touched(x, devices);
    return x->relays ? 1.0 / devices : 1;
}

hy_estimate hy_x_rows_estimate(const hy_portion *portion, const hy_estimate *all,
                               double share)
{
    const hy_layout *layout = &portion->layout;
    hy_estimate e           = *all;

    e.image_bytes = 0;
    if (layout->image.axis == HY_AXIS_NONE)
        e.up_bytes = fmax(0, e.up_bytes - (1 - share) * (double)layout->image_bytes);
    return e;
}

/* ---- all rows ---------------------------------------------------------------------- */

typedef struct range {
    const hybrid_csr *A;
    int64_t first, below; /* first column, and minus the last one, because hy_lower_to()
                             finds minima */
} range;

static hybrid_status widen(void *arg, int part, int64_t begin, int64_t end)
{
    range *r      = arg;
    int64_t first = INT64_MAX, last = -1;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        add_row(r->A, i, &first, &last);
    hy_lower_to(&r->first, first);
    hy_lower_to(&r->below, -last);
    return HYBRID_OK;
}

/* Sets the range of rows of X that the portion's own rows touch. */
static hybrid_status find(const hybrid_csr *A, hy_portion *p)
{
    range r = {.A = A, .first = INT64_MAX, .below = 1};

    HY_TRY(hy_pool_for(p->product->engine->ctx.pool, HY_PLAN, p->begin, p->end, GRAIN,
                       widen, &r));
    p->x_end   = 1 - r.below;
    p->x_begin = hy_min(r.first, p->x_end);
    return HYBRID_OK;
}

hybrid_status hy_x_rows_limit(const hy_x_rows *x, hy_portion *portions, int count)
{
    const double most = most_share(x, count) * count * (double)x->A->cols;
    double sum        = 0;

    if (!hy_x_rows_limited(x, count))
        return HYBRID_OK;
    for (int i = 0; i < count; i++) {
        HY_TRY(find(x->A, &portions[i]));
        sum += (double)(portions[i].x_end - portions[i].x_begin);
    }
    for (int i = 0; i < count && sum > most; i++)
        portions[i].x_begin = portions[i].x_end = 0;
    return HYBRID_OK;
}
