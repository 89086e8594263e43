/* tests/unit/base/test_threads.c - number of workers from options and environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/api/threads.h"
#include "tests/support/engines/context.h"

typedef struct row {
    const char *own, *omp; /* values of HYBRID_NUM_THREADS and OMP_NUM_THREADS; NULL: not
                              set */
    int wanted, devices, cores;
    int threads, reserve; /* expected results; threads 0: the call must be refused */
} row;

static const row rows[] = {
    {NULL, NULL, 0, 0, 16, 16, 0},
    {NULL, NULL, 0, 1, 16, 13, 3},
    {"5", NULL, 0, 0, 16, 5, 0},
    {"5", NULL, 0, 1, 16, 5, 0},
    {"5", "7", 0, 0, 16, 5, 0},
    {NULL, "7", 0, 1, 16, 7, 0},
    {NULL, "4,2,1", 0, 0, 16, 4, 0},
    {NULL, "200", 0, 0, 16, 16, 0},
    {"200", NULL, 0, 0, 16, 200, 0},
    {"5", "7", 3, 1, 16, 3, 0},
    {"", "6", 0, 0, 16, 6, 0},
    {NULL, "", 0, 0, 16, 16, 0},
    {NULL, "many", 0, 1, 16, 13, 3},
    {NULL, "-1", 0, 0, 16, 16, 0},
    {"0", "7", 0, 0, 16, 0, 0},
    {"many", NULL, 0, 0, 16, 0, 0},
    {"3.5", NULL, 0, 0, 16, 0, 0},
    {"4,2", NULL, 0, 0, 16, 0, 0},
    {"99999999999", NULL, 0, 0, 16, 0, 0},
    {"many", NULL, 2, 0, 16, 2, 0},
    {NULL, NULL, 0, 1, 7, 7, 0},
    {NULL, NULL, 0, 1, 64, 16, 48},
    {NULL, NULL, 0, 2, 32, 29, 3},
    {NULL, NULL, 0, 4, 64, 32, 32},
    {NULL, NULL, 0, 0, 64, 64, 0},
    {"61", NULL, 0, 4, 64, 61, 0},
};

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Returns a context with one worker on a machine that appears to have `cores` cores. */
static hy_context *context_with_cores(int cores)
{
    char text[40];

    snprintf(text, sizeof text, "core:%d pu:1", cores);
    setenv("HWLOC_SYNTHETIC", text, 1);
    hy_context *ctx = test_context(1);
    unsetenv("HWLOC_SYNTHETIC");
    return ctx;
}

static void the_first_number_given_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r    = &rows[i];
        hy_context *ctx = context_with_cores(r->cores);
        int threads = -1, reserve = -1;
        set(HY_THREADS_VARIABLE, r->own);
        set(HY_OMP_THREADS_VARIABLE, r->omp);
        const hybrid_status status = hy_thread_count(ctx, test_topology(ctx), r->wanted,
                                                     r->devices, &threads, &reserve);
        assert_int_equal(status, r->threads > 0 ? HYBRID_OK : HYBRID_BAD_ARGUMENT);
        if (r->threads == 0) {
            assert_non_null(strstr(ctx->message.text, r->own));
        } else {
            assert_int_equal(threads, r->threads);
            assert_int_equal(reserve, r->reserve);
        }
        test_context_free(ctx);
    }
}

static void engines_read_the_environment(void **state)
{
    hybrid_engine_options o = HYBRID_ENGINE_OPTIONS_INIT;
    char message[200]       = "";
    hybrid_engine *engine;

    (void)state;
    o.backend      = HYBRID_HOST;
    o.message      = message;
    o.message_size = sizeof message;
    set(HY_OMP_THREADS_VARIABLE, NULL);
    set(HY_THREADS_VARIABLE, "3");
    assert_int_equal(hybrid_engine_create(&o, &engine), HYBRID_OK);
    assert_int_equal(hybrid_engine_threads(engine), 3);
    hybrid_engine_destroy(engine);
    set(HY_THREADS_VARIABLE, "three");
    assert_int_equal(hybrid_engine_create(&o, &engine), HYBRID_BAD_ARGUMENT);
    assert_string_equal(message, "HYBRID_NUM_THREADS is \"three\", and must be a whole "
                                 "number of at least 1");
    set(HY_THREADS_VARIABLE, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_number_given_counts),
        cmocka_unit_test(engines_read_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
