/* tests/run/files/test_file_budgets.c - a product that is written to a file completes
   within every budget of host memory that has room for a few ranges of rows.

   While a range is multiplied, readers gather the next one and a thread writes the last.
   The plan of a range must leave memory for all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/inputs/cases.h"
#include "support/inputs/stored.h"

enum { ROWS = 40000, PER_ROW = 6, MIB = 1 << 20, FIRST = 8, LAST = 24, STEP = 2 };

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

static const char *const names[] = {
    "c.json", "c.mtx", "c.npz", "c.petsc",
#if HYBRID_WITH_HDF5
    "c.h5",
#endif
};

enum { NAMES = sizeof names / sizeof *names };

/* Opens an engine with `cap` bytes of host memory. */
typedef hybrid_engine *open_fn(int64_t cap);

static open_fn *const opens[] = {capped_host, capped_device};

/* Writes the square of a.json to a file. Returns the number of its entries. */
static int64_t write_square(open_fn *open, const char *name, int64_t cap)
{
    hybrid_engine *engine = open(cap);
    hybrid_report report  = HYBRID_REPORT_INIT;
    hybrid_file *a;

    assert_int_equal(hybrid_file_open(engine, io_temp("a.json"), &a), HYBRID_OK);
    const hybrid_operand A = {.file = a};
    const hybrid_status status =
        hybrid_spgemm_to_file(engine, &A, &A, NULL, io_temp(name), NULL);
    if (status != HYBRID_OK)
        fail_msg("%s with %lld MiB: %s", name, (long long)(cap / MIB),
                 hybrid_engine_message(engine));
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    assert_true(report.peak_host_bytes <= cap);
    hybrid_file_close(a);
    hybrid_engine_destroy(engine);
    return report.nnz_out;
}

static void every_budget_suffices(void **state)
{
    const int step = case_step(5);
    int64_t nnz;
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, PER_ROW, 3, kind, &A);
    stored_write_csr("a", &A);
    matrix_free(&A);
    nnz = write_square(capped_host, names[0], LAST * MIB);
    for (int i = 0; i < 2 * NAMES; i++)
        for (int mib = FIRST + STEP * (i % step); mib <= LAST; mib += STEP * step)
            assert_int_equal(write_square(opens[i % 2], names[i / 2], (int64_t)mib * MIB),
                             nnz);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_budget_suffices)};

    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
