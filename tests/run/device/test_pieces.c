/* tests/run/device/test_pieces.c - chunks whose entries have no room in their slots are
   computed in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "partition/pattern/cut.h"
#include "pipeline/run/pieces.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/products/pieces.h"

static const hy_variant *const variants[] = {&hy_spgemm_fake_esc, NULL};

static hybrid_status open_fake(size_t device_bytes, hybrid_engine **engine)
{
    return fake_open(variants, device_bytes, engine);
}

static void every_kind_of_row(void **state)
{
    int64_t checked = 0, again = 0;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(pieces_check(open_fake, "spgemm.fake.esc", &checked, &again), 0);
    assert_true(checked >= 60);
    assert_true(again >= 20);
    assert_int_equal(fake_alive(), 0);
}

/* ---- room ------------------------------------------------------------------------ */

static size_t bytes_of(const hy_variant *variant, const hy_features *f)
{
    const hy_cost cost = variant->cost(f, NULL);

    return hy_cost_bytes(&cost);
}

/* A chunk has room for 9/8 of the expected entries and 1024 more, and for all that a slot
   leaves; a chunk of a variant that cannot count other entries for the upper bound. */
static void chunks_have_the_room_that_a_slot_leaves(void **state)
{
    const hy_variant *esc = &hy_spgemm_fake_esc, *dup = &hy_spgemm_fake_dup;
    const hy_features f = {.rows         = 10,
                           .nnz          = 100,
                           .out_cols     = 5000,
                           .products     = 20000,
                           .products_max = 3000,
                           .out_bound    = 20000,
                           .out_ratio    = 5,
                           .type         = HYBRID_F32};
    hy_features other   = f;

    (void)state;
    const hy_features least = hy_with_least_room(esc, &f);
    assert_int_equal(least.out_room, 20000 / 5 * 9 / 8 + 1024);
    assert_int_equal(hy_with_least_room(dup, &f).out_room, 0);
    other.products_max = 9000;
    assert_int_equal(hy_with_least_room(esc, &other).out_room, 5524);
    other.out_cols = 8000; /* a row may have 8000 entries */
    assert_int_equal(hy_with_least_room(esc, &other).out_room, 8000);
    const hy_features some = hy_with_room(esc, NULL, bytes_of(esc, &least) + 8000, &f);
    assert_in_range(some.out_room, least.out_room + 900, least.out_room + 1100);
    assert_true(bytes_of(esc, &some) <= bytes_of(esc, &least) + 8000);
    assert_int_equal(hy_with_room(esc, NULL, 1, &f).out_room, least.out_room);
    assert_int_equal(hy_with_room(esc, NULL, bytes_of(esc, &f), &f).out_room, 0);
    assert_int_equal(hy_with_room(dup, NULL, 1, &f).out_room, 0);
}

/* ---- failures -------------------------------------------------------------------- */

enum { ROWS = 1000, ENTRIES = 6, LENGTH = 20, BUDGET = 768 << 10 };

typedef struct failing {
    uneven p;
    oracle C;
    int64_t again; /* products in which some rows were computed again */
} failing;

static hybrid_status multiply(hybrid_engine *engine, void *arg)
{
    failing *f                  = arg;
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_report report        = HYBRID_REPORT_INIT;
    int64_t passages            = 0;
    hybrid_plan *plan;
    hybrid_csr C = {0};

    options.split        = HYBRID_SPLIT_GPU;
    options.chunk_rows   = 2 * ROWS;
    hybrid_status status = hybrid_spgemm_plan(engine, &f->p.A, &f->p.B, &options, &plan);
    if (status == HYBRID_OK) {
        hybrid_engine_trace(engine, pieces_count, &passages);
        status = hybrid_spgemm_run(plan, &f->p.A, &f->p.B, &C);
        hybrid_engine_trace(engine, NULL, NULL);
        hybrid_plan_report(plan, &report);
        hybrid_plan_destroy(plan);
    }
    if (status == HYBRID_OK) {
        assert_null(oracle_check(&f->C, &C, 1));
        f->again += passages > report.chunks;
    }
    hybrid_csr_free(engine, &C);
    return fake_explained(engine, status);
}

static void each_call_fails(void **state)
{
    failing f = {.again = 0};

    (void)state;
    uneven_make(ROWS, ENTRIES, LENGTH, HYBRID_F64, &f.p);
    oracle_spgemm(&f.p.A, &f.p.B, &f.C);
    const fake_failing each = {multiply, &f, BUDGET, 20000, 20};
    assert_true(fake_fail_each(&each, &fault_allocation) > 10);
    assert_true(fake_fail_each(&each, &fault_device) > 10);
    assert_true(fake_fail_each(&each, &fault_lost) > 10);
    assert_true(f.again >= 3);
    oracle_free(&f.C);
    uneven_free(&f.p);
}

/* ---- pieces ---------------------------------------------------------------------- */

typedef struct chunk_of {
    hy_slot slot;
    hy_problem problem;
    int64_t counted;
} chunk_of;

/* Makes a slot with a chunk of `rows` rows from row 100 on, and room for `room`
   entries. */
static void open_chunk(hy_context *ctx, int64_t rows, int64_t room, chunk_of *c)
{
    memset(c, 0, sizeof *c);
    c->problem.ctx = ctx;
    c->slot.claim.chunk =
        (hy_chunk){.row_begin = 100,
                   .row_end   = 100 + rows,
                   .features  = {.rows = rows, .out_bound = 1000, .out_room = room}};
    c->slot.piece       = c->slot.claim.chunk;
    c->slot.job.problem = &c->problem;
    c->slot.job.chunk   = &c->slot.claim.chunk;
    c->slot.job.out_nnz = &c->counted;
}

static void check_piece(const chunk_of *c, int64_t begin, int64_t end)
{
    assert_int_equal(c->slot.piece.row_begin, begin);
    assert_int_equal(c->slot.piece.row_end, end);
    assert_int_equal(c->slot.piece.features.rows, end - begin);
    assert_int_equal(hy_job_rows(&c->slot.job), end - begin);
}

static void pieces_have_as_many_rows_as_fit(void **state)
{
    hybrid_engine *engine = *state;
    chunk_of c;

    open_chunk(&engine->ctx, 50, 100, &c);
    c.counted = 100;
    assert_false(hy_piece_overflows(&c.slot));
    c.counted = 450; /* 9 entries a row, and pieces are to have 90 */
    assert_true(hy_piece_overflows(&c.slot));
    assert_int_equal(hy_piece_shrink(&c.slot), HYBRID_OK);
    check_piece(&c, 100, 110);
    c.counted = 20; /* 2 entries a row */
    assert_true(hy_piece_next(&c.slot));
    check_piece(&c, 110, 150);
    c.counted = 101;
    assert_true(hy_piece_overflows(&c.slot));
    assert_int_equal(hy_piece_shrink(&c.slot), HYBRID_OK);
    check_piece(&c, 110, 145);
    c.counted = 0;
    assert_true(hy_piece_next(&c.slot));
    check_piece(&c, 145, 150);
    assert_false(hy_piece_next(&c.slot));
}

/* No row of a plan has more entries than a slot has room for. */
static void a_row_of_another_pattern_is_refused(void **state)
{
    hybrid_engine *engine = *state;
    chunk_of c;

    open_chunk(&engine->ctx, 2, 10, &c);
    c.counted = 500;
    assert_int_equal(hy_piece_shrink(&c.slot), HYBRID_OK);
    check_piece(&c, 100, 101);
    assert_int_equal(hy_piece_shrink(&c.slot), HYBRID_BAD_STATE);
    assert_string_equal(engine->ctx.message.text,
                        "the pattern of A or B changed after the plan was made: row 100 "
                        "of C has 500 entries, and the plan has room for 10; make a new "
                        "plan");
}

static int open_engine(void **state)
{
    return open_fake(0, (hybrid_engine **)state) != HYBRID_OK;
}

static int close_engine(void **state)
{
    hybrid_engine_destroy(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_row),
        cmocka_unit_test(chunks_have_the_room_that_a_slot_leaves),
        cmocka_unit_test(each_call_fails),
        cmocka_unit_test_setup_teardown(pieces_have_as_many_rows_as_fit, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(a_row_of_another_pattern_is_refused, open_engine,
                                        close_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
