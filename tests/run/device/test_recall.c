/* tests/run/device/test_recall.c - one-shot calls of SpMM on a fake device with the
   arrays of a recent call, whose plan they follow unless the pattern has changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/fake/fake_spmm.h"
#include "support/device/on_device.h"
#include "support/device/space_world.h"

/* Adds `more` to offset `at` of A on the host and on the device, which moves entries
   from row `at` to the row before, or back. */
static void move_offset(space_world *w, int64_t at, int64_t more)
{
    ((int64_t *)w->A.row_ptr)[at] += more;
    fake_memory_open();
    ((int64_t *)w->a.row_ptr)[at] += more;
    fake_memory_close();
}

static void set_column(space_world *w, int64_t k, int32_t col)
{
    fake_memory_open();
    ((int32_t *)w->a.col)[k] = col;
    fake_memory_close();
}

static int holds_only(space_world *w, double number)
{
    const hybrid_dense *Y = &w->y;
    int same              = 1;

    fake_memory_open();
    for (int64_t i = 0; i < Y->rows * Y->ld; i++)
        same = same && ((const double *)Y->data)[i] == number;
    fake_memory_close();
    return same;
}

static void fill(space_world *w, double number)
{
    fake_memory_open();
    for (int64_t i = 0; i < w->y.rows * w->y.ld; i++)
        ((double *)w->y.data)[i] = number;
    fake_memory_close();
}

/* A call with the arrays of the call before is computed with that call's plan, right
   behind a survey (a check of the operands by the device). Only after a change of A a
   second survey is made. */
static void the_next_call_follows(void **state)
{
    const int64_t *row_ptr;
    int64_t row = 1; /* a row from 1 on with two entries or more */
    space_world w;

    (void)state;
    space_world_open_plain(&w);
    row_ptr               = w.A.row_ptr;
    const int64_t surveys = fake_surveys();
    for (int call = 1; call <= 3; call++) {
        fill(&w, 7);
        assert_int_equal(hybrid_spmm(w.engine, 1, &w.a, &w.x, 0, &w.y), HYBRID_OK);
        space_world_check(&w, 1, 0);
        assert_int_equal(fake_surveys(), surveys + call);
    }
    /* the change must be one that the survey notices: the squares of the row lengths
       have another sum */
    while (row_ptr[row + 1] - row_ptr[row] < 2)
        row++;
    move_offset(&w, row, 1);
    assert_int_equal(hybrid_spmm(w.engine, 1, &w.a, &w.x, 0, &w.y), HYBRID_OK);
    space_world_check(&w, 1, 0);
    assert_true(fake_surveys() >= surveys + 4);
    const int64_t before = fake_surveys();
    assert_int_equal(hybrid_spmm(w.engine, 1, &w.a, &w.x, 0, &w.y), HYBRID_OK);
    space_world_check(&w, 1, 0);
    assert_int_equal(fake_surveys(), before + 1);
    space_world_close(&w);
}

/* If an operand has become invalid since the last call, the call fails and leaves Y as
   it is. */
static void what_has_become_wrong_is_found(void **state)
{
    space_world w;

    (void)state;
    space_world_open_plain(&w);
    assert_int_equal(hybrid_spmm(w.engine, 1, &w.a, &w.x, 0, &w.y), HYBRID_OK);
    fill(&w, 7);
    const int32_t col = ((const int32_t *)w.A.col)[7];
    set_column(&w, 7, SPACE_ROWS);
    space_world_expect(&w, space_world_spmm(&w, &w.a, &w.x, &w.y), HYBRID_BAD_MATRIX,
                       "A: ");
    assert_true(holds_only(&w, 7));
    set_column(&w, 7, col);
    assert_int_equal(hybrid_spmm(w.engine, 1, &w.a, &w.x, 0, &w.y), HYBRID_OK);
    space_world_check(&w, 1, 0);
    assert_int_equal(hybrid_spmm(w.engine, 2, &w.a, &w.x, 3, &w.y), HYBRID_OK);
    space_world_close(&w);
}

/* Makes a call that could follow the plan of the call before, while allocation number
   `n` fails. Returns 1, or 0 if the call needs fewer allocations. Adds 1 to *saved if
   the call succeeds although the allocation failed. */
static int fail_allocation(space_world *w, int64_t n, int *saved)
{
    hy_memory *memory = &w->engine->ctx.memory;

    assert_int_equal(hybrid_spmm(w->engine, 1, &w->a, &w->x, 0, &w->y), HYBRID_OK);
    hybrid_engine_trim(w->engine); /* frees the memory of the survey, so that the next
                                      call allocates it again */
    fill(w, 7);
    const int64_t surveys      = fake_surveys();
    memory->failures           = n;
    const hybrid_status status = space_world_spmm(w, &w->a, &w->x, &w->y);
    const int failed           = memory->failures == 0;
    memory->failures           = 0;
    if (status == HYBRID_OK) {
        space_world_check(w, 1, 0);
        assert_int_equal(fake_surveys(), surveys + 1);
        *saved += failed;
    } else {
        space_world_expect(w, status, HYBRID_NO_MEMORY, "cannot allocate ");
    }
    return failed;
}

/* If one allocation of device memory fails, the call still succeeds, without the recent
   plan. A call makes two such allocations: for the survey and for the arrays of the
   kernels. If one of host memory fails, the call fails. */
static void memory_is_short_for_a_moment(void **state)
{
    int saved = 0;
    space_world w;

    (void)state;
    space_world_open_plain(&w);
    for (int64_t n = 1; fail_allocation(&w, n, &saved); n++)
        ;
    assert_int_equal(saved, 2);
    space_world_close(&w);
}

/* If device memory stays too small, the call fails with a message that says what is
   missing. Y stays as it is, and later calls succeed. */
static void memory_stays_short(void **state)
{
    space_world w;

    (void)state;
    space_world_open_plain(&w);
    hy_meter *meter   = &w.engine->device->device;
    const int64_t cap = meter->cap;
    assert_int_equal(hybrid_spmm(w.engine, 1, &w.a, &w.x, 0, &w.y), HYBRID_OK);
    hybrid_engine_trim(w.engine);
    assert_int_equal(hy_meter_used(meter), 0);
    fill(&w, 7);
    meter->cap = 1;
    space_world_expect(&w, space_world_spmm(&w, &w.a, &w.x, &w.y),
                       HYBRID_NO_DEVICE_MEMORY, "raise device_bytes (--device-memory)");
    assert_true(holds_only(&w, 7));
    assert_int_equal(hy_meter_used(meter), 0);
    meter->cap = cap;
    assert_int_equal(hybrid_spmm(w.engine, 1, &w.a, &w.x, 0, &w.y), HYBRID_OK);
    space_world_check(&w, 1, 0);
    space_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_call_follows),
        cmocka_unit_test(memory_is_short_for_a_moment),
        cmocka_unit_test(memory_stays_short),
        cmocka_unit_test(what_has_become_wrong_is_found),
    };
    return cmocka_run_group_tests_name("recall", tests, NULL, NULL);
}
