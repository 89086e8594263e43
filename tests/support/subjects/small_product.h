/* tests/support/subjects/small_product.h - a small matrix, and what calls say of it. */
#ifndef SMALL_PRODUCT_H
#define SMALL_PRODUCT_H

#include "hybrid_spmm.h"

/* Returns the matrix [1 2 0; 0 0 3; 4 0 5]. All such matrices share their arrays. */
hybrid_csr small_matrix(void);

/* Checks the status of a call on the engine of host_engine.h, and that its sentence
   contains `text`. */
void assert_message(hybrid_status status, hybrid_status wanted, const char *text);

#endif /* SMALL_PRODUCT_H */
