/* tests/support/check/plain_rows.h - C = A*B by the plainest loop, and comparison of
   bits. */
#ifndef PLAIN_ROWS_H
#define PLAIN_ROWS_H

#include "hybrid_spmm.h"

/* All of C = A*B as a plain loop computes it. Each scalar product and sum is rounded to
   A's type; sums begin with +0 and follow the order of A's entries. */
typedef struct plain_rows {
    int64_t *row_ptr; /* rows + 1 offsets */
    int32_t *col;
    double *val;
    int64_t rows, cols;
    hybrid_type type;
} plain_rows;

/* Sets the values of A to zeros of both signs, ones, and numbers whose scalar products
   underflow. Some values of the second half become infinities and NaN. */
void matrix_set_odd(hybrid_csr *A);

/* Computes A*B in memory from malloc(). A failed allocation aborts the program. */
void plain_rows_make(const hybrid_csr *A, const hybrid_csr *B, plain_rows *out);
void plain_rows_free(plain_rows *rows);

/* Returns 1 if value k has the bits of `expected`. Any NaN equals any other NaN. */
int plain_same_bits(hybrid_type type, const void *values, int64_t k, double expected);

/* Returns NULL if C has the shape, entries and bits of `right` (any NaN equals any other
   NaN), else a sentence that names the difference, valid until the next call. */
const char *plain_rows_differ(const plain_rows *right, const hybrid_csr *C);

#endif /* PLAIN_ROWS_H */
