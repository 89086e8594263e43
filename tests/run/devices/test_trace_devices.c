/* tests/run/devices/test_trace_devices.c - the trace of a product on several devices has
   lanes, counters and limits of each, and stalls of what bound the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/engines/io_fixture.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spmm_host_rows;

static const hy_backend_ops *const places[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                               NULL};
static const hy_variant *const variants[]   = {&hy_spmm_fake_rows, &hy_spmm_host_rows,
                                               NULL};

enum { ROWS = 3000, COLUMNS = 16, DEVICES = 3, MEMORY = 1 << 20 };

static hybrid_engine *open_devices(void)
{
    static const int devices[DEVICES] = {0, 1, 2};
    hybrid_engine_options options     = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads      = 2;
    options.devices      = devices;
    options.device_count = DEVICES;
    options.device_bytes = MEMORY;
    fake_delays(1, 0);
    assert_int_equal(fake_engine_open(&options, places, variants, &engine), HYBRID_OK);
    settings_of(engine)->all_devices = 1;
    return engine;
}

/* Computes a product on all devices, and writes its trace to the file `path`. */
static void multiply(hybrid_engine *engine, const char *path)
{
    const test_kind kind        = {HYBRID_F32, HYBRID_I32, 1};
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr A;
    hybrid_dense X, Y;
    hybrid_trace *trace;

    matrix_random(ROWS, ROWS, 8, 5, kind, &A);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, kind, &Y);
    options.split      = HYBRID_SPLIT_GPU;
    options.chunk_rows = 100;
    assert_int_equal(hybrid_trace_create(engine, &trace), HYBRID_OK);
    hybrid_engine_trace(engine, hybrid_trace_add, trace);
    assert_int_equal(hybrid_spmm_with(engine, &options, 1, &A, &X, 0, &Y), HYBRID_OK);
    assert_int_equal(hybrid_trace_write_json(trace, path), HYBRID_OK);
    hybrid_trace_destroy(trace);
    dense_free(&X);
    dense_free(&Y);
    matrix_free(&A);
}

static void must_have(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("the trace lacks %s\n%s", part, text);
}

/* Fails the test unless the trace lists the device's lane of that kind. Lanes are named
   "h2d" on device 0, "h2d1" on device 1, and so on. */
static void must_have_lane(const char *text, const char *kind, int device)
{
    char part[64], digits[12] = "";

    if (device > 0)
        snprintf(digits, sizeof digits, "%d", device);
    snprintf(part, sizeof part, "\"name\":\"%s%s\",\"busy_us\":", kind, digits);
    must_have(text, part);
}

/* Fails the test unless the trace has the limit of the device's memory and a counter of
   its use. */
static void must_have_memory(const char *text, int device)
{
    char name[32] = "GPU memory", part[96];

    if (device > 0)
        snprintf(name, sizeof name, "GPU %d memory", device);
    snprintf(part, sizeof part, "{\"name\":\"%s\",\"limit_bytes\":%d,", name, MEMORY);
    must_have(text, part);
    snprintf(part, sizeof part, "{\"name\":\"%s\",\"ph\":\"C\"", name);
    must_have(text, part);
}

static void each_device_has_lanes_and_memory(void **state)
{
    static const char *const lanes[] = {"load", "h2d", "run", "d2h"};
    const char *path                 = io_temp("devices.json");
    hybrid_engine *engine            = open_devices();
    size_t bytes;

    (void)state;
    multiply(engine, path);
    char *text = io_load(path, &bytes);
    for (int i = 0; i < DEVICES; i++) {
        for (int k = 0; k < 4; k++)
            must_have_lane(text, lanes[k], i);
        must_have_memory(text, i);
    }
    must_have(text, "\"stalls\":[\n{\"tid\":");
    free(text);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_device_has_lanes_and_memory),
    };

    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
