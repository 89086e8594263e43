/* tests/support/inputs/builder.h - builds test matrices row by row. */
#ifndef BUILDER_H
#define BUILDER_H

#include "tests/support/inputs/cases.h"

typedef struct builder {
    int64_t rows, cols;
    int64_t row, nnz, capacity;
    int64_t *row_ptr;
    int32_t *col;
} builder;

builder build_start(int64_t rows, int64_t cols);

/* build_add() adds an entry in column `col` to the current row, in any order; a column
   that the row has already is ignored. build_end_row() ends the row. */
void build_add(builder *b, int64_t col);
void build_end_row(builder *b);

/* Returns the matrix with values of that kind. It takes over the builder's arrays. Rows
   that were not built are empty. */
hybrid_csr build_finish(builder *b, uint64_t seed, test_kind kind);

/* Makes a matrix whose rows have entries in the first `each` columns, but row `full` in all
   columns; -1: no row has. */
hybrid_csr build_rows(int64_t rows, int64_t cols, int64_t each, int64_t full,
                      test_kind kind);

/* Return pseudorandom number k of the sequence `seed`: a real number in [0, 1), or a
   whole number in [0, limit). */
double test_uniform(uint64_t seed, uint64_t k);
int64_t test_below(uint64_t seed, uint64_t k, int64_t limit);

#endif /* BUILDER_H */
