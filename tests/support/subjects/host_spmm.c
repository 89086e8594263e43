/* tests/support/subjects/host_spmm.c - Y = alpha*A*X + beta*Y by spmm.host.rows, without
   a plan. */
#include "tests/support/subjects/host_spmm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/backend/host_lane.h"
#include "tests/support/engines/context.h"

extern const hy_variant hy_spmm_host_rows;

hy_context *host_spmm_ctx;
static hy_backend *host;
static hy_lane *lane;
static hy_mark *mark;

int host_spmm_open(int threads)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    host_spmm_ctx = test_context(threads);
    if (hy_host_backend_ops.open(host_spmm_ctx, &options, &host) != HYBRID_OK ||
        host->ops->lane_open(host, "run", 0, &lane) != HYBRID_OK)
        return -1;
    return host->ops->mark_new(host, &mark) == HYBRID_OK ? 0 : -1;
}

int host_spmm_open_group(void **state)
{
    (void)state;
    return host_spmm_open(3);
}

int host_spmm_close_group(void **state)
{
    (void)state;
    host->ops->lane_close(lane);
    host->ops->mark_free(mark);
    host->ops->close(host);
    test_context_free(host_spmm_ctx);
    return 0;
}

static hybrid_status run(const hy_variant *variant, hy_job *job)
{
    assert_int_equal(variant->multiply(lane, job), HYBRID_OK);
    assert_int_equal(host->ops->mark_set(lane, mark), HYBRID_OK);
    return host->ops->host_wait(mark);
}

hybrid_status host_spmm(const hybrid_csr *A, const hybrid_dense *X, hybrid_dense *Y,
                        double alpha, double beta, const hy_chunk *chunk)
{
    hy_problem problem = {.op    = HY_SPMM,
                          .ctx   = host_spmm_ctx,
                          .A     = A,
                          .X     = X,
                          .Y     = Y,
                          .alpha = alpha,
                          .beta  = beta};
    hy_job job         = {.problem = &problem, .chunk = chunk};
    return run(&hy_spmm_host_rows, &job);
}

enum { LONG_COLS = 20000, LONG_ROWS = 10 };

void host_spmm_long_rows(test_kind kind, hybrid_csr *A)
{
    static const int64_t lengths[LONG_ROWS] = {3, 20000, 4096, 0, 4095,
                                               1, 13001, 6145, 2, 0};
    int64_t *row_ptr                        = calloc(LONG_ROWS + 1, 8);
    int32_t *col                            = calloc((size_t)LONG_ROWS * LONG_COLS, 4);
    void *val                               = calloc((size_t)LONG_ROWS * LONG_COLS, 8);

    assert_true(row_ptr && col && val);
    for (int i = 0; i < LONG_ROWS; i++) {
        row_ptr[i + 1] = row_ptr[i] + lengths[i];
        for (int64_t k = 0; k < lengths[i]; k++)
            col[row_ptr[i] + k] = (int32_t)(k * LONG_COLS / lengths[i]);
    }
    for (int64_t k = 0; k < row_ptr[LONG_ROWS]; k++)
        value_set(val, kind.type, k, test_number(5, k, kind.integers));
    *A = (hybrid_csr){.rows        = LONG_ROWS,
                      .cols        = LONG_COLS,
                      .nnz         = row_ptr[LONG_ROWS],
                      .offset_type = HYBRID_I64,
                      .type        = kind.type,
                      .row_ptr     = row_ptr,
                      .col         = col,
                      .val         = val};
}
