/* tests/run/files/test_file_errors.c - errors with X in a file.

   The file is too short, shrinks during a call, or cannot be opened; arguments are
   invalid; each allocation fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/schedules/schedule.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/check/oracle.h"
#include "support/fake/settings.h"
#include "support/files/open_files.h"
#include "support/inputs/stored.h"

enum { WIDTH = 13 };

/* ---- errors ---- */

static void expect_message(hybrid_engine *engine, const char *part)
{
    const char *message = hybrid_engine_message(engine);

    if (!strstr(message, part))
        print_error("'%s' is not in '%s'\n", part, message);
    assert_non_null(strstr(message, part));
}

static void a_short_file_is_not_opened(void **state)
{
    stored_trial t    = {.engine = open_host(2, 0)};
    hybrid_file *file = NULL;

    (void)state;
    stored_make(&t, stored_matrix(0, stored_kinds[0]), WIDTH, 1, 0, stored_kinds[0]);
    assert_int_equal(
        truncate(io_temp("x.bin"), (off_t)(STORED_FRONT + stored_bytes(&t.X) - 1)), 0);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file),
                     HYBRID_BAD_FILE);
    expect_message(t.engine, "x.bin: has 46823 bytes, and 46824 are needed");
    assert_int_equal(truncate(io_temp("x.bin"), STORED_FRONT - 1),
                     0); /* the offset lies beyond the end of the file */
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file),
                     HYBRID_BAD_FILE);
    assert_int_equal(unlink(io_temp("x.bin")), 0);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file),
                     HYBRID_IO_FAILED);
    expect_message(t.engine, "x.bin: cannot be opened: No such file");
    assert_int_equal(mkfifo(io_temp("x.bin"), 0600), 0);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file),
                     HYBRID_BAD_FILE);
    expect_message(t.engine, "x.bin: is not a regular file");
    assert_int_equal(unlink(io_temp("x.bin")), 0);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("none.json"), &file),
                     HYBRID_IO_FAILED);
    assert_int_equal(hybrid_file_open(t.engine, NULL, &file), HYBRID_BAD_ARGUMENT);
    assert_null(file);
    stored_free(&t);
    hybrid_engine_destroy(t.engine);
}

/* The file of X is truncated after planning and before the run: the run fails with a
   message, and succeeds when the file is whole again. */
static void shrink(hybrid_engine *engine)
{
    stored_trial t = {.engine = engine};
    hybrid_plan *plan;
    hybrid_file *file;

    stored_make(&t, stored_matrix(0, stored_kinds[0]), WIDTH, 1, 0, stored_kinds[0]);
    assert_int_equal(hybrid_spmm_plan(engine, &t.A, WIDTH, NULL, &plan), HYBRID_OK);
    assert_int_equal(hybrid_file_open(engine, io_temp("x.json"), &file), HYBRID_OK);
    assert_int_equal(truncate(io_temp("x.bin"), 1000), 0);
    assert_int_equal(hybrid_spmm_run_file(plan, 1, &t.A, file, 0, &t.Y),
                     HYBRID_IO_FAILED);
    expect_message(engine, "x.bin: byte 1");
    stored_write(&t.X);
    assert_int_equal(hybrid_spmm_run_file(plan, 1, &t.A, file, 0, &t.Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, &t.A, &t.X, 0, &t.before, &t.Y, 1));
    hybrid_file_close(file);
    hybrid_plan_destroy(plan);
    stored_free(&t);
}

static void a_file_that_shrinks_is_told(void **state)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, NULL};
    hybrid_engine *engine                  = open_host(2, 0);

    (void)state;
    shrink(engine);
    hybrid_engine_destroy(engine);
    for (int i = 0; hy_schedules[i]; i++) {
        if (hy_schedules[i] != &hy_schedule_whole &&
            hy_schedules[i] != &hy_schedule_gather)
            continue;
        assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
        settings_of(engine)->schedule = hy_schedules[i];
        shrink(engine);
        hybrid_engine_destroy(engine);
    }
}

static void arguments_are_checked(void **state)
{
    hybrid_engine *other = open_host(2, 0);
    stored_trial t       = {.engine = open_host(2, 0)};
    hybrid_plan *plan;
    hybrid_file *file, *others;

    (void)state;
    stored_make(&t, stored_matrix(0, stored_kinds[0]), WIDTH, 3, 0, stored_kinds[0]);
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
    const hybrid_dense shape = hybrid_file_dense(file);
    assert_true(shape.rows == STORED_COLS && shape.cols == WIDTH && shape.ld == WIDTH &&
                shape.order == HYBRID_ROW_MAJOR && shape.type == HYBRID_F32);
    assert_null(shape.data);
    /* the file is empty, which must not matter if alpha is 0 */
    assert_int_equal(truncate(io_temp("x.bin"), 0), 0);
    assert_int_equal(hybrid_spmm_run_file(plan, 0, &t.A, file, 2, &t.Y), HYBRID_OK);
    assert_null(oracle_check_spmm(0, &t.A, &t.X, 2, &t.before, &t.Y, 1));
    hybrid_file_close(NULL);
    hybrid_file_close(file);
    hybrid_file_close(others);
    hybrid_plan_destroy(plan);
    stored_free(&t);
    hybrid_engine_destroy(t.engine);
    hybrid_engine_destroy(other);
}

/* ---- each allocation fails once ---- */

static hybrid_status open_and_run(stored_trial *t, hybrid_plan *plan)
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

/* Checks that no file stays open. How much scratch memory workers keep depends on timing,
   so that only sanitizers check memory. */
static void each_allocation_fails(hybrid_engine *engine)
{
    stored_trial t       = {.engine = engine};
    hy_memory *memory    = &engine->ctx.memory;
    hybrid_status status = HYBRID_NO_MEMORY;
    hybrid_plan *plan;

    stored_make(&t, stored_matrix(0, stored_kinds[0]), WIDTH, 0, 0, stored_kinds[0]);
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
    assert_true(failed >= 3); /* at least three allocations can fail: the handle and two
                                 names */
    assert_null(oracle_check_spmm(1, &t.A, &t.X, 0, &t.before, &t.Y, 1));
    hybrid_plan_destroy(plan);
    stored_free(&t);
    hybrid_engine_destroy(engine);
}

static void allocations_may_fail(void **state)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, NULL};
    hybrid_engine *engine;

    (void)state;
    each_allocation_fails(open_host(2, 0));
    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    each_allocation_fails(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_file_is_not_opened),
        cmocka_unit_test(a_file_that_shrinks_is_told),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
