/* tests/run/files/test_files.c - products with any operand in memory or in a file.

   They are computed on the host and on a device, with parts of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/runs/each.h"
#include "support/fake/fake_backend.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"
#include "support/fake/settings.h"
#include "support/inputs/stored.h"
#include "support/products/usage.h"

enum { IN_MEMORY, A_IN_FILE, B_IN_FILE, BOTH_IN_FILES, MIXTURES };

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F64, HYBRID_I32, 1},
                                  {HYBRID_F32, HYBRID_I64, 1},
                                  {HYBRID_F64, HYBRID_I64, 1}};

/* Bytes of a part of A or of rows of B: one row, some, many, and a whole operand. */
static const int64_t pieces[] = {1, 600, 20000, 1 << 30};

enum { KINDS = sizeof kinds / sizeof *kinds, PIECES = sizeof pieces / sizeof *pieces };

static hybrid_engine *open_at(place where)
{
    hybrid_engine *engine = place_open(where, 0);

    fake_delays(1, 0); /* no delays, because there are many products */
    return engine;
}

static void expect_ok(hybrid_engine *engine, hybrid_status status)
{
    if (status != HYBRID_OK)
        print_error("%s\n", hybrid_engine_message(engine));
    assert_int_equal(status, HYBRID_OK);
}

static hybrid_report report(const hybrid_engine *engine)
{
    hybrid_report r = HYBRID_REPORT_INIT;

    assert_int_equal(hybrid_engine_report(engine, &r), HYBRID_OK);
    assert_null(usage_check(&r));
    return r;
}

/* ---- C = AB ---- */

static void check_product(hybrid_engine *engine, const test_case *c, int mixture,
                          const oracle *right)
{
    const hybrid_operand A = stored_csr(engine, "a", &c->A, mixture & A_IN_FILE);
    const hybrid_operand B = stored_csr(engine, "b", &c->B, mixture & B_IN_FILE);
    collected rows;
    hybrid_csr C;

    expect_ok(engine, hybrid_spgemm_files(engine, &A, &B, NULL, &C));
    const char *wrong = oracle_check(right, &C, 1);
    if (wrong)
        fail_msg("%s, mixture %d: %s", c->name, mixture, wrong);
    assert_int_equal(report(engine).nnz_out, C.nnz);
    assert_int_equal(report(engine).rows, C.rows);
    expect_ok(engine, collect_files(engine, &A, &B, &c->B, NULL, -1, &rows));
    collected_same(&rows, &C);
    matrix_free(&rows.C);
    hybrid_csr_free(engine, &C);
    hybrid_file_close((hybrid_file *)A.file);
    hybrid_file_close((hybrid_file *)B.file);
}

static void products_are_right(void **state)
{
    (void)state;
    for (place where = 0; where < PLACES; where++) {
        hybrid_engine *engine = open_at(where);
        for (int i = 0; i < case_count(); i++) {
            const test_kind kind = kinds[i % KINDS];
            test_case c;
            oracle right;
            case_make(i, kind, &c);
            oracle_spgemm(&c.A, &c.B, &right);
            for (int mixture = 0; mixture < MIXTURES; mixture++) {
                settings_of(engine)->piece_bytes =
                    pieces[1 + (i + mixture + (int)where) % (PIECES - 1)];
                check_product(engine, &c, mixture, &right);
            }
            oracle_free(&right);
            case_free(&c);
        }
        hybrid_engine_destroy(engine);
    }
    assert_int_equal(fake_alive(), 0);
}

/* Tests one case with all kinds, mixtures and sizes of parts. */
static void every_mixture_is_right(void **state)
{
    hybrid_engine *engine = open_at(ON_HOST);

    (void)state;
    for (int k = 0; k < KINDS; k++) {
        test_case c;
        oracle right;
        case_named("empty_rows", kinds[k], &c);
        oracle_spgemm(&c.A, &c.B, &right);
        for (int mixture = 0; mixture < MIXTURES; mixture++)
            for (int p = 0; p < PIECES; p++) {
                settings_of(engine)->piece_bytes = pieces[p];
                check_product(engine, &c, mixture, &right);
            }
        oracle_free(&right);
        case_free(&c);
    }
    hybrid_engine_destroy(engine);
}

/* Computes A*A with A in one file: each part of A gives a part of C, whatever its
   size. */
static void a_square_is_right(void **state)
{
    enum { ROWS = 3000 };
    hybrid_engine *engine = open_at(ON_HOST);
    hybrid_csr A, C;
    oracle right;

    (void)state;
    matrix_random(ROWS, ROWS, 12, 3, kinds[3], &A);
    oracle_spgemm(&A, &A, &right);
    const hybrid_operand file = stored_csr(engine, "a", &A, 1);
    for (int p = 1; p < PIECES; p++) {
        settings_of(engine)->piece_bytes = pieces[p];
        expect_ok(engine, hybrid_spgemm_files(engine, &file, &file, NULL, &C));
        assert_null(oracle_check(&right, &C, 1));
        assert_true(pieces[p] > 20000 || report(engine).chunks > 20);
        hybrid_csr_free(engine, &C);
    }
    hybrid_file_close((hybrid_file *)file.file);
    oracle_free(&right);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

/* With HYBRID_DETERMINISTIC, C has the same bits for operands in memory and for operands
   in files that are read in parts. */
static void bits_are_the_same(void **state)
{
    static const test_kind real = {HYBRID_F32, HYBRID_I64, 0};
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    (void)state;
    options.flags = HYBRID_DETERMINISTIC;
    for (place where = 0; where < PLACES; where++) {
        hybrid_engine *engine = open_at(where);
        test_case c;
        hybrid_csr C, D;
        case_named("power_law", real, &c);
        const hybrid_operand a = {.csr = &c.A}, b = {.csr = &c.B};
        const hybrid_operand A = stored_csr(engine, "a", &c.A, 1);
        const hybrid_operand B = stored_csr(engine, "b", &c.B, 1);
        expect_ok(engine, hybrid_spgemm_files(engine, &a, &b, &options, &C));
        settings_of(engine)->piece_bytes = 3000;
        expect_ok(engine, hybrid_spgemm_files(engine, &A, &B, &options, &D));
        assert_int_equal(C.nnz, D.nnz);
        assert_memory_equal(C.row_ptr, D.row_ptr, (size_t)(C.rows + 1) * 8);
        assert_memory_equal(C.col, D.col, (size_t)C.nnz * 4);
        assert_memory_equal(C.val, D.val, (size_t)C.nnz * 4);
        hybrid_csr_free(engine, &C);
        hybrid_csr_free(engine, &D);
        hybrid_file_close((hybrid_file *)A.file);
        hybrid_file_close((hybrid_file *)B.file);
        case_free(&c);
        hybrid_engine_destroy(engine);
    }
}

/* ---- Y = alpha*A*X + beta*Y ---- */

static void check_update(hybrid_engine *engine, int64_t width, int orders, int mixture,
                         test_kind kind)
{
    stored_trial t   = {.engine = engine};
    hybrid_operand X = {.dense = &t.X};

    stored_make(&t, stored_matrix(orders & 1, kind), width, orders, 1, kind);
    const hybrid_operand A = stored_csr(engine, "a", &t.A, mixture & A_IN_FILE);
    hybrid_file *file      = NULL;
    if (mixture & B_IN_FILE) {
        expect_ok(engine, hybrid_file_open(engine, io_temp("x.json"), &file));
        X = (hybrid_operand){.file = file};
    }
    for (int i = 0; i < 3; i++) {
        const double alpha = i == 2 ? 0 : 2, beta = i == 0 ? 0 : -1;
        memcpy(t.Y.data, t.before.data, stored_bytes(&t.Y));
        expect_ok(engine, hybrid_spmm_files(engine, alpha, &A, &X, beta, NULL, &t.Y));
        assert_null(oracle_check_spmm(alpha, &t.A, &t.X, beta, &t.before, &t.Y, 1));
        assert_true(dense_gaps_intact(&t.Y));
        report(engine);
    }
    hybrid_file_close(file);
    hybrid_file_close((hybrid_file *)A.file);
    stored_free(&t);
}

static void updates_are_right(void **state)
{
    (void)state;
    for (place where = 0; where < CARRIED; where++) {
        hybrid_engine *engine = open_at(where);
        for (int p = 1; p < PIECES; p++)
            for (int orders = 0; orders < 4; orders++)
                for (int mixture = 0; mixture < MIXTURES; mixture++) {
                    settings_of(engine)->piece_bytes = pieces[p];
                    check_update(engine, mixture & 1 ? 1 : 13, orders, mixture,
                                 kinds[(p + orders) % KINDS]);
                }
        hybrid_engine_destroy(engine);
    }
    assert_int_equal(fake_alive(), 0);
}

/* ---- memory ---- */

/* Makes a band with `each` entries per row. */
static void make_band(int64_t rows, int64_t each, hybrid_csr *A)
{
    matrix_random(rows, rows, (double)each, 7, kinds[3], A);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t begin = hy_offset(A, i), end = hy_offset(A, i + 1);
        const int64_t first = i + end - begin < rows ? i : rows - (end - begin);
        for (int64_t k = begin; k < end; k++)
            hy_cols(A)[k] = (int32_t)(first + k - begin);
    }
}

/* Multiplies a band by a narrow band. One of them is in a file of six times the engine's
   cap, which includes what workers need. C, which is as large, is handed to a
   function. */
static void memory_holds_a_part(void **state)
{
    enum { ROWS = 60000, EACH = 80, CAP = 8 << 20 };
    hybrid_csr wide, narrow;

    (void)state;
    make_band(ROWS, EACH, &wide);
    make_band(ROWS, 1, &narrow);
    assert_true(wide.nnz * 12 > 6LL * CAP);
    for (int is_a = 0; is_a < 2; is_a++) {
        hybrid_engine *engine = open_host(2, CAP);
        const hybrid_csr *A = is_a ? &wide : &narrow, *B = is_a ? &narrow : &wide;
        const hybrid_operand a = stored_csr(engine, "a", A, 1);
        const hybrid_operand b = stored_csr(engine, "b", B, 1);
        collected rows;
        oracle right;
        expect_ok(engine, collect_files(engine, &a, &b, B, NULL, -1, &rows));
        assert_true(report(engine).peak_host_bytes <= CAP);
        oracle_spgemm(A, B, &right);
        assert_null(oracle_check(&right, &rows.C, 1));
        oracle_free(&right);
        matrix_free(&rows.C);
        hybrid_file_close((hybrid_file *)a.file);
        hybrid_file_close((hybrid_file *)b.file);
        hybrid_engine_destroy(engine);
    }
    matrix_free(&wide);
    matrix_free(&narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right), cmocka_unit_test(every_mixture_is_right),
        cmocka_unit_test(a_square_is_right),  cmocka_unit_test(bits_are_the_same),
        cmocka_unit_test(updates_are_right),  cmocka_unit_test(memory_holds_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
