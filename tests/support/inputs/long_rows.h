/* tests/support/inputs/long_rows.h - products with rows of one to a million scalar
   products. */
#ifndef LONG_ROWS_H
#define LONG_ROWS_H

#include "hybrid_spmm.h"

/* Shape of a product. A has two rows with entries in all `inner` columns. Row l of B has
   `length` consecutive columns, beginning at column l * step modulo (cols - length + 1).
   B has cols + 1 columns; the last one is empty. */
typedef struct long_rows {
    const char *name;
    int64_t inner, length, step, cols;
} long_rows;

enum { LONG_ROWS = 7 };
extern const long_rows long_rows_table[LONG_ROWS];

typedef enum long_values {
    LONG_EQUAL,    /* all values are 0.1, with which rounding errors of sums grow much
                      faster than with random values */
    LONG_POSITIVE, /* random values in [0.5, 1.5) */
    LONG_SIGNED    /* random values in [-1, 1) */
} long_values;

/* Makes A and B. Values in A's second row are three times as large. matrix_free() frees
   them. */
void long_rows_make(const long_rows *shape, hybrid_type type, long_values values,
                    hybrid_csr *A, hybrid_csr *B);

#endif /* LONG_ROWS_H */
