/* tests/run/device/test_pinned.c - copies from and to arrays that the caller pinned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/memory/pinned.h"
#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_lane.h"
#include "support/check/oracle.h"
#include "support/products/variants.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                              NULL};
static const hy_variant *const variants[]  = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                              &hy_spmm_fake_tiled, NULL};

enum { PIECE = FAKE_PIN_BYTES };

static hybrid_engine *open_fake(void)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads = 3;
    assert_int_equal(fake_engine_open(&options, fakes, variants, &engine), HYBRID_OK);
    return engine;
}

static void every_case_passes_with_pinned_operands(void **state)
{
    static const char *const names[] = {"spgemm.fake.esc", "spmm.fake.rows",
                                        "spmm.fake.tiled", NULL};
    hybrid_engine *engine            = open_fake();
    const int64_t before             = fake_direct();
    int64_t checked                  = 0;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(variants_check_pinned(engine, names, &checked), 0);
    assert_true(checked > 300);
    assert_true(fake_direct() - before > 1 << 20);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

enum { ROWS = 700, COLS = 650, CHUNKS = 7 };

/* One product and the pinned parts of its operands. */
typedef struct trial {
    const char *variant;
    test_kind kind;
    int64_t width;
    hybrid_order x_order, y_order;
    int64_t x_gap, y_gap;
    double alpha, beta;
    int pin_x, pin_y; /* percent of the arrays of X and Y, from their beginning, that are
                         pinned */
} trial;

static size_t dense_bytes(const hybrid_dense *m)
{
    const int64_t lines = m->order == HYBRID_ROW_MAJOR ? m->rows : m->cols;
    return (size_t)(lines * m->ld) * (m->type == HYBRID_F64 ? 8 : 4);
}

/* Moves a matrix to new memory, and pins its first `percent` percent. The matrix begins
   within the pinned range. Returns the memory. */
static char *move(hybrid_engine *engine, hybrid_dense *m, int percent)
{
    const size_t bytes = dense_bytes(m), pinned = bytes * (size_t)percent / 100;
    char *memory = test_malloc(bytes + 100);

    memcpy(memory + 24, m->data, bytes);
    dense_free(&(hybrid_dense){.data = m->data});
    m->data = memory + 24;
    if (percent > 0) /* with 100 percent the array lies within a larger pinned range */
        assert_int_equal(
            hybrid_pin(engine, memory + 5, pinned + (percent == 100 ? 22 : 19)),
            HYBRID_OK);
    return memory;
}

typedef struct seen {
    int64_t places, downs;
} seen;

static void count(void *user, const hybrid_event *event)
{
    seen *s = user;
    s->places += event->part == 0 && strcmp(event->stage, "place") == 0;
    s->downs += strcmp(event->stage, "d2h") == 0;
}

/* Runs the product and checks Y. Returns the bytes copied directly from or to pinned
   arrays of the caller. Sets *places to the number of chunks whose results workers
   stored. */
static int64_t run_trial(hybrid_engine *engine, const trial *t, int64_t *places)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_dense X, before, Y;
    hybrid_plan *plan;
    hybrid_csr A;
    seen s = {0};

    matrix_random(ROWS, COLS, 6, 21, t->kind, &A);
    dense_make(COLS, t->width, t->x_gap, t->x_order, 22, t->kind, &X);
    dense_make(ROWS, t->width, t->y_gap, t->y_order, 23, t->kind, &before);
    dense_copy(&before, &Y);
    char *x = move(engine, &X, t->pin_x), *y = move(engine, &Y, t->pin_y);
    options.variant    = t->variant;
    options.chunk_rows = ROWS / CHUNKS;
    assert_int_equal(hybrid_spmm_plan(engine, &A, t->width, &options, &plan), HYBRID_OK);
    hybrid_engine_trace(engine, count, &s);
    const int64_t direct = fake_direct();
    assert_int_equal(hybrid_spmm_run(plan, t->alpha, &A, &X, t->beta, &Y), HYBRID_OK);
    const int64_t moved = fake_direct() - direct;
    assert_null(oracle_check_spmm(t->alpha, &A, &X, t->beta, &before, &Y, 1));
    assert_true(dense_gaps_intact(&Y));
    assert_int_equal(s.downs, CHUNKS);
    *places = s.places;
    hybrid_plan_destroy(plan);
    assert_int_equal(t->pin_x ? hybrid_unpin(engine, x + 5) : HYBRID_OK, HYBRID_OK);
    assert_int_equal(t->pin_y ? hybrid_unpin(engine, y + 5) : HYBRID_OK, HYBRID_OK);
    test_free(x);
    test_free(y);
    dense_free(&before);
    matrix_free(&A);
    return moved;
}

static const trial plain = {.kind    = {HYBRID_F64, HYBRID_I64, 1},
                            .variant = "spmm.fake.rows",
                            .width   = 20, /* columns; a row of 20 values is a multiple
                                              of 16 bytes, so that it has the same form
                                              on the device */
                            .x_order = HYBRID_ROW_MAJOR,
                            .y_order = HYBRID_ROW_MAJOR,
                            .alpha   = 1};

static void pinned_operands_are_copied_where_they_are(void **state)
{
    static const test_kind kinds[] = {{HYBRID_F64, HYBRID_I64, 1},
                                      {HYBRID_F32, HYBRID_I32, 1}};
    hybrid_engine *engine          = open_fake();
    int64_t places;

    (void)state;
    fake_delays(7, 100);
    for (int k = 0; k < 2; k++)
        for (int pins = 0; pins < 4; pins++) {
            trial t            = plain;
            t.kind             = kinds[k];
            t.pin_x            = pins & 1 ? 100 : 0;
            t.pin_y            = pins & 2 ? 100 : 0;
            const int64_t size = k == 0 ? 8 : 4;
            const int64_t all =
                t.width * size * ((pins & 1 ? COLS : 0) + (pins & 2 ? ROWS : 0));
            assert_int_equal(run_trial(engine, &t, &places), all);
            assert_int_equal(places, pins & 2 ? 0 : CHUNKS);
        }
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static void part_of_an_operand_may_be_pinned(void **state)
{
    hybrid_engine *engine = open_fake();
    trial t               = plain;
    int64_t places;

    (void)state;
    t.pin_y             = 50;
    const int64_t chunk = ROWS / CHUNKS * t.width * 8;
    assert_int_equal(run_trial(engine, &t, &places), 3 * chunk);
    assert_int_equal(places, CHUNKS - 3);
    t.pin_y = 0;
    t.pin_x = 50;
    t.width = 400; /* columns; X is so large that it is copied in several pieces, of
                      which a quarter is pinned in each */
    assert_in_range(run_trial(engine, &t, &places), COLS * t.width * 8 / 5,
                    COLS * t.width * 8 / 2);
    hybrid_engine_destroy(engine);
}

static void other_results_take_the_other_way(void **state)
{
    hybrid_engine *engine = open_fake();
    int64_t places;

    (void)state;
    for (int i = 0; i < 5; i++) {
        trial t = plain;
        t.pin_x = t.pin_y  = 100;
        t.alpha            = i == 0 ? 2 : 1;
        t.beta             = i == 1 ? 3 : 0;
        t.y_gap            = i == 2 ? 1 : 0;
        t.y_order          = i == 3 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
        t.x_gap            = i == 4 ? 2 : 0;
        const int64_t up   = i < 4 ? COLS * t.width * 8 : 0;
        const int64_t down = i < 3 ? 0 : ROWS * t.width * 8;
        assert_int_equal(run_trial(engine, &t, &places), up + down);
        assert_int_equal(places, i < 3 ? CHUNKS : 0);
    }
    trial odd = plain; /* rows of 19 values, which the device pads to 16 bytes, so that X
                          is not copied directly */
    odd.pin_x = odd.pin_y = 100;
    odd.width             = 19;
    assert_int_equal(run_trial(engine, &odd, &places), ROWS * odd.width * 8);
    hybrid_engine_destroy(engine);
}

/* Column-major X of one slab (a range of its rows), and Y of one column, are stored by
   the device as by the caller, and copied directly. Columns that the device transposes
   are copied directly, too. */
static void columns_are_copied_where_they_are(void **state)
{
    hybrid_engine *engine = open_fake();
    int64_t places;

    (void)state;
    for (int tiled = 0; tiled < 2; tiled++)
        for (int width = 1; width < 10; width += 8) {
            trial t   = plain;
            t.variant = tiled ? "spmm.fake.tiled" : "spmm.fake.rows";
            t.x_order = t.y_order = HYBRID_COL_MAJOR;
            t.width               = width;
            t.pin_x = t.pin_y  = 100;
            const int64_t up   = COLS * width * 8;
            const int64_t down = !tiled || width == 1 ? ROWS * width * 8 : 0;
            assert_int_equal(run_trial(engine, &t, &places), up + down);
            assert_int_equal(places, down > 0 ? 0 : CHUNKS);
        }
    hybrid_engine_destroy(engine);
}

/* The caller's memory counts as pinned where the device itself says so, in pieces. A
   copy must not cross the end of a piece. */
static void what_the_caller_pinned_is_found(void **state)
{
    enum { BYTES = ROWS * 8 };
    static _Alignas(PIECE) double x[ROWS], y[ROWS];
    const test_kind kind  = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine *engine = open_fake();
    hy_backend *device    = engine->device;
    hybrid_dense X = {ROWS, 1, 1, HYBRID_ROW_MAJOR, x, HYBRID_F64}, Y = X;
    hybrid_csr A;

    (void)state;
    Y.data = y;
    matrix_random(ROWS, ROWS, 6, 41, kind, &A);
    for (int i = 0; i < ROWS; i++)
        x[i] = i % 17;
    assert_int_equal(device->ops->pin(device, x, PIECE), HYBRID_OK);
    assert_int_equal(device->ops->pin(device, (char *)x + PIECE, BYTES - PIECE),
                     HYBRID_OK);
    assert_int_equal(device->ops->pin(device, y, BYTES - PIECE), HYBRID_OK);
    assert_true(hy_pinned(&engine->ctx, x + 1, PIECE - 8));
    assert_false(hy_pinned(&engine->ctx, x + 1, PIECE));
    assert_false(hy_pinned(&engine->ctx, (char *)y + BYTES - PIECE, 1));
    const int64_t before = fake_direct();
    assert_int_equal(hybrid_spmm(engine, 1, &A, &X, 0, &Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, &A, &X, 0, &Y, &Y, 1));
    assert_in_range(fake_direct() - before, PIECE / 2, 2 * BYTES - 1);
    device->ops->unpin(device, x);
    device->ops->unpin(device, (char *)x + PIECE);
    device->ops->unpin(device, y);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static void pin_csr(hybrid_engine *engine, const hybrid_csr *B, int on)
{
    const struct {
        void *ptr;
        size_t bytes;
    } arrays[] = {{B->row_ptr, (size_t)(B->rows + 1) * 8},
                  {B->col, (size_t)B->nnz * 4},
                  {B->val, (size_t)B->nnz * 8}};

    for (int i = 0; i < 3; i++)
        assert_int_equal(on ? hybrid_pin(engine, arrays[i].ptr, arrays[i].bytes)
                            : hybrid_unpin(engine, arrays[i].ptr),
                         HYBRID_OK);
}

static void sparse_operands_are_copied_where_they_are(void **state)
{
    const test_kind kind  = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine *engine = open_fake();
    hybrid_csr A, B, C;
    oracle reference;

    (void)state;
    fake_delays(9, 100);
    matrix_random(ROWS, COLS, 6, 31, kind, &A);
    matrix_random(COLS, 800, 7, 32, kind, &B);
    oracle_spgemm(&A, &B, &reference);
    pin_csr(engine, &B, 1);
    const int64_t before = fake_direct();
    assert_int_equal(hybrid_spgemm(engine, &A, &B, &C), HYBRID_OK);
    /* all arrays of B are copied directly but the offsets, which are padded at the
       end */
    assert_true(fake_direct() - before >= B.nnz * 12);
    assert_null(oracle_check(&reference, &C, 1));
    hybrid_csr_free(engine, &C);
    pin_csr(engine, &B, 0);
    oracle_free(&reference);
    matrix_free(&A);
    matrix_free(&B);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static void what_was_unpinned_is_not_copied_directly(void **state)
{
    hybrid_engine *engine = open_fake();
    trial t               = plain;
    int64_t places;

    (void)state;
    for (int run = 0; run < 4; run++) {
        t.pin_x = t.pin_y = run % 2 == 0 ? 100 : 0;
        const int64_t all = run % 2 == 0 ? (COLS + ROWS) * t.width * 8 : 0;
        assert_int_equal(run_trial(engine, &t, &places), all);
    }
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_passes_with_pinned_operands),
        cmocka_unit_test(pinned_operands_are_copied_where_they_are),
        cmocka_unit_test(part_of_an_operand_may_be_pinned),
        cmocka_unit_test(other_results_take_the_other_way),
        cmocka_unit_test(columns_are_copied_where_they_are),
        cmocka_unit_test(what_the_caller_pinned_is_found),
        cmocka_unit_test(sparse_operands_are_copied_where_they_are),
        cmocka_unit_test(what_was_unpinned_is_not_copied_directly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
