/* tests/unit/plan/test_simulated.c - the queue with up to 8 simulated devices.

   Every row must be claimed once, bytes must be those of the product, and no time may be
   below what buses and memory allow (support/simulated/simulated.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "support/inputs/builder.h"
#include "support/simulated/simulated.h"

enum { TRIALS = 60, MOST = 8, IN_FLIGHT = 4 };

static const double UP = 55e9, DOWN = 50e9, BOTH = 90e9, MEMORY = 130e9;

static double draw(uint64_t number, uint64_t axis, double least, double most)
{
    return least + (most - least) * (double)test_below(number, axis, 1000) / 1000;
}

static simulated_machine machine_of(uint64_t number, int devices)
{
    const int pageable  = number % 2;
    simulated_machine m = {.devices    = devices,
                           .up_Bps     = UP,
                           .down_Bps   = DOWN,
                           .both_Bps   = BOTH,
                           .memory_Bps = MEMORY,
                           .fill_Bps   = pageable ? 130e9 : 0,
                           .store_Bps  = pageable ? 47e9 : 0};

    for (int i = 0; i < devices; i++)
        m.speed[i] = number % 3 == 0 ? 1 : draw(number, 40 + (uint64_t)i, 0.2, 2);
    return m;
}

static simulated_product product_of(uint64_t number)
{
    return (simulated_product){.image_bytes = draw(number, 1, 1e6, 1e9),
                               .a_bytes     = draw(number, 2, 0, 1e8),
                               .down_bytes  = draw(number, 3, 1e6, 4e9),
                               .device_s    = draw(number, 4, 1e-4, 0.1),
                               .far         = (int)test_below(number, 5, 2),
                               .in_order    = (int)test_below(number, 6, 2),
                               .chunks      = 1 + (int)test_below(number, 7, 200)};
}

static void check(const simulated_machine *m, const simulated_product *p)
{
    static simulated_run r;
    double speed = 0, image = 0;
    int64_t rows = 0;

    simulate(m, p, &r);
    for (int i = 0; i < SIMULATED_ROWS; i++)
        assert_int_equal(r.times[i], 1);
    for (int k = 0; k < m->devices; k++) {
        rows += r.rows[k];
        speed += m->speed[k];
        image += p->image_bytes;
    }
    assert_int_equal(rows, SIMULATED_ROWS);
    assert_true(fabs(r.down_bytes - p->down_bytes) < 1 + 1e-6 * p->down_bytes);
    assert_true(r.up_bytes <= image + p->a_bytes + 1 + 1e-6 * image);
    assert_true(r.up_bytes >= p->a_bytes * (1 - 1e-6) - 1);
    assert_in_range(r.most_in_flight, 1, IN_FLIGHT);
    assert_true(r.seconds * 1.000001 >= (r.up_bytes + r.down_bytes) / MEMORY);
    assert_true(r.seconds * 1.000001 >= r.down_bytes / (DOWN * speed));
    assert_true(r.seconds * 1.000001 >= p->device_s / speed);
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < TRIALS; number++)
        for (int devices = 1; devices <= MOST; devices++) {
            const simulated_machine m = machine_of(number, devices);
            const simulated_product p = product_of(number);
            check(&m, &p);
        }
}

/* Only kernels take time here. Equal devices share them evenly, so that n devices are n
   times as fast. */
static void devices_that_are_alike_are_as_many_times_as_fast(void **state)
{
    const simulated_product p = {
        .image_bytes = 1, .down_bytes = 1, .device_s = 1, .chunks = 400};
    static simulated_run r;

    (void)state;
    for (int in_order = 0; in_order < 2; in_order++)
        for (int devices = 1; devices <= MOST; devices++) {
            const simulated_machine m = machine_of(0, devices);
            simulated_product such    = p;
            such.in_order             = in_order;
            simulate(&m, &such, &r);
            assert_true(r.seconds < 1.06 / devices);
        }
}

/* A much slower device must not claim a chunk for which the faster one would have to
   wait. */
static void a_slow_device_holds_up_nobody(void **state)
{
    const simulated_product p = {
        .image_bytes = 1, .down_bytes = 1, .device_s = 1, .in_order = 1, .chunks = 50};
    simulated_machine m = machine_of(0, 2);
    static simulated_run r;

    (void)state;
    m.speed[1] = 0.01;
    simulate(&m, &p, &r);
    assert_int_equal(r.rows[1], 0);
    assert_true(r.seconds < 1.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(devices_that_are_alike_are_as_many_times_as_fast),
        cmocka_unit_test(a_slow_device_holds_up_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
