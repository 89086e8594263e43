/* io/generate/generate_rmat.c - R-MAT graphs (Chakrabarti, Zhan, Faloutsos, SDM 2004).

   Each edge falls through SCALE levels of quadrants, which are chosen with probabilities
   a, b, c, d. Edges land on arbitrary rows, so each edge is made twice: first to count
   the edges of its row, then to store it with the other edges of its row, which are
   called a bucket. The order in a bucket depends on timing; sorting each bucket makes the
   result definite. */
#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "io/generate/generate.h"
#include "io/generate/random.h"

static const double QUADRANT_A = 0.57, QUADRANT_B = 0.19, QUADRANT_C = 0.19;

enum { EDGE_GRAIN = 16384, ROW_GRAIN = 1024 };

typedef struct edge {
    int64_t row, col;
} edge;

static edge make_edge(const hy_recipe *recipe, int64_t number)
{
    const uint64_t key = hy_key(recipe->seed, HY_RANDOM_COLUMNS, (uint64_t)number);
    edge e             = {0, 0};

    for (int64_t level = 0; level < recipe->arg[0]; level++) {
        const double u = hy_unit(hy_draw(key, (uint64_t)level));
        const int down = u >= QUADRANT_A + QUADRANT_B;
        const int right =
            down ? u >= QUADRANT_A + QUADRANT_B + QUADRANT_C : u >= QUADRANT_A;
        e.row = 2 * e.row + down;
        e.col = 2 * e.col + right;
    }
    e.row = hy_scramble(e.row, recipe->rows);
    e.col = hy_scramble(e.col, recipe->rows);
    return e;
}

static hybrid_status count_edges(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_recipe *recipe = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++)
        __atomic_fetch_add(&recipe->start[make_edge(recipe, k).row], 1, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

/* Stores edges [begin, end) in the buckets of their rows. Each edge of row i adds 1 to
   start[i]. After all edges, start[i] is the end of row i and the start of row i + 1. */
static hybrid_status drop_edges(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_recipe *recipe = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const edge e     = make_edge(recipe, k);
        const int64_t at = __atomic_fetch_add(&recipe->start[e.row], 1, __ATOMIC_RELAXED);
        recipe->edge[at] = (int32_t)e.col;
    }
    return HYBRID_OK;
}

static int64_t bucket_begin(const hy_recipe *recipe, int64_t i)
{
    return i > 0 ? recipe->start[i - 1] : 0;
}

static hybrid_status sort_buckets(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_recipe *recipe = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = bucket_begin(recipe, i), length = recipe->start[i] - first;
        const int64_t kept = hy_sort_columns(recipe->edge + first, length);
        for (int64_t k = kept; k < length; k++)
            recipe->edge[first + k] = -1; /* marks the place of a dropped repeat */
    }
    return HYBRID_OK;
}

static int64_t rmat_row(const hy_recipe *recipe, int64_t i, int32_t *col)
{
    const int64_t first = bucket_begin(recipe, i), length = recipe->start[i] - first;
    int64_t used = 0;

    while (used < length && recipe->edge[first + used] >= 0) {
        col[used] = recipe->edge[first + used];
        used++;
    }
    return used;
}

static int64_t longest_bucket(const hy_recipe *recipe)
{
    int64_t longest = 0;

    for (int64_t i = 0; i < recipe->rows; i++)
        if (recipe->start[i] - bucket_begin(recipe, i) > longest)
            longest = recipe->start[i] - bucket_begin(recipe, i);
    return longest;
}

/* The caller frees recipe->start and recipe->edge, also after a failure. */
hybrid_status hy_recipe_rmat(hy_context *ctx, hy_recipe *recipe)
{
    const int64_t rows = INT64_C(1) << recipe->arg[0], edges = rows * recipe->arg[1];
    void *array;

    recipe->rows     = rows;
    recipe->expected = edges;
    recipe->row      = rmat_row;
    HY_TRY(hy_recipe_fits(ctx, recipe, edges * (int64_t)sizeof *recipe->edge));
    HY_TRY(hy_array(ctx, rows + 1, sizeof *recipe->start, "edges of each row", &array));
    recipe->start = array;
    HY_TRY(hy_array(ctx, edges, sizeof *recipe->edge, "edges of a graph", &array));
    recipe->edge = array;
    for (int64_t i = 0; i <= rows; i++)
        recipe->start[i] = 0;
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, edges, EDGE_GRAIN, count_edges, recipe));
    HY_TRY(hy_prefix_sum(ctx, recipe->start, rows));
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, edges, EDGE_GRAIN, drop_edges, recipe));
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, rows, ROW_GRAIN, sort_buckets, recipe));
    recipe->row_most = longest_bucket(recipe);
    return HYBRID_OK;
}
