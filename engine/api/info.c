/* engine/api/info.c - describes a pattern: hybrid_csr_info(). */
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "engine/api/check.h"
#include "engine/api/engine.h"
#include "partition/pattern/inspect.h"

enum { GRAIN = 4096 };

typedef struct survey {
    const hybrid_csr *A, *T;
    int64_t row_min, empty_rows, bandwidth;
    int pattern_differs, value_differs;
} survey;

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

static hybrid_status survey_rows(void *arg, int part, int64_t begin, int64_t end)
{
    survey *s       = arg;
    int64_t row_min = INT64_MAX, empty = 0;
    int64_t bandwidth = 0;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = hy_offset(s->A, i), last = hy_offset(s->A, i + 1) - 1;
        if (last - first + 1 < row_min)
            row_min = last - first + 1;
        empty += last < first;
        if (last < first)
            continue;
        const int64_t left  = distance(hy_cols(s->A)[first], i),
                      right = distance(hy_cols(s->A)[last], i);
        const int64_t far   = left > right ? left : right;
        if (far > bandwidth)
            bandwidth = far;
    }
    hy_lower_to(&s->row_min, row_min);
    hy_lower_to(&s->bandwidth, -bandwidth); /* negated, because hy_lower_to() finds a
                                               minimum and the maximum is wanted */
    __atomic_fetch_add(&s->empty_rows, empty, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

/* Compares rows [begin, end) of A with those of its transpose T. Sets pattern_differs at
   the first row that has other columns in T, and returns; until then sets value_differs
   at rows with other values. */
static hybrid_status compare_rows(void *arg, int part, int64_t begin, int64_t end)
{
    survey *s         = arg;
    const size_t size = hy_value_size(s->A->type);

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t a = hy_offset(s->A, i), n = hy_offset(s->A, i + 1) - a;
        const int64_t t = hy_offset(s->T, i);
        if (hy_offset(s->T, i + 1) - t != n ||
            (n > 0 && memcmp(hy_cols(s->A) + a, hy_cols(s->T) + t, (size_t)n * 4) != 0)) {
            __atomic_store_n(&s->pattern_differs, 1, __ATOMIC_RELAXED);
            return HYBRID_OK;
        }
        if (n > 0 &&
            memcmp((const char *)s->A->val + (size_t)a * size,
                   (const char *)s->T->val + (size_t)t * size, (size_t)n * size) != 0)
            __atomic_store_n(&s->value_differs, 1, __ATOMIC_RELAXED);
    }
    return HYBRID_OK;
}

static hybrid_status square_info(hy_context *ctx, survey *s, hybrid_matrix_info *out)
{
    hybrid_csr T;
    hy_profile profile;

    HY_TRY(hy_csr_transpose(ctx, s->A, &T));
    s->T = &T;
    const hybrid_status status =
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, s->A->rows, GRAIN, compare_rows, s);
    hy_csr_free(ctx, &T);
    HY_TRY(status);
    out->pattern_symmetric = !s->pattern_differs;
    out->value_symmetric   = !s->pattern_differs && !s->value_differs;
    HY_TRY(hy_inspect(ctx, s->A, s->A, 0, NULL, &profile));
    out->products   = profile.features.products;
    out->square_nnz = (int64_t)((double)out->products / profile.features.out_ratio + 0.5);
    out->square_bytes = hy_csr_bytes(s->A->rows, out->square_nnz, s->A->type);
    hy_profile_free(ctx, &profile);
    return HYBRID_OK;
}

static hybrid_status info_of(hybrid_engine *engine, const hybrid_csr *A,
                             hybrid_matrix_info *out)
{
    hy_context *ctx = &engine->ctx;
    survey s        = {.row_min = INT64_MAX};
    hy_profile profile;
    double synergy;

    if (!out)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "info: out is NULL");
    HY_TRY(hy_check_rules(ctx, A, "A"));
    HY_TRY(hy_narrow_add(ctx, &engine->narrow, &A, "A"));
    s.A = A;
    HY_TRY(hy_tile_fill(ctx, A, &synergy));
    HY_TRY(hy_inspect(ctx, A, NULL, 1, NULL, &profile));
    hybrid_matrix_info info = {.synergy       = synergy,
                               .synergy_class = hy_synergy_class(synergy),
                               .row_max       = profile.features.row_max,
                               .row_mean      = profile.features.row_mean,
                               .row_cv        = profile.features.row_cv,
                               .square        = A->rows == A->cols,
                               .products      = -1,
                               .square_nnz    = -1,
                               .square_bytes  = -1};
    hy_profile_free(ctx, &profile);
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, A->rows, GRAIN, survey_rows, &s));
    info.row_min    = A->rows > 0 ? s.row_min : 0;
    info.empty_rows = s.empty_rows;
    info.bandwidth  = -s.bandwidth;
    if (info.square)
        HY_TRY(square_info(ctx, &s, &info));
    *out = info;
    return HYBRID_OK;
}

hybrid_status hybrid_csr_info(hybrid_engine *engine, const hybrid_csr *A,
                              hybrid_matrix_info *out)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, info_of(engine, A, out));
}
