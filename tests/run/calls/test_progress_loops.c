/* tests/run/calls/test_progress_loops.c - long loops call the progress function in
   between.

   Loops over all rows or columns of an operand must be cancellable. The test counts calls
   of the function and measures no time. The only worker is the calling thread, which
   calls the function whenever it may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "partition/parts/b_rows.h"
#include "engine/api/engine.h"
#include "partition/move/sources.h"
#include "partition/pattern/chunks.h"
#include "partition/pattern/touched.h"
#include "support/inputs/builder.h"
#include "support/engines/context.h"
#include "support/engines/open_host.h"

/* Maximum work of one thread between two calls of the progress function: SET bytes
   cleared, OFFSETS offsets checked, WORDS words of a bit set read, SPANS rows whose
   columns are checked. */
enum { SET = 256 << 10, OFFSETS = 1 << 16, WORDS = 1 << 16, SPANS = 1 << 14 };

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

static int count(void *user, int64_t rows_done, int64_t rows)
{
    (void)rows_done;
    (void)rows;
    ++*(int64_t *)user;
    return 0;
}

/* Makes the context count the calls of the progress function in *calls, from 0. */
static void begin(hy_context *ctx, int64_t *calls)
{
    *calls                 = 0;
    ctx->progress.fn       = count;
    ctx->progress.user     = calls;
    ctx->progress.every_ns = 0;
    hy_progress_begin(&ctx->progress, 1);
}

static int64_t end(hy_context *ctx, const int64_t *calls)
{
    const int64_t counted = *calls;

    hy_progress_end(&ctx->progress, HYBRID_OK);
    return counted;
}

/* ---- rows of A if B is in a file ---- */

static int no_threads;

/* The linker replaces pthread_create() by this function. */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*fn)(void *), void *arg);
__attribute__((visibility("default"))) int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
                      void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*fn)(void *), void *arg)
{
    return no_threads ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}

/* A has 2^20 rows without entries, so that no row of B is read from its file. Progress
   must be called between pieces of A's rows all the same. No thread can be started, so
   that the calling thread gathers the rows and the number of calls is exact. */
static void rows_of_a_are_taken_in_pieces(void **state)
{
    enum { ROWS = 1 << 20 };
    hy_context *ctx        = test_context(1);
    const hybrid_csr shape = {.cols = 1, .rows = 1};
    const hy_source source = hy_source_csr(ctx, &shape);
    builder a              = build_start(ROWS, 1);
    hybrid_csr A           = build_finish(&a, 1, kind);
    int64_t calls, next;
    hy_b_rows rows;

    (void)state;
    hy_b_rows_open(&source, INT64_MAX, INT64_MAX, &rows);
    begin(ctx, &calls);
    no_threads = 1;
    assert_int_equal(hy_b_rows_read(&rows, &A, 0, 0, &next), HYBRID_OK);
    no_threads = 0;
    assert_int_equal(next, ROWS);
    assert_true(end(ctx, &calls) >= ROWS / SPANS + ROWS / OFFSETS);
    hy_b_rows_close(&rows);
    matrix_free(&A);
    test_context_free(ctx);
}

/* ---- touched columns ---- */

static void touched_columns_are_counted_in_pieces(void **state)
{
    enum { COLS = 1 << 27, BIT_WORDS = COLS / 64 };
    hy_context *ctx = test_context(1);
    builder a       = build_start(1, COLS);
    hy_touched touched;
    int64_t calls;

    (void)state;
    build_add(&a, COLS - 1);
    build_end_row(&a);
    hybrid_csr A = build_finish(&a, 1, kind);
    begin(ctx, &calls);
    assert_int_equal(hy_touched_cols(ctx, &A, &touched), HYBRID_OK);
    assert_int_equal(touched.count, 1);
    assert_true(end(ctx, &calls) >= BIT_WORDS / (SET / 8) + BIT_WORDS / WORDS);
    hy_touched_free(ctx, &touched);
    matrix_free(&A);
    test_context_free(ctx);
}

/* ---- chunks ---- */

static hy_cost cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.pack_bytes = 8 * (size_t)(f->nnz + f->products)};
}

static const hy_variant variant = {.name = "test", .op = HY_SPGEMM, .cost = cost};

/* Returns how often the progress function is called while A is cut into chunks for
   A*B. */
static int64_t calls_of_cut(const hybrid_csr *A, const hybrid_csr *B, int gathered,
                            size_t slot_bytes)
{
    hy_context *ctx = test_context(1);
    hy_profile profile;
    hy_chunk *chunks;
    int64_t calls, chunk_count;

    assert_int_equal(hy_inspect(ctx, A, B, 0, NULL, &profile), HYBRID_OK);
    const hy_cut cut = {.A            = A,
                        .B            = B,
                        .profile      = &profile,
                        .variant      = &variant,
                        .slot_bytes   = slot_bytes,
                        .products_max = INT32_MAX,
                        .chunk_rows   = 1,
                        .image = {.axis = gathered ? HY_AXIS_GATHERED : HY_AXIS_NONE}};
    begin(ctx, &calls);
    assert_int_equal(hy_cut_chunks(ctx, &cut, &chunks, &chunk_count), HYBRID_OK);
    const int64_t counted = end(ctx, &calls);
    assert_int_equal(chunk_count, A->rows);
    hy_array_free(ctx, chunks);
    hy_profile_free(ctx, &profile);
    test_context_free(ctx);
    return counted;
}

/* A is cut row by row: its longest row needs empty rows of B, and another row needs the
   longest row of B. One row with both lengths would not fit a slot, so that the size of
   each row must be computed. */
static void chunks_are_cut_in_pieces(void **state)
{
    enum { ROWS = 3000, COLS = 1 << 20, LONG = 2000, SLOT = 8 * (LONG + 100) + 512 };
    builder a = build_start(ROWS, COLS), b = build_start(COLS, LONG);

    (void)state;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < (i == 7 ? LONG : 1); k++)
            build_add(&a, i == 8 ? 0 : 1 + k);
        build_end_row(&a);
    }
    for (int64_t k = 0; k < LONG; k++)
        build_add(&b, k);
    build_end_row(&b);
    hybrid_csr A = build_finish(&a, 1, kind), B = build_finish(&b, 2, kind);
    assert_true(calls_of_cut(&A, &B, 0, SIZE_MAX / 2) >= ROWS);
    assert_true(calls_of_cut(&A, &B, 0, SLOT) >= 2 * ROWS);
    assert_true(calls_of_cut(&A, &B, 1, SIZE_MAX / 2) >= ROWS);
    matrix_free(&A);
    matrix_free(&B);
}

/* ---- verification ---- */

static int64_t calls_to_verify(hybrid_engine *engine, const hybrid_csr *A,
                               const hybrid_csr *B, const hybrid_csr *C, int trials)
{
    int64_t calls = 0, row;

    engine->ctx.progress.every_ns = 0;
    hybrid_engine_progress(engine, count, &calls);
    assert_int_equal(hybrid_verify_spgemm(engine, A, B, C, trials, 1, &row), HYBRID_OK);
    assert_int_equal(row, -1);
    return calls;
}

/* Verification clears an array of all columns in pieces, which call the progress
   function. Calls whose number grows with the number of trials do not count. */
static void counts_of_columns_are_cleared_in_pieces(void **state)
{
    enum { COLS = 1 << 24 };
    hybrid_engine *engine = open_host(1, 0);
    builder a = build_start(1, 1), b = build_start(1, COLS), c = build_start(1, COLS);

    (void)state;
    hybrid_csr A = build_finish(&a, 1, kind), B = build_finish(&b, 1, kind);
    hybrid_csr C        = build_finish(&c, 1, kind);
    const int64_t one   = calls_to_verify(engine, &A, &B, &C, 1);
    const int64_t three = calls_to_verify(engine, &A, &B, &C, 3);
    assert_true(one - (three - one) / 2 >= COLS * 4 / SET);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
}

/* ---- decreasing offsets ---- */

/* Checking offsets takes two passes over all rows: one finds that offsets decrease, and
   a second one finds the first row where they do. */
static void the_first_row_that_falls_is_looked_for_in_pieces(void **state)
{
    enum { ROWS = 1 << 18, PIECE = 1 << 12 };
    hy_context *ctx = test_context(1);
    builder a       = build_start(ROWS, 1);
    int64_t calls;

    (void)state;
    hybrid_csr A                       = build_finish(&a, 1, kind);
    ((int64_t *)A.row_ptr)[ROWS - 100] = -1;
    begin(ctx, &calls);
    assert_int_equal(hy_csr_check_offsets(ctx, &A, "A"), HYBRID_BAD_MATRIX);
    assert_true(end(ctx, &calls) >= 2 * ROWS / PIECE);
    assert_non_null(strstr(ctx->message.text, "row 262043: offsets 0 and -1 decrease"));
    matrix_free(&A);
    test_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_are_taken_in_pieces),
        cmocka_unit_test(touched_columns_are_counted_in_pieces),
        cmocka_unit_test(chunks_are_cut_in_pieces),
        cmocka_unit_test(counts_of_columns_are_cleared_in_pieces),
        cmocka_unit_test(the_first_row_that_falls_is_looked_for_in_pieces),
    };
    return cmocka_run_group_tests_name("progress of loops", tests, NULL, NULL);
}
