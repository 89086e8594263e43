/* tests/support/products/pieces.h - products whose chunks have more entries than their
   slots have room for. */
#ifndef PIECES_CHECK_H
#define PIECES_CHECK_H

#include "tests/support/runs/budgets.h"

/* A product C = A*B. In half of the rows of C each entry has many scalar products, and in
   the other half it has one. A sample therefore finds about two for each entry. */
typedef struct uneven {
    hybrid_csr A, B;
} uneven;

/* Makes A*B with 2 * rows rows. Each row of A has `entries` entries, and each row of B has
   `length`. */
void uneven_make(int64_t rows, int64_t entries, int64_t length, hybrid_type type,
                 uneven *out);
void uneven_free(uneven *product);

/* Counts the passages of chunks through `multiply`; a hybrid_trace_fn for an int64_t. */
void pieces_count(void *passages, const hybrid_event *event);

/* Computes uneven products of short, medium and long rows with this variant and with less
   and less device memory: each plan stores C twice and hands out its rows once. Checks the
   results, and the order in which rows are handed out. Prints failures and returns their
   number. Adds the number of products to *checked, and to *again the number of products
   in which some rows were computed again. */
int pieces_check(budget_open open, const char *variant, int64_t *checked, int64_t *again);

#endif /* PIECES_CHECK_H */
