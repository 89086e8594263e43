/* tests/support/inputs/large.h - products that fill a device. */
#ifndef LARGE_H
#define LARGE_H

#include "hybrid_spmm.h"

/* SpMM by the named variants; LARGE_ROWS are so many that kernels take several tiles of
   columns at once, as they do not with the small cases. One width of `step` is tried with
   each matrix, in turns; 1: all. Failures are printed; returns how many there were.
   *checked counts the products; variants of SpMV are passed over. */
int large_check(hybrid_engine *engine, const char *const *names, int64_t rows, int step,
                int64_t *checked);

/* SpGEMM by the named variants, of both types, of rows with about 64, 128, ... 262144
   products, `like` of each length: of all lengths that kernels treat in ways of their
   own. */
int large_check_spgemm(hybrid_engine *engine, const char *const *names, int like,
                       int64_t *checked);

/* `rows` and `like` of the full test; products of each variant of SpMM in all widths, and
   of SpGEMM. */
enum { LARGE_ROWS = 20000, LARGE_LIKE = 20, LARGE_PRODUCTS = 96, LARGE_SPGEMM = 2 };

#endif /* LARGE_H */
