/* tests/support/runs/host_rows.c - exact bits of rows of C = A*B by host variants. */
#include "tests/support/runs/host_rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "host/backend/host_lane.h"
#include "partition/pattern/inspect.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/engines/context.h"

/* ---- the backend ---- */

int host_open(int threads, test_host *h)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    h->ctx = test_context(threads);
    if (hy_host_backend_ops.open(h->ctx, &options, &h->backend) != HYBRID_OK ||
        h->backend->ops->lane_open(h->backend, "run", 0, &h->lane) != HYBRID_OK)
        return -1;
    return h->backend->ops->mark_new(h->backend, &h->mark) == HYBRID_OK ? 0 : -1;
}

void host_close(test_host *h)
{
    h->backend->ops->lane_close(h->lane);
    h->backend->ops->mark_free(h->mark);
    h->backend->ops->close(h->backend);
    test_context_free(h->ctx);
}

hybrid_status host_wait(test_host *h)
{
    assert_int_equal(h->backend->ops->mark_set(h->lane, h->mark), HYBRID_OK);
    return h->backend->ops->host_wait(h->mark);
}

hybrid_status host_run(test_host *h, const hy_variant *variant, hy_job *job)
{
    assert_int_equal(variant->multiply(h->lane, job), HYBRID_OK);
    return host_wait(h);
}

/* ---- C = A*B ---- */

/* Returns rows [begin, end) of C. They are in `block`, which the caller frees. */
static hy_rows rows_of_c(test_host *h, const hy_variant *variant, const hybrid_csr *A,
                         const hybrid_csr *B, int64_t begin, int64_t end, int64_t *nnz,
                         hy_buffer *block)
{
    hy_profile profile;
    hy_chunk chunk = {.row_begin = begin, .row_end = end, .col_end = B->cols};
    hy_rates rates;

    assert_int_equal(hy_inspect(h->ctx, A, B, 0, NULL, &profile), HYBRID_OK);
    hy_problem problem = {
        .op = HY_SPGEMM, .ctx = h->ctx, .A = A, .B = B, .profile = &profile};
    hy_job job     = {.problem = &problem, .chunk = &chunk, .variant = variant};
    chunk.features = hy_profile_range(&profile, begin, end, B->cols);
    h->backend->ops->rates(h->backend, &rates);
    assert_null(variant->refuse(&chunk.features, &rates));
    const hy_cost cost = variant->cost(&chunk.features, &rates);
    assert_true(cost.multiply_s > 0);
    assert_int_equal(cost.pack_bytes + cost.work_bytes, 0);
    assert_int_equal(
        h->backend->ops->alloc(h->backend, HY_DEVICE, cost.out_bytes, "a test", block),
        HYBRID_OK);
    job.out     = hy_rows_in(block->ptr, HY_SPGEMM, &chunk.features, 1);
    job.out_nnz = nnz;
    assert_int_equal(host_run(h, variant, &job), HYBRID_OK);
    hy_profile_free(h->ctx, &profile);
    return job.out;
}

/* ---- checks ---- */

static void check_row(const char *name, const hy_rows *out, hybrid_type type, int64_t at,
                      int64_t count, const plain_rows *right, int64_t i)
{
    const int64_t first = right->row_ptr[i];

    assert_int_equal(count, right->row_ptr[i + 1] - first);
    for (int64_t k = 0; k < count; k++)
        if (out->col[at + k] != right->col[first + k] ||
            !plain_same_bits(type, out->val, at + k, right->val[first + k]))
            fail_msg("%s: entry (%lld, %d) is wrong", name, (long long)i,
                     (int)right->col[first + k]);
}

void host_check_rows(test_host *h, const hy_variant *variant, const hybrid_csr *A,
                     const hybrid_csr *B, const plain_rows *right, int64_t begin,
                     int64_t end)
{
    hy_buffer block;
    int64_t nnz       = -1;
    const hy_rows out = rows_of_c(h, variant, A, B, begin, end, &nnz, &block);

    assert_int_equal(out.row_ptr[0], 0);
    assert_int_equal(out.row_ptr[end - begin], nnz);
    for (int64_t i = begin; i < end; i++) {
        const int64_t *offset = &out.row_ptr[i - begin];
        check_row(variant->name, &out, A->type, out.row_at[i - begin],
                  offset[1] - offset[0], right, i);
    }
    h->backend->ops->free(h->backend, &block);
}
