/* tests/support/runs/host_rows.h - exact bits of rows of C = A*B by host variants. */
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

int host_open(int threads, test_host *h); /* opens the host backend and its lane; returns
                                             0, or -1 on failure */
void host_close(test_host *h);

/* host_wait() returns when all work of the lane has ended; host_run() enqueues a job on
   the lane, and waits. Both return the status of the work that failed first. */
hybrid_status host_wait(test_host *h);
hybrid_status host_run(test_host *h, const hy_variant *variant, hy_job *job);

/* Computes rows [begin, end) of A*B in one chunk and compares their bits with `right`,
   which is the whole product. A difference fails the test. */
void host_check_rows(test_host *h, const hy_variant *variant, const hybrid_csr *A,
                     const hybrid_csr *B, const plain_rows *right, int64_t begin,
                     int64_t end);

#endif /* HOST_ROWS_H */
