/* tests/run/files/test_predicted_peak.c - hybrid_spmm_files_predict() and
   hybrid_spgemm_to_file_predict() tell the memory of each kind and the disk that products
   take which are written to files, within a tenth. No product exceeds its budget of host
   memory, which includes pinned memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/inputs/cases.h"
#include "support/inputs/stored.h"

enum { ROWS = 100000, PER_ROW = 5, MIB = 1 << 20 };

static const test_kind kind = {HYBRID_F32, HYBRID_I64, 1};

static void is_ok(const hybrid_engine *engine, hybrid_status status)
{
    if (status != HYBRID_OK)
        fail_msg("status %d: %s", (int)status, hybrid_engine_message(engine));
}

/* Opens an engine with `cap` bytes of host memory. */
typedef hybrid_engine *open_fn(int64_t cap);

static void is_near(const char *spec, const char *name, int64_t cap, const char *what,
                    int64_t foretold, int64_t found)
{
    const double ratio = (double)foretold / (double)found;

    print_message("%s to %s in %lld MiB: %lld bytes of %s foretold, %lld found: %.3f\n",
                  spec, name, (long long)(cap / MIB), (long long)foretold, what,
                  (long long)found, ratio);
    if (!(ratio > 0.9 && ratio < 1.1))
        fail_msg("%s: %s", spec, what);
}

/* Compares the memory of each kind. */
static void are_near(const char *spec, const char *name, int64_t cap,
                     const hybrid_report *foretold, const hybrid_report *found)
{
    is_near(spec, name, cap, "host memory", foretold->peak_host_bytes,
            found->peak_host_bytes);
    assert_true(found->peak_host_bytes <= cap);
    if (found->peak_pinned_bytes < MIB) /* the host computes */
        return;
    is_near(spec, name, cap, "pinned memory", foretold->peak_pinned_bytes,
            found->peak_pinned_bytes);
    is_near(spec, name, cap, "device memory", foretold->peak_device_bytes,
            found->peak_device_bytes);
    assert_true(found->peak_host_bytes > found->peak_pinned_bytes);
}

/* Moves the columns of each row together, near the diagonal. */
static void make_banded(hybrid_csr *A)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = hy_offset(A, i), end = hy_offset(A, i + 1); k < end; k++) {
            const int64_t first = i < ROWS - 100 ? i : ROWS - 100;
            hy_cols(A)[k]       = (int32_t)(first + k - hy_offset(A, i));
        }
}

/* Writes A and X, with this number of columns, to a.json and x.npy. */
static void store_operands(int banded, int64_t cols)
{
    hybrid_engine *engine = open_host(2, 0);
    hybrid_csr A;
    hybrid_dense X;

    matrix_random(ROWS, ROWS, PER_ROW, 3, kind, &A);
    if (banded)
        make_banded(&A);
    stored_write_csr("a", &A);
    is_ok(engine,
          hybrid_dense_create(engine, ROWS, cols, HYBRID_ROW_MAJOR, HYBRID_F32, &X));
    is_ok(engine, hybrid_dense_random(engine, 7, &X));
    is_ok(engine, hybrid_write_npy(engine, io_temp("x.npy"), &X));
    hybrid_dense_free(engine, &X);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

/* ---- Y = A*X -------------------------------------------------------------------------
 */

/* Compares prediction and run with `cap` bytes of host memory. Returns how often X is
   read if every part of A touches all of its rows. */
static int64_t compare(open_fn *open, int64_t cap, int64_t cols)
{
    hybrid_engine *engine  = open(cap);
    hybrid_report foretold = HYBRID_REPORT_INIT, report = HYBRID_REPORT_INIT;
    hybrid_file *a, *x;

    is_ok(engine, hybrid_file_open(engine, io_temp("a.json"), &a));
    is_ok(engine, hybrid_file_open(engine, io_temp("x.npy"), &x));
    const hybrid_operand A = {.file = a}, X = {.file = x};
    const int64_t a_bytes = hy_csr_bytes(ROWS, hybrid_file_csr(a).nnz, HYBRID_F32);
    is_ok(engine, hybrid_spmm_files_predict(engine, &A, &X, NULL, &foretold));
    is_ok(engine, hybrid_spmm_to_file(engine, 1, &A, &X, NULL, io_temp("y.npy"), NULL));
    is_ok(engine, hybrid_engine_report(engine, &report));
    are_near("A*X", "y.npy", cap, &foretold, &report);
    assert_int_equal(foretold.rows, ROWS);
    assert_int_equal(foretold.predicted_result_bytes, ROWS * cols * 4);
    assert_true(foretold.predicted_s > 0);
    hybrid_file_close(a);
    hybrid_file_close(x);
    hybrid_engine_destroy(engine);
    return (foretold.host_bytes - a_bytes) / (ROWS * cols * 4);
}

static void peaks_are_foretold(void **state)
{
    (void)state;
    for (int banded = 0; banded < 2; banded++) {
        store_operands(banded, 64);
        assert_true(compare(capped_host, (int64_t)24 * MIB, 64) >
                    1); /* X passes in blocks */
        assert_int_equal(compare(capped_host, (int64_t)64 * MIB, 64),
                         1); /* X stays in memory */
        compare(capped_device, (int64_t)80 * MIB, 64);
        compare(capped_device, (int64_t)128 * MIB, 64);
    }
}

/* ---- C = A*A -------------------------------------------------------------------------
 */

static void run_square(hybrid_engine *engine, const char *name, int predicted,
                       hybrid_report *out)
{
    hybrid_status status;
    hybrid_file *a;

    is_ok(engine, hybrid_file_open(engine, io_temp("a.json"), &a));
    const hybrid_operand A = {.file = a};
    if (predicted)
        status =
            hybrid_spgemm_to_file_predict(engine, &A, &A, NULL, io_temp(name), NULL, out);
    else
        status = hybrid_spgemm_to_file(engine, &A, &A, NULL, io_temp(name), NULL);
    if (status != HYBRID_UNSUPPORTED) /* this build has no libhdf5 */
        is_ok(engine, status);
    if (!predicted)
        is_ok(engine, hybrid_engine_report(engine, out));
    hybrid_file_close(a);
}

/* Compares prediction and run of A*A, for the A in a.json. */
static void compare_square(open_fn *open, const char *spec, const char *name, int64_t cap)
{
    hybrid_report foretold = HYBRID_REPORT_INIT, report = HYBRID_REPORT_INIT;

    for (int predicted = 1; predicted >= 0; predicted--) {
        hybrid_engine *engine = open(cap);
        run_square(engine, name, predicted, predicted ? &foretold : &report);
        hybrid_engine_destroy(engine);
    }
    if (report.file_bytes == 0)
        return;
    are_near(spec, name, cap, &foretold, &report);
    if (strcmp(name, "c.mtx") == 0)
        assert_int_equal(foretold.file_bytes, 0);
    else
        is_near(spec, name, cap, "the disk", foretold.file_bytes, report.file_bytes);
    assert_true(foretold.predicted_s > 0);
    assert_int_equal(foretold.rows, report.rows);
}

static void peaks_of_sparse_results_are_foretold(void **state)
{
    static const char *const specs[] = {"er:40000,8", "band:60000,9", "rmat:13,6",
                                        "stencil27:30"};
    static const char *const names[] = {"c.json", "c.npz", "c.petsc", "c.h5"};

    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        hybrid_engine *engine = open_host(2, 0);
        hybrid_csr A;
        is_ok(engine, hybrid_generate(engine, specs[i], HYBRID_F32, 7, &A));
        stored_write_csr("a", &A);
        hybrid_csr_free(engine, &A);
        hybrid_engine_destroy(engine);
        compare_square(capped_host, specs[i], names[i], (int64_t)64 * MIB);
        compare_square(capped_host, specs[i], i % 2 ? "c.mtx" : names[i],
                       (int64_t)24 * MIB);
        compare_square(capped_device, specs[i], names[i], (int64_t)64 * MIB);
    }
}

static void missing_arguments_are_refused(void **state)
{
    hybrid_engine *engine  = open_host(2, 0);
    const hybrid_operand A = {.csr = NULL};

    (void)state;
    assert_int_equal(hybrid_spmm_files_predict(engine, &A, &A, NULL, NULL),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(
        hybrid_spgemm_to_file_predict(engine, &A, &A, NULL, io_temp("c.npz"), NULL, NULL),
        HYBRID_BAD_ARGUMENT);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_foretold),
        cmocka_unit_test(peaks_of_sparse_results_are_foretold),
        cmocka_unit_test(missing_arguments_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
