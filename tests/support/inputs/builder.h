/* tests/support/inputs/builder.h - test matrices, built row after row. */
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

/* A column of the row being built; any order, repeats are dropped. */
void build_add(builder *b, int64_t col);
void build_end_row(builder *b);

/* Rows that were not built are empty. The builder's arrays are handed over. */
hybrid_csr build_finish(builder *b, uint64_t seed, test_kind kind);

/* In [0, 1), and in [0, limit). */
double test_uniform(uint64_t seed, uint64_t k);
int64_t test_below(uint64_t seed, uint64_t k, int64_t limit);

#endif /* BUILDER_H */
