/* tests/run/files/test_file_budgets.c - products of files complete within every budget of
   host memory that has room for a few ranges of rows.

   While a range is multiplied, readers gather the next one and a thread writes the last.
   The plan of a range must leave memory for all of them. If memory is short nevertheless,
   the product goes on with smaller ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"
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

/* An allocation fails while rows of a range are written. The product goes on with the
   rows that are left. The file has all rows, and the report has the scalar products of
   all rows. */
static void all_rows_are_reported_after_a_shortage(void **state)
{
    enum { SOME = 400, FAILURES = 200, PIECE = 20000 };
    hybrid_engine *engine         = capped_host(LAST * MIB);
    const hybrid_plan_options few = {.struct_size = sizeof few, .chunk_rows = 3};
    int64_t flops                 = 0;
    char *right                   = NULL;
    int went_on                   = 0;
    hybrid_file *a;
    size_t bytes;
    hybrid_csr A;

    (void)state;
    settings_of(engine)->piece_bytes = PIECE;
    matrix_random(SOME, SOME, PER_ROW, 3, kind, &A);
    stored_write_csr("s", &A);
    matrix_free(&A);
    assert_int_equal(hybrid_file_open(engine, io_temp("s.json"), &a), HYBRID_OK);
    const hybrid_operand O = {.file = a};
    for (int64_t n = 0; n < FAILURES; n++) {
        hybrid_report report        = HYBRID_REPORT_INIT;
        engine->ctx.memory.failures = n;
        const hybrid_status status =
            hybrid_spgemm_to_file(engine, &O, &O, &few, io_temp("s.mtx"), NULL);
        const int failed            = n > 0 && engine->ctx.memory.failures == 0;
        engine->ctx.memory.failures = 0;
        assert_true(status == HYBRID_OK || (status == HYBRID_NO_MEMORY && failed));
        if (status != HYBRID_OK)
            continue;
        assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
        char *text = io_load(io_temp("s.mtx"), &bytes);
        flops      = n == 0 ? report.flops : flops;
        right      = n == 0 ? text : right;
        assert_int_equal(report.rows, SOME);
        assert_int_equal(report.flops, flops);
        assert_string_equal(text, right);
        if (n > 0)
            free(text);
        went_on += failed;
    }
    assert_true(went_on > 0);
    free(right);
    hybrid_file_close(a);
    hybrid_engine_destroy(engine);
}

/* The rows of B for a row of A have room once the memory is freed that an earlier product
   has left for the next one. */
static void idle_memory_makes_room(void **state)
{
    enum { MANY = 8000, CAP = 13 << 19 }; /* CAP: 6.5 MiB */
    hybrid_engine *engine = capped_host(CAP);
    builder row           = build_start(1, MANY);
    hybrid_csr B, other, C;

    (void)state;
    for (int64_t j = 0; j < MANY; j++)
        build_add(&row, j);
    build_end_row(&row);
    hybrid_csr A = build_finish(&row, 1, kind);
    matrix_random(MANY, 1000, 50, 3, kind, &B);
    matrix_random(20000, 20000, 2, 3, kind, &other);
    assert_int_equal(hybrid_spgemm(engine, &other, &other, &C), HYBRID_OK);
    hybrid_csr_free(engine, &C);
    const int64_t used     = hy_meter_used(&engine->ctx.memory.meter);
    const hybrid_operand a = {.csr = &A}, b = stored_csr(engine, "b", &B, 1);
    assert_true(B.nnz * 12 < CAP && B.nnz * 12 > CAP - used);
    assert_int_equal(hybrid_spgemm_files(engine, &a, &b, NULL, &C), HYBRID_OK);
    hybrid_csr_free(engine, &C);
    hybrid_file_close((hybrid_file *)b.file);
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&other);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_budget_suffices),
        cmocka_unit_test(all_rows_are_reported_after_a_shortage),
        cmocka_unit_test(idle_memory_makes_room),
    };

    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
