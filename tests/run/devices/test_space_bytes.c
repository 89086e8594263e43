/* tests/run/devices/test_space_bytes.c - bytes on the bus if only some operands are in
   the memory of a fake device.

   Operands in host memory are copied once. Otherwise only the patterns that planning
   reads are copied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/fake/fake_spmm.h"
#include "support/device/on_device.h"
#include "support/check/oracle.h"
#include "support/device/space_world.h"

enum { A_THERE = 1, SECOND_THERE = 2, RESULT_THERE = 4, PLACES = 8 };

/* GAPS: maximum of bytes that alignment adds to a copy; fewer than the bytes of any
   operand. */
enum { ROWS = 600, EACH = 8, COLUMNS = 8, GAPS = 4 << 10 };

typedef struct world {
    hybrid_engine *engine;
    int places;
    hybrid_csr A, B, a, b;           /* a, b, x, y are passed to calls: copies of A, B,
                                        X, Y on the device, or these themselves */
    hybrid_dense X, before, x, Y, y; /* before: Y before the product */
    int64_t up, down, fetched;       /* bytes copied to, from and fetched from devices
                                        before the product */
} world;

static void open_world(int places, world *w)
{
    *w = (world){.places = places};
    assert_int_equal(fake_open(space_variants, 0, &w->engine), HYBRID_OK);
    matrix_random(ROWS, ROWS, EACH, 1, space_kind, &w->A);
    matrix_random(ROWS, ROWS, EACH, 2, space_kind, &w->B);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 3, space_kind, &w->X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 4, space_kind, &w->before);
    dense_copy(&w->before, &w->Y);
    w->a       = places & A_THERE ? on_device_csr(0, &w->A, 0) : w->A;
    w->b       = places & SECOND_THERE ? on_device_csr(0, &w->B, 0) : w->B;
    w->x       = places & SECOND_THERE ? on_device_dense(0, &w->X, 0) : w->X;
    w->y       = places & RESULT_THERE ? on_device_dense(0, &w->Y, 0) : w->Y;
    w->up      = fake_copied(HY_DEVICE);
    w->down    = fake_copied(HY_PINNED);
    w->fetched = fake_fetched();
}

static void close_world(world *w)
{
    if (w->places & A_THERE)
        on_device_csr_free(&w->a);
    if (w->places & SECOND_THERE) {
        on_device_csr_free(&w->b);
        fake_memory_free(w->x.data);
    }
    if (w->places & RESULT_THERE)
        fake_memory_free(w->y.data);
    matrix_free(&w->A);
    matrix_free(&w->B);
    dense_free(&w->X);
    dense_free(&w->before);
    dense_free(&w->Y);
    hybrid_engine_destroy(w->engine);
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_memory_alive(), 0);
}

/* ---- bytes that must be copied ---- */

static int64_t csr_bytes(const hybrid_csr *A)
{
    return A->nnz * 12 + (A->rows + 1) * 8;
}

static int64_t dense_bytes(const hybrid_dense *X)
{
    return X->rows * X->cols * 8;
}

static int64_t pattern_bytes(const hybrid_csr *A)
{
    return A->nnz * 4 + (A->rows + 1) * 8;
}

/* Returns the bytes of A's pattern if the host must read it from the device: `which` is
   on the device, but not all operands and the result are, for which the device plans. */
static int64_t pattern_if(int places, int which, const hybrid_csr *A)
{
    return places & which && places != PLACES - 1 ? pattern_bytes(A) : 0;
}

/* Checks the engine's last report: bytes to the device, bytes from it (both up to GAPS
   more) and bytes of patterns. They must agree with the device's counts. */
static void check_bytes(const world *w, int64_t up, int64_t down, int64_t pattern)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    assert_int_equal(hybrid_engine_report(w->engine, &report), HYBRID_OK);
    assert_int_equal(report.h2d_bytes, fake_copied(HY_DEVICE) - w->up);
    assert_int_equal(report.d2h_bytes, fake_copied(HY_PINNED) - w->down);
    assert_int_equal(report.pattern_bytes, pattern);
    assert_int_equal(fake_fetched() - w->fetched, pattern);
    assert_in_range(report.h2d_bytes, up, up > 0 ? up + GAPS : 0);
    assert_in_range(report.d2h_bytes, down, down > 0 ? down + GAPS : 0);
}

static void check_dense(int places)
{
    world w;

    open_world(places, &w);
    assert_int_equal(hybrid_spmm(w.engine, 2, &w.a, &w.x, 3, &w.y), HYBRID_OK);
    check_bytes(&w,
                (places & A_THERE ? 0 : csr_bytes(&w.A)) +
                    (places & SECOND_THERE ? 0 : dense_bytes(&w.X)),
                places & RESULT_THERE ? 0 : dense_bytes(&w.Y),
                pattern_if(places, A_THERE, &w.A));
    if (places & RESULT_THERE) {
        on_device_take(&w.y, &w.Y);
        w.places -= RESULT_THERE;
    }
    assert_null(oracle_check_spmm(2, &w.A, &w.X, 3, &w.before, &w.Y, 1));
    close_world(&w);
}

static void dense_operands_of_the_host_move(void **state)
{
    (void)state;
    for (int places = 0; places < PLACES; places++)
        check_dense(places);
}

static void check_sparse(int places)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    oracle reference;
    hybrid_csr C;
    world w;

    open_world(places, &w);
    oracle_spgemm(&w.A, &w.B, &reference);
    if (places & RESULT_THERE)
        options.result_space = HYBRID_SPACE_DEVICE;
    assert_int_equal(hybrid_spgemm_with(w.engine, &options, &w.a, &w.b, &C), HYBRID_OK);
    check_bytes(&w,
                (places & A_THERE ? 0 : csr_bytes(&w.A)) +
                    (places & SECOND_THERE ? 0 : csr_bytes(&w.B)),
                places & RESULT_THERE ? 0 : csr_bytes(&C),
                pattern_if(places, A_THERE, &w.A) +
                    pattern_if(places, SECOND_THERE, &w.B));
    hybrid_csr here = places & RESULT_THERE ? on_device_fetch(&C) : C;
    assert_null(oracle_check(&reference, &here, 1));
    if (places & RESULT_THERE)
        matrix_free(&here);
    hybrid_csr_free(w.engine, &C);
    oracle_free(&reference);
    close_world(&w);
}

static void sparse_operands_of_the_host_move(void **state)
{
    (void)state;
    for (int places = 0; places < PLACES; places++)
        check_sparse(places);
}

/* ---- plans ---- */

static void check_plan(const world *w, const hybrid_plan *plan, int64_t pattern)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    assert_int_equal(report.pattern_bytes, pattern);
    assert_int_equal(fake_fetched() - w->fetched, pattern);
}

/* The pattern of A is read from the device by planning only. Reports of runs repeat the
   bytes that planning read. */
static void a_plan_of_a_dense_product_reads_its_pattern_once(void **state)
{
    static const int places[]     = {A_THERE, PLACES - 1, PLACES - 1};
    static const unsigned flags[] = {0, 0, HYBRID_ASYNC};
    hybrid_plan *plan;
    world w;

    (void)state;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
        open_world(places[k], &w);
        options.flags        = flags[k];
        options.x_space      = w.x.space;
        options.result_space = w.y.space;
        assert_int_equal(hybrid_spmm_plan(w.engine, &w.a, COLUMNS, &options, &plan),
                         HYBRID_OK);
        check_plan(&w, plan, pattern_bytes(&w.A));
        for (int run = 0; run < 3; run++) {
            assert_int_equal(hybrid_spmm_run(plan, 2, &w.a, &w.x, 3, &w.y), HYBRID_OK);
            check_plan(&w, plan, pattern_bytes(&w.A));
        }
        hybrid_plan_destroy(plan);
        close_world(&w);
    }
}

static void a_plan_of_a_square_reads_one_pattern(void **state)
{
    hybrid_plan *plan;
    hybrid_csr C;
    world w;

    (void)state;
    open_world(A_THERE, &w);
    assert_int_equal(hybrid_spgemm_plan(w.engine, &w.a, &w.a, NULL, &plan), HYBRID_OK);
    check_plan(&w, plan, pattern_bytes(&w.A));
    assert_int_equal(hybrid_spgemm_run(plan, &w.a, &w.a, &C), HYBRID_OK);
    hybrid_csr_free(w.engine, &C);
    check_plan(&w, plan, pattern_bytes(&w.A));
    hybrid_plan_destroy(plan);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_operands_of_the_host_move),
        cmocka_unit_test(sparse_operands_of_the_host_move),
        cmocka_unit_test(a_plan_of_a_dense_product_reads_its_pattern_once),
        cmocka_unit_test(a_plan_of_a_square_reads_one_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
