/* tests/support/inputs/large.h - products that occupy a whole device. */
#ifndef LARGE_H
#define LARGE_H

#include "hybrid_spmm.h"

/* Checks SpMM with the variants of `names`. With LARGE_ROWS rows, kernels process several
   tiles of columns at once, unlike with the small cases. Each matrix is tried with every
   `step`-th width, beginning with different ones; 1: all widths. SpMV variants are
   skipped. Prints failures and returns their number; adds the number of products
   to *checked. */
int large_check(hybrid_engine *engine, const char *const *names, int64_t rows, int step,
                int64_t *checked);

/* Checks SpGEMM with the variants of `names` for both types. A has `like` rows each with
   about 64, 128, ... 262144 scalar products, so that the GPU variants use each of their
   kernels, which are made for rows of different lengths. */
int large_check_spgemm(hybrid_engine *engine, const char *const *names, int like,
                       int64_t *checked);

/* Arguments `rows` and `like` of the full test, and the products of each SpMM variant
   (all widths) and each SpGEMM variant. */
enum { LARGE_ROWS = 20000, LARGE_LIKE = 20, LARGE_PRODUCTS = 96, LARGE_SPGEMM = 2 };

#endif /* LARGE_H */
