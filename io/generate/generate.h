/* io/generate/generate.h - matrices from a description, the same for any number of
   threads. */
#ifndef HY_GENERATE_H
#define HY_GENERATE_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The grammar is at hybrid_generate(). BAD_ARGUMENT names the spec and its rule. */
hybrid_status hy_generate(hy_context *ctx, const char *spec, hybrid_type type,
                          uint64_t seed, hybrid_csr *out);

/* Element (i,j) depends on seed, i and j only: not on order, ld or type's rounding. */
hybrid_status hy_dense_random(hy_context *ctx, uint64_t seed, hybrid_dense *X);

/* ---- recipe: how io/generate_*.c describe a kind ------------------------------ */

enum { HY_RECIPE_ARGS = 3 };

/* A square matrix, row by row. */
typedef struct hy_recipe {
    const char *spec;
    int64_t arg[HY_RECIPE_ARGS];
    uint64_t seed;
    int64_t rows;
    int64_t row_most; /* entries that `row` writes at most, before dropping any */
    int64_t expected; /* entries, roughly: to refuse what no machine holds */
    int64_t least;    /* entries that are certain, or almost; 0: a quarter of `expected` */
    int64_t entry_bytes; /* of a column index and a value */
    /* Write the columns of row i, ascending without repeats; return how many. */
    int64_t (*row)(const struct hy_recipe *recipe, int64_t i, int32_t *col);
    int64_t *start; /* rmat: where a row's edges start in `edge` */
    int32_t *edge;
} hy_recipe;

/* Fill in the rest of a recipe from its arguments and seed. */
hybrid_status hy_recipe_stencil7(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_stencil27(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_fem3(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_road(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_band(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_er(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_powerlaw(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_rmat(hy_context *ctx, hy_recipe *recipe);

/* NO_MEMORY if the matrix and `more` bytes beside it are certain not to fit the host memory
   that is left. To be called before anything that takes long. */
hybrid_status hy_recipe_fits(hy_context *ctx, const hy_recipe *recipe, int64_t more);

/* Sort n columns and drop repeats; returns how many are left. */
int64_t hy_sort_columns(int32_t *col, int64_t n);

/* A permutation of [0, n), n < 2^31, that looks random; the same for every seed. */
int64_t hy_scramble(int64_t x, int64_t n);

#ifdef __cplusplus
}
#endif
#endif /* HY_GENERATE_H */
