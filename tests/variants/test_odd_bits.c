/* tests/variants/test_odd_bits.c - products with zeros of both signs, infinities and NaN.

   They must have the same bits on the host and on a fake device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "engine/schedules/schedule.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/products/odd_bits.h"
#include "support/device/on_device.h"
#include "support/engines/open_host.h"
#include "support/device/space_world.h"

extern const hy_variant hy_spgemm_host_rows, hy_spgemm_host_hash, hy_spgemm_host_dense,
    hy_spmm_host_rows;

static const hy_variant *const variants[] = {
    &hy_spgemm_fake_esc,   &hy_spgemm_fake_dup,  &hy_spmm_fake_rows,
    &hy_spmm_fake_tiled,   &hy_spgemm_host_rows, &hy_spgemm_host_hash,
    &hy_spgemm_host_dense, &hy_spmm_host_rows,   NULL};

/* Fails the test unless plans with each schedule were checked. Excepted are `none`, and
   the rings of rows and columns, which a sparse B cannot have. */
static void expect_schedules(const odd_bits *count, const hy_schedule *none)
{
    for (int k = 0; k < ODD_SCHEDULES; k++) {
        const hy_schedule *s = hy_schedules[k];
        if (s == &hy_schedule_row_ring || s == &hy_schedule_column_ring ||
            (s && s == none))
            continue;
        assert_true(count->schedules[k] >= 16);
    }
}

static void the_host_keeps_the_rule(void **state)
{
    int64_t checked;
    odd_bits count;

    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        hybrid_engine *engine = open_host(threads, 0);
        assert_int_equal(odd_bits_check(engine, &count), 0);
        assert_true(count.schedules[ODD_SCHEDULES - 1] >= 40);
        assert_int_equal(odd_bits_check_spmm(engine, &checked), 0);
        assert_true(checked >= 500);
        hybrid_engine_destroy(engine);
    }
}

static void a_device_keeps_the_rule(void **state)
{
    hybrid_engine *engine;
    int64_t checked;
    odd_bits count;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(fake_open(variants, 0, &engine), HYBRID_OK);
    assert_int_equal(odd_bits_check(engine, &count), 0);
    expect_schedules(&count, NULL);
    assert_true(count.hosts >= 16);
    assert_int_equal(odd_bits_check_spmm(engine, &checked), 0);
    assert_true(checked >= 1000);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

/* With alpha == 0, y = beta*y must keep the sign of a zero, whether y is in host or
   device memory. */
static void alpha_0_leaves_the_sign_of_a_zero(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    space_world w;

    (void)state;
    space_world_open(&options, &w);
    for (int there = 0; there < 2; there++) {
        dense_set(&w.Y, -0.0);
        hybrid_dense y = there ? on_device_dense(0, &w.Y, 0) : w.Y;
        assert_int_equal(
            hybrid_spmm(w.engine, 0, there ? &w.a : &w.A, there ? &w.x : &w.X, 2, &y),
            HYBRID_OK);
        if (there)
            on_device_take(&y, &w.Y);
        for (int64_t i = 0; i < w.Y.rows; i++)
            for (int64_t j = 0; j < w.Y.cols; j++)
                assert_true(dense_at(&w.Y, i, j) == 0 && signbit(dense_at(&w.Y, i, j)));
    }
    space_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_keeps_the_rule),
        cmocka_unit_test(a_device_keeps_the_rule),
        cmocka_unit_test(alpha_0_leaves_the_sign_of_a_zero),
    };
    return cmocka_run_group_tests_name("odd bits", tests, NULL, NULL);
}
