/* tests/variants/test_host_huge.c - a row of C with most of the scalar products, computed
   by several workers of the host.

   It must have the bits that a single worker computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/threads/pool.h"
#include "host/spgemm/spgemm_host.h"
#include "host/backend/target.h"
#include "partition/pattern/inspect.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/runs/host_rows.h"

extern const hy_variant hy_spgemm_host_rows, hy_spgemm_host_hash, hy_spgemm_host_dense;

static const hy_variant *const spgemm[] = {&hy_spgemm_host_rows, &hy_spgemm_host_hash,
                                           &hy_spgemm_host_dense};

enum { SPGEMM = sizeof spgemm / sizeof *spgemm, WORKERS = 9, ROWS = 6 };

static test_host host;

static int open_host(void **state)
{
    (void)state;
    return host_open(WORKERS, &host);
}

static int close_host(void **state)
{
    (void)state;
    host_close(&host);
    return 0;
}

/* Makes a matrix of which rows 2 and 3 have all columns but each seventh or ninth, so
   that a row of A*B needs most of B. Other rows have up to 20 entries. */
static hybrid_csr hubs(int64_t cols, test_kind kind)
{
    builder b = build_start(ROWS, cols);

    for (int64_t i = 0; i < ROWS; i++) {
        if (i == 2 || i == 3)
            for (int64_t c = 0; c < cols; c++)
                if (c % (i == 2 ? 7 : 9) > 0)
                    build_add(&b, c);
        for (int64_t t = 0; t < 20; t++)
            build_add(&b, test_below(21, (uint64_t)(i * 20 + t), cols));
        build_end_row(&b);
    }
    return build_finish(&b, 5, kind);
}

static void check_hubs(const hybrid_csr *B, test_kind kind)
{
    hybrid_csr A = hubs(B->rows, kind);
    plain_rows right;

    plain_rows_make(&A, B, &right);
    for (int target = HY_TARGET_PORTABLE; target <= HY_TARGET_AVX512; target += 2) {
        hy_target_limit((hy_target)target);
        for (int v = 0; v < SPGEMM; v++) {
            host_check_rows(&host, spgemm[v], &A, B, &right, 0, ROWS);
            /* row 2, one with most scalar products, as a chunk of its own */
            host_check_rows(&host, spgemm[v], &A, B, &right, 2, 3);
        }
    }
    plain_rows_free(&right);
    matrix_set_odd(&A);
    plain_rows_make(&A, B, &right);
    host_check_rows(&host, &hy_spgemm_host_rows, &A, B, &right, 0, ROWS);
    plain_rows_free(&right);
    matrix_free(&A);
}

static void check_shape(int64_t rows, int64_t cols, double per_row)
{
    static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 0},
                                      {HYBRID_F64, HYBRID_I64, 0}};

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        hybrid_csr B;
        matrix_random(rows, cols, per_row, 31, kinds[k], &B);
        check_hubs(&B, kinds[k]);
        matrix_free(&B);
    }
}

static void short_rows_of_b(void **state)
{
    (void)state;
    check_shape(60000, 200000, 6);
}

static void long_rows_of_b(void **state)
{
    (void)state;
    check_shape(900, 3000, 400);
}

/* Bits are right if almost all scalar products fall into two columns of C: most of the
   ranges of columns into which a row is divided are then empty. */
static void crowded_columns(void **state)
{
    const test_kind kind = {HYBRID_F32, HYBRID_I32, 0};
    const int64_t rows   = 200000;
    builder b            = build_start(rows, 1000);

    (void)state;
    for (int64_t i = 0; i < rows; i++) {
        build_add(&b, 700);
        build_add(&b, 701);
        if (i % 50000 == 1)
            build_add(&b, i % 999);
        build_end_row(&b);
    }
    hybrid_csr B = build_finish(&b, 6, kind);
    check_hubs(&B, kind);
    matrix_free(&B);
}

/* ---- workers of a row ---- */

static struct {
    int arrived[WORKERS]; /* by worker: 1 if it computes a large range of the row */
    int met;              /* 1: two workers were computing ranges at the same time */
} meeting;

static int arrivals(void)
{
    int sum = 0;

    for (int i = 0; i < WORKERS; i++)
        sum += __atomic_load_n(&meeting.arrived[i], __ATOMIC_ACQUIRE);
    return sum;
}

/* Computes a range of columns of a row of C. A large range waits until another worker
   computes one too, at most ten seconds. */
static hybrid_status meet_and_make(const hy_seat *seat, const hy_row *row, int64_t *nnz)
{
    const struct timespec pause = {0, 1000000};
    const int worker            = hy_pool_worker(host.ctx->pool);

    if (row->products > 10000) {
        __atomic_store_n(&meeting.arrived[worker], 1, __ATOMIC_RELEASE);
        for (int ms = 0; ms < 10000 && arrivals() < 2; ms++)
            nanosleep(&pause, NULL);
        if (arrivals() >= 2)
            __atomic_store_n(&meeting.met, 1, __ATOMIC_RELEASE);
    }
    return hy_row_hash(seat, row, nnz);
}

static hybrid_status run_meeting(hy_lane *lane, void *job)
{
    return hy_spgemm_host_run(lane, job, meet_and_make, 1);
}

/* Computes rows [begin, end) of A*B in memory that was planned for A times `planned`.
   Returns the status. */
static hybrid_status run_rows(const hybrid_csr *A, const hybrid_csr *B,
                              const hybrid_csr *planned, int64_t begin, int64_t end)
{
    hy_buffer block;
    hy_profile profile;
    int64_t nnz = 0;

    assert_int_equal(hy_inspect(host.ctx, A, planned, 0, NULL, &profile), HYBRID_OK);
    hy_problem problem = {
        .op = HY_SPGEMM, .ctx = host.ctx, .A = A, .B = B, .profile = &profile};
    hy_chunk chunk = {.row_begin = begin, .row_end = end, .col_end = B->cols};
    hy_job job     = {.problem = &problem, .chunk = &chunk, .out_nnz = &nnz};

    chunk.features     = hy_profile_range(&profile, begin, end, B->cols);
    const size_t bytes = hy_rows_bytes(HY_SPGEMM, &chunk.features, 1);
    assert_int_equal(
        host.backend->ops->alloc(host.backend, HY_DEVICE, bytes, "a test", &block),
        HYBRID_OK);
    job.out = hy_rows_in(block.ptr, HY_SPGEMM, &chunk.features, 1);
    assert_int_equal(hy_host_enqueue(host.lane, run_meeting, &job), HYBRID_OK);
    const hybrid_status status = host_wait(&host);
    host.backend->ops->free(host.backend, &block);
    hy_profile_free(host.ctx, &profile);
    return status;
}

static void several_workers_make_a_row(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_csr A         = hubs(60000, kind), B;

    (void)state;
    matrix_random(60000, 200000, 6, 32, kind, &B);
    memset(&meeting, 0, sizeof meeting);
    assert_int_equal(run_rows(&A, &B, &B, 2, 3), HYBRID_OK);
    assert_true(meeting.met);
    matrix_free(&A);
    matrix_free(&B);
}

/* The chunk's memory was planned for another B: this is an error, and nothing is written
   beyond it. */
static void wrong_pattern_is_refused(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_csr A         = hubs(60000, kind), B, planned;

    (void)state;
    matrix_random(60000, 900000, 9, 33, kind, &B);
    matrix_random(60000, 900000, 6, 33, kind, &planned);
    assert_int_equal(run_rows(&A, &B, &planned, 0, ROWS), HYBRID_BAD_STATE);
    assert_non_null(strstr(host.ctx->message.text, "pattern"));
    hy_message_clear(&host.ctx->message);
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&planned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_rows_of_b),
        cmocka_unit_test(long_rows_of_b),
        cmocka_unit_test(crowded_columns),
        cmocka_unit_test(several_workers_make_a_row),
        cmocka_unit_test(wrong_pattern_is_refused),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
