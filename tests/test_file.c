/* tests/test_file.c - an X that stays in its file: every way in which a product reads it,
   on the host and on a device; files that end too soon, shrink meanwhile, or cannot be
   opened; each allocation failing once; and how much of X is in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/csr.h"
#include "engine/schedule.h"
#include "support/cases.h"
#include "support/fake_backend.h"
#include "support/fake_spmm.h"
#include "support/hypersparse.h"
#include "support/io_fixture.h"
#include "support/oracle.h"

extern const hy_variant hy_spmm_host_rows;

enum { ROWS = 300, COLS = 900, WIDTH = 13, WIDE = 200, FRONT = 24, SMALL = 600 << 10 };

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I64, 1},
                                  {HYBRID_F64, HYBRID_I32, 1}};

/* ---- a matrix in a file -------------------------------------------------------------
 */

/* Bytes from the first element to the last, gaps included. */
static size_t bytes_of(const hybrid_dense *X)
{
    const int in_rows   = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines = in_rows ? X->rows : X->cols, line = in_rows ? X->cols : X->rows;

    return lines * line == 0
               ? 0
               : (size_t)((lines - 1) * X->ld + line) * hy_value_size(X->type);
}

static void store_json(const hybrid_dense *X)
{
    char text[512];

    snprintf(text, sizeof text,
             "{\"format\": \"hybrid-dense\", \"version\": 1, \"rows\": %lld,\n"
             " \"cols\": %lld, \"type\": \"%s\", \"order\": \"%s\", \"ld\": %lld,\n"
             " \"values\": {\"file\": \"x.bin\", \"offset\": %d}}\n",
             (long long)X->rows, (long long)X->cols,
             X->type == HYBRID_F64 ? "f64" : "f32",
             X->order == HYBRID_ROW_MAJOR ? "row" : "col", (long long)X->ld, FRONT);
    io_store(io_temp("x.json"), text, strlen(text));
}

/* Something lies before the numbers, and nothing behind them. */
static void store(const hybrid_dense *X)
{
    const size_t bytes = bytes_of(X);
    char *all          = malloc(FRONT + bytes);

    assert_non_null(all);
    memset(all, 0x55, FRONT);
    memcpy(all + FRONT, X->data, bytes);
    io_store(io_temp("x.bin"), all, FRONT + bytes);
    free(all);
    store_json(X);
}

/* ---- products -----------------------------------------------------------------------
 */

typedef struct trial {
    hybrid_engine *engine;
    const hybrid_plan_options *options;
    hybrid_csr A;
    hybrid_dense X, Y, before;
} trial;

static void make_trial(trial *t, hybrid_csr A, int64_t width, int orders, int64_t gap,
                       test_kind kind)
{
    t->A = A;
    dense_make(A.cols, width, gap, orders & 1 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR, 3,
               kind, &t->X);
    dense_make(A.rows, width, 3, orders & 2 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR, 4,
               kind, &t->Y);
    dense_copy(&t->Y, &t->before);
    store(&t->X);
}

static void free_trial(trial *t)
{
    matrix_free(&t->A);
    dense_free(&t->X);
    dense_free(&t->Y);
    dense_free(&t->before);
}

/* Two runs of one plan. 0: the schedule cannot be had. */
static int run_trial(trial *t, double alpha, double beta)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    hybrid_file *file;

    options.order = t->X.order;
    if (hybrid_spmm_plan(t->engine, &t->A, t->X.cols, t->options ? t->options : &options,
                         &plan) != HYBRID_OK)
        return 0;
    assert_int_equal(hybrid_file_open(t->engine, io_temp("x.json"), &file), HYBRID_OK);
    for (int i = 0; i < 2; i++) {
        const size_t bytes = bytes_of(&t->Y);
        memcpy(t->Y.data, t->before.data, bytes);
        const hybrid_status status =
            hybrid_spmm_run_file(plan, alpha, &t->A, file, beta, &t->Y);
        if (status != HYBRID_OK)
            print_error("%s\n", hybrid_engine_message(t->engine));
        assert_int_equal(status, HYBRID_OK);
        assert_null(oracle_check_spmm(alpha, &t->A, &t->X, beta, &t->before, &t->Y, 1));
        assert_true(dense_gaps_intact(&t->Y));
    }
    hybrid_file_close(file);
    hybrid_plan_destroy(plan);
    return 1;
}

static hybrid_csr matrix(int banded, test_kind kind)
{
    hybrid_csr A;

    matrix_random(ROWS, COLS, 6, 5, kind, &A);
    for (int64_t i = 0; banded && i < ROWS; i++) {
        const int64_t begin = hy_offset(&A, i), end = hy_offset(&A, i + 1);
        const int64_t first = i * (COLS - 40) / ROWS;
        for (int64_t k = begin; k < end; k++)
            A.col[k] = (int32_t)(first + (k - begin));
    }
    return A;
}

/* ---- on a device --------------------------------------------------------------------
 */

static int64_t run_schedule(const hy_schedule *schedule, size_t budget, int banded)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, &hy_spmm_fake_tiled,
                                              &hy_spmm_host_rows, NULL};
    int64_t made                           = 0;

    for (int k = 0; k < 2; k++)
        for (int orders = 0; orders < 4; orders++)
            for (int64_t gap = 0; gap < 10; gap += 5)
                for (int i = 0; i < 3; i++) {
                    const int64_t width = (int64_t[]){1, WIDTH, WIDE}[i];
                    trial t             = {.options = NULL};
                    assert_int_equal(fake_open(table, budget, &t.engine), HYBRID_OK);
                    t.engine->schedule = schedule;
                    make_trial(&t, matrix(banded, kinds[k]), width, orders, gap,
                               kinds[k]);
                    made += run_trial(&t, 2, orders & 1 ? 0 : -1);
                    free_trial(&t);
                    hybrid_engine_destroy(t.engine);
                }
    return made;
}

static void every_schedule_is_right(void **state)
{
    (void)state;
    fake_delays(1, 0);
    for (int i = 0; hy_schedules[i]; i++) {
        const int64_t made = run_schedule(hy_schedules[i], 0, 1) +
                             run_schedule(hy_schedules[i], SMALL, 1) +
                             run_schedule(hy_schedules[i], SMALL, 0);
        print_message("%s: %lld\n", hy_schedules[i]->name, (long long)made);
        assert_true(made > 0);
    }
    assert_int_equal(fake_alive(), 0);
}

/* Some rows of X, whether they are gathered by chunks or not. */
static void a_reduced_matrix_is_right(void **state)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, NULL};

    (void)state;
    for (int i = 0; hy_schedules[i]; i++)
        for (int k = 0; k < 2; k++)
            for (int orders = 0; orders < 4; orders++) {
                trial t = {.options = NULL};
                hybrid_csr A;
                assert_int_equal(fake_open(table, 0, &t.engine), HYBRID_OK);
                t.engine->hypersparse_bytes = 1;
                t.engine->schedule          = hy_schedules[i];
                hypersparse_make(0, kinds[k], &A);
                make_trial(&t, A, 32, orders, 0, kinds[k]);
                run_trial(&t, 1, 0);
                free_trial(&t);
                hybrid_engine_destroy(t.engine);
            }
}

/* The host takes no part in what it would have to read in place. */
static void nothing_is_shared(void **state)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, &hy_spmm_host_rows,
                                              NULL};
    hybrid_plan_options options            = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_report report                   = HYBRID_REPORT_INIT;
    trial t                                = {.options = &options};

    (void)state;
    options.split      = HYBRID_SPLIT_SHARE;
    options.host_share = 0.5;
    assert_int_equal(fake_open(table, 0, &t.engine), HYBRID_OK);
    make_trial(&t, matrix(0, kinds[0]), WIDTH, 3, 0, kinds[0]);
    assert_true(run_trial(&t, 1, 0));
    assert_int_equal(hybrid_engine_report(t.engine, &report), HYBRID_OK);
    assert_true(report.chunks > 0 && report.host_chunks == 0);
    free_trial(&t);
    hybrid_engine_destroy(t.engine);
}

/* ---- on the host --------------------------------------------------------------------
 */

static hybrid_engine *open_host(size_t host_bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.backend    = HYBRID_HOST;
    options.threads    = 2;
    options.host_bytes = host_bytes;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    return engine;
}

static void the_host_is_right(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int orders = 0; orders < 4; orders++)
            for (int64_t gap = 0; gap < 10; gap += 5)
                for (int64_t width = 0; width <= WIDTH; width++) {
                    trial t = {.engine = open_host(0)};
                    make_trial(&t, matrix(0, kinds[k]), width, orders, gap, kinds[k]);
                    assert_true(run_trial(&t, 3, orders & 1));
                    free_trial(&t);
                    hybrid_engine_destroy(t.engine);
                }
}

/* Rows of more columns than pieces hold, and columns of more rows. */
static void large_lines_are_right(void **state)
{
    (void)state;
    for (int orders = 0; orders < 4; orders++) {
        trial t = {.engine = open_host(0)};
        hybrid_csr A;
        matrix_random(20, orders & 1 ? 40 : 20000, 9, 7, kinds[0], &A);
        make_trial(&t, A, orders & 1 ? 20000 : 6, orders, 1, kinds[0]);
        assert_true(run_trial(&t, 1, 0));
        free_trial(&t);
        hybrid_engine_destroy(t.engine);
    }
}

/* X takes 32 MiB, ten times what the engine may have. */
enum { PEAK_ROWS = 1 << 15, PEAK_COLS = 128, PEAK_BYTES = PEAK_ROWS * PEAK_COLS * 8 };

static void memory_holds_a_part_of_x(void **state)
{
    (void)state;
    for (int orders = 0; orders < 4; orders++) {
        trial t              = {.engine = open_host(PEAK_BYTES / 10)};
        hybrid_report report = HYBRID_REPORT_INIT;
        hybrid_csr A;
        matrix_random(100, PEAK_ROWS, 30, 7, kinds[1], &A);
        make_trial(&t, A, PEAK_COLS, orders, 0, kinds[1]);
        assert_true(run_trial(&t, 1, 1));
        assert_int_equal(hybrid_engine_report(t.engine, &report), HYBRID_OK);
        assert_true(report.peak_host_bytes <= PEAK_BYTES / 10);
        assert_true(report.chunks >= 10); /* of a panel each */
        free_trial(&t);
        hybrid_engine_destroy(t.engine);
    }
}

static void a_column_must_fit(void **state)
{
    trial t = {.engine = open_host(1 << 20)};
    hybrid_plan *plan;
    hybrid_file *file;
    hybrid_csr A;

    (void)state;
    matrix_random(5, 1 << 18, 30, 7, kinds[1], &A);
    make_trial(&t, A, 2, 0, 0, kinds[1]);
    assert_int_equal(hybrid_spmm_plan(t.engine, &t.A, 2, NULL, &plan), HYBRID_OK);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file), HYBRID_OK);
    assert_int_equal(hybrid_spmm_run_file(plan, 1, &t.A, file, 0, &t.Y),
                     HYBRID_NO_MEMORY);
    assert_non_null(strstr(hybrid_engine_message(t.engine), "a panel of X"));
    hybrid_file_close(file);
    hybrid_plan_destroy(plan);
    free_trial(&t);
    hybrid_engine_destroy(t.engine);
}

/* ---- what goes wrong ----------------------------------------------------------------
 */

static void expect_message(hybrid_engine *engine, const char *part)
{
    const char *message = hybrid_engine_message(engine);

    if (!strstr(message, part))
        print_error("'%s' is not in '%s'\n", part, message);
    assert_non_null(strstr(message, part));
}

static void a_short_file_is_not_opened(void **state)
{
    trial t           = {.engine = open_host(0)};
    hybrid_file *file = NULL;

    (void)state;
    make_trial(&t, matrix(0, kinds[0]), WIDTH, 1, 0, kinds[0]);
    assert_int_equal(truncate(io_temp("x.bin"), (off_t)(FRONT + bytes_of(&t.X) - 1)), 0);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file),
                     HYBRID_BAD_FILE);
    expect_message(t.engine, "x.bin: has 46823 bytes, 46824 are needed");
    assert_int_equal(truncate(io_temp("x.bin"), FRONT - 1),
                     0); /* offset beyond the end */
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file),
                     HYBRID_BAD_FILE);
    assert_int_equal(unlink(io_temp("x.bin")), 0);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file),
                     HYBRID_IO_FAILED);
    expect_message(t.engine, "x.bin: cannot be opened: No such file");
    assert_int_equal(mkfifo(io_temp("x.bin"), 0600), 0);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file),
                     HYBRID_BAD_FILE);
    expect_message(t.engine, "x.bin: is no regular file");
    assert_int_equal(unlink(io_temp("x.bin")), 0);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("none.json"), &file),
                     HYBRID_IO_FAILED);
    assert_int_equal(hybrid_file_open(t.engine, NULL, &file), HYBRID_BAD_ARGUMENT);
    assert_null(file);
    free_trial(&t);
    hybrid_engine_destroy(t.engine);
}

/* With this engine, which is good for the next product. */
static void shrink(hybrid_engine *engine)
{
    trial t = {.engine = engine};
    hybrid_plan *plan;
    hybrid_file *file;

    make_trial(&t, matrix(0, kinds[0]), WIDTH, 1, 0, kinds[0]);
    assert_int_equal(hybrid_spmm_plan(engine, &t.A, WIDTH, NULL, &plan), HYBRID_OK);
    assert_int_equal(hybrid_file_open(engine, io_temp("x.json"), &file), HYBRID_OK);
    assert_int_equal(truncate(io_temp("x.bin"), 1000), 0);
    assert_int_equal(hybrid_spmm_run_file(plan, 1, &t.A, file, 0, &t.Y),
                     HYBRID_IO_FAILED);
    expect_message(engine, "x.bin: has no byte 1");
    store(&t.X);
    assert_int_equal(hybrid_spmm_run_file(plan, 1, &t.A, file, 0, &t.Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, &t.A, &t.X, 0, &t.before, &t.Y, 1));
    hybrid_file_close(file);
    hybrid_plan_destroy(plan);
    free_trial(&t);
}

static void a_file_that_shrinks_is_told(void **state)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, NULL};
    hybrid_engine *engine                  = open_host(0);

    (void)state;
    shrink(engine);
    hybrid_engine_destroy(engine);
    for (int i = 0; hy_schedules[i]; i++) {
        if (hy_schedules[i] != &hy_schedule_whole &&
            hy_schedules[i] != &hy_schedule_gather)
            continue;
        assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
        engine->schedule = hy_schedules[i];
        shrink(engine);
        hybrid_engine_destroy(engine);
    }
}

static void arguments_are_checked(void **state)
{
    hybrid_engine *other = open_host(0);
    trial t              = {.engine = open_host(0)};
    hybrid_plan *plan;
    hybrid_file *file, *others;

    (void)state;
    make_trial(&t, matrix(0, kinds[0]), WIDTH, 3, 0, kinds[0]);
    assert_int_equal(hybrid_spmm_plan(t.engine, &t.A, WIDTH, NULL, &plan), HYBRID_OK);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file), HYBRID_OK);
    assert_int_equal(hybrid_file_open(other, io_temp("x.json"), &others), HYBRID_OK);
    assert_int_equal(hybrid_spmm_run_file(NULL, 1, &t.A, file, 0, &t.Y),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_spmm_run_file(plan, 1, &t.A, NULL, 0, &t.Y),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_spmm_run_file(plan, 1, &t.A, others, 0, &t.Y),
                     HYBRID_BAD_ARGUMENT);
    t.Y.cols--;
    assert_int_equal(hybrid_spmm_run_file(plan, 1, &t.A, file, 0, &t.Y),
                     HYBRID_BAD_SHAPE);
    t.Y.cols++;
    const hybrid_dense shape = hybrid_file_shape(file);
    assert_true(shape.rows == COLS && shape.cols == WIDTH && shape.ld == WIDTH &&
                shape.order == HYBRID_ROW_MAJOR && shape.type == HYBRID_F32);
    assert_null(shape.data);
    assert_int_equal(truncate(io_temp("x.bin"), 0), 0); /* nothing is read */
    assert_int_equal(hybrid_spmm_run_file(plan, 0, &t.A, file, 2, &t.Y), HYBRID_OK);
    assert_null(oracle_check_spmm(0, &t.A, &t.X, 2, &t.before, &t.Y, 1));
    hybrid_file_close(NULL);
    hybrid_file_close(file);
    hybrid_file_close(others);
    hybrid_plan_destroy(plan);
    free_trial(&t);
    hybrid_engine_destroy(t.engine);
    hybrid_engine_destroy(other);
}

/* ---- each allocation fails once -----------------------------------------------------
 */

static hybrid_status open_and_run(trial *t, hybrid_plan *plan)
{
    hybrid_file *file = NULL;

    hybrid_status status = hybrid_file_open(t->engine, io_temp("x.json"), &file);
    if (status != HYBRID_OK) {
        assert_null(file);
        return status;
    }
    status = hybrid_spmm_run_file(plan, 1, &t->A, file, 0, &t->Y);
    hybrid_file_close(file);
    return status;
}

static int count_open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count   = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* No file is left open. What scratch workers keep depends on who worked, so what is left
   of memory is for sanitizers to tell. */
static void each_allocation_fails(hybrid_engine *engine)
{
    trial t              = {.engine = engine};
    hy_memory *memory    = &engine->ctx.memory;
    hybrid_status status = HYBRID_NO_MEMORY;
    hybrid_plan *plan;

    make_trial(&t, matrix(0, kinds[0]), WIDTH, 0, 0, kinds[0]);
    assert_int_equal(hybrid_spmm_plan(engine, &t.A, WIDTH, NULL, &plan), HYBRID_OK);
    assert_int_equal(open_and_run(&t, plan), HYBRID_OK);
    const int files = count_open_files();
    int64_t failed  = 0;
    for (int64_t n = 1; n < 100 && memory->failures == 0; n++) {
        memory->failures = n;
        status           = open_and_run(&t, plan);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        assert_true(status == HYBRID_OK || hybrid_engine_message(engine)[0]);
        failed += status != HYBRID_OK;
    }
    memory->failures = 0;
    assert_int_equal(count_open_files(), files);
    assert_int_equal(status, HYBRID_OK);
    assert_true(failed >= 3); /* the handle, two names */
    assert_null(oracle_check_spmm(1, &t.A, &t.X, 0, &t.before, &t.Y, 1));
    hybrid_plan_destroy(plan);
    free_trial(&t);
    hybrid_engine_destroy(engine);
}

static void allocations_may_fail(void **state)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, NULL};
    hybrid_engine *engine;

    (void)state;
    each_allocation_fails(open_host(0));
    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    each_allocation_fails(engine);
}

static int remove_files(void **state)
{
    (void)state;
    io_remove_temp();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_is_right),
        cmocka_unit_test(a_reduced_matrix_is_right),
        cmocka_unit_test(nothing_is_shared),
        cmocka_unit_test(the_host_is_right),
        cmocka_unit_test(large_lines_are_right),
        cmocka_unit_test(memory_holds_a_part_of_x),
        cmocka_unit_test(a_column_must_fit),
        cmocka_unit_test(a_short_file_is_not_opened),
        cmocka_unit_test(a_file_that_shrinks_is_told),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
