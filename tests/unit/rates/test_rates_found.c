/* tests/unit/rates/test_rates_found.c - which file of measured rates an engine uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"
#include "support/engines/io_fixture.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const backends[] = {&hy_fake_backend_ops,
                                                 &hy_host_backend_ops, NULL};
static const hy_variant *const variants[]     = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                                 NULL};
static const char fake_name[]                 = "a device made of host memory";
static const char users_file[] = "hybrid_spmm/a_device_made_of_host_memory.rates";

static char message[1024];

static hybrid_status open_engine(const char *rates, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.threads      = 1;
    options.rates_path   = rates;
    options.message      = message;
    options.message_size = sizeof message;
    message[0]           = '\0';
    fake_delays(1, 0);
    return fake_engine_open(&options, backends, variants, engine);
}

/* Returns the rate of copies to the device that plans use. The built-in rate is 50
   GB/s. */
static double h2d_Bps(const char *rates)
{
    hybrid_engine *engine;
    hy_rates found;

    if (open_engine(rates, &engine) != HYBRID_OK)
        fail_msg("%s", message);
    hy_rates_of(engine->device, &found);
    hybrid_engine_destroy(engine);
    return found.h2d_Bps;
}

static void refuses(const char *rates, hybrid_status status, const char *sentence)
{
    hybrid_engine *engine;

    assert_int_equal(open_engine(rates, &engine), status);
    if (!strstr(message, sentence))
        fail_msg("'%s' does not say '%s'", message, sentence);
}

static const char *store(const char *name, const char *device, const char *more)
{
    static char path[4096];
    char text[512];

    const int n =
        snprintf(text, sizeof text, "format = 3\ndevice = %s\ndate = 2026-11-21\n%s",
                 device, more);
    snprintf(path, sizeof path, "%s", io_temp(name));
    io_store(path, text, (size_t)n);
    return path;
}

static void measured_speeds_replace_what_is_built_in(void **state)
{
    const char *path = store("own", fake_name, "h2d_Bps = 1.5e10\nlaunch_s = 1e-3\n");
    hybrid_engine *engine;
    hy_rates built_in, found;

    (void)state;
    assert_int_equal(open_engine(path, &engine), HYBRID_OK);
    engine->device->ops->rates(engine->device, &built_in);
    hy_rates_of(engine->device, &found);
    assert_true(found.h2d_Bps == 1.5e10 && found.launch_s == 1e-3);
    assert_true(found.d2h_Bps == built_in.d2h_Bps && found.mem_Bps == built_in.mem_Bps);
    assert_true(found.memory == built_in.memory);
    hy_rates_of(engine->host, &found);
    engine->host->ops->rates(engine->host, &built_in);
    built_in.blocks  = engine->host->blocks;
    built_in.factors = &engine->host->measured.factors;
    assert_memory_equal(&found, &built_in, sizeof found);
    engine->host->measured.h2d_Bps = 1e9; /* has no effect, because the host copies
                                             nothing */
    hy_rates_of(engine->host, &found);
    assert_true(found.h2d_Bps == 0);
    hybrid_engine_destroy(engine);
}

static void the_file_that_is_named_must_be_right(void **state)
{
    (void)state;
    assert_true(h2d_Bps(store("own", fake_name, "h2d_Bps = 1e10\n")) == 1e10);
    refuses(io_temp("absent"), HYBRID_IO_FAILED, "absent");
    refuses(store("bad", fake_name, "h2d = 1e10\n"), HYBRID_BAD_FILE,
            "bad:4: there is no key 'h2d'");
    refuses(store("other", "another device", "h2d_Bps = 1e10\n"), HYBRID_BAD_STATE,
            "were measured on another device, but this engine computes on a device made");
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    refuses(longest, HYBRID_BAD_ARGUMENT, "has 4999 bytes, and 4095 is the limit");
}

static const char *store_old(const char *name)
{
    static const char text[] = "format = 1\ndevice = d\ndate = 2026-11-21\nold = 1\n";
    static char path[4096];

    snprintf(path, sizeof path, "%s", io_temp(name));
    io_store(path, text, sizeof text - 1);
    return path;
}

static void a_file_of_another_format_is_ignored_unless_it_is_named(void **state)
{
    char folder[4096], file[8192], text[8192];
    hybrid_machine machine = HYBRID_MACHINE_INIT;
    hybrid_engine *engine;
    hybrid_plan *plan;
    hybrid_csr A;

    (void)state;
    refuses(store_old("old"), HYBRID_BAD_FILE,
            "old:1: the file has format 1, and this version of the library reads 3");
    snprintf(folder, sizeof folder, "%s", io_temp("cache"));
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkdir(io_temp("cache/hybrid_spmm"), 0700), 0);
    snprintf(file, sizeof file, "cache/%s", users_file);
    store_old(file);
    assert_int_equal(open_engine(NULL, &engine), HYBRID_OK);
    assert_string_equal(hybrid_engine_message(engine), "");
    assert_int_equal(hybrid_engine_machine(engine, &machine), HYBRID_OK);
    assert_string_equal(machine.rates_path, io_temp(file));
    assert_string_equal(machine.rates_date, "");
    assert_int_equal(hybrid_generate(engine, "er:20,2", HYBRID_F32, 1, &A), HYBRID_OK);
    assert_int_equal(hybrid_spmm_plan(engine, &A, 3, NULL, &plan), HYBRID_OK);
    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, "rates     built in; "));
    assert_non_null(strstr(text, "has the format of another version"));
    assert_non_null(strstr(text, io_temp(file)));
    hybrid_plan_destroy(plan);
    hybrid_csr_free(engine, &A);
    hybrid_engine_destroy(engine);
    assert_int_equal(unlink(io_temp(file)), 0);
    assert_int_equal(rmdir(io_temp("cache/hybrid_spmm")), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void the_users_file_is_taken_if_it_is_there(void **state)
{
    char folder[4096], file[8192];

    (void)state;
    snprintf(folder, sizeof folder, "%s", io_temp("cache"));
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_true(h2d_Bps(NULL) == 50e9);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkdir(io_temp("cache/hybrid_spmm"), 0700), 0);
    assert_true(h2d_Bps(NULL) == 50e9);
    snprintf(file, sizeof file, "cache/%s", users_file);
    store(file, fake_name, "h2d_Bps = 1e10\n");
    assert_true(h2d_Bps(NULL) == 1e10);
    assert_true(h2d_Bps("") == 50e9);
    store(file, "a device made of host-memory", "h2d_Bps = 1e10\n");
    assert_true(h2d_Bps(NULL) == 50e9);
    store(file, fake_name, "h2d_Bps = x\n");
    refuses(NULL, HYBRID_BAD_FILE, "memory.rates:4: 'h2d_Bps' is 'x'");
    assert_non_null(strstr(message, folder));
    assert_true(h2d_Bps("") == 50e9);

    /* a relative folder is ignored, and the file is searched below HOME */
    store(file, fake_name, "h2d_Bps = 1e10\n");
    setenv("XDG_CACHE_HOME", "cache", 1);
    setenv("HOME", folder, 1);
    assert_true(h2d_Bps(NULL) == 50e9);
    assert_int_equal(mkdir(io_temp("cache/.cache"), 0700), 0);
    char from[4096], to[4096];
    snprintf(from, sizeof from, "%s", io_temp("cache/hybrid_spmm"));
    snprintf(to, sizeof to, "%s", io_temp("cache/.cache/hybrid_spmm"));
    assert_int_equal(rename(from, to), 0);
    assert_true(h2d_Bps(NULL) == 1e10);
    unsetenv("XDG_CACHE_HOME");
    assert_true(h2d_Bps(NULL) == 1e10);
    unsetenv("HOME");
    assert_true(h2d_Bps(NULL) == 50e9);
    snprintf(file, sizeof file, "cache/.cache/%s", users_file);
    assert_int_equal(unlink(io_temp(file)), 0);
    assert_int_equal(rmdir(to), 0);
    assert_int_equal(rmdir(io_temp("cache/.cache")), 0);
    assert_int_equal(rmdir(folder), 0);
}

static int close_group(void **state)
{
    (void)state;
    io_remove_temp();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_speeds_replace_what_is_built_in),
        cmocka_unit_test(the_file_that_is_named_must_be_right),
        cmocka_unit_test(a_file_of_another_format_is_ignored_unless_it_is_named),
        cmocka_unit_test(the_users_file_is_taken_if_it_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, close_group);
}
