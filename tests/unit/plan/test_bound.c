/* tests/unit/plan/test_bound.c - the reported bound of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/fake/fake_backend.h"
#include "support/products/usage_runs.h"

enum { WIDTH = 20, CHUNK = 60, SHORT_US = 3000, LONG_US = 800000 };

static useconds_t nap_us; /* duration of each step that is to be slow, in microseconds */

static hybrid_status nap(hy_lane *lane, void *arg)
{
    (void)lane;
    (void)arg;
    usleep(nap_us);
    return HYBRID_OK;
}

static const char *slow_lane; /* name of the lane of which copies are slow */

static hybrid_status copy_slowly(hy_lane *lane, void *dst, const void *src, size_t bytes)
{
    if (strcmp(lane->name, slow_lane) == 0)
        HY_TRY(hy_fake_enqueue(lane, nap, NULL));
    return hy_fake_backend_ops.copy(lane, dst, src, bytes);
}

static hybrid_status multiply_slowly(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_fake_enqueue(lane, nap, NULL));
    return hy_spmm_fake_rows.multiply(lane, job);
}

static hybrid_resource bound_with(const char *lane, int slow_kernels)
{
    static hy_variant variant;
    hy_backend_ops ops = hy_fake_backend_ops;
    world w;

    variant = hy_spmm_fake_rows;
    if (slow_kernels)
        variant.multiply = multiply_slowly;
    slow_lane = lane;
    ops.copy  = copy_slowly;
    usage_open(&w, &variant, WIDTH);
    const hy_backend_ops *before = w.engine->device->ops;
    w.engine->device->ops        = &ops;
    const hybrid_report r        = usage_run(&w, CHUNK, HYBRID_SPLIT_GPU, 0, 0);
    w.engine->device->ops        = before;
    world_close(&w);
    return r.bound;
}

/* Lengthens the slow steps of a run until its report names `wanted` as the bound. A
   longer delay may be needed if a busy machine slows everything else. */
static void check_bound(const char *lane, int slow_kernels, hybrid_resource wanted)
{
    hybrid_resource bound = HYBRID_RESOURCES;

    for (nap_us = SHORT_US; nap_us <= LONG_US && bound != wanted; nap_us *= 4)
        bound = bound_with(lane, slow_kernels);
    assert_int_equal(bound, wanted);
}

static void what_is_slow_is_named(void **state)
{
    (void)state;
    check_bound("h2d", 0, HYBRID_BUS_UP);
    check_bound("d2h", 0, HYBRID_BUS_DOWN);
    check_bound("", 1, HYBRID_DEVICE);
}

static void cores_or_their_memory_bound_the_host(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    w.engine->host->measured.mem_Bps = 1;
    assert_int_equal(usage_run(&w, CHUNK, HYBRID_SPLIT_HOST, 0, 0).bound,
                     HYBRID_HOST_MEMORY);
    w.engine->host->measured.mem_Bps = 1e18;
    const hybrid_report r            = usage_run(&w, CHUNK, HYBRID_SPLIT_HOST, 0, 0);
    assert_int_equal(r.bound, HYBRID_CORES);
    /* bytes of host memory per second in this run; the loop sets rates from a quarter to
       16 times of it */
    const double all = (double)r.host_bytes / r.total_s;
    for (double part = 0.25; part < 16; part *= 1.25) {
        w.engine->host->measured.mem_Bps = all * part;
        /* the call checks the use of resources in the run's report */
        usage_run(&w, CHUNK, HYBRID_SPLIT_HOST, 0, 0);
    }
    world_close(&w);
}

static void resources_and_origins_have_names(void **state)
{
    (void)state;
    assert_string_equal(hybrid_resource_text(HYBRID_CORES), "cores");
    assert_string_equal(hybrid_resource_text(HYBRID_BUS_DOWN), "bus down");
    assert_string_equal(hybrid_resource_text(HYBRID_RESOURCES), "unknown resource");
    assert_string_equal(hybrid_origin_text(HYBRID_BUILT_IN), "built in");
    assert_string_equal(hybrid_origin_text(HYBRID_OBSERVED), "observed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_slow_is_named),
        cmocka_unit_test(cores_or_their_memory_bound_the_host),
        cmocka_unit_test(resources_and_origins_have_names),
    };
    return cmocka_run_group_tests_name("bound", tests, NULL, NULL);
}
