/* io/generate/generate.c - makes a matrix from a spec such as "er:1000,8".

   Each kind of matrix has a recipe, a function that writes any row on demand. Each row is
   made twice, first to count its entries and then to store them. That is cheaper than
   storing rows in between, and needs memory for one row per worker only. */
#include "io/generate/generate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "base/memory/memory.h"
#include "base/memory/shortage.h"
#include "io/generate/random.h"

enum { GRAIN = 1024 };

/* most rows or columns: column indices have 32 bits */
#define ROWS_MOST INT64_C(2147483647)
/* maximum entries of a matrix; that many take 64 TiB or more */
#define ENTRIES_MOST (INT64_C(1) << 43)

/* ---- the grammar ------------------------------------------------------------------ */

typedef struct kind {
    const char *name, *args; /* name of the kind and names of its arguments, as the user
                                writes them */
    int arg_count;
    struct {
        int64_t least, most;
    } range[HY_RECIPE_ARGS];
    const char *rule; /* the allowed numbers in words, for messages */
    hybrid_status (*open)(hy_context *ctx, hy_recipe *recipe);
} kind;

static const kind kinds[] = {
    {"stencil7", "N", 1, {{1, 1290}}, "N in 1..1290", hy_recipe_stencil7},
    {"stencil27", "N", 1, {{1, 1290}}, "N in 1..1290", hy_recipe_stencil27},
    {"fem3", "N", 1, {{1, 894}}, "N in 1..894", hy_recipe_fem3},
    {"er",
     "ROWS,PER_ROW",
     2,
     {{1, ROWS_MOST}, {0, ROWS_MOST}},
     "ROWS in 1..2^31-1 and PER_ROW in 0..2^31-1",
     hy_recipe_er},
    {"wide",
     "ROWS,PER_ROW,COLS",
     3,
     {{1, ROWS_MOST}, {0, ROWS_MOST}, {1, ROWS_MOST}},
     "ROWS and COLS in 1..2^31-1 and PER_ROW in 0..2^31-1",
     hy_recipe_wide},
    {"rmat",
     "SCALE,EDGES",
     2,
     {{1, 30}, {0, ROWS_MOST}},
     "SCALE in 1..30 and EDGES (per row) in 0..2^31-1",
     hy_recipe_rmat},
    {"powerlaw",
     "ROWS,MEAN,MAX",
     3,
     {{1, ROWS_MOST}, {1, ROWS_MOST}, {1, ROWS_MOST}},
     "ROWS, MEAN and MAX in 1..2^31-1",
     hy_recipe_powerlaw},
    {"road", "N", 1, {{1, 46340}}, "N in 1..46340", hy_recipe_road},
    {"band",
     "ROWS,HALF",
     2,
     {{1, ROWS_MOST}, {0, ROWS_MOST}},
     "ROWS in 1..2^31-1 and HALF in 0..2^31-1",
     hy_recipe_band},
    {"dense",
     "ROWS,COLS",
     2,
     {{1, ROWS_MOST}, {1, ROWS_MOST}},
     "ROWS and COLS in 1..2^31-1",
     hy_recipe_dense},
};

enum { KINDS = (int)(sizeof kinds / sizeof *kinds) };

static const kind *find_kind(const char *spec)
{
    const size_t length = strcspn(spec, ":");

    for (int i = 0; i < KINDS; i++)
        if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, spec, length) == 0)
            return &kinds[i];
    return NULL;
}

/* Reads the numbers after the kind; returns 0 if they break its rule. */
static int parse_args(const kind *k, const char *spec, int64_t *arg)
{
    const char *p = spec + strlen(k->name);

    for (int i = 0; i < k->arg_count; i++) {
        char *end;
        if (*p != (i == 0 ? ':' : ',') || p[1] < '0' || p[1] > '9')
            return 0;
        errno  = 0;
        arg[i] = strtoll(p + 1, &end, 10);
        if (errno || arg[i] < k->range[i].least || arg[i] > k->range[i].most)
            return 0;
        p = end;
    }
    return *p == '\0';
}

static hybrid_status parse_spec(hy_context *ctx, const char *spec, hy_recipe *recipe,
                                const kind **out)
{
    *out = find_kind(spec);
    if (!*out)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "'%s' is not a problem: a problem begins with stencil7:, "
                       "stencil27:, fem3:, er:, wide:, rmat:, powerlaw:, road:, band: or "
                       "dense:",
                       spec);
    if (!parse_args(*out, spec, recipe->arg))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "'%s' is not %s:%s with integers %s",
                       spec, (*out)->name, (*out)->args, (*out)->rule);
    return HYBRID_OK;
}

/* ---- shared by recipes ------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void insertion_sort(int32_t *col, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const int32_t x = col[i];
        int64_t k       = i;
        for (; k > 0 && col[k - 1] > x; k--)
            col[k] = col[k - 1];
        col[k] = x;
    }
}

int64_t hy_sort_columns(int32_t *col, int64_t n)
{
    int64_t kept = 0;

    if (n <= 32)
        insertion_sort(col, n);
    else
        qsort(col, (size_t)n, sizeof *col, ascending);
    for (int64_t i = 0; i < n; i++)
        if (kept == 0 || col[kept - 1] != col[i])
            col[kept++] = col[i];
    return kept;
}

/* Applies invertible steps to the bits that n needs, and repeats them while the result is
   outside [0, n). */
int64_t hy_scramble(int64_t x, int64_t n)
{
    const int bits      = n > 2 ? 64 - __builtin_clzll((uint64_t)n - 1) : 1;
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t y          = (uint64_t)x;

    do {
        for (int round = 0; round < 3; round++) {
            y = (y * UINT64_C(0x9e3779b97f4a7c15) + 0x5bd1) & mask;
            y ^= y >> (bits / 2 + 1);
        }
    } while (y >= (uint64_t)n);
    return (int64_t)y;
}

/* ---- rows to matrix --------------------------------------------------------------- */

typedef struct build {
    const hy_recipe *recipe;
    int32_t *scratch; /* memory for one row for each thread of the loop (its `part`),
                         `stride` elements apart */
    int64_t stride;
    int64_t *count; /* array of each row's number of entries, later of its offset */
    hybrid_csr *out;
} build;

static hybrid_status count_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const build *b = arg;
    int32_t *col   = b->scratch + part * b->stride;

    for (int64_t i = begin; i < end; i++)
        b->count[i] = b->recipe->row(b->recipe, i, col);
    return HYBRID_OK;
}

/* Sets values in [0.5, 1.5). The random bits are few enough that no value is rounded up
   to 1.5. */
static void set_values(const hybrid_csr *out, uint64_t key, int64_t begin, int64_t end)
{
    const double epsilon = hy_value_type_of(out->type)->epsilon;
    const int unused     = 64 + ilogb(epsilon); /* bits of a draw */

    for (int64_t k = begin; k < end; k++) {
        const uint64_t draw = hy_draw(key, (uint64_t)hy_cols(out)[k]);
        hy_value_put(out->type, out->val, k, 0.5 + (double)(draw >> unused) * epsilon);
    }
}

static hybrid_status store_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const build *b      = arg;
    const hybrid_csr *C = b->out;
    int32_t *col        = b->scratch + part * b->stride;
    int64_t *row_ptr    = C->row_ptr;

    for (int64_t i = begin; i < end; i++) {
        const int64_t n = b->recipe->row(b->recipe, i, col);
        if (n > 0)
            memcpy(hy_cols(C) + b->count[i], col, (size_t)n * sizeof *col);
        row_ptr[i + 1] = b->count[i] + n;
        set_values(C, hy_key(b->recipe->seed, HY_RANDOM_VALUES, (uint64_t)i), b->count[i],
                   b->count[i] + n);
    }
    return HYBRID_OK;
}

static hybrid_status open_build(hy_context *ctx, const hy_recipe *recipe, build *b)
{
    const int64_t parts = hy_pool_threads(ctx->pool);
    void *array;

    b->stride = (recipe->row_most + 31) / 16 * 16; /* row_most in whole cache lines, plus
                                                      one line, so that workers share no
                                                      cache line */
    HY_TRY(hy_array(ctx, parts * b->stride, sizeof *b->scratch, "a row of each worker",
                    &array));
    b->scratch = array;
    HY_TRY(hy_array(ctx, recipe->rows + 1, sizeof *b->count, "row lengths", &array));
    b->count = array;
    return HYBRID_OK;
}

static hybrid_status make_rows(hy_context *ctx, const hy_recipe *recipe, hybrid_type type,
                               hybrid_csr *out)
{
    const int64_t rows = recipe->rows;
    hybrid_csr matrix;
    build b = {.recipe = recipe, .out = &matrix};
    hybrid_status status;

    HY_TRY_ELSE_DONE(open_build(ctx, recipe, &b));
    HY_TRY_ELSE_DONE(hy_pool_for(ctx->pool, HY_COMPUTE, 0, rows, GRAIN, count_rows, &b));
    HY_TRY_ELSE_DONE(hy_prefix_sum(ctx, b.count, rows));
    HY_TRY_ELSE_DONE(hy_csr_alloc(ctx, rows, recipe->cols > 0 ? recipe->cols : rows,
                                  b.count[rows], type, &matrix));
    ((int64_t *)matrix.row_ptr)[0] = 0;
    status = hy_pool_for(ctx->pool, HY_COMPUTE, 0, rows, GRAIN, store_rows, &b);
    if (status == HYBRID_OK)
        *out = matrix;
    else
        hy_csr_free(ctx, &matrix);
done:
    hy_array_free(ctx, b.scratch);
    hy_array_free(ctx, b.count);
    return status;
}

/* Returns a number of entries that the matrix almost certainly has: recipe->least, or a
   quarter of the expected entries if it is 0. */
static double least_entries(const hy_recipe *recipe)
{
    const double cells    = (double)recipe->rows * (double)recipe->rows;
    const double expected = (double)recipe->expected;

    return recipe->least > 0 ? (double)recipe->least
                             : (expected < cells ? expected : cells) / 4;
}

hybrid_status hy_recipe_fits(hy_context *ctx, const hy_recipe *recipe, int64_t more)
{
    const double per_row = 2 * sizeof(int64_t); /* bytes of a row's offset and, while rows
                                                   are made, of its length */
    const double bytes = (double)recipe->rows * per_row + (double)more +
                         least_entries(recipe) * (double)recipe->entry_bytes;
    char what[128];

    if (hy_memory_has_room(ctx, (int64_t)fmin(bytes, 0x1p62)))
        return HYBRID_OK;
    snprintf(what, sizeof what, "the matrix '%s'", recipe->spec);
    return hy_memory_full(ctx, what, (int64_t)bytes, ", or generate a smaller matrix");
}

hybrid_status hy_generate(hy_context *ctx, const char *spec, hybrid_type type,
                          uint64_t seed, hybrid_csr *out)
{
    hy_recipe recipe = {.spec = spec, .seed = seed};
    const kind *k;
    hybrid_status status;

    HY_TRY(hy_check_type(ctx, HYBRID_BAD_ARGUMENT, "generate", type));
    HY_TRY(parse_spec(ctx, spec, &recipe, &k));
    recipe.entry_bytes = (int64_t)(sizeof(int32_t) + hy_value_size(type));
    HY_TRY_ELSE_DONE(k->open(ctx, &recipe));
    if (recipe.expected > ENTRIES_MOST)
        HY_TRY_ELSE_DONE(hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                                 "'%s' would have %.3g entries, and 2^43 is the limit",
                                 spec, (double)recipe.expected));
    HY_TRY_ELSE_DONE(hy_recipe_fits(ctx, &recipe, 0));
    HY_TRY_ELSE_DONE(make_rows(ctx, &recipe, type, out));
done:
    hy_array_free(ctx, recipe.start);
    hy_array_free(ctx, recipe.edge);
    return status;
}
