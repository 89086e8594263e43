/* tests/unit/plan/test_result_size.c - the predicted size of C.

   It is compared with computed products. A C that does not fit must be refused before
   anything is computed, and one that fits must not be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "engine/files/result_size.h"
#include "partition/move/sources.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/fake/settings.h"
#include "support/inputs/stored.h"

enum { MIB = 1 << 20 };

static const char *const specs[] = {"stencil27:12",        "er:4000,12", "band:3000,9",
                                    "powerlaw:4000,8,400", "rmat:12,8",  "road:60"};

enum { SPECS = sizeof specs / sizeof *specs };

static void expect(const hybrid_engine *engine, hybrid_status is, hybrid_status wanted)
{
    if (is != wanted)
        fail_msg("status %d, not %d: %s", (int)is, (int)wanted,
                 hybrid_engine_message(engine));
}

static hybrid_csr make(hybrid_engine *engine, const char *spec)
{
    hybrid_csr A;

    expect(engine, hybrid_generate(engine, spec, HYBRID_F64, 7, &A), HYBRID_OK);
    return A;
}

static void close_operand(hybrid_operand operand)
{
    hybrid_file_close((hybrid_file *)operand.file);
}

/* ---- the prediction ---- */

static void check_near(const char *spec, const char *what, int64_t is, int64_t right)
{
    if (fabs((double)is - (double)right) > 0.25 * (double)right)
        fail_msg("%s: %lld %s are predicted, and there are %lld", spec, (long long)is,
                 what, (long long)right);
}

static void check_prediction(hybrid_engine *engine, const char *spec, int in_file)
{
    const hybrid_csr matrix = make(engine, spec);
    const hybrid_operand A  = stored_csr(engine, "a", &matrix, in_file);
    hybrid_report found     = HYBRID_REPORT_INIT;
    hybrid_report right     = HYBRID_REPORT_INIT;
    hybrid_csr C, owned = matrix;
    const hybrid_operand memory = {.csr = &matrix};

    expect(engine, hybrid_spgemm_files_predict(engine, &A, &memory, NULL, &found),
           HYBRID_OK);
    expect(engine, hybrid_spgemm(engine, &matrix, &matrix, &C), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &right), HYBRID_OK);
    check_near(spec, "entries", found.predicted_nnz_out, C.nnz);
    check_near(spec, "operations", found.flops, right.flops);
    assert_int_equal(found.rows, C.rows);
    assert_int_equal(found.predicted_result_bytes,
                     (C.rows + 1) * 8 + found.predicted_nnz_out * 12);
    hybrid_csr_free(engine, &C);
    close_operand(A);
    hybrid_csr_free(engine, &owned);
}

static void predictions_are_near(void **state)
{
    hybrid_engine *engine = open_host(2, 0);

    (void)state;
    for (int i = 0; i < SPECS; i++)
        for (int in_file = 0; in_file < 2; in_file++)
            check_prediction(engine, specs[i], in_file);
    hybrid_engine_destroy(engine);
}

/* If the sample has all rows of a product, the predicted number of entries is exact. */
static void small_products_are_exact(void **state)
{
    static const test_kind kind = {HYBRID_F32, HYBRID_I32, 1};
    hybrid_engine *engine       = open_host(1, 0);
    hybrid_report found         = HYBRID_REPORT_INIT;

    (void)state;
    for (int i = 0; i < case_count(); i++) {
        test_case c;
        hybrid_csr C;
        case_make(i, kind, &c);
        const hybrid_operand A = {.csr = &c.A}, B = stored_csr(engine, "b", &c.B, 1);
        expect(engine, hybrid_spgemm_files_predict(engine, &A, &B, NULL, &found),
               HYBRID_OK);
        expect(engine, hybrid_spgemm(engine, &c.A, &c.B, &C), HYBRID_OK);
        if (c.A.nnz <= 16)
            assert_int_equal(found.predicted_nnz_out, C.nnz);
        hybrid_csr_free(engine, &C);
        close_operand(B);
        case_free(&c);
    }
    hybrid_engine_destroy(engine);
}

/* hy_result_size's `least` is the lower bound of entries of C with which a product is
   refused. It must not exceed the entries of C, nor be less than half of them. */
static void least_is_not_too_much(void **state)
{
    hybrid_engine *engine = open_host(1, 0);
    const hy_files call   = {.engine = engine};

    (void)state;
    for (int i = 0; i < SPECS; i++) {
        hybrid_csr matrix = make(engine, specs[i]), C;
        const hy_source A = hy_source_csr(&engine->ctx, &matrix);
        hy_result_size size;
        expect(engine, hy_estimate_result(&call, &A, &A, NAN, &size), HYBRID_OK);
        expect(engine, hybrid_spgemm(engine, &matrix, &matrix, &C), HYBRID_OK);
        if (size.least > (double)C.nnz || size.least < 0.5 * (double)C.nnz)
            fail_msg("%s: at least %.0f of %lld entries", specs[i], size.least,
                     (long long)C.nnz);
        hybrid_csr_free(engine, &C);
        hybrid_csr_free(engine, &matrix);
    }
    hybrid_engine_destroy(engine);
}

static void arguments_are_checked(void **state)
{
    hybrid_engine *engine  = open_host(1, 0);
    hybrid_csr matrix      = make(engine, "er:50,3");
    const hybrid_operand A = {.csr = &matrix}, none = {.csr = NULL};
    hybrid_report out = HYBRID_REPORT_INIT, short_one = {.struct_size = 8};

    (void)state;
    assert_int_equal(hybrid_spgemm_files_predict(NULL, &A, &A, NULL, &out),
                     HYBRID_BAD_ARGUMENT);
    expect(engine, hybrid_spgemm_files_predict(engine, &none, &A, NULL, &out),
           HYBRID_BAD_ARGUMENT);
    expect(engine, hybrid_spgemm_files_predict(engine, &A, &A, NULL, NULL),
           HYBRID_BAD_ARGUMENT);
    expect(engine, hybrid_spgemm_files_predict(engine, &A, &A, NULL, &short_one),
           HYBRID_BAD_ARGUMENT);
    hybrid_csr_free(engine, &matrix);
    hybrid_engine_destroy(engine);
}

/* ---- what does not fit ---- */

static void count_event(void *user, const hybrid_event *event)
{
    (void)event;
    ++*(int *)user;
}

/* Checks that A*A is refused. Bits of `in_files`: 1, the left operand is in a file; 2,
   the right one. */
static void refuse(hybrid_engine *engine, const hybrid_csr *matrix, int in_files)
{
    const hybrid_operand A = stored_csr(engine, "a", matrix, in_files & 1);
    const hybrid_operand B = stored_csr(engine, "b", matrix, in_files & 2);
    int events             = 0;
    hybrid_csr C           = {.rows = -7};

    hybrid_engine_trace(engine, count_event, &events);
    expect(engine, hybrid_spgemm_files(engine, &A, &B, NULL, &C), HYBRID_NO_MEMORY);
    hybrid_engine_trace(engine, NULL, NULL);
    assert_int_equal(events, 0);
    assert_int_equal(C.rows, -7);
    for (const char *const *part =
             (const char *const[]){"cannot allocate 9", " MiB of host memory",
                                   "of the budget of 48.0 MiB is in use",
                                   "[C, whose size is estimated]",
                                   "hybrid_spgemm_files_each", NULL};
         *part; part++)
        if (!strstr(hybrid_engine_message(engine), *part))
            fail_msg("'%s' is not in: %s", *part, hybrid_engine_message(engine));
    close_operand(A);
    close_operand(B);
}

/* A product whose C takes 90.7 MiB, about twice the host's budget, is refused before it
   is computed, with operands in memory and in files. With a small setting piece_bytes
   operands stay in their files; otherwise they are read completely. */
static void what_does_not_fit_is_refused_at_once(void **state)
{
    hybrid_engine *engine = open_host(2, 48 * MIB);
    hybrid_csr matrix     = make(engine, "er:20000,20");

    (void)state;
    for (int in_files = 0; in_files < 4; in_files++)
        for (int small = 0; small < 2; small++) {
            settings_of(engine)->piece_bytes = small ? MIB : 0;
            refuse(engine, &matrix, in_files);
        }
    hybrid_csr_free(engine, &matrix);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_near),
        cmocka_unit_test(small_products_are_exact),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(what_does_not_fit_is_refused_at_once),
        cmocka_unit_test(least_is_not_too_much),
    };

    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
