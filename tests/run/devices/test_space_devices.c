/* tests/run/devices/test_space_devices.c - operands in the memory of one of two fake
   devices, or in managed memory of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/device/on_device.h"
#include "support/check/oracle.h"
#include "support/device/space_world.h"

/* Places of an operand: device 0, device 1, or managed memory. */
enum { MANAGED = 2, PLACES = 3 };

static void open_two(space_world *w)
{
    static const int devices[]    = {0, 1};
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.devices      = devices;
    options.device_count = 2;
    space_world_open(&options, w);
}

typedef struct operands {
    hybrid_csr A;
    hybrid_dense X, Y;
} operands;

static int of(int place)
{
    return place == MANAGED ? FAKE_MANAGED : place;
}

static void make(const space_world *w, int a, int x, int y, operands *o)
{
    o->A = on_device_csr(of(a), &w->A, 0);
    o->X = on_device_dense(of(x), &w->X, 0);
    o->Y = on_device_dense(of(y), &w->Y, 0);
}

static void free_operands(operands *o)
{
    on_device_csr_free(&o->A);
    fake_memory_free(o->X.data);
    fake_memory_free(o->Y.data);
}

/* Returns the number of the device that must compute: the one with operands that are not
   managed; 0 if all are managed; -1 (the call is refused) if they are on two devices. */
static int expected(const int places[3])
{
    int device = MANAGED;

    for (int i = 0; i < 3; i++)
        if (places[i] != MANAGED && device != MANAGED && device != places[i])
            return -1;
        else if (places[i] != MANAGED)
            device = places[i];
    return device == MANAGED ? 0 : device;
}

static void check_product(const space_world *w, const operands *o, int device)
{
    fake_memory_open();
    assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->Y, &o->Y, 1));
    fake_memory_close();
    for (int i = 0; i < 2; i++)
        assert_true((w->engine->devices[i]->device.peak > 0) == (i == device));
}

static hybrid_plan *plan_of(const space_world *w, const hybrid_csr *A, hybrid_space x,
                            hybrid_space result)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.x_space      = x;
    options.result_space = result;
    assert_int_equal(hybrid_spmm_plan(w->engine, A, SPACE_COLS, &options, &plan),
                     HYBRID_OK);
    return plan;
}

static void managed_operands_go_with_the_others(void **state)
{
    (void)state;
    for (int i = 0; i < PLACES * PLACES * PLACES; i++) {
        const int places[] = {i % PLACES, i / PLACES % PLACES, i / PLACES / PLACES};
        const int device   = expected(places);
        space_world w;
        operands o;

        open_two(&w);
        make(&w, places[0], places[1], places[2], &o);
        const hybrid_status status = space_world_spmm(&w, &o.A, &o.X, &o.Y);
        if (device < 0) {
            space_world_expect(&w, status, HYBRID_UNSUPPORTED,
                               "operands are on two devices");
        } else {
            assert_int_equal(status, HYBRID_OK);
            check_product(&w, &o, device);
        }
        free_operands(&o);
        space_world_close(&w);
    }
}

/* The host can compute with managed operands if the caller says that they are in host
   memory. */
static void managed_operands_may_be_the_hosts(void **state)
{
    space_world w;
    operands o;

    (void)state;
    open_two(&w);
    make(&w, MANAGED, 1, MANAGED, &o);
    o.A.space = o.Y.space = HYBRID_SPACE_HOST;
    assert_int_equal(space_world_spmm(&w, &o.A, &o.X, &o.Y), HYBRID_OK);
    check_product(&w, &o, 1);
    free_operands(&o);
    space_world_close(&w);
}

/* A plan that was made for operands on a device takes managed operands, which count as
   being on it. */
static void managed_operands_go_with_the_plan(void **state)
{
    hybrid_plan *plan;
    space_world w;
    operands o, managed;

    (void)state;
    open_two(&w);
    make(&w, 1, 1, 1, &o);
    make(&w, MANAGED, MANAGED, MANAGED, &managed);
    plan = plan_of(&w, &o.A, HYBRID_SPACE_DEVICE, HYBRID_SPACE_DEVICE);
    assert_int_equal(hybrid_spmm_run(plan, 1, &managed.A, &managed.X, 0, &managed.Y),
                     HYBRID_OK);
    check_product(&w, &managed, 1);
    assert_int_equal(hybrid_spmm_run(plan, 1, &managed.A, &o.X, 0, &o.Y), HYBRID_OK);
    check_product(&w, &o, 1);
    hybrid_plan_destroy(plan);
    free_operands(&o);
    free_operands(&managed);
    space_world_close(&w);
}

/* A plan with A in host memory and X and Y on a device expects them on the engine's first
   device, and refuses others. */
static void dense_operands_are_planned_on_the_first(void **state)
{
    static const char words[] = "operands are in the memory of the engine's device 1, "
                                "but the plan was made for its device 0";
    hybrid_plan *plan;
    space_world w;
    operands o;

    (void)state;
    open_two(&w);
    make(&w, 1, 1, 1, &o);
    plan = plan_of(&w, &w.A, HYBRID_SPACE_DEVICE, HYBRID_SPACE_HOST);
    space_world_expect(&w, hybrid_spmm_run(plan, 1, &w.A, &o.X, 0, &w.Y),
                       HYBRID_BAD_STATE, words);
    assert_int_equal(hybrid_spmm_run(plan, 1, &w.A, &w.x, 0, &w.Y), HYBRID_OK);
    hybrid_plan_destroy(plan);
    plan = plan_of(&w, &w.A, HYBRID_SPACE_HOST, HYBRID_SPACE_DEVICE);
    space_world_expect(&w, hybrid_spmm_run(plan, 1, &w.A, &w.X, 0, &o.Y),
                       HYBRID_BAD_STATE, words);
    assert_int_equal(hybrid_spmm_run(plan, 1, &w.A, &w.X, 0, &w.y), HYBRID_OK);
    check_product(&w, &(operands){.Y = w.y}, 0);
    hybrid_plan_destroy(plan);
    free_operands(&o);
    space_world_close(&w);
}

/* A plan with A on the engine's second device expects X and Y on it too, and refuses
   others. */
static void dense_operands_are_planned_with_a(void **state)
{
    hybrid_plan *plan;
    space_world w;
    operands o;

    (void)state;
    open_two(&w);
    make(&w, 1, 1, 1, &o);
    plan = plan_of(&w, &o.A, HYBRID_SPACE_DEVICE, HYBRID_SPACE_DEVICE);
    space_world_expect(&w, hybrid_spmm_run(plan, 1, &o.A, &w.x, 0, &o.Y),
                       HYBRID_UNSUPPORTED, "operands are on two devices");
    space_world_expect(&w, hybrid_spmm_run(plan, 1, &w.a, &w.x, 0, &w.y),
                       HYBRID_BAD_STATE,
                       "device 0, but the plan was made for its device 1");
    assert_int_equal(hybrid_spmm_run(plan, 1, &o.A, &o.X, 0, &o.Y), HYBRID_OK);
    check_product(&w, &o, 1);
    hybrid_plan_destroy(plan);
    free_operands(&o);
    space_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(managed_operands_go_with_the_others),
        cmocka_unit_test(managed_operands_may_be_the_hosts),
        cmocka_unit_test(managed_operands_go_with_the_plan),
        cmocka_unit_test(dense_operands_are_planned_on_the_first),
        cmocka_unit_test(dense_operands_are_planned_with_a),
    };
    return cmocka_run_group_tests_name("space_devices", tests, NULL, NULL);
}
