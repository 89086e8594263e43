/* io/generate/generate_random.c - rows of random columns: Erdos-Renyi and power law. */
#include <math.h>

#include "io/generate/generate.h"
#include "io/generate/random.h"

/* ---- Erdos-Renyi, and wide: a fixed number of uniform columns per row ----------- */

static int64_t uniform_row(const hy_recipe *recipe, int64_t i, int32_t *col)
{
    const uint64_t key = hy_key(recipe->seed, HY_RANDOM_COLUMNS, (uint64_t)i);

    for (int64_t k = 0; k < recipe->arg[1]; k++)
        col[k] = (int32_t)hy_below(hy_draw(key, (uint64_t)k), recipe->cols);
    return hy_sort_columns(col, recipe->arg[1]);
}

static void make_uniform(hy_recipe *recipe, int64_t cols)
{
    const double rows = (double)recipe->arg[0], per_row = (double)recipe->arg[1];

    recipe->rows     = recipe->arg[0];
    recipe->cols     = cols;
    recipe->row_most = recipe->arg[1];
    recipe->expected = recipe->arg[0] * recipe->arg[1];
    /* expected number of entries after dropping repeats, less 1 % for chance */
    recipe->least =
        (int64_t)(0.99 * rows * (double)cols * -expm1(-per_row / (double)cols));
    recipe->row = uniform_row;
}

hybrid_status hy_recipe_er(hy_context *ctx, hy_recipe *recipe)
{
    (void)ctx;
    make_uniform(recipe, recipe->arg[0]);
    return HYBRID_OK;
}

hybrid_status hy_recipe_wide(hy_context *ctx, hy_recipe *recipe)
{
    (void)ctx;
    make_uniform(recipe, recipe->arg[2]);
    return HYBRID_OK;
}

/* ---- power law: Pareto row lengths, columns crowded at ROWS u^3 -------------------- */

static const double ALPHA = 1.6;

/* Draws a Pareto length by inversion: least u^(-1/alpha) has the mean
   least alpha / (alpha - 1). */
static int64_t pareto_length(const hy_recipe *recipe, int64_t i)
{
    const uint64_t key = hy_key(recipe->seed, HY_RANDOM_LENGTHS, (uint64_t)i);
    const double least = (double)recipe->arg[1] * (ALPHA - 1) / ALPHA;
    const double long_ = least * pow(1 - hy_unit(hy_draw(key, 0)), -1 / ALPHA);

    return long_ < (double)recipe->arg[2] ? (int64_t)long_ : recipe->arg[2];
}

static int64_t powerlaw_row(const hy_recipe *recipe, int64_t i, int32_t *col)
{
    const uint64_t key   = hy_key(recipe->seed, HY_RANDOM_COLUMNS, (uint64_t)i);
    const int64_t length = pareto_length(recipe, i);

    for (int64_t k = 0; k < length; k++) {
        const double u = hy_unit(hy_draw(key, (uint64_t)k));
        col[k]         = (int32_t)hy_scramble((int64_t)((double)recipe->rows * u * u * u),
                                              recipe->rows);
    }
    return hy_sort_columns(col, length);
}

hybrid_status hy_recipe_powerlaw(hy_context *ctx, hy_recipe *recipe)
{
    const int64_t mean = recipe->arg[1], most = recipe->arg[2];

    (void)ctx;
    recipe->rows     = recipe->arg[0];
    recipe->row_most = most;
    recipe->expected = recipe->arg[0] * (mean < most ? mean : most);
    recipe->row      = powerlaw_row;
    return HYBRID_OK;
}
