/* partition/pattern/profile.c - the arrays of a profile. */
#include "partition/pattern/profile.h"

#include <string.h>

#include "base/memory/results.h"

enum {
    LARGE = 1 << 20 /* minimum bytes of an array for which the engine's pooled pages are
                       used */
};

/* Letting the system provide fresh pages takes as long as writing them, so large arrays
   use pages that the engine pools. */
hybrid_status hy_profile_sums(hy_context *ctx, int64_t rows, const char *what,
                              int64_t **out)
{
    void *array;

    HY_TRY(rows >= LARGE / 8 ? hy_results_array(ctx, rows + 1, 8, what, &array)
                             : hy_array(ctx, rows + 1, 8, what, &array));
    *out  = array;
    **out = 0;
    return HYBRID_OK;
}

static void free_sums(hy_context *ctx, int64_t *sums)
{
    if (!hy_results_release(ctx, sums))
        hy_array_free(ctx, sums);
}

hybrid_status hy_profile_alloc(hy_context *ctx, hy_profile *p)
{
    const int64_t blocks = p->rows / HY_ENDS_ROWS + 1;
    void *array;

    if (!p->borrows)
        HY_TRY(hy_profile_sums(ctx, p->rows, "row offsets", &p->nnz));
    if (p->op == HY_SPMM) {
        p->products = p->nnz;
        return HYBRID_OK;
    }
    HY_TRY(hy_profile_sums(ctx, p->rows, "products of rows", &p->products));
    HY_TRY(hy_array(ctx, 2 * blocks, sizeof *p->ends, "ends of rows", &array));
    p->ends   = array;
    p->firsts = p->ends + blocks;
    memset(p->ends, 0, (size_t)blocks * sizeof *p->ends);
    for (int64_t b = 0; b < blocks; b++)
        p->firsts[b] = p->cols;
    return HYBRID_OK;
}

void hy_profile_free(hy_context *ctx, hy_profile *profile)
{
    if (profile->bound != profile->products)
        free_sums(ctx, profile->bound);
    if (profile->products != profile->nnz)
        free_sums(ctx, profile->products);
    if (!profile->borrows)
        free_sums(ctx, profile->nnz);
    hy_array_free(ctx, profile->ends);
    hy_lengths_free(ctx, &profile->lengths);
    memset(profile, 0, sizeof *profile);
}
