/* tests/support/check/plain_rows.h - C = A*B by the plainest loop, and whether a result
   has its bits. */
#ifndef PLAIN_ROWS_H
#define PLAIN_ROWS_H

#include "hybrid_spmm.h"

/* All of A*B: each product rounded to the type, sums from +0 in the order of A. */
typedef struct plain_rows {
    int64_t *row_ptr; /* rows + 1 */
    int32_t *col;
    double *val;
    int64_t rows, cols;
    hybrid_type type;
} plain_rows;

/* Sets the values of A to zeros of both signs, ones, and numbers whose products are too small
   for the type; and some of the later half to infinities and NaN. */
void matrix_set_odd(hybrid_csr *A);

/* malloc's memory; running out of it aborts the test. */
void plain_rows_make(const hybrid_csr *A, const hybrid_csr *B, plain_rows *out);
void plain_rows_free(plain_rows *rows);

/* Value k of such an array has the bits of `expected`; one NaN is as good as another. */
int plain_same_bits(hybrid_type type, const void *values, int64_t k, double expected);

/* NULL if C has the shape, the entries and the bits of `right`, else a sentence that names
   what has not; valid until the next call. */
const char *plain_rows_differ(const plain_rows *right, const hybrid_csr *C);

#endif /* PLAIN_ROWS_H */
