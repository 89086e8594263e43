/* tests/support/inputs/large.h - products that occupy a whole device. */
#ifndef LARGE_H
#define LARGE_H

#include "hybrid_spmm.h"

/* Checks SpMM with the variants of `names`, which may include SpMV variants; these are
   skipped. With rows = LARGE_ROWS, kernels process several tiles of columns at once,
   unlike with the small cases. Each matrix is multiplied by every `step`-th width of X,
   beginning with different ones; step 1: all widths. Prints failures and returns their
   number; adds the number of products to *checked. */
int large_check(hybrid_engine *engine, const char *const *names, int64_t rows, int step,
                int64_t *checked);

/* Checks SpGEMM with the variants of `names` for both types. A has `like` rows each with
   about 64, 128, ... 262144 scalar products, so that the GPU variants use each of their
   kernels, which are made for rows of different lengths. */
int large_check_spgemm(hybrid_engine *engine, const char *const *names, int like,
                       int64_t *checked);

/* LARGE_ROWS and LARGE_LIKE: arguments `rows` and `like` of the full test.
   LARGE_PRODUCTS and LARGE_SPGEMM: products that large_check() with step 1, and
   large_check_spgemm(), add to *checked for each variant. */
enum { LARGE_ROWS = 20000, LARGE_LIKE = 20, LARGE_PRODUCTS = 96, LARGE_SPGEMM = 2 };

#endif /* LARGE_H */
