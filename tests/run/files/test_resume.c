/* tests/run/files/test_resume.c - results in files that an earlier run has begun.

   A result has the bytes that an uninterrupted run gives, wherever the run before it has
   failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "support/check/oracle.h"
#include "support/engines/io_fixture.h"
#include "support/fake/settings.h"
#include "support/files/listed_format.h"
#include "support/files/written.h"
#include "support/inputs/stored.h"

static int64_t resumed_rows(void)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    files_ok(hybrid_engine_report(files_engine, &report));
    return report.resumed_rows;
}

/* ---- runs that fail, and go on ---- */

/* Fails the write of each panel in turn, and then resumes. */
static void runs_go_on_after_a_failure(void **state)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
    char *wanted                = listed_text(&files_c, 1);
    int failures                = 0;

    (void)state;
    options.resume = 1;
    files_name("r.count");
    for (int64_t left = 0;; left++) {
        listed_writes_left         = left;
        const hybrid_status status = files_square(1, &options);
        listed_writes_left         = -1;
        if (status == HYBRID_OK)
            break;
        failures++;
        assert_int_equal(status, HYBRID_IO_FAILED);
        assert_false(files_exist(files_path));
        assert_true(files_exist(files_parts));
        files_ok(files_square(1, &options));
        assert_int_equal(resumed_rows(), FILES_ROWS);
        files_expect(wanted);
        unlink(files_path);
    }
    assert_true(failures > 3);
    free(wanted);
}

static int stop_after(void *user, int64_t done, int64_t rows)
{
    (void)done;
    (void)rows;
    return --*(int64_t *)user < 0;
}

/* Cancels runs at the first, second, third ... call of the progress function, and resumes
   each. */
static void cancelled_runs_go_on(void **state)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
    char *wanted                = listed_text(&files_c, 0);
    int64_t resumed             = 0, left;
    hybrid_status status        = HYBRID_CANCELLED;

    (void)state;
    options.resume                      = 1;
    files_engine->ctx.progress.every_ns = 0;
    files_name("p.rows");
    for (int64_t calls = 5; status != HYBRID_OK; calls += 5) {
        left = calls;
        hybrid_engine_progress(files_engine, stop_after, &left);
        status = files_square(1, &options);
        hybrid_engine_progress(files_engine, NULL, NULL);
        if (status == HYBRID_OK) {
            resumed = resumed_rows();
            files_expect(wanted);
        } else {
            assert_int_equal(status, HYBRID_CANCELLED);
            assert_false(files_exist(files_path));
        }
    }
    assert_true(resumed > 0);
    free(wanted);
}

/* Leaves finished panels of the product in `files_parts`. */
static void leave_panels(void)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;

    options.resume     = 1;
    listed_writes_left = 0; /* no line can be written, so that assembling fails */
    assert_int_equal(files_square(1, &options), HYBRID_IO_FAILED);
    listed_writes_left = -1;
    assert_true(files_exist(files_parts));
}

static void remove_panels(void)
{
    char command[4200];

    snprintf(command, sizeof command, "rm -r '%s'", files_parts);
    assert_int_equal(system(command), 0);
}

static void expect_refused(hybrid_status wanted, const char *word)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
    char before[1024];

    options.resume = 1;
    assert_int_equal(files_square(1, &options), wanted);
    snprintf(before, sizeof before, "%s", hybrid_engine_message(files_engine));
    if (!strstr(before, word))
        fail_msg("'%s' lacks '%s'", before, word);
    assert_false(files_exist(files_path));
}

static void other_operands_are_refused(void **state)
{
    (void)state;
    files_name("o.rows");
    leave_panels();
    ((double *)files_a.val)[0] += 1;
    stored_write_csr("a", &files_a);
    expect_refused(HYBRID_BAD_STATE, "A is ");
    ((double *)files_a.val)[0] -= 1;
    stored_write_csr("a", &files_a); /* the same contents, changed at another time */
    expect_refused(HYBRID_BAD_STATE, "A is ");
    remove_panels();
}

static void damage(const char *name, long at)
{
    char file[4200];

    snprintf(file, sizeof file, "%s/%s", files_parts, name);
    FILE *f = fopen(file, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    const int byte = fgetc(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    fputc(byte ^ 1, f);
    fclose(f);
}

/* Writes A*A, or resumes it. A is in memory, so that no time of a file's change is
   compared. */
static hybrid_status square_in_memory(void)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;

    options.resume = 1;
    return files_square(0, &options);
}

static void leave_panels_in_memory(void)
{
    listed_writes_left = 0;
    assert_int_equal(square_in_memory(), HYBRID_IO_FAILED);
    listed_writes_left = -1;
}

static void damaged_panels_are_refused(void **state)
{
    char *wanted = listed_text(&files_c, 0), file[4200];

    (void)state;
    files_name("x.rows");
    leave_panels_in_memory();
    damage("panel-000000", 9);
    assert_int_equal(square_in_memory(), HYBRID_BAD_FILE);
    assert_non_null(strstr(hybrid_engine_message(files_engine), "checksum"));
    damage("panel-000000", 9); /* changes the byte back */
    snprintf(file, sizeof file, "%s/panel-000001", files_parts);
    assert_int_equal(truncate(file, 8), 0);
    assert_int_equal(square_in_memory(), HYBRID_BAD_FILE);
    assert_non_null(strstr(hybrid_engine_message(files_engine), "another size"));
    assert_int_equal(unlink(file), 0);
    assert_int_equal(square_in_memory(), HYBRID_IO_FAILED);
    remove_panels();
    leave_panels_in_memory();
    size_t bytes;
    snprintf(file, sizeof file, "%s/manifest", files_parts);
    char *text        = io_load(file, &bytes);
    const long number = (long)(strstr(text, "panel 0 rows ") - text) + 1;
    damage("manifest", number);
    assert_int_equal(square_in_memory(), HYBRID_BAD_FILE);
    io_store(file, text, bytes - 3); /* the last line of the manifest is incomplete, as
                                        after a power loss */
    files_ok(square_in_memory());
    files_expect(wanted);
    free(text);
    free(wanted);
}

static void folders_of_panels_may_be_unusable(void **state)
{
    const char *const usual = files_engine->ctx.spill_path;
    char file[4200];
    size_t bytes;

    (void)state;
    files_name("u.count");
    files_engine->ctx.spill_path = "/absent";
    assert_int_equal(files_square(0, NULL), HYBRID_IO_FAILED);
    files_engine->ctx.spill_path = usual;
    leave_panels_in_memory();
    snprintf(file, sizeof file, "%s/manifest", files_parts);
    const int fd = open(file, O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(square_in_memory(), HYBRID_BAD_STATE);
    close(fd);
    char *text = io_load(file, &bytes), *line = strstr(text, "panel 0 rows ");
    snprintf(line, 80, "panel 0 rows 301 nnz 5 hash 0123456789abcdef\n");
    io_store(file, text, strlen(text));
    assert_int_equal(square_in_memory(), HYBRID_BAD_FILE);
    assert_int_equal(truncate(file, (off_t)1 << 30), 0);
    assert_int_equal(square_in_memory(), HYBRID_BAD_FILE);
    free(text);
    remove_panels();
}

static hybrid_status copy_dense(void)
{
    const hybrid_dense X = {FILES_ROWS, 1, 1, HYBRID_ROW_MAJOR, files_a.val, HYBRID_F64};
    const hybrid_operand x = {.dense = &X};

    return hybrid_file_write(files_engine, &x, files_path, NULL);
}

static hybrid_status multiply_some(void)
{
    const hybrid_dense X = {FILES_ROWS, 1, 1, HYBRID_ROW_MAJOR, files_a.val, HYBRID_F64};

    return files_multiply_dense(1, &X, 0);
}

/* Lets each allocation of a call fail, one after another. */
static void each_allocation_may_fail(void **state)
{
    static hybrid_status (*const calls[])(void) = {square_in_memory, copy_dense,
                                                   multiply_some};
    static const char *const names[]            = {"f.count", "f.npy", "g.npy"};

    (void)state;
    settings_of(files_engine)->piece_bytes = 1 << 16;
    for (int i = 0; i < 3; i++) {
        hybrid_status status = HYBRID_NO_MEMORY;
        files_name(names[i]);
        for (int64_t n = 1; status != HYBRID_OK; n++) {
            files_engine->ctx.memory.failures = n;
            status                            = calls[i]();
            const int reached                 = files_engine->ctx.memory.failures == 0;
            files_engine->ctx.memory.failures = 0;
            if (status != HYBRID_OK && status != HYBRID_NO_MEMORY)
                print_error("%s\n", hybrid_engine_message(files_engine));
            assert_true(status == HYBRID_OK || reached);
            assert_true(files_exist(files_path) == (status == HYBRID_OK));
            assert_false(status == HYBRID_OK && files_exist(files_parts));
            if (files_exist(files_parts))
                remove_panels();
        }
    }
    settings_of(files_engine)->piece_bytes = 3000;
}

/* The panels of an earlier run are read before a run starts threads, so that each of
   these allocations is reached at its number. */
static void each_allocation_of_a_resumed_run_may_fail(void **state)
{
    hybrid_status status = HYBRID_NO_MEMORY;

    (void)state;
    files_name("v.count");
    leave_panels_in_memory();
    for (int64_t n = 1; status != HYBRID_OK; n++) {
        files_engine->ctx.memory.failures = n;
        status                            = square_in_memory();
        files_engine->ctx.memory.failures = 0;
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        assert_true(files_exist(files_path) == (status == HYBRID_OK));
    }
    assert_false(files_exist(files_parts));
}

static void make_left(const char *folder, int is_locked, int *fd)
{
    char file[200];

    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(file, sizeof file, "%s/panel-000000", folder);
    io_store(file, "x", 1);
    snprintf(file, sizeof file, "%s/manifest", folder);
    io_store(file, "x", 1);
    *fd = open(file, O_RDWR);
    assert_int_equal(is_locked ? flock(*fd, LOCK_EX) : 0, 0);
}

/* Panels that a killed process has left in the folder for temporary files are removed,
   those of a running one stay. */
static void panels_of_killed_processes_are_removed(void **state)
{
    const char *const usual = files_engine->ctx.spill_path;
    char spill[160], dead[180], alive[180];
    int fds[2];

    (void)state;
    files_name("spill");
    snprintf(spill, sizeof spill, "%s", files_path);
    assert_int_equal(mkdir(spill, 0700), 0);
    snprintf(dead, sizeof dead, "%s/hybrid_spmm-aaaaaa", spill);
    snprintf(alive, sizeof alive, "%s/hybrid_spmm-bbbbbb", spill);
    make_left(dead, 0, &fds[0]);
    make_left(alive, 1, &fds[1]);
    files_engine->ctx.spill_path = spill;
    files_name("k.count");
    files_ok(files_square(0, NULL));
    files_engine->ctx.spill_path = usual;
    assert_false(files_exist(dead));
    assert_true(files_exist(alive));
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_go_on_after_a_failure),
        cmocka_unit_test(cancelled_runs_go_on),
        cmocka_unit_test(other_operands_are_refused),
        cmocka_unit_test(damaged_panels_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(each_allocation_of_a_resumed_run_may_fail),
        cmocka_unit_test(folders_of_panels_may_be_unusable),
        cmocka_unit_test(panels_of_killed_processes_are_removed),
    };
    return cmocka_run_group_tests(tests, files_group_open, files_group_close);
}
