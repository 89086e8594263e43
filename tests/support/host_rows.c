/* tests/support/host_rows.c - rows of C = A*B by a variant of the host, bit for bit. */
#include "tests/support/host_rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/csr.h"
#include "host/host_lane.h"
#include "partition/inspect.h"
#include "partition/pack.h"
#include "tests/support/builder.h"
#include "tests/support/context.h"

/* ---- the backend ------------------------------------------------------------------ */

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

/* ---- C = A*B ---------------------------------------------------------------------- */

/* Rows [begin, end) of C; block is where they are, to be freed. */
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
    assert_int_equal(h->backend->ops->alloc(h->backend, HY_DEVICE, cost.out_bytes, block),
                     HYBRID_OK);
    job.out     = hy_rows_in(block->ptr, HY_SPGEMM, &chunk.features, 1);
    job.out_nnz = nnz;
    assert_int_equal(host_run(h, variant, &job), HYBRID_OK);
    hy_profile_free(h->ctx, &profile);
    return job.out;
}

/* One NaN is as good as another. */
static int same_bits(hybrid_type type, const void *values, int64_t k, double expected)
{
    const double d    = expected;
    const float f     = (float)expected;
    const int f64     = type == HYBRID_F64;
    const size_t size = f64 ? sizeof d : sizeof f;
    const void *right = f64 ? (const void *)&d : (const void *)&f;

    if (isnan(expected))
        return isnan(value_at(values, type, k));
    return memcmp((const char *)values + k * (int64_t)size, right, size) == 0;
}

/* ---- the plainest loop --------------------------------------------------------------
 */

/* One row of C as an array of all its columns, and which of them occur. */
typedef struct plain_row {
    double *sum;
    uint8_t *there;
} plain_row;

static void *allocate(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);

    assert_non_null(memory);
    return memory;
}

static void add_row(const hybrid_csr *A, const hybrid_csr *B, int64_t i, plain_row *p)
{
    for (int64_t k = hy_offset(A, i); k < hy_offset(A, i + 1); k++)
        for (int64_t l = hy_offset(B, A->col[k]); l < hy_offset(B, A->col[k] + 1); l++) {
            const double a = value_at(A->val, A->type, k),
                         b = value_at(B->val, B->type, l);
            double *sum    = &p->sum[B->col[l]];
            if (A->type == HYBRID_F64) {
                const volatile double product = a * b;
                *sum += product;
            } else {
                const volatile float product = (float)a * (float)b;
                *sum                         = (float)*sum + product;
            }
            p->there[B->col[l]] = 1;
        }
}

/* Append the row to C, and clear it. */
static void take_row(plain_rows *c, int64_t i, int64_t cols, plain_row *p)
{
    int64_t n = c->row_ptr[i];

    for (int64_t j = 0; j < cols; j++) {
        if (!p->there[j])
            continue;
        c->col[n]   = (int32_t)j;
        c->val[n++] = p->sum[j];
        p->sum[j]   = 0;
        p->there[j] = 0;
    }
    c->row_ptr[i + 1] = n;
}

static int64_t count_products(const hybrid_csr *A, const hybrid_csr *B)
{
    int64_t products = 0;

    for (int64_t k = 0; k < A->nnz; k++)
        products += hy_offset(B, A->col[k] + 1) - hy_offset(B, A->col[k]);
    return products;
}

void plain_rows_make(const hybrid_csr *A, const hybrid_csr *B, plain_rows *out)
{
    const int64_t most = count_products(A, B);
    plain_row row      = {allocate(B->cols, sizeof *row.sum),
                          allocate(B->cols, sizeof *row.there)};

    out->row_ptr = allocate(A->rows + 1, sizeof *out->row_ptr);
    out->col     = allocate(most, sizeof *out->col);
    out->val     = allocate(most, sizeof *out->val);
    for (int64_t i = 0; i < A->rows; i++) {
        add_row(A, B, i, &row);
        take_row(out, i, B->cols, &row);
    }
    free(row.sum);
    free(row.there);
}

void plain_rows_free(plain_rows *rows)
{
    free(rows->row_ptr);
    free(rows->col);
    free(rows->val);
}

/* ---- checks -------------------------------------------------------------------------
 */

static void check_row(const char *name, const hy_rows *out, hybrid_type type, int64_t at,
                      int64_t count, const plain_rows *right, int64_t i)
{
    const int64_t first = right->row_ptr[i];

    assert_int_equal(count, right->row_ptr[i + 1] - first);
    for (int64_t k = 0; k < count; k++)
        if (out->col[at + k] != right->col[first + k] ||
            !same_bits(type, out->val, at + k, right->val[first + k]))
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

/* Zeros of both signs, products too small for the type, infinity, NaN. */
void matrix_set_odd(hybrid_csr *A)
{
    const double tiny  = A->type == HYBRID_F64 ? 1e-200 : 1e-30;
    const double odd[] = {0.0, -0.0, tiny, -tiny, 1, -1, INFINITY};

    for (int64_t k = 0; k < A->nnz; k++) {
        const int infinite = k > A->nnz / 2 && test_below(3, (uint64_t)k, 16) == 0;
        value_set(A->val, A->type, k, odd[infinite ? 6 : test_below(17, (uint64_t)k, 6)]);
    }
}
