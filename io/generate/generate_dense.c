/* io/generate/generate_dense.c - fills a dense matrix with random values. */
#include <math.h>

#include "base/data/value_type.h"
#include "base/threads/pool.h"
#include "io/generate/generate.h"
#include "io/generate/random.h"

typedef struct fill {
    const hybrid_dense *X;
    uint64_t seed;
} fill;

/* Sets a value in [-1, 1), of so few bits that the type holds it exactly. */
static void set_element(const hybrid_dense *X, int64_t at, uint64_t draw)
{
    const double epsilon = hy_value_type_of(X->type)->epsilon;
    const int unused     = 63 + ilogb(epsilon); /* bits of the draw */

    hy_value_put(X->type, X->data, at, (double)(draw >> unused) * epsilon - 1);
}

/* Fills lines, which are rows or columns, whichever are contiguous. */
static hybrid_status fill_lines(void *arg, int part, int64_t begin, int64_t end)
{
    const fill *f         = arg;
    const hybrid_dense *X = f->X;
    const int by_rows     = X->order == HYBRID_ROW_MAJOR;
    const int64_t length  = by_rows ? X->cols : X->rows;

    (void)part;
    for (int64_t line = begin; line < end; line++)
        for (int64_t k = 0; k < length; k++) {
            const int64_t i = by_rows ? line : k, j = by_rows ? k : line;
            const uint64_t key = hy_key(f->seed, HY_RANDOM_DENSE, (uint64_t)i);
            set_element(X, line * X->ld + k, hy_draw(key, (uint64_t)j));
        }
    return HYBRID_OK;
}

hybrid_status hy_dense_random(hy_context *ctx, uint64_t seed, hybrid_dense *X)
{
    const int by_rows   = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines = by_rows ? X->rows : X->cols;
    const int64_t grain = 65536 / ((by_rows ? X->cols : X->rows) + 1) + 1;
    fill f              = {X, seed};

    return hy_pool_for(ctx->pool, HY_COMPUTE, 0, lines, grain, fill_lines, &f);
}
