/* tests/run/files/test_to_file.c - results that are written to files.

   A result has the same bytes whatever the size of panels and wherever the operands
   are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "support/check/oracle.h"
#include "support/engines/io_fixture.h"
#include "support/fake/settings.h"
#include "support/files/listed_format.h"
#include "support/files/written.h"

/* ---- complete runs ---- */

static void products_are_written(void **state)
{
    static const char *const names[] = {"c.rows", "c.count"};

    (void)state;
    for (int counted = 0; counted < 2; counted++)
        for (int in_file = 0; in_file < 2; in_file++)
            for (int resume = 0; resume < 2; resume++) {
                hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
                char *wanted                = listed_text(&files_c, counted);
                options.resume              = resume;
                files_name(names[counted]);
                files_ok(files_square(in_file, &options));
                files_expect(wanted);
                free(wanted);
            }
}

static void a_device_computes(void **state)
{
    hybrid_engine *const host = files_engine;
    char *wanted              = listed_text(&files_c, 0);

    (void)state;
    files_open(ON_DEVICE);
    files_name("d.rows");
    files_ok(files_square(1, NULL));
    files_expect(wanted);
    hybrid_engine_destroy(files_engine);
    free(wanted);
    files_engine = host;
}

/* ---- Y = alpha*A*X ---- */

static void dense_results_are_written(void **state)
{
    hybrid_dense X, Y;

    (void)state;
    files_ok(hybrid_dense_create(files_engine, FILES_ROWS, FILES_WIDTH, HYBRID_ROW_MAJOR,
                                 HYBRID_F64, &X));
    for (int64_t k = 0; k < FILES_ROWS * FILES_WIDTH; k++)
        ((double *)X.data)[k] = (double)(k % 11 - 5);
    files_name("y.npy");
    for (int i = 0; i < 4; i++) {
        const double alpha = i < 2 ? 2 : 0;
        files_ok(files_multiply_dense(alpha, &X, i % 2));
        assert_false(files_exist(files_parts));
        files_ok(hybrid_read_dense(files_engine, files_path, HYBRID_F64, &Y));
        assert_int_equal(Y.order, HYBRID_ROW_MAJOR);
        assert_null(oracle_check_spmm(alpha, &files_a, &X, 0, &Y, &Y, 1));
        hybrid_dense_free(files_engine, &Y);
    }
    hybrid_dense_free(files_engine, &X);
}

/* ---- the trace ---- */

static const char *const lanes[] = {"reader", "reader-B", "reader-X", "writer"};

enum { READER = 1, READER_OF_B = 2, READER_OF_X = 4, WRITER = 8 };

/* Sets the bits of the lanes that were seen in *user, an int. */
static void see(void *user, const hybrid_event *event)
{
    int *seen = user;

    for (int i = 0; i < 4; i++)
        if (strcmp(event->lane, lanes[i]) == 0) {
            assert_true(event->end_ns >= event->begin_ns && event->begin_ns > 0);
            assert_true(event->bytes > 0);
            *seen |= 1 << i;
        }
}

static void the_trace_has_lanes_of_readers_and_the_writer(void **state)
{
    const hybrid_operand a = files_operand(1);
    hybrid_file *file;
    hybrid_dense X;
    int seen = 0;

    (void)state;
    files_ok(hybrid_dense_create(files_engine, FILES_ROWS, FILES_WIDTH, HYBRID_ROW_MAJOR,
                                 HYBRID_F64, &X));
    files_ok(hybrid_write_npy(files_engine, io_temp("x.npy"), &X));
    files_ok(hybrid_file_open(files_engine, io_temp("x.npy"), &file));
    hybrid_engine_trace(files_engine, see, &seen);
    files_name("c.rows");
    files_ok(files_square(1, NULL));
    assert_int_equal(seen, READER | READER_OF_B | WRITER);
    seen = 0;
    files_name("y.npy");
    const hybrid_operand x = {.file = file};
    files_ok(hybrid_spmm_to_file(files_engine, 1, &a, &x, NULL, files_path, NULL));
    assert_int_equal(seen, READER | READER_OF_X | WRITER);
    hybrid_engine_trace(files_engine, NULL, NULL);
    hybrid_file_close(file);
    hybrid_file_close((hybrid_file *)a.file);
    hybrid_dense_free(files_engine, &X);
}

/* ---- memory ---- */

/* Workspaces of workers grow to dense rows of C. While panels are copied to the file,
   they would take memory that the copies need. */
static void workspaces_are_freed_before_panels_are_copied(void **state)
{
    static const char *const names[] = {"w.rows", "w.count"}; /* the second has panels */
    int64_t used[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        files_name(names[i]);
        files_ok(files_square(1, NULL));
        used[i] = hy_meter_used(&files_engine->ctx.memory.meter);
    }
    assert_true(used[1] < used[0]);
}

/* ---- paths and formats that do not suit ---- */

static void count_event(void *user, const hybrid_event *event)
{
    (void)event;
    ++*(int *)user;
}

/* Formats that begin with the number of entries, and results that are resumed, are
   written when everything has been computed. */
static void a_file_that_cannot_be_written_is_refused_before_computing(void **state)
{
    static const struct {
        const char *name;
        int resume;
        hybrid_status status;
    } cases[]                   = {{"absent/c.count", 0, HYBRID_IO_FAILED},
                                   {"folder.count", 0, HYBRID_BAD_ARGUMENT},
                                   {"c.npy", 1, HYBRID_BAD_ARGUMENT}};
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
    int events                  = 0;

    (void)state;
    files_name("folder.count");
    assert_int_equal(mkdir(files_path, 0700), 0);
    hybrid_engine_trace(files_engine, count_event, &events);
    for (int i = 0; i < 3; i++) {
        files_name(cases[i].name);
        options.resume = cases[i].resume;
        assert_int_equal(files_square(0, &options), cases[i].status);
        assert_int_equal(events, 0);
        assert_false(files_exist(files_parts));
    }
    hybrid_engine_trace(files_engine, NULL, NULL);
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
    int64_t offsets[FILES_ROWS + 1];

    (void)state;
    files_ok(hybrid_csr_transpose(files_engine, &files_a, &T));
    files_name("m.count");
    for (int i = 0; i < 16; i++) {
        const int in_file = i & 1, turned = i & 2, part = i & 4, resume = i & 8;
        hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
        const hybrid_operand m      = files_operand(in_file);
        const int64_t begin = part ? 70 : 0, end = part ? 190 : FILES_ROWS;
        const hybrid_csr rows = slice(turned ? &T : &files_a, begin, end, offsets);
        char *wanted          = listed_text(&rows, 1);
        options.transpose     = turned ? 1 : 0;
        options.resume        = resume ? 1 : 0;
        options.row_begin     = begin;
        options.row_end       = part ? end : 0;
        files_ok(hybrid_file_write(files_engine, &m, files_path, &options));
        files_expect(wanted);
        hybrid_file_close((hybrid_file *)m.file);
        free(wanted);
    }
    hybrid_csr_free(files_engine, &T);
}

/* ---- errors ---- */

static void refuse(hybrid_file_options options, const char *word)
{
    const hybrid_operand a = {.csr = &files_a};

    assert_int_equal(hybrid_file_write(files_engine, &a, files_path, &options),
                     HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(files_engine), word));
}

static void bad_options_are_refused(void **state)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT, o;

    (void)state;
    files_name("e.rows");
    o = options, o.row_begin = FILES_ROWS + 1, refuse(o, "rows 301:300");
    o = options, o.compression = (hybrid_compression)9, refuse(o, "compression");
    o = options, o.type = (hybrid_type)9, refuse(o, "type");
    o = options, o.offsets = (hybrid_index)9, refuse(o, "offsets");
    o = options, o.columns = (hybrid_index)9, refuse(o, "columns");
    o = options, o.order = (hybrid_order)9, refuse(o, "order");
    o = options, o.part_rows = -1, refuse(o, "part_rows is -1, and must be 0 or more");
    o = options, o.struct_size = 0, refuse(o, "HYBRID_FILE_OPTIONS_INIT");
    snprintf(files_path, sizeof files_path, "/dev/null");
    o = options, o.format = "rows", refuse(o, "no regular file");
    files_name("e.npy");
    const hybrid_dense X = {FILES_ROWS, 1, 1, HYBRID_ROW_MAJOR, files_a.val, HYBRID_F64};
    const hybrid_operand x = {.dense = &X};
    options.transpose      = 1;
    assert_int_equal(hybrid_file_write(files_engine, &x, files_path, &options),
                     HYBRID_UNSUPPORTED);
}

static void bad_parts_are_refused(void **state)
{
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;
    const hybrid_operand a      = {.csr = &files_a};
    const hybrid_dense X = {FILES_ROWS, 1, 1, HYBRID_ROW_MAJOR, files_a.val, HYBRID_F64};
    const hybrid_operand x = {.dense = &X};

    (void)state;
    options.part_rows = 100;
    files_name("e.rows");
    assert_int_equal(hybrid_file_write(files_engine, &a, files_path, &options),
                     HYBRID_UNSUPPORTED);
    assert_non_null(strstr(hybrid_engine_message(files_engine),
                           "the format rows has no parts; part_rows needs a name"));
    settings_of(files_engine)->formats = hy_file_formats;
    files_name("e.json");
    options.order = HYBRID_COL_MAJOR;
    assert_int_equal(hybrid_file_write(files_engine, &x, files_path, &options),
                     HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(files_engine), "HYBRID_ROW_MAJOR"));
    assert_false(files_exist(files_path));
    settings_of(files_engine)->formats = listed_formats;
}

static void formats_are_recognised(void **state)
{
    const char *format = NULL;

    (void)state;
    files_ok(hybrid_file_recognise(files_engine, io_temp("a.json"), &format));
    assert_string_equal(format, "raw");
    assert_string_equal(hybrid_file_format("Y.npy"), "npy");
    assert_null(hybrid_file_format("Y.what"));
    assert_null(hybrid_file_format(NULL));
    assert_int_equal(hybrid_file_recognise(files_engine, "/absent", &format),
                     HYBRID_IO_FAILED);
}

static void bad_calls_are_refused(void **state)
{
    const hybrid_operand a = {.csr = &files_a};

    (void)state;
    files_name("e.rows");
    io_store(files_path, "before", 6);
    assert_int_equal(hybrid_spgemm_to_file(files_engine, &a, &a, NULL, "c.what", NULL),
                     HYBRID_UNSUPPORTED);
    assert_int_equal(hybrid_spgemm_to_file(files_engine, &a, &a, NULL, NULL, NULL),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_file_write(files_engine, &a, "/dev/null.rows/x", NULL),
                     HYBRID_UNSUPPORTED);
    listed_writes_left = 1;
    assert_int_equal(files_square(0, NULL), HYBRID_IO_FAILED);
    size_t bytes;
    char *text = io_load(files_path, &bytes);
    assert_string_equal(text, "before"); /* the file that existed before the call is
                                            unchanged */
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_written),
        cmocka_unit_test(a_device_computes),
        cmocka_unit_test(dense_results_are_written),
        cmocka_unit_test(the_trace_has_lanes_of_readers_and_the_writer),
        cmocka_unit_test(workspaces_are_freed_before_panels_are_copied),
        cmocka_unit_test(a_file_that_cannot_be_written_is_refused_before_computing),
        cmocka_unit_test(matrices_are_copied),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(bad_parts_are_refused),
        cmocka_unit_test(formats_are_recognised),
    };
    return cmocka_run_group_tests(tests, files_group_open, files_group_close);
}
