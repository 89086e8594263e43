/* tests/run/files/test_to_file.c - results that are written to files, and continued.

   A result has the bytes that an uninterrupted run gives, whatever the size of panels,
   wherever the operands are, and wherever a run before it has failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
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
#include "support/engines/places.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"
#include "support/files/listed_format.h"
#include "support/inputs/stored.h"

enum { ROWS = 300, WIDTH = 3 };

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
static hybrid_engine *engine;
static hybrid_csr A, C;
static char folder[64] = "/dev/shm/hybrid_to_file_XXXXXX", path[128], parts[160];

static void open_at(place where)
{
    engine = place_open(where, 0);
    fake_delays(1, 0);
    settings_of(engine)->formats     = listed_formats;
    settings_of(engine)->piece_bytes = 3000;
    listed_writes_left               = -1;
}

static void name_result(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(parts, sizeof parts, "%s.parts", path);
}

static int exists(const char *name)
{
    return access(name, F_OK) == 0;
}

static void expect_ok(hybrid_status status)
{
    if (status != HYBRID_OK)
        print_error("%s\n", hybrid_engine_message(engine));
    assert_int_equal(status, HYBRID_OK);
}

/* Checks that nothing but the file is left of a run. */
static void expect_alone(void)
{
    const char *name = strrchr(path, '/') + 1;
    DIR *entries     = opendir(folder);
    const struct dirent *entry;

    assert_non_null(entries);
    while ((entry = readdir(entries)))
        assert_true(strncmp(entry->d_name, name, strlen(name)) != 0 ||
                    strcmp(entry->d_name, name) == 0);
    closedir(entries);
}

static void expect_text(const char *wanted)
{
    size_t bytes;
    char *text = io_load(path, &bytes);

    assert_string_equal(text, wanted);
    free(text);
    expect_alone();
}

/* Makes A, and C = A*A, whose values the oracle has checked. */
static int make_operands(void **state)
{
    oracle right;

    (void)state;
    if (access("/dev/shm", W_OK) != 0) /* where fsync() takes no time */
        snprintf(folder, sizeof folder, "/tmp/hybrid_to_file_XXXXXX");
    assert_non_null(mkdtemp(folder));
    open_at(ON_HOST);
    matrix_random(ROWS, ROWS, 6, 3, kind, &A);
    oracle_spgemm(&A, &A, &right);
    expect_ok(hybrid_spgemm(engine, &A, &A, &C));
    stored_write_csr("a", &A);
    assert_null(oracle_check(&right, &C, 1));
    oracle_free(&right);
    return 0;
}

static int free_operands(void **state)
{
    hybrid_csr_free(engine, &C);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
    char command[200];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    return io_group_remove(state);
}

/* Returns A, or the file that make_operands() has written. */
static hybrid_operand operand_a(int in_file)
{
    hybrid_file *file = NULL;

    if (in_file)
        expect_ok(hybrid_file_open(engine, io_temp("a.json"), &file));
    return (hybrid_operand){.csr = in_file ? NULL : &A, .file = file};
}

static hybrid_status square(int in_file, const hybrid_file_options *options)
{
    const hybrid_operand a = operand_a(in_file);
    const hybrid_status status =
        hybrid_spgemm_to_file(engine, &a, &a, NULL, path, options);

    hybrid_file_close((hybrid_file *)a.file);
    return status;
}

static int64_t resumed_rows(void)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    expect_ok(hybrid_engine_report(engine, &report));
    return report.resumed_rows;
}

/* ---- complete runs ---- */

static void products_are_written(void **state)
{
    static const char *const names[] = {"c.rows", "c.count"};

    (void)state;
    for (int counted = 0; counted < 2; counted++)
        for (int in_file = 0; in_file < 2; in_file++)
            for (int resume = 0; resume < 2; resume++) {
                hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
                char *wanted                = listed_text(&C, counted);
                options.resume              = resume;
                name_result(names[counted]);
                expect_ok(square(in_file, &options));
                expect_text(wanted);
                free(wanted);
            }
}

static void a_device_computes(void **state)
{
    hybrid_engine *const host = engine;
    char *wanted              = listed_text(&C, 0);

    (void)state;
    open_at(ON_DEVICE);
    name_result("d.rows");
    expect_ok(square(1, NULL));
    expect_text(wanted);
    hybrid_engine_destroy(engine);
    free(wanted);
    engine = host;
}

/* ---- runs that fail, and go on ---- */

/* Fails the write of each panel in turn, and then resumes. */
static void runs_go_on_after_a_failure(void **state)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
    char *wanted                = listed_text(&C, 1);
    int failures                = 0;

    (void)state;
    options.resume = 1;
    name_result("r.count");
    for (int64_t left = 0;; left++) {
        listed_writes_left         = left;
        const hybrid_status status = square(1, &options);
        listed_writes_left         = -1;
        if (status == HYBRID_OK)
            break;
        failures++;
        assert_int_equal(status, HYBRID_IO_FAILED);
        assert_false(exists(path));
        assert_true(exists(parts));
        expect_ok(square(1, &options));
        assert_int_equal(resumed_rows(), ROWS);
        expect_text(wanted);
        unlink(path);
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

/* Cancels a run after one call of its progress function more each time. */
static void cancelled_runs_go_on(void **state)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
    char *wanted                = listed_text(&C, 0);
    int64_t resumed             = 0, left;
    hybrid_status status        = HYBRID_CANCELLED;

    (void)state;
    options.resume                = 1;
    engine->ctx.progress.every_ns = 0;
    name_result("p.rows");
    for (int64_t calls = 5; status != HYBRID_OK; calls += 5) {
        left = calls;
        hybrid_engine_progress(engine, stop_after, &left);
        status = square(1, &options);
        hybrid_engine_progress(engine, NULL, NULL);
        if (status == HYBRID_OK) {
            resumed = resumed_rows();
            expect_text(wanted);
        } else {
            assert_int_equal(status, HYBRID_CANCELLED);
            assert_false(exists(path));
        }
    }
    assert_true(resumed > 0);
    free(wanted);
}

/* Leaves finished panels of the product in `parts`. */
static void leave_panels(void)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;

    options.resume     = 1;
    listed_writes_left = 0; /* assembling fails */
    assert_int_equal(square(1, &options), HYBRID_IO_FAILED);
    listed_writes_left = -1;
    assert_true(exists(parts));
}

static void remove_panels(void)
{
    char command[4200];

    snprintf(command, sizeof command, "rm -r '%s'", parts);
    assert_int_equal(system(command), 0);
}

static void expect_refused(hybrid_status wanted, const char *word)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
    char before[1024];

    options.resume = 1;
    assert_int_equal(square(1, &options), wanted);
    snprintf(before, sizeof before, "%s", hybrid_engine_message(engine));
    if (!strstr(before, word))
        fail_msg("'%s' lacks '%s'", before, word);
    assert_false(exists(path));
}

static void other_operands_are_refused(void **state)
{
    (void)state;
    name_result("o.rows");
    leave_panels();
    ((double *)A.val)[0] += 1;
    stored_write_csr("a", &A);
    expect_refused(HYBRID_BAD_STATE, "A is ");
    ((double *)A.val)[0] -= 1;
    stored_write_csr("a", &A); /* the same contents, changed at another time */
    expect_refused(HYBRID_BAD_STATE, "A is ");
    remove_panels();
}

static void damage(const char *name, long at)
{
    char file[4200];

    snprintf(file, sizeof file, "%s/%s", parts, name);
    FILE *f = fopen(file, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    const int byte = fgetc(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    fputc(byte ^ 1, f);
    fclose(f);
}

/* A run of operands in memory, which have no time of change. */
static hybrid_status square_in_memory(void)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;

    options.resume = 1;
    return square(0, &options);
}

static void leave_panels_in_memory(void)
{
    listed_writes_left = 0;
    assert_int_equal(square_in_memory(), HYBRID_IO_FAILED);
    listed_writes_left = -1;
}

static void damaged_panels_are_refused(void **state)
{
    char *wanted = listed_text(&C, 0), file[4200];

    (void)state;
    name_result("x.rows");
    leave_panels_in_memory();
    damage("panel-000000", 9);
    assert_int_equal(square_in_memory(), HYBRID_BAD_FILE);
    assert_non_null(strstr(hybrid_engine_message(engine), "checksum"));
    damage("panel-000000", 9); /* as it was */
    snprintf(file, sizeof file, "%s/panel-000001", parts);
    assert_int_equal(truncate(file, 8), 0);
    assert_int_equal(square_in_memory(), HYBRID_BAD_FILE);
    assert_non_null(strstr(hybrid_engine_message(engine), "another size"));
    assert_int_equal(unlink(file), 0);
    assert_int_equal(square_in_memory(), HYBRID_IO_FAILED);
    remove_panels();
    leave_panels_in_memory();
    size_t bytes;
    snprintf(file, sizeof file, "%s/manifest", parts);
    char *text        = io_load(file, &bytes);
    const long number = (long)(strstr(text, "panel 0 rows ") - text) + 13;
    damage("manifest", number);
    assert_int_equal(square_in_memory(), HYBRID_BAD_FILE);
    io_store(file, text, bytes - 3); /* as if the last line was not written completely */
    expect_ok(square_in_memory());
    expect_text(wanted);
    free(text);
    free(wanted);
}

/* ---- Y = alpha*A*X ---- */

static hybrid_status multiply_dense(double alpha, const hybrid_dense *X, int resume)
{
    const hybrid_operand a = operand_a(0), x = {.dense = X};
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;

    options.resume = resume;
    return hybrid_spmm_to_file(engine, alpha, &a, &x, NULL, path, &options);
}

static void dense_results_are_written(void **state)
{
    hybrid_dense X, Y;

    (void)state;
    expect_ok(hybrid_dense_create(engine, ROWS, WIDTH, HYBRID_ROW_MAJOR, HYBRID_F64, &X));
    for (int64_t k = 0; k < ROWS * WIDTH; k++)
        ((double *)X.data)[k] = (double)(k % 11 - 5);
    name_result("y.npy");
    for (int i = 0; i < 4; i++) {
        const double alpha = i < 2 ? 2 : 0;
        expect_ok(multiply_dense(alpha, &X, i % 2));
        assert_false(exists(parts));
        expect_ok(hybrid_read_dense(engine, path, HYBRID_F64, &Y));
        assert_int_equal(Y.order, HYBRID_ROW_MAJOR);
        assert_null(oracle_check_spmm(alpha, &A, &X, 0, &Y, &Y, 1));
        hybrid_dense_free(engine, &Y);
    }
    hybrid_dense_free(engine, &X);
}

/* ---- copies ---- */

static hybrid_csr slice(const hybrid_csr *M, int64_t begin, int64_t end, int64_t *offsets)
{
    hybrid_csr rows = *M;

    for (int64_t i = begin; i <= end; i++)
        offsets[i - begin] = hy_offset(M, i) - hy_offset(M, begin);
    rows.rows        = end - begin;
    rows.nnz         = offsets[end - begin];
    rows.row_ptr     = offsets;
    rows.offset_type = HYBRID_I64;
    rows.col         = (int32_t *)M->col + hy_offset(M, begin);
    rows.val         = (double *)M->val + hy_offset(M, begin);
    return rows;
}

static void matrices_are_copied(void **state)
{
    hybrid_csr T;
    int64_t offsets[ROWS + 1];

    (void)state;
    expect_ok(hybrid_csr_transpose(engine, &A, &T));
    name_result("m.count");
    for (int i = 0; i < 16; i++) {
        const int in_file = i & 1, turned = i & 2, part = i & 4, resume = i & 8;
        hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
        const hybrid_operand m      = operand_a(in_file);
        const int64_t begin = part ? 70 : 0, end = part ? 190 : ROWS;
        const hybrid_csr rows = slice(turned ? &T : &A, begin, end, offsets);
        char *wanted          = listed_text(&rows, 1);
        options.transpose     = turned ? 1 : 0;
        options.resume        = resume ? 1 : 0;
        options.row_begin     = begin;
        options.row_end       = part ? end : 0;
        expect_ok(hybrid_file_write(engine, &m, path, &options));
        expect_text(wanted);
        hybrid_file_close((hybrid_file *)m.file);
        free(wanted);
    }
    hybrid_csr_free(engine, &T);
}

/* ---- errors ---- */

static hybrid_status copy_dense(void)
{
    const hybrid_dense X   = {ROWS, 1, 1, HYBRID_ROW_MAJOR, A.val, HYBRID_F64};
    const hybrid_operand x = {.dense = &X};

    return hybrid_file_write(engine, &x, path, NULL);
}

static hybrid_status multiply_some(void)
{
    const hybrid_dense X = {ROWS, 1, 1, HYBRID_ROW_MAJOR, A.val, HYBRID_F64};

    return multiply_dense(1, &X, 0);
}

/* Lets each allocation of a call fail, one after another. */
static void each_allocation_may_fail(void **state)
{
    static hybrid_status (*const calls[])(void) = {square_in_memory, copy_dense,
                                                   multiply_some};
    static const char *const names[]            = {"f.count", "f.npy", "g.npy"};

    (void)state;
    settings_of(engine)->piece_bytes = 1 << 16;
    for (int i = 0; i < 3; i++) {
        hybrid_status status = HYBRID_NO_MEMORY;
        name_result(names[i]);
        for (int64_t n = 1; status != HYBRID_OK; n++) {
            engine->ctx.memory.failures = n;
            status                      = calls[i]();
            const int reached           = engine->ctx.memory.failures == 0;
            engine->ctx.memory.failures = 0;
            if (status != HYBRID_OK && status != HYBRID_NO_MEMORY)
                print_error("%s\n", hybrid_engine_message(engine));
            assert_true(status == HYBRID_OK || reached);
            assert_true(exists(path) == (status == HYBRID_OK));
        }
    }
    settings_of(engine)->piece_bytes = 3000;
}

static void refuse(hybrid_file_options options, const char *word)
{
    const hybrid_operand a = {.csr = &A};

    assert_int_equal(hybrid_file_write(engine, &a, path, &options), HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(engine), word));
}

static void bad_options_are_refused(void **state)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT, o;

    (void)state;
    name_result("e.rows");
    o = options, o.row_begin = ROWS + 1, refuse(o, "rows 301:300");
    o = options, o.compression = (hybrid_compression)9, refuse(o, "compression");
    o = options, o.type = (hybrid_type)9, refuse(o, "type");
    o = options, o.offsets = (hybrid_index)9, refuse(o, "offsets");
    o = options, o.columns = (hybrid_index)9, refuse(o, "columns");
    o = options, o.order = (hybrid_order)9, refuse(o, "order");
    o = options, o.struct_size = 0, refuse(o, "HYBRID_FILE_OPTIONS_INIT");
    snprintf(path, sizeof path, "/dev/null");
    o = options, o.format = "rows", refuse(o, "no regular file");
    name_result("e.npy");
    const hybrid_dense X   = {ROWS, 1, 1, HYBRID_ROW_MAJOR, A.val, HYBRID_F64};
    const hybrid_operand x = {.dense = &X};
    options.transpose      = 1;
    assert_int_equal(hybrid_file_write(engine, &x, path, &options), HYBRID_UNSUPPORTED);
}

static void folders_of_panels_may_be_unusable(void **state)
{
    const char *const usual = engine->ctx.spill_path;
    char file[4200];
    size_t bytes;

    (void)state;
    name_result("u.count");
    engine->ctx.spill_path = "/absent";
    assert_int_equal(square(0, NULL), HYBRID_IO_FAILED);
    engine->ctx.spill_path = usual;
    leave_panels_in_memory();
    snprintf(file, sizeof file, "%s/manifest", parts);
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

static void formats_are_recognised(void **state)
{
    const char *format = NULL;

    (void)state;
    expect_ok(hybrid_file_recognise(engine, io_temp("a.json"), &format));
    assert_string_equal(format, "raw");
    assert_string_equal(hybrid_file_format("Y.npy"), "npy");
    assert_null(hybrid_file_format("Y.what"));
    assert_null(hybrid_file_format(NULL));
    assert_int_equal(hybrid_file_recognise(engine, "/absent", &format), HYBRID_IO_FAILED);
}

static void bad_calls_are_refused(void **state)
{
    const hybrid_operand a = {.csr = &A};

    (void)state;
    name_result("e.rows");
    io_store(path, "before", 6);
    assert_int_equal(hybrid_spgemm_to_file(engine, &a, &a, NULL, "c.what", NULL),
                     HYBRID_UNSUPPORTED);
    assert_int_equal(hybrid_spgemm_to_file(engine, &a, &a, NULL, NULL, NULL),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_file_write(engine, &a, "/dev/null.rows/x", NULL),
                     HYBRID_UNSUPPORTED);
    listed_writes_left = 1;
    assert_int_equal(square(0, NULL), HYBRID_IO_FAILED);
    size_t bytes;
    char *text = io_load(path, &bytes);
    assert_string_equal(text, "before"); /* nothing that existed is lost */
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_written),
        cmocka_unit_test(a_device_computes),
        cmocka_unit_test(runs_go_on_after_a_failure),
        cmocka_unit_test(cancelled_runs_go_on),
        cmocka_unit_test(other_operands_are_refused),
        cmocka_unit_test(damaged_panels_are_refused),
        cmocka_unit_test(dense_results_are_written),
        cmocka_unit_test(matrices_are_copied),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(folders_of_panels_may_be_unusable),
        cmocka_unit_test(formats_are_recognised),
    };
    return cmocka_run_group_tests(tests, make_operands, free_operands);
}
