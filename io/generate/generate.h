/* io/generate/generate.h - matrices from a description. The result does not depend on the
   number of threads. */
#ifndef HY_GENERATE_H
#define HY_GENERATE_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Generates the matrix of `spec`; hybrid_generate() gives the grammar. BAD_ARGUMENT names
   the spec and the rule that it breaks. */
hybrid_status hy_generate(hy_context *ctx, const char *spec, hybrid_type type,
                          uint64_t seed, hybrid_csr *out);

/* Fills X with random values. Element (i,j) depends on seed, i and j only, apart from
   rounding to the type. */
hybrid_status hy_dense_random(hy_context *ctx, uint64_t seed, hybrid_dense *X);

/* ---- recipes: how io/generate/generate_*.c describe a kind of matrix ----------- */

enum { HY_RECIPE_ARGS = 3 };

/* A matrix whose rows can each be made on their own (hy_recipe.row). */
typedef struct hy_recipe {
    const char *spec;
    int64_t arg[HY_RECIPE_ARGS];
    uint64_t seed;
    int64_t rows;
    int64_t cols;        /* number of columns; 0: the number of rows */
    int64_t row_most;    /* maximum entries that `row` writes, before it drops repeats */
    int64_t expected;    /* rough number of entries; a spec is refused if no machine could
                            hold them */
    int64_t least;       /* number of entries that the matrix almost certainly has; 0
                            stands for expected / 4 */
    int64_t entry_bytes; /* bytes of one column index and one value together */
    /* Writes the columns of row i, ascending without repeats; returns their number. */
    int64_t (*row)(const struct hy_recipe *recipe, int64_t i, int32_t *col);
    int64_t *start; /* rmat: array of the positions behind each row's edges in `edge`
                       (generate_rmat.c) */
    int32_t *edge;
} hy_recipe;

/* Each function completes a recipe of its kind. The caller has set `spec`, `arg`, `seed`
   and `entry_bytes`. */
hybrid_status hy_recipe_stencil7(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_stencil27(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_fem3(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_road(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_band(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_dense(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_er(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_wide(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_powerlaw(hy_context *ctx, hy_recipe *recipe);
hybrid_status hy_recipe_rmat(hy_context *ctx, hy_recipe *recipe);

/* Returns NO_MEMORY if the matrix together with `more` bytes certainly exceeds the
   remaining host memory. A recipe calls it before it allocates or computes anything
   large. */
hybrid_status hy_recipe_fits(hy_context *ctx, const hy_recipe *recipe, int64_t more);

/* Sorts n columns and drops repeats; returns the number of columns left. */
int64_t hy_sort_columns(int32_t *col, int64_t n);

/* Returns element x of a fixed permutation of [0, n), 0 < n < 2^31, that looks random. */
int64_t hy_scramble(int64_t x, int64_t n);

#ifdef __cplusplus
}
#endif
#endif /* HY_GENERATE_H */
