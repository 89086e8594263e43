/* io/generate/generate_grid.c - grid patterns: stencils, finite elements, roads, bands,
   and full matrices. */
#include "io/generate/generate.h"
#include "io/generate/random.h"

/* ---- neighbours on an N x N x N grid ----------------------------------------------- */

typedef struct node {
    int64_t x, y, z; /* in a grid with n nodes in each direction, the number of a node is
                        x + n * (y + n * z) */
} node;

static node node_at(int64_t i, int64_t n)
{
    return (node){i % n, i / n % n, i / (n * n)};
}

/* Returns the number of the node that is neighbour k, 0 to 26, of the node at `at` (13 is
   the node itself). Numbers ascend with k. -1: it lies outside the grid, which has n
   nodes in each direction. */
static int64_t neighbour(node at, int k, int64_t n)
{
    const int64_t x = at.x + k % 3 - 1, y = at.y + k / 3 % 3 - 1, z = at.z + k / 9 - 1;

    if (x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n)
        return -1;
    return (z * n + y) * n + x;
}

/* Returns 1 if the edge between a and b exists: a random decision, the same for both
   ends. */
static int keep_edge(uint64_t seed, int64_t a, int64_t b, double probability)
{
    const int64_t low = a < b ? a : b, high = a < b ? b : a;
    const uint64_t key = hy_key(seed, HY_RANDOM_COLUMNS, (uint64_t)low);

    return hy_unit(hy_draw(key, (uint64_t)high)) < probability;
}

/* ---- stencils ---------------------------------------------------------------------- */

static int64_t stencil27_row(const hy_recipe *recipe, int64_t i, int32_t *col)
{
    const node at = node_at(i, recipe->arg[0]);
    int64_t used  = 0;

    for (int k = 0; k < 27; k++) {
        const int64_t j = neighbour(at, k, recipe->arg[0]);
        if (j >= 0)
            col[used++] = (int32_t)j;
    }
    return used;
}

static int64_t stencil7_row(const hy_recipe *recipe, int64_t i, int32_t *col)
{
    /* which of the 27 neighbours share a face with the node; 13 is the node itself */
    static const int cross[7] = {4, 10, 12, 13, 14, 16, 22};
    const node at             = node_at(i, recipe->arg[0]);
    int64_t used              = 0;

    for (int k = 0; k < 7; k++) {
        const int64_t j = neighbour(at, cross[k], recipe->arg[0]);
        if (j >= 0)
            col[used++] = (int32_t)j;
    }
    return used;
}

hybrid_status hy_recipe_stencil7(hy_context *ctx, hy_recipe *recipe)
{
    (void)ctx;
    recipe->rows     = recipe->arg[0] * recipe->arg[0] * recipe->arg[0];
    recipe->row_most = 7;
    recipe->expected = recipe->rows * 7;
    recipe->least    = recipe->expected - 6 * recipe->arg[0] * recipe->arg[0];
    recipe->row      = stencil7_row;
    return HYBRID_OK;
}

hybrid_status hy_recipe_stencil27(hy_context *ctx, hy_recipe *recipe)
{
    (void)ctx;
    recipe->rows     = recipe->arg[0] * recipe->arg[0] * recipe->arg[0];
    recipe->row_most = 27;
    recipe->expected = recipe->rows * 27;
    recipe->least =
        (3 * recipe->arg[0] - 2) * (3 * recipe->arg[0] - 2) * (3 * recipe->arg[0] - 2);
    recipe->row = stencil27_row;
    return HYBRID_OK;
}

/* ---- finite elements: 3 unknowns per node, dense 3 x 3 blocks ---------------------- */

static int64_t fem3_row(const hy_recipe *recipe, int64_t i, int32_t *col)
{
    const int64_t self = i / 3, n = recipe->arg[0];
    const node at = node_at(self, n);
    int64_t used  = 0;

    for (int k = 0; k < 27; k++) {
        const int64_t j = neighbour(at, k, n);
        if (j < 0 || (j != self && !keep_edge(recipe->seed, self, j, 0.55)))
            continue;
        for (int unknown = 0; unknown < 3; unknown++)
            col[used++] = (int32_t)(3 * j + unknown);
    }
    return used;
}

hybrid_status hy_recipe_fem3(hy_context *ctx, hy_recipe *recipe)
{
    (void)ctx;
    recipe->rows     = 3 * recipe->arg[0] * recipe->arg[0] * recipe->arg[0];
    recipe->row_most = 81;
    recipe->expected = recipe->rows * 46;
    recipe->row      = fem3_row;
    return HYBRID_OK;
}

/* ---- roads: a grid with a part of its edges ---------------------------------------- */

static int64_t road_row(const hy_recipe *recipe, int64_t i, int32_t *col)
{
    const int64_t n = recipe->arg[0], x = i % n, y = i / n;
    const int64_t to[4] = {i - n, i - 1, i + 1, i + n};
    const int inside[4] = {y > 0, x > 0, x < n - 1, y < n - 1};
    int64_t used        = 0;

    for (int k = 0; k < 4; k++)
        if (inside[k] && keep_edge(recipe->seed, i, to[k], 0.62))
            col[used++] = (int32_t)to[k];
    return used;
}

hybrid_status hy_recipe_road(hy_context *ctx, hy_recipe *recipe)
{
    (void)ctx;
    recipe->rows     = recipe->arg[0] * recipe->arg[0];
    recipe->row_most = 4;
    recipe->expected = recipe->rows * 3;
    recipe->row      = road_row;
    return HYBRID_OK;
}

/* ---- full band --------------------------------------------------------------------- */

static int64_t band_row(const hy_recipe *recipe, int64_t i, int32_t *col)
{
    const int64_t half = recipe->arg[1], last = recipe->rows - 1;
    const int64_t begin = i > half ? i - half : 0;
    const int64_t end   = last - i > half ? i + half : last;

    for (int64_t j = begin; j <= end; j++)
        col[j - begin] = (int32_t)j;
    return end - begin + 1;
}

hybrid_status hy_recipe_band(hy_context *ctx, hy_recipe *recipe)
{
    const int64_t width = 2 * recipe->arg[1] + 1;

    (void)ctx;
    recipe->rows     = recipe->arg[0];
    recipe->row_most = width < recipe->rows ? width : recipe->rows;
    recipe->expected = recipe->rows * recipe->row_most;
    recipe->least    = recipe->expected / 2; /* the band of entries around the diagonal is
                                                cut off at the corners of the matrix */
    recipe->row = band_row;
    return HYBRID_OK;
}

/* ---- full matrix ------------------------------------------------------------------- */

static int64_t dense_row(const hy_recipe *recipe, int64_t i, int32_t *col)
{
    (void)i;
    for (int64_t j = 0; j < recipe->cols; j++)
        col[j] = (int32_t)j;
    return recipe->cols;
}

hybrid_status hy_recipe_dense(hy_context *ctx, hy_recipe *recipe)
{
    (void)ctx;
    recipe->rows     = recipe->arg[0];
    recipe->cols     = recipe->arg[1];
    recipe->row_most = recipe->cols;
    recipe->expected = recipe->rows * recipe->cols;
    recipe->least    = recipe->expected;
    recipe->row      = dense_row;
    return HYBRID_OK;
}
