/* tests/test_space_bytes.c - bytes on the bus where some operands are in the memory of a
   fake device and others on the host: what is on the host moves, once, and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "support/cases.h"
#include "support/fake_backend.h"
#include "support/fake_memory.h"
#include "support/fake_spmm.h"
#include "support/on_device.h"
#include "support/oracle.h"
#include "support/space_world.h"

enum { A_THERE = 1, SECOND_THERE = 2, RESULT_THERE = 4, PLACES = 8 };

/* GAPS: between arrays of a copy, less than the values of A or than another operand. */
enum { ROWS = 600, EACH = 8, COLUMNS = 8, GAPS = 4 << 10 };

typedef struct world {
    hybrid_engine *engine;
    int places;
    hybrid_csr A, B, a, b;           /* small letters: on the device, or the same */
    hybrid_dense X, before, x, Y, y; /* before: Y as it was */
    int64_t up, down;                /* that the devices copied before */
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
    w->a    = places & A_THERE ? on_device_csr(0, &w->A, 0) : w->A;
    w->b    = places & SECOND_THERE ? on_device_csr(0, &w->B, 0) : w->B;
    w->x    = places & SECOND_THERE ? on_device_dense(0, &w->X, 0) : w->X;
    w->y    = places & RESULT_THERE ? on_device_dense(0, &w->Y, 0) : w->Y;
    w->up   = fake_copied(HY_DEVICE);
    w->down = fake_copied(HY_PINNED);
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

/* ---- what must move -----------------------------------------------------------------
 */

static int64_t csr_bytes(const hybrid_csr *A)
{
    return A->nnz * 12 + (A->rows + 1) * 8;
}

static int64_t dense_bytes(const hybrid_dense *X)
{
    return X->rows * X->cols * 8;
}

/* The report says what the device did: so much, and gaps where there is something. */
static void check_bytes(const world *w, int64_t up, int64_t down)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    assert_int_equal(hybrid_engine_report(w->engine, &report), HYBRID_OK);
    assert_int_equal(report.h2d_bytes, fake_copied(HY_DEVICE) - w->up);
    assert_int_equal(report.d2h_bytes, fake_copied(HY_PINNED) - w->down);
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
                places & RESULT_THERE ? 0 : dense_bytes(&w.Y));
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
                places & RESULT_THERE ? 0 : csr_bytes(&C));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_operands_of_the_host_move),
        cmocka_unit_test(sparse_operands_of_the_host_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
