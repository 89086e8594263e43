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
static const hy_backend_ops *const faulty[] = {&hy_fault_backend_ops,
                                               &hy_host_backend_ops, NULL};
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

/* ---- devices that do not open ---- */

/* Every listed device must open, whatever the backend; the error names the one that does
   not. */
static void one_that_is_missing_is_an_error(void **state)
{
    static const int listed[]     = {0, FAKE_DEVICES};
    hybrid_engine_options options = options_of(listed, 2);

    (void)state;
    assert_refused(options, HYBRID_NO_DEVICE, "no fake device 8");
    options.backend = HYBRID_CUDA;
    assert_refused(options, HYBRID_NO_DEVICE, "no fake device 8");
}

/* The memory that devices take for themselves is told, and counts against no limit. It
   must be the first test, because a driver starts once in a process. */
static void memory_of_the_driver_is_told(void **state)
{
    static const int listed[]     = {0, 1};
    hybrid_engine_options options = options_of(listed, 2);
    hybrid_machine machine        = HYBRID_MACHINE_INIT;
    hybrid_engine *engine;

    (void)state;
    assert_int_equal(hy_engine_open(&options, places, variants, &engine), HYBRID_OK);
    assert_int_equal(hybrid_engine_machine(engine, &machine), HYBRID_OK);
    assert_int_equal(machine.cuda_device_bytes, 2 * FAKE_OCCUPIED);
    assert_true(machine.cuda_host_bytes >= FAKE_HOST_BYTES / 2); /* the system counts
                                                                    pages in batches */
    assert_true(machine.host_bytes_used < FAKE_HOST_BYTES / 2);
    hybrid_engine_destroy(engine);
}

/* Without a list, HYBRID_AUTO means a device if one answers. */
static void a_missing_device_without_a_list_leaves_the_host(void **state)
{
    hybrid_engine_options options = options_of(NULL, 0);
    hybrid_machine machine        = HYBRID_MACHINE_INIT;
    hybrid_engine *engine;

    (void)state;
    options.device = FAKE_DEVICES;
    assert_int_equal(hy_engine_open(&options, places, variants, &engine), HYBRID_OK);
    assert_null(engine->device);
    assert_string_equal(hybrid_engine_device(engine), "no fake device 8");
    assert_int_equal(hybrid_engine_machine(engine, &machine), HYBRID_OK);
    assert_string_equal(machine.left_out, "");
    hybrid_engine_destroy(engine);
    options.backend = HYBRID_CUDA;
    assert_refused(options, HYBRID_NO_DEVICE, "no GPU: no fake device 8");
}

/* Opens an engine with devices_optional. Checks how many devices opened, and what is told
   about those that did not. */
static void assert_opens_without(const hybrid_engine_options *options, int count,
                                 const char *left_out)
{
    hybrid_machine machine = HYBRID_MACHINE_INIT;
    hybrid_engine *engine;

    assert_int_equal(fake_engine_open(options, faulty, variants, &engine), HYBRID_OK);
    assert_int_equal(engine->device_count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(engine->devices[i]->index, i);
    assert_int_equal(hybrid_engine_machine(engine, &machine), HYBRID_OK);
    assert_int_equal(machine.device_count, count);
    assert_string_equal(machine.left_out, left_out);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

/* With devices_optional, a device that does not exist and one that fails when it is
   opened are left out. */
static void optional_devices_are_left_out(void **state)
{
    static const int listed[]     = {FAKE_DEVICES, 3, FAKE_DEVICES, 1, 2};
    hybrid_engine_options options = options_of(listed, 5);

    (void)state;
    options.devices_optional = 1;
    assert_opens_without(&options, 3, "no fake device 8");
    for (int backend = HYBRID_AUTO; backend <= HYBRID_CUDA; backend += HYBRID_CUDA) {
        options.backend = (hybrid_backend)backend;
        fault_arm(4); /* the call that opens device 1 */
        assert_opens_without(&options, 2,
                             "no fake device 8; fake device 1: opening failed");
        assert_false(fault_is_armed());
    }
    options.devices_optional = 0;
    options.devices          = listed + 3;
    options.device_count     = 2;
    options.backend          = HYBRID_AUTO;
    fault_arm(2);
    hybrid_engine *engine = NULL;
    assert_int_equal(hy_engine_open(&options, faulty, variants, &engine),
                     HYBRID_DEVICE_FAILED);
    assert_null(engine);
    assert_int_equal(fake_alive(), 0);
}

/* If no optional device opens, the engine is one without a GPU. */
static void without_any_optional_device_the_host_computes(void **state)
{
    static const int listed[]     = {FAKE_DEVICES, FAKE_DEVICES + 1};
    static const char *const why  = "no fake device 8; no fake device 9";
    hybrid_engine_options options = options_of(listed, 2);
    hybrid_engine *engine;

    (void)state;
    options.devices_optional = 1;
    assert_opens_without(&options, 0, why);
    assert_int_equal(hy_engine_open(&options, places, variants, &engine), HYBRID_OK);
    assert_int_equal(hybrid_engine_backend(engine), HYBRID_HOST);
    assert_string_equal(hybrid_engine_device(engine), why);
    hybrid_engine_destroy(engine);
    options.backend = HYBRID_CUDA;
    assert_refused(options, HYBRID_NO_DEVICE,
                   "no GPU: no fake device 8; no fake device 9");
    options.devices_optional = 2;
    assert_refused(options, HYBRID_BAD_ARGUMENT,
                   "devices_optional is 2, and must be in 0..1");
}

/* Host memory that is short is no failure of a device. */
static void a_lack_of_host_memory_leaves_no_device_out(void **state)
{
    static const int listed[]     = {0, 1};
    hybrid_engine_options options = options_of(listed, 2);
    char why[256]                 = "";
    hybrid_engine *engine         = NULL;

    (void)state;
    options.devices_optional = 1;
    options.host_bytes       = 1;
    options.message          = why;
    options.message_size     = sizeof why;
    assert_int_equal(hy_engine_open(&options, places, variants, &engine),
                     HYBRID_NO_MEMORY);
    assert_non_null(strstr(why, "cannot allocate"));
    assert_int_equal(fake_alive(), 0);
}

/* ---- devices that run out of memory ---- */

static void a_device_that_is_full_is_named(void **state)
{
    static const int listed[] = {4, 2};
    hybrid_engine *engine     = open_devices(listed, 2, 1 << 20);
    hy_backend *device        = engine->devices[1];
    hy_buffer buffer;

    (void)state;
    assert_int_equal(device->ops->alloc(device, HY_DEVICE, 2 << 20, "an array", &buffer),
                     HYBRID_NO_DEVICE_MEMORY);
    assert_non_null(
        strstr(hybrid_engine_message(engine),
               "cannot allocate 2.0 MiB of device memory of fake device 2: "));
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_the_driver_is_told),
        cmocka_unit_test(all_that_are_listed_are_opened),
        cmocka_unit_test(a_cap_is_that_of_each),
        cmocka_unit_test(without_a_list_there_is_one),
        cmocka_unit_test(lists_that_make_no_sense_are_refused),
        cmocka_unit_test(one_that_is_missing_is_an_error),
        cmocka_unit_test(a_missing_device_without_a_list_leaves_the_host),
        cmocka_unit_test(optional_devices_are_left_out),
        cmocka_unit_test(without_any_optional_device_the_host_computes),
        cmocka_unit_test(a_lack_of_host_memory_leaves_no_device_out),
        cmocka_unit_test(a_device_that_is_full_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
