/* tests/run/devices/test_devices.c - engines with several devices: options and
   properties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spmm_host_rows;

static const hy_backend_ops *const places[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                               NULL};
static const hy_variant *const variants[]   = {&hy_spmm_host_rows, NULL};

static hybrid_engine_options options_of(const int *devices, int count)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.threads      = 1;
    options.devices      = devices;
    options.device_count = count;
    return options;
}

static hybrid_engine *open_devices(const int *devices, int count, size_t bytes)
{
    hybrid_engine_options options = options_of(devices, count);
    hybrid_engine *engine;

    options.device_bytes = bytes;
    assert_int_equal(fake_engine_open(&options, places, variants, &engine), HYBRID_OK);
    return engine;
}

static void all_that_are_listed_are_opened(void **state)
{
    static const int listed[] = {2, 0, 2};
    hybrid_engine *engine     = open_devices(listed, 3, 0);

    (void)state;
    assert_int_equal(engine->device_count, 3);
    assert_ptr_equal(engine->device, engine->devices[0]);
    for (int i = 0; i < 3; i++)
        assert_int_equal(engine->devices[i]->index, i);
    assert_string_equal(hybrid_engine_device(engine),
                        "0: a device made of host memory; 1: a device made of host "
                        "memory; 2: a device made of host memory");
    /* devices 0 and 2 are the same device of the list, so that each gets half of its
       memory */
    assert_int_equal(engine->devices[0]->device.cap * 2, engine->devices[1]->device.cap);
    assert_int_equal(engine->devices[2]->device.cap, engine->devices[0]->device.cap);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static void a_cap_is_that_of_each(void **state)
{
    static const int listed[] = {0, 0};
    hybrid_engine *engine     = open_devices(listed, 2, 1 << 20);

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(engine->devices[i]->device.cap, 1 << 20);
    hybrid_engine_destroy(engine);
}

static void without_a_list_there_is_one(void **state)
{
    hybrid_engine *engine = open_devices(NULL, 0, 0);

    (void)state;
    assert_int_equal(engine->device_count, 1);
    assert_string_equal(hybrid_engine_device(engine), "a device made of host memory");
    hybrid_engine_destroy(engine);
}

static void assert_refused(hybrid_engine_options options, hybrid_status status,
                           const char *words)
{
    char why[256]         = "";
    hybrid_engine *engine = NULL;

    options.message      = why;
    options.message_size = sizeof why;
    assert_int_equal(fake_engine_open(&options, places, variants, &engine), status);
    assert_null(engine);
    if (!strstr(why, words))
        fail_msg("'%s' does not say '%s'", why, words);
    assert_int_equal(fake_alive(), 0);
}

static void lists_that_make_no_sense_are_refused(void **state)
{
    int many[HY_MAX_DEVICES + 1] = {0};

    (void)state;
    assert_refused(options_of(many, HY_MAX_DEVICES + 1), HYBRID_BAD_ARGUMENT,
                   "device_count is 17");
    assert_refused(options_of(many, 0), HYBRID_BAD_ARGUMENT, "device_count is 0");
    assert_refused(options_of(NULL, 2), HYBRID_BAD_ARGUMENT, "device_count is 2");
    assert_refused(options_of(many, -1), HYBRID_BAD_ARGUMENT, "device_count is -1");
    many[1] = -3;
    assert_refused(options_of(many, 2), HYBRID_BAD_ARGUMENT, "devices[1] is -3");
}

/* If one of the listed devices does not exist, the engine has no device: with
   HYBRID_AUTO the host computes, and hybrid_engine_device() says why. */
static void one_that_is_missing_is_told(void **state)
{
    static const int listed[]     = {0, FAKE_DEVICES};
    hybrid_engine_options options = options_of(listed, 2);
    hybrid_engine *engine;

    (void)state;
    assert_int_equal(hy_engine_open(&options, places, variants, &engine), HYBRID_OK);
    assert_null(engine->device);
    assert_int_equal(engine->device_count, 0);
    assert_string_equal(hybrid_engine_device(engine), "no fake device 8");
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
    options.backend = HYBRID_CUDA;
    assert_refused(options, HYBRID_NO_DEVICE, "no fake device 8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_are_listed_are_opened),
        cmocka_unit_test(a_cap_is_that_of_each),
        cmocka_unit_test(without_a_list_there_is_one),
        cmocka_unit_test(lists_that_make_no_sense_are_refused),
        cmocka_unit_test(one_that_is_missing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
