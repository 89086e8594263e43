/* tests/run/files/test_files_errors.c - errors with operands in files.

   Files are invalid or too short, a row needs too much memory, a function ends the call,
   arguments are invalid, and each allocation and each call of the device fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "support/runs/each.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fault.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/check/oracle.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"
#include "support/inputs/stored.h"

enum { ROWS = 400, EACH = 5, PIECE = 1500 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

static void expect(const hybrid_engine *engine, hybrid_status is, hybrid_status wanted,
                   const char *part)
{
    const char *message = hybrid_engine_message(engine);

    if (is != wanted || !strstr(message, part))
        fail_msg("status %d, not %d; '%s' is not in '%s'", (int)is, (int)wanted, part,
                 message);
}

/* ---- a product ---- */

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A;
    hybrid_file *file;
    oracle right; /* the right A*A */
} world;

static void open_world(world *w, int on_host)
{
    w->engine                           = each_open(on_host, 2, 0);
    settings_of(w->engine)->piece_bytes = PIECE;
    matrix_random(ROWS, ROWS, EACH, 3, f64, &w->A);
    w->file = (hybrid_file *)stored_csr(w->engine, "a", &w->A, 1).file;
    oracle_spgemm(&w->A, &w->A, &w->right);
}

static void close_world(world *w)
{
    hybrid_file_close(w->file);
    oracle_free(&w->right);
    matrix_free(&w->A);
    hybrid_engine_destroy(w->engine);
}

/* Computes A*A with A and B in memory or in the file. On failure C must be unchanged. */
static hybrid_status run(const world *w, int a_in_file, int b_in_file, hybrid_csr *C)
{
    const hybrid_operand memory = {.csr = &w->A}, file = {.file = w->file};
    const hybrid_csr mark      = {.rows = -7};
    const hybrid_operand *A    = a_in_file ? &file : &memory;
    const hybrid_operand *B    = b_in_file ? &file : &memory;
    *C                         = mark;
    const hybrid_status status = hybrid_spgemm_files(w->engine, A, B, NULL, C);

    assert_true(status == HYBRID_OK || C->rows == -7);
    return status;
}

static void expect_right(const world *w, int a_in_file, int b_in_file)
{
    hybrid_csr C;

    expect(w->engine, run(w, a_in_file, b_in_file, &C), HYBRID_OK, "");
    assert_null(oracle_check(&w->right, &C, 1));
    hybrid_csr_free(w->engine, &C);
}

/* ---- files ---- */

/* Checks that a bad file is refused for each operand, and that the right file works
   afterwards. */
static void refuse(const world *w, const hybrid_csr *bad, hybrid_status wanted,
                   const char *sentence)
{
    hybrid_csr C;

    stored_write_csr("a", bad);
    for (int a = 0; a < 2; a++)
        expect(w->engine, run(w, a, !a, &C), wanted, sentence);
    stored_write_csr("a", &w->A);
    expect_right(w, 1, 1);
}

/* Returns a row with two or more entries, far from the first row. */
static int64_t some_row(const hybrid_csr *A)
{
    int64_t row = 300;

    while (hy_offset(A, row + 1) - hy_offset(A, row) < 2)
        row++;
    return row;
}

static const char *of_row(int64_t row, const char *what)
{
    static char text[128];

    snprintf(text, sizeof text, "a.json: row %lld%s", (long long)row, what);
    return text;
}

/* A file whose column indices are out of range or do not ascend must be refused with the
   row's name. */
static void broken_columns_are_named(void **state)
{
    int32_t cols[ROWS * EACH * 2];
    world w;

    (void)state;
    open_world(&w, 1);
    const int64_t row = some_row(&w.A), at = hy_offset(&w.A, row);
    const size_t bytes = (size_t)w.A.nnz * 4;
    hybrid_csr bad     = w.A;
    assert_true(bytes <= sizeof cols);
    memcpy(cols, w.A.col, bytes);
    bad.col      = cols;
    cols[at + 1] = ROWS;
    refuse(&w, &bad, HYBRID_BAD_MATRIX,
           of_row(row, ", entry 1: column 400 is not in 0..399"));
    cols[at + 1] = -1;
    refuse(&w, &bad, HYBRID_BAD_MATRIX,
           of_row(row, ", entry 1: column -1 is not in 0..399"));
    cols[at + 1] = cols[at];
    refuse(&w, &bad, HYBRID_BAD_MATRIX, of_row(row, ", entry 1: column "));
    close_world(&w);
}

static void broken_offsets_are_named(void **state)
{
    int64_t offsets[ROWS + 1];
    world w;

    (void)state;
    open_world(&w, 1);
    const int64_t row = some_row(&w.A), next = hy_offset(&w.A, row + 1);
    hybrid_csr bad = w.A;
    memcpy(offsets, w.A.row_ptr, sizeof offsets);
    bad.row_ptr      = offsets;
    offsets[row + 1] = offsets[row] - 1;
    refuse(&w, &bad, HYBRID_BAD_MATRIX, of_row(row, ": offsets"));
    offsets[row + 1] = bad.nnz + 1;
    refuse(&w, &bad, HYBRID_BAD_MATRIX, of_row(row, ": offsets"));
    offsets[row + 1] = next;
    offsets[0]       = 1;
    refuse(&w, &bad, HYBRID_BAD_MATRIX, "a.json: row offsets begin with 1 instead of 0");
    offsets[0]    = 0;
    offsets[ROWS] = bad.nnz - 1;
    refuse(&w, &bad, HYBRID_BAD_MATRIX, "a.json: row offsets end with");
    close_world(&w);
}

/* The file of A is truncated, first within its offsets, which are its last array, then
   within its values, the first. Products fail with a message, and succeed when it is
   whole again. */
static void files_that_shrink_are_told(void **state)
{
    static const off_t lengths[] = {STORED_FRONT + 8 * ROWS * EACH * 3 / 2, 1000};
    world w;
    hybrid_csr C;

    (void)state;
    for (int on_host = 0; on_host < 2; on_host++) {
        open_world(&w, on_host);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(truncate(io_temp("a.bin"), lengths[i]), 0);
            for (int mixture = 1; mixture < 4; mixture++)
                expect(w.engine, run(&w, mixture & 1, mixture & 2, &C), HYBRID_IO_FAILED,
                       "a.bin: byte ");
            stored_write_csr("a", &w.A);
            expect_right(&w, 1, 1);
        }
        close_world(&w);
    }
}

/* ---- too large rows ---- */

/* A row of A needs all of B, which takes five times the memory that the engine may use:
   the product is refused with a message. */
static void a_row_may_touch_too_much(void **state)
{
    enum { CAP = 4 << 20, MANY = 30000 };
    hybrid_engine *engine = open_host(2, CAP);
    hybrid_csr A, B, C;

    (void)state;
    matrix_random(10, MANY, 3, 3, f64, &A);
    matrix_random(MANY, 1000, 60, 3, f64, &B);
    assert_true(A.nnz >= 10);
    hybrid_csr one = {1,    MANY, MANY,      HYBRID_I64, (int64_t[]){0, MANY},
                      NULL, NULL, HYBRID_F64};
    static int32_t cols[MANY];
    static double vals[MANY];
    for (int32_t j = 0; j < MANY; j++) {
        cols[j] = j;
        vals[j] = 1;
    }
    one.col                = cols;
    one.val                = vals;
    const hybrid_operand a = {.csr = &A}, row = {.csr = &one};
    const hybrid_operand file = stored_csr(engine, "b", &B, 1);
    expect(engine, hybrid_spgemm_files(engine, &row, &file, NULL, &C), HYBRID_NO_MEMORY,
           "cannot allocate 19.8 MiB of host memory: row 0 of A needs 30000 rows of B");
    expect(engine, hybrid_spgemm_files(engine, &a, &file, NULL, &C), HYBRID_OK, "");
    hybrid_csr_free(engine, &C);
    hybrid_file_close((hybrid_file *)file.file);
    matrix_free(&A);
    matrix_free(&B);
    hybrid_engine_destroy(engine);
}

/* Row LONG of C needs more device memory than there is. Products of files are computed in
   ranges of rows; the error has the number of the row in C. */
static void a_row_is_named_by_its_number_in_c(void **state)
{
    enum { LONG = 300 };
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_csr A                  = build_rows(ROWS, ROWS, EACH, LONG, f64);
    hybrid_engine *engine;
    hybrid_csr C;

    (void)state;
    options.backend      = HYBRID_HOST;
    options.device_bytes = 2 << 10;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    settings_of(engine)->piece_bytes = PIECE;
    const hybrid_operand row = {.csr = &A}, file = stored_csr(engine, "l", &A, 1);
    const hybrid_operand *const as[] = {&row, &file};
    for (int i = 0; i < 2; i++)
        expect(engine, hybrid_spgemm_files(engine, as[i], &file, NULL, &C),
               HYBRID_NO_DEVICE_MEMORY, "row 300 of the product needs ");
    hybrid_file_close((hybrid_file *)file.file);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

/* ---- a function that ends the call ---- */

static void cancelled_at_each_panel(void **state)
{
    collected all, rows;
    world w;

    (void)state;
    for (int on_host = 0; on_host < 2; on_host++) {
        open_world(&w, on_host);
        const hybrid_operand A = {.file = w.file};
        expect(w.engine, collect_files(w.engine, &A, &A, &w.A, NULL, -1, &all), HYBRID_OK,
               "");
        assert_true(all.panels > 10);
        for (int64_t last = 0; last < all.panels; last += 3) {
            expect(w.engine, collect_files(w.engine, &A, &A, &w.A, NULL, last, &rows),
                   HYBRID_CANCELLED, "returned 7 for rows");
            assert_int_equal(rows.panels, last + 1);
            collected_begins(&rows, &all.C);
            matrix_free(&rows.C);
        }
        matrix_free(&all.C);
        close_world(&w);
    }
}

/* ---- arguments ---- */

static int ignore(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    (void)user;
    (void)row_begin;
    (void)rows;
    return 0;
}

static void arguments_are_checked(void **state)
{
    hybrid_plan_options again = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *other      = open_host(2, 0);
    hybrid_file *x, *others;
    stored_trial t;
    hybrid_csr C;
    world w;

    (void)state;
    open_world(&w, 1);
    hybrid_engine *e = w.engine;
    t                = (stored_trial){.engine = e};
    stored_make(&t, stored_matrix(0, f64), 3, 3, 0, f64);
    assert_int_equal(hybrid_file_open(e, io_temp("x.json"), &x), HYBRID_OK);
    assert_int_equal(hybrid_file_open(other, io_temp("a.json"), &others), HYBRID_OK);
    const hybrid_operand A = {.file = w.file}, X = {.file = x}, O = {.file = others};
    const hybrid_operand none = {.csr = NULL}, two = {.csr = &w.A, .file = w.file};
    const hybrid_operand dense = {.dense = &t.X}, narrow = {.csr = &t.A};
    const hybrid_status bad = HYBRID_BAD_ARGUMENT;
    expect(e, hybrid_spgemm_files(e, NULL, &A, NULL, &C), bad, "A: exactly one of csr");
    expect(e, hybrid_spgemm_files(e, &A, &none, NULL, &C), bad, "B: exactly one of csr");
    expect(e, hybrid_spgemm_files(e, &two, &A, NULL, &C), bad, "not 2");
    expect(e, hybrid_spgemm_files(e, &A, &dense, NULL, &C), bad, "B must be sparse");
    expect(e, hybrid_spgemm_files(e, &X, &A, NULL, &C), bad, "A must be sparse");
    expect(e, hybrid_spgemm_files(e, &O, &A, NULL, &C), bad, "another engine");
    expect(e, hybrid_spgemm_files(e, &A, &A, NULL, NULL), bad, "C is NULL");
    expect(e, hybrid_spgemm_files_each(e, &A, &A, NULL, NULL, NULL), bad, "fn is NULL");
    expect(e, hybrid_spmm_files(e, 1, &A, &A, 0, NULL, &t.Y), bad, "X must be dense");
    expect(e, hybrid_spmm_files(e, 1, &A, &narrow, 0, NULL, &t.Y), bad,
           "X must be dense");
    expect(e, hybrid_spmm_files(e, 1, &A, &X, 0, NULL, NULL), bad, "Y is NULL");
    expect(e, hybrid_spmm_files(e, 1, &A, &X, 0, NULL, &t.Y), HYBRID_BAD_SHAPE,
           "A is 400 x 400, so X must have 400 rows, not ");
    expect(e, hybrid_spgemm_files(e, &A, &narrow, NULL, &C), HYBRID_BAD_SHAPE,
           "A is 400 x 400, so B must have 400 rows, not ");
    again.flags = HYBRID_REUSE;
    expect(e, hybrid_spgemm_files(e, &A, &A, &again, &C), bad,
           "a one-shot call runs once");
    again.flags = HYBRID_RESIDENT;
    expect(e, hybrid_spmm_files(e, 1, &narrow, &X, 0, &again, &t.Y), bad,
           "a one-shot call runs once");
    again.flags = HYBRID_ASYNC;
    expect(e, hybrid_spmm_files(e, 1, &narrow, &X, 0, &again, &t.Y), bad,
           "a one-shot call runs once");
    expect(e, hybrid_spgemm_files(e, &A, &A, &again, &C), bad,
           "a one-shot call runs once");
    assert_int_equal(hybrid_spgemm_files_each(NULL, &A, &A, NULL, ignore, NULL), bad);
    assert_int_equal(hybrid_file_csr(w.file).nnz, w.A.nnz);
    assert_null(hybrid_file_csr(w.file).row_ptr);
    assert_int_equal(hybrid_file_csr(x).type, 0);
    assert_int_equal(hybrid_file_dense(w.file).type, 0);
    assert_int_equal(hybrid_file_csr(NULL).type, 0);
    hybrid_file_close(x);
    hybrid_file_close(others);
    stored_free(&t);
    close_world(&w);
    hybrid_engine_destroy(other);
}

/* ---- each call fails once ---- */

/* Runs the product while its call n fails. Returns 1 if the product made that call. */
static int fail_one(const world *w, const fault_kind *fault, int64_t n)
{
    hybrid_csr C;

    fault->arm(w->engine, n);
    const hybrid_status status = run(w, 1, 1, &C);
    if (status != HYBRID_OK) {
        assert_true(strlen(hybrid_engine_message(w->engine)) > 10);
        return fault_struck(fault, w->engine, status);
    }
    assert_null(oracle_check(&w->right, &C, 1));
    hybrid_csr_free(w->engine, &C);
    return fault_struck(fault, w->engine, status);
}

/* Returns how many parts of C a product hands over. */
static int64_t parts_of(const world *w)
{
    const hybrid_operand A = {.file = w->file};
    collected rows;

    expect(w->engine, collect_files(w->engine, &A, &A, &w->A, NULL, -1, &rows), HYBRID_OK,
           "");
    matrix_free(&rows.C);
    return rows.panels;
}

/* Lets each of the first calls of a product fail in turn, later every 32nd call. A
   product makes at least one call per part of C. */
static void fail_each(int on_host, const fault_kind *fault)
{
    int64_t n = 1;
    world w;

    open_world(&w, on_host);
    settings_of(w.engine)->piece_bytes = 6 * PIECE;
    expect_right(&w, 1, 1);
    for (; fail_one(&w, fault, n); n += 1 + n / 32)
        if (n % 8 == 1)
            expect_right(&w, 1, 1);
    assert_true(n > parts_of(&w));
    expect_right(&w, 1, 1);
    close_world(&w);
    assert_int_equal(fake_alive(), 0);
}

static void each_call_fails(void **state)
{
    (void)state;
    fail_each(1, &fault_allocation);
    fail_each(0, &fault_allocation);
    fail_each(0, &fault_device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_columns_are_named),
        cmocka_unit_test(broken_offsets_are_named),
        cmocka_unit_test(files_that_shrink_are_told),
        cmocka_unit_test(a_row_may_touch_too_much),
        cmocka_unit_test(a_row_is_named_by_its_number_in_c),
        cmocka_unit_test(cancelled_at_each_panel),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(each_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
