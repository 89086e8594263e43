/* tests/variants/test_host_variants.c - bits of C = A*B on the host, compared with plain
   loops.

   Tests every variant with every instruction set of this CPU. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "host/backend/host_lane.h"
#include "host/spgemm/spgemm_host.h"
#include "host/backend/target.h"
#include "partition/pattern/inspect.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/runs/host_rows.h"

extern const hy_variant hy_spgemm_host_rows, hy_spgemm_host_hash, hy_spgemm_host_dense;

static const hy_variant *const spgemm[] = {&hy_spgemm_host_rows, &hy_spgemm_host_hash,
                                           &hy_spgemm_host_dense};

enum { SPGEMM = sizeof spgemm / sizeof *spgemm, MAX_ROWS = 400 };

static test_host host;

static int open_host(void **state)
{
    (void)state;
    return host_open(3, &host);
}

static int close_host(void **state)
{
    (void)state;
    host_close(&host);
    return 0;
}

/* ---- C = A*B ---- */

/* Checks A*B with every variant and instruction set: all rows, and a range of rows in
   the middle. */
static void check_spgemm(const hybrid_csr *A, const hybrid_csr *B)
{
    const int64_t ranges[][2] = {{0, A->rows}, {A->rows / 3, A->rows - A->rows / 4}};
    plain_rows right;

    plain_rows_make(A, B, &right);
    for (int target = HY_TARGET_PORTABLE; target <= HY_TARGET_AVX512; target++) {
        hy_target_limit((hy_target)target);
        for (int v = 0; v < SPGEMM; v++)
            for (int r = 0; r < 2; r++)
                host_check_rows(&host, spgemm[v], A, B, &right, ranges[r][0],
                                ranges[r][1]);
    }
    plain_rows_free(&right);
}

/* A test that is called with both value types, both offset types, and whole or real
   numbers. */
typedef void (*test_body)(test_kind kind);

static void every_kind(test_body body)
{
    for (int type = HYBRID_F32; type <= HYBRID_F64; type++)
        for (int width = HYBRID_I32; width <= HYBRID_I64; width++)
            for (int integers = 0; integers < 2; integers++)
                body((test_kind){(hybrid_type)type, (hybrid_index)width, integers});
}

static void random_products(test_kind kind)
{
    static const struct {
        int64_t rows, middle, cols;
        double a_row, b_row;
    } shapes[] = {
        {60, 50, 40, 4, 3},        /* many scalar products for each entry of C */
        {90, 300, 20000, 3, 6},    /* few scalar products, in columns far apart: the
                                      variant sorts by counting */
        {40, 200, 300000, 40, 20}, /* many scalar products, in columns far apart: the
                                      variant uses a hash table */
        {30, 200, 5000, 40, 60},   /* rows of C are dense */
        {1, 100, 3000, 100, 40},   /* a product with a single row */
    };

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        hybrid_csr A, B;
        matrix_random(shapes[s].rows, shapes[s].middle, shapes[s].a_row, 7, kind, &A);
        matrix_random(shapes[s].middle, shapes[s].cols, shapes[s].b_row, 8, kind, &B);
        check_spgemm(&A, &B);
        matrix_free(&A);
        matrix_free(&B);
    }
}

static void test_random(void **state)
{
    (void)state;
    every_kind(random_products);
}

/* Makes a matrix of groups of 1 to 6 rows. Rows of a group have the same columns: a
   range of neighbouring columns and 8 others. */
static hybrid_csr block_matrix(test_kind kind)
{
    builder b = build_start(MAX_ROWS, MAX_ROWS);

    for (int64_t i = 0, block = 0; i < MAX_ROWS; block++)
        for (int64_t r = 0; r < 1 + block % 6 && i < MAX_ROWS; r++, i++) {
            for (int64_t c = block; c < block + 3 + block % 40; c++)
                build_add(&b, c % MAX_ROWS);
            for (int64_t t = 0; t < 8; t++)
                build_add(&b, test_below(5, (uint64_t)(block * 8 + t), MAX_ROWS));
            build_end_row(&b);
        }
    return build_finish(&b, 3, kind);
}

static void block_products(test_kind kind)
{
    hybrid_csr A = block_matrix(kind);

    check_spgemm(&A, &A);
    matrix_free(&A);
}

static void test_blocks(void **state)
{
    (void)state;
    every_kind(block_products);
}

/* Two matrices for code that uses the likeness of neighbouring rows. Rows of the grid
   are the previous row shifted by one column (9 points, some rows shorter). Rows of the
   other matrix have similar lengths and ranges, but are shifted copies only
   sometimes. */
enum { GRID_WIDTH = 20, ALIKE = 40 };

static hybrid_csr grid_matrix(test_kind kind)
{
    builder b = build_start(MAX_ROWS, MAX_ROWS);

    for (int64_t i = 0; i < MAX_ROWS; i++) {
        for (int64_t line = -1; line <= 1; line++)
            for (int64_t c = i + line * GRID_WIDTH - 1; c <= i + line * GRID_WIDTH + 1;
                 c++)
                if (c >= 0 && c < MAX_ROWS && !(i % 37 == 5 && line == 0))
                    build_add(&b, c);
        build_end_row(&b);
    }
    return build_finish(&b, 4, kind);
}

static hybrid_csr alike_matrix(test_kind kind)
{
    builder b = build_start(MAX_ROWS, MAX_ROWS + ALIKE);

    for (int64_t i = 0; i < MAX_ROWS; i++) {
        const int64_t odd = test_below(9, (uint64_t)i / 7, 3);
        build_add(&b, i);
        for (int64_t t = 1; t < 6; t++)
            build_add(&b, i + 6 * t + odd);
        build_add(&b, i + ALIKE);
        build_end_row(&b);
    }
    return build_finish(&b, 4, kind);
}

static void moved_products(test_kind kind)
{
    hybrid_csr grid = grid_matrix(kind), alike = alike_matrix(kind);

    check_spgemm(&grid, &grid);
    matrix_set_odd(&grid);
    check_spgemm(&grid, &alike);
    matrix_free(&grid);
    matrix_free(&alike);
}

static void test_moved(void **state)
{
    (void)state;
    every_kind(moved_products);
}

static void odd_products(test_kind kind)
{
    hybrid_csr A, B, crowded, blocks = block_matrix(kind);

    matrix_random(120, 120, 9, 11, kind, &crowded);
    matrix_random(60, 100, 3, 12, kind, &A); /* few scalar products, in columns far
                                                apart */
    matrix_random(100, 30000, 3, 13, kind, &B);
    matrix_set_odd(&A);
    matrix_set_odd(&B);
    matrix_set_odd(&crowded);
    matrix_set_odd(&blocks);
    check_spgemm(&A, &B);
    check_spgemm(&crowded, &crowded);
    check_spgemm(&blocks, &blocks);
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&crowded);
    matrix_free(&blocks);
}

static void test_odd_numbers(void **state)
{
    (void)state;
    every_kind(odd_products);
}

/* The chunk's memory was planned for another pattern: this is an error, and nothing is
   written beyond it. */
static void test_wrong_pattern(void **state)
{
    (void)state;
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_csr A, planned;
    hy_profile profile;
    matrix_random(50, 50, 6, 2, kind, &A);
    matrix_random(50, 50, 2, 2, kind, &planned);
    assert_int_equal(hy_inspect(host.ctx, &planned, &planned, 0, NULL, &profile),
                     HYBRID_OK);
    hy_problem problem = {
        .op = HY_SPGEMM, .ctx = host.ctx, .A = &A, .B = &A, .profile = &profile};
    hy_chunk chunk = {.row_end = 50, .col_end = 50};
    chunk.features = hy_profile_range(&profile, 0, 50, 50);
    hy_buffer block;
    int64_t nnz = 0;
    assert_int_equal(host.backend->ops->alloc(
                         host.backend, HY_DEVICE,
                         hy_rows_bytes(HY_SPGEMM, &chunk.features, 1), "a test", &block),
                     HYBRID_OK);
    hy_job job = {.problem = &problem, .chunk = &chunk, .out_nnz = &nnz};
    job.out    = hy_rows_in(block.ptr, HY_SPGEMM, &chunk.features, 1);
    assert_int_equal(host_run(&host, &hy_spgemm_host_rows, &job), HYBRID_BAD_STATE);
    assert_non_null(strstr(host.ctx->message.text, "pattern"));
    hy_message_clear(&host.ctx->message);
    host.backend->ops->free(host.backend, &block);
    hy_profile_free(host.ctx, &profile);
    matrix_free(&A);
    matrix_free(&planned);
}

static void test_dense_refuses(void **state)
{
    (void)state;
    hy_features f = {.rows = 1, .cols = 1, .out_cols = 1 << 30, .type = HYBRID_F64};
    hy_rates rates;
    host.backend->ops->rates(host.backend, &rates);
    assert_non_null(hy_spgemm_host_dense.refuse(&f, &rates));
    assert_null(hy_spgemm_host_rows.refuse(&f, &rates));
    f.out_cols = 1000;
    assert_null(hy_spgemm_host_dense.refuse(&f, &rates));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_moved),         cmocka_unit_test(test_odd_numbers),
        cmocka_unit_test(test_wrong_pattern), cmocka_unit_test(test_dense_refuses),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
