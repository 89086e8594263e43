/* tests/support/runs/host_rows.h - rows of C = A*B by a variant of the host, bit for bit.
   */
#ifndef HOST_ROWS_H
#define HOST_ROWS_H

#include "base/contract/variant.h"
#include "tests/support/check/plain_rows.h"

/* A host backend with a lane, without an engine. */
typedef struct test_host {
    hy_context *ctx;
    hy_backend *backend;
    hy_lane *lane;
    hy_mark *mark;
} test_host;

int host_open(int threads, test_host *h); /* 0, or -1 */
void host_close(test_host *h);

/* Run what was enqueued on the lane; the status is the first failure's. */
hybrid_status host_wait(test_host *h);
hybrid_status host_run(test_host *h, const hy_variant *variant, hy_job *job);

/* Rows [begin, end) of A*B in one chunk: bit for bit as in `right`, which is all of it.
   Fails the running test. */
void host_check_rows(test_host *h, const hy_variant *variant, const hybrid_csr *A,
                     const hybrid_csr *B, const plain_rows *right, int64_t begin,
                     int64_t end);

#endif /* HOST_ROWS_H */
