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

/* Adds a column to the current row, in any order. Duplicates are dropped. */
void build_add(builder *b, int64_t col);
void build_end_row(builder *b);

/* Returns the matrix, which owns the builder's arrays. Rows that were not built are
   empty. */
hybrid_csr build_finish(builder *b, uint64_t seed, test_kind kind);

/* Return a pseudorandom number in [0, 1), or in [0, limit). */
double test_uniform(uint64_t seed, uint64_t k);
int64_t test_below(uint64_t seed, uint64_t k, int64_t limit);

#endif /* BUILDER_H */
