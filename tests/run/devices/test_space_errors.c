/* tests/run/devices/test_space_errors.c - operands with a wrong memory space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/api/engine.h"
#include "support/fake/fake_memory.h"
#include "support/device/on_device.h"
#include "support/device/space_world.h"

/* ---- refusals ---- */

static void spaces_are_what_they_are_said_to_be(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    space_world w;

    (void)state;
    space_world_open(&options, &w);
    hybrid_csr A = w.A, a = w.a;
    hybrid_dense X = w.X, x = w.x, Y = w.Y, y = w.y;
    A.space = X.space = Y.space = HYBRID_SPACE_DEVICE;
    a.space = x.space = y.space = HYBRID_SPACE_HOST;
    space_world_expect(&w, space_world_spmm(&w, &A, &w.x, &w.y), HYBRID_BAD_ARGUMENT,
                       "A is declared to be in device memory, but its offsets");
    space_world_expect(&w, space_world_spmm(&w, &w.a, &X, &w.y), HYBRID_BAD_ARGUMENT,
                       "X is declared to be in device memory");
    space_world_expect(&w, space_world_spmm(&w, &w.a, &w.x, &Y), HYBRID_BAD_ARGUMENT,
                       "Y is declared to be in device memory");
    space_world_expect(
        &w, space_world_spmm(&w, &a, &w.x, &w.y), HYBRID_BAD_ARGUMENT,
        "A is declared to be in host memory, but its offsets are in device memory");
    space_world_expect(&w, space_world_spmm(&w, &w.a, &x, &w.y), HYBRID_BAD_ARGUMENT,
                       "X is declared to be in host memory");
    space_world_expect(&w, space_world_spmm(&w, &w.a, &w.x, &y), HYBRID_BAD_ARGUMENT,
                       "Y is declared to be in host memory");
    a     = w.a;
    a.val = w.A.val;
    space_world_expect(&w, space_world_spmm(&w, &a, &w.x, &w.y), HYBRID_BAD_ARGUMENT,
                       "its values");
    a       = w.a;
    a.space = (hybrid_space)7;
    space_world_expect(&w, space_world_spmm(&w, &a, &w.x, &w.y), HYBRID_BAD_ARGUMENT,
                       "A: space 7 is neither HYBRID_SPACE_HOST nor HYBRID_SPACE_DEVICE");
    space_world_close(&w);
}

/* Operands on device 5, which does not belong to the engine, are refused. */
static void others_have_devices_too(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan *none;
    hybrid_csr C;
    space_world w;

    (void)state;
    space_world_open(&options, &w);
    hybrid_csr a   = on_device_csr(5, &w.A, 0), half;
    hybrid_dense x = on_device_dense(5, &w.X, 0), y = on_device_dense(5, &w.Y, 0);
    space_world_expect(&w, space_world_spmm(&w, &a, &w.X, &w.Y), HYBRID_BAD_ARGUMENT,
                       "not in the memory of a device of the engine");
    a.space = x.space = y.space = HYBRID_SPACE_HOST;
    space_world_expect(&w, space_world_spmm(&w, &a, &w.X, &w.Y), HYBRID_BAD_ARGUMENT,
                       "A: its offsets at ");
    half         = a;
    half.row_ptr = w.A.row_ptr;
    space_world_expect(&w, hybrid_spgemm(w.engine, &w.A, &half, &C), HYBRID_BAD_ARGUMENT,
                       "B: its columns at ");
    half.col = w.A.col;
    space_world_expect(&w, hybrid_spmm_plan(w.engine, &half, 1, NULL, &none),
                       HYBRID_BAD_ARGUMENT, "A: its values at ");
    space_world_expect(&w, space_world_spmm(&w, &w.A, &x, &w.Y), HYBRID_BAD_ARGUMENT,
                       "X: its elements at ");
    space_world_expect(&w, space_world_spmm(&w, &w.a, &w.x, &y), HYBRID_BAD_ARGUMENT,
                       "in the memory of a device that the engine does not use");
    space_world_expect(&w, hybrid_spmv(w.engine, 1, &w.A, x.data, 0, w.Y.data),
                       HYBRID_BAD_ARGUMENT, "X: its elements at ");
    space_world_expect(&w, hybrid_spmv(w.engine, 1, &w.A, w.X.data, 0, y.data),
                       HYBRID_BAD_ARGUMENT, "Y: its elements at ");
    assert_int_equal(space_world_spmm(&w, &w.A, &w.X, &w.Y), HYBRID_OK);
    on_device_csr_free(&a);
    fake_memory_free(x.data);
    fake_memory_free(y.data);
    space_world_close(&w);
}

static void overlap_is_found_on_the_device(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    space_world w;

    (void)state;
    space_world_open(&options, &w);
    space_world_expect(&w, space_world_spmm(&w, &w.a, &w.x, &w.x), HYBRID_BAD_ARGUMENT,
                       "X and Y overlap");
    hybrid_dense Y = w.y;
    Y.data         = w.a.val;
    space_world_expect(&w, space_world_spmm(&w, &w.a, &w.x, &Y), HYBRID_BAD_ARGUMENT,
                       "A's val and Y overlap");
    space_world_close(&w);
}

static void the_host_alone_takes_none(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan      = HYBRID_PLAN_OPTIONS_INIT;
    space_world w;
    hybrid_plan *none;
    hybrid_csr C;

    (void)state;
    options.backend = HYBRID_HOST;
    space_world_open(&options, &w);
    space_world_expect(&w, space_world_spmm(&w, &w.a, &w.X, &w.Y), HYBRID_UNSUPPORTED,
                       "A is in device memory");
    space_world_expect(&w, space_world_spmm(&w, &w.A, &w.x, &w.Y), HYBRID_UNSUPPORTED,
                       "X is in device memory");
    space_world_expect(&w, space_world_spmm(&w, &w.A, &w.X, &w.y), HYBRID_UNSUPPORTED,
                       "Y is in device memory");
    plan.result_space = HYBRID_SPACE_DEVICE;
    space_world_expect(&w, hybrid_spgemm_with(w.engine, &plan, &w.A, &w.A, &C),
                       HYBRID_UNSUPPORTED, "computes on the CPU only");
    space_world_expect(&w, hybrid_spmm_plan(w.engine, &w.A, 1, &plan, &none),
                       HYBRID_UNSUPPORTED, "computes on the CPU only");
    space_world_close(&w);
}

static void the_device_computes_alone(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan            = HYBRID_PLAN_OPTIONS_INIT;
    space_world w;
    hybrid_plan *none;

    (void)state;
    space_world_open(&options, &w);
    plan.split = HYBRID_SPLIT_HOST;
    space_world_expect(&w, hybrid_spmm_plan(w.engine, &w.a, 1, &plan, &none),
                       HYBRID_UNSUPPORTED, "split gives work to the CPU");
    plan.split = HYBRID_SPLIT_SHARE;
    space_world_expect(&w, hybrid_spmm_plan(w.engine, &w.a, 1, &plan, &none),
                       HYBRID_UNSUPPORTED, "split gives work to the CPU");
    plan.split   = HYBRID_SPLIT_DEFAULT;
    plan.variant = "spmm.fake.tiled";
    space_world_expect(&w, hybrid_spmm_plan(w.engine, &w.a, 4, &plan, &none),
                       HYBRID_UNSUPPORTED, "it rearranges values of A on the CPU");
    plan.variant = NULL;
    plan.x_space = HYBRID_SPACE_DEVICE;
    space_world_expect(&w, hybrid_spgemm_plan(w.engine, &w.a, &w.a, &plan, &none),
                       HYBRID_BAD_ARGUMENT, "x_space");
    plan.x_space = (hybrid_space)3;
    space_world_expect(&w, hybrid_spmm_plan(w.engine, &w.a, 4, &plan, &none),
                       HYBRID_BAD_ARGUMENT, "plan options: x: space 3");
    space_world_close(&w);
}

static int take_rows(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    (void)user;
    (void)row_begin;
    (void)rows;
    return 0;
}

static void runs_find_operands_where_the_plan_has_them(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan            = HYBRID_PLAN_OPTIONS_INIT;
    space_world w;
    hybrid_plan *p;

    (void)state;
    space_world_open(&options, &w);
    assert_int_equal(hybrid_spmm_plan(w.engine, &w.a, SPACE_COLS, &plan, &p), HYBRID_OK);
    space_world_expect(&w, hybrid_spmm_run(p, 1, &w.A, &w.X, 0, &w.Y), HYBRID_BAD_STATE,
                       "A is in host memory, but the plan was made for device memory");
    space_world_expect(&w, hybrid_spmm_run(p, 1, &w.a, &w.x, 0, &w.Y), HYBRID_BAD_STATE,
                       "X is in device memory, but the plan was made for host memory");
    space_world_expect(&w, hybrid_spmm_run(p, 1, &w.a, &w.X, 0, &w.y), HYBRID_BAD_STATE,
                       "Y is in device memory, but the plan was made for host memory");
    assert_int_equal(hybrid_spmm_run(p, 1, &w.a, &w.X, 0, &w.Y), HYBRID_OK);
    hybrid_plan_destroy(p);
    plan.result_space = HYBRID_SPACE_DEVICE;
    assert_int_equal(hybrid_spgemm_plan(w.engine, &w.a, &w.A, &plan, &p), HYBRID_OK);
    space_world_expect(&w, hybrid_spgemm_each(p, &w.a, &w.A, take_rows, NULL),
                       HYBRID_BAD_STATE, "delivers rows in host memory");
    hybrid_plan_destroy(p);
    space_world_close(&w);
}

static void other_calls_read_host_memory(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan            = HYBRID_PLAN_OPTIONS_INIT;
    int64_t row;
    space_world w;
    hybrid_csr C;

    (void)state;
    space_world_open(&options, &w);
    space_world_expect(&w, hybrid_csr_check(w.engine, &w.a), HYBRID_UNSUPPORTED,
                       "host memory");
    space_world_expect(&w, hybrid_csr_transpose(w.engine, &w.a, &C), HYBRID_UNSUPPORTED,
                       "host memory");
    space_world_expect(&w, hybrid_verify_spmm(w.engine, &w.A, &w.x, &w.Y, 1, 1, &row),
                       HYBRID_UNSUPPORTED, "X is in device memory");
    space_world_expect(&w, hybrid_verify_spgemm(w.engine, &w.A, &w.a, &w.A, 1, 1, &row),
                       HYBRID_UNSUPPORTED, "B is in device memory");
    space_world_expect(&w, hybrid_dense_random(w.engine, 1, &w.x), HYBRID_UNSUPPORTED,
                       "host memory");
    plan.result_space            = HYBRID_SPACE_DEVICE;
    const hybrid_operand operand = {.csr = &w.A};
    space_world_expect(&w, hybrid_spgemm_files(w.engine, &operand, &operand, &plan, &C),
                       HYBRID_UNSUPPORTED, "operands in files");
    space_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_are_what_they_are_said_to_be),
        cmocka_unit_test(others_have_devices_too),
        cmocka_unit_test(overlap_is_found_on_the_device),
        cmocka_unit_test(the_host_alone_takes_none),
        cmocka_unit_test(the_device_computes_alone),
        cmocka_unit_test(runs_find_operands_where_the_plan_has_them),
        cmocka_unit_test(other_calls_read_host_memory),
    };
    return cmocka_run_group_tests_name("space_errors", tests, NULL, NULL);
}
