/* tests/support/subjects/host_spmm.h - Y = alpha*A*X + beta*Y by spmm.host.rows, without
   a plan. */
#ifndef HOST_SPMM_H
#define HOST_SPMM_H

#include "base/contract/variant.h"
#include "tests/support/inputs/cases.h"

extern hy_context *host_spmm_ctx; /* context of the host; NULL before it is opened */

/* Opens the host with this many threads. Returns 0, or -1 after a failure. */
int host_spmm_open(int threads);

/* Open the host with three threads, and close it: setup and teardown functions. */
int host_spmm_open_group(void **state);
int host_spmm_close_group(void **state);

/* Computes the rows and columns of the chunk. */
hybrid_status host_spmm(const hybrid_csr *A, const hybrid_dense *X, hybrid_dense *Y,
                        double alpha, double beta, const hy_chunk *chunk);

/* Makes a matrix with rows of 2 * HY_SEGMENT entries or more, which are cut into
   segments: one is far longer than that, one just long enough, and one has an entry less.
   Short and empty rows lie between them. The caller frees it with matrix_free(). */
void host_spmm_long_rows(test_kind kind, hybrid_csr *A);

#endif /* HOST_SPMM_H */
