/* tests/unit/rates/test_rates.c - files of measured rates: contents, and which file is
   used. */
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
#include "io/text/io.h"
#include "support/fake/fake_backend.h"
#include "support/engines/io_fixture.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const backends[] = {&hy_fake_backend_ops,
                                                 &hy_host_backend_ops, NULL};
static const hy_variant *const variants[]     = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                                 NULL};
static const char fake_name[]                 = "a device made of host memory";
static const char users_file[] = "hybrid_spmm/a_device_made_of_host_memory.rates";

static hy_context *ctx;

/* ---- contents ---- */

static hybrid_status parse(const char *text, hy_rates_file *file)
{
    hy_input input;

    hy_message_clear(&ctx->message);
    assert_int_equal(hy_input_copy(ctx, "file", text, strlen(text), &input), HYBRID_OK);
    const hybrid_status status =
        hy_rates_parse(ctx, "file", input.text, input.bytes, file);
    hy_input_close(ctx, &input);
    return status;
}

static void a_file_is_read_as_it_is_written_down(void **state)
{
    hy_rates_file file;

    (void)state;
    assert_int_equal(hy_rates_read(ctx, io_data("h200.rates"), &file), HYBRID_OK);
    assert_int_equal(file.count, 2);
    const hy_rates_of_device *gpu = &file.of[0], *cpu = &file.of[1];
    assert_string_equal(gpu->device, "NVIDIA H200, 132 SMs, 139.8 GiB");
    assert_string_equal(gpu->speeds.date, "2026-11-21");
    assert_true(gpu->speeds.driver == 13000 && gpu->speeds.h2d_Bps == 5.54e10);
    assert_true(gpu->speeds.d2h_Bps == 5.53e10 && gpu->speeds.both_Bps == 1e11);
    assert_true(gpu->speeds.mem_Bps == 4.22e12 && gpu->speeds.launch_s == 2.3e-6);
    assert_true(gpu->speeds.flops == 0);
    const hy_factor_table *factors = &gpu->speeds.factors;
    assert_true(factors->spmm_call == 1.2 && factors->spgemm_call == 0);
    assert_int_equal(factors->count, 2);
    assert_string_equal(factors->row[0].variant, "spmm.cuda.rows");
    assert_true(factors->row[0].compute[1] == 0.97 && factors->row[0].compute[7] == 1.1);
    assert_true(factors->row[0].compute[0] == 0 && factors->row[0].prepare == 1.5);
    assert_true(factors->row[1].compute[2] == 1.05);
    assert_true(gpu->products == 60 && gpu->threshold == 8.94);
    assert_true(gpu->paper.accuracy == 0.8 && gpu->paper.slowdown == 1.02);
    assert_true(gpu->fitted.accuracy == 0.85 && gpu->fitted.slowdown == 1.018);
    assert_true(gpu->model.accuracy == 0.9 && gpu->model.slowdown == 1.01);
    assert_true(gpu->scaled.accuracy == 0.9 && gpu->scaled.slowdown == 1.009);
    assert_string_equal(cpu->device, "Intel(R) Xeon(R) # 8480, 14 cores");
    assert_true(cpu->speeds.mem_Bps == 8e10 && cpu->speeds.flops == 5.6e11);
    assert_true(cpu->speeds.launch_s == 1.2e-5 && cpu->speeds.h2d_Bps == 0);
}

static void what_is_written_reads_back(void **state)
{
    hy_rates_file file, back;
    char path[4096];

    (void)state;
    assert_int_equal(hy_rates_read(ctx, io_data("h200.rates"), &file), HYBRID_OK);
    snprintf(path, sizeof path, "%s", io_temp("back.rates"));
    assert_int_equal(hy_rates_write(ctx, path, &file), HYBRID_OK);
    memset(&back, 0x55, sizeof back);
    assert_int_equal(hy_rates_read(ctx, path, &back), HYBRID_OK);
    assert_int_equal(back.count, file.count);
    for (int i = 0; i < file.count; i++)
        assert_memory_equal(&back.of[i], &file.of[i], sizeof file.of[i]);
    assert_int_equal(access(io_partial("back.rates"), F_OK), -1);
}

static void a_full_file_reads_back(void **state)
{
    hy_rates_file file, back;
    char path[4096];

    (void)state;
    assert_int_equal(hy_rates_read(ctx, io_data("h200.rates"), &file), HYBRID_OK);
    for (int i = 0; i < HY_RATES_DEVICES; i++) {
        file.of[i] = file.of[0];
        memset(file.of[i].device, 'a' + i, HY_DEVICE_TEXT - 1);
        file.of[i].device[HY_DEVICE_TEXT - 1] = '\0';
    }
    file.count = HY_RATES_DEVICES;
    snprintf(path, sizeof path, "%s", io_temp("full.rates"));
    assert_int_equal(hy_rates_write(ctx, path, &file), HYBRID_OK);
    assert_int_equal(hy_rates_read(ctx, path, &back), HYBRID_OK);
    assert_int_equal(back.count, HY_RATES_DEVICES);
    assert_memory_equal(back.of, file.of, sizeof file.of);
}

#define GOOD "format = 3\ndevice = d\ndate = 2026-11-21\n"

static const struct refusal {
    const char *text, *sentence;
} refusals[] = {
    {"", "file:1: the file ends before it names a device"},
    {"# nothing\n\n", "file:2: the file ends before it names a device"},
    {"format = 3\n", "file:1: the file ends before it names a device"},
    {"device = d\n", "file:1: a rates file begins with 'format = 3'"},
    {"\n# a comment\nformat = 1\nmerge_factor = 1\n",
     "file:3: the file has format 1, and this version of the library reads 3"},
    {"format = 4\n", "file:1: the file has format 4, and this version of the"},
    {"format = one\n", "file:1: 'format' is 'one', not a number"},
    {"format = 3\nmem_Bps = 1e9\n", "file:2: 'mem_Bps' comes before the first device"},
    {"format = 3\ndate = 2026-11-21\n", "file:2: 'date' comes before the first device"},
    {"format = 3\ndevice =\n", "file:2: the name of a device has 1 to 255 bytes"},
    {"format = 3\ndevice = d\n", "file:2: a device has no date"},
    {GOOD "date = 2026-11-21\n", "file:4: 'date' appears twice"},
    {"format = 3\ndevice = d\ndate = 2026-11-2\n", "file:3: a date is YYYY-MM-DD"},
    {"format = 3\ndevice = d\ndate = 21.11.2026\n", "file:3: a date is YYYY-MM-DD"},
    {GOOD "mem_Bps\n", "file:4: this is not 'key = value'"},
    {GOOD "mem_bps = 1e9\n", "file:4: there is no key 'mem_bps'"},
    {GOOD "mem_Bp = 1e9\n", "file:4: there is no key 'mem_Bp'"},
    {GOOD "= 1e9\n", "file:4: there is no key ''"},
    {GOOD "format = 1\n", "file:4: there is no key 'format'"},
    {GOOD "blocks.bcsr.f64.R32 = 1\n", "file:4: there is no key 'blocks.bcsr.f64.R32'"},
    {GOOD "mem_Bps = 1e9\n\nmem_Bps = 1e9\n", "file:6: 'mem_Bps' appears twice"},
    {GOOD "mem_Bps =\n", "file:4: 'mem_Bps' is '', not a number from 1 to 1e+21"},
    {GOOD "mem_Bps = 0\n", "file:4: 'mem_Bps' is '0', not a number"},
    {GOOD "mem_Bps = -1e9\n", "file:4: 'mem_Bps' is '-1e9', not a number"},
    {GOOD "mem_Bps = nan\n", "file:4: 'mem_Bps' is 'nan', not a number"},
    {GOOD "mem_Bps = inf\n", "file:4: 'mem_Bps' is 'inf', not a number"},
    {GOOD "mem_Bps = 1e9x\n", "file:4: 'mem_Bps' is '1e9x', not a number"},
    {GOOD "mem_Bps = 1,5e9\n", "file:4: 'mem_Bps' is '1,5e9', not a number"},
    {GOOD "mem_Bps = 1e9 2e9\n", "file:4: 'mem_Bps' is '1e9 2e9', not a number"},
    {GOOD "launch_s = 5000\n", "file:4: 'launch_s' is '5000', not a number"},
    {GOOD "spmm_call = 0\n", "file:4: 'spmm_call' is '0', not a number"},
    {GOOD "merge_factor = 1\n", "file:4: there is no key 'merge_factor'"},
    {GOOD "spmm.cuda.rows.f32.8 = 0\n",
     "file:4: 'spmm.cuda.rows.f32.8' is '0', not a number from 0.001 to 1000"},
    {GOOD "spmm.cuda.rows.f32.8 = 1\nspmm.cuda.rows.f32.8 = 1\n",
     "file:5: 'spmm.cuda.rows.f32.8' appears twice"},
    {GOOD "spmm.cuda.rows.f32.9 = 1\n", "file:4: there is no key 'spmm.cuda.rows.f32.9'"},
    {GOOD "spgemm.cuda.esc.f32.8 = 1\n",
     "file:4: there is no key 'spgemm.cuda.esc.f32.8'"},
    {GOOD "spmm.cuda.rows. = 1\n", "file:4: there is no key 'spmm.cuda.rows.'"},
    {GOOD "spmm.cuda.rows = 1\n", "file:4: there is no key 'spmm.cuda.rows'"},
    {GOOD "spmm.cuda.a_name_that_is_far_too_long_for_any_variant.f32.8 = 1\n",
     "file:4: there is no key 'spmm.cuda.a_name"},
    {GOOD "paper_accuracy = 1.5\n", "file:4: 'paper_accuracy' is '1.5', not a number"},
    {GOOD "paper_slowdown = 0.5\n", "file:4: 'paper_slowdown' is '0.5', not a number"},
    {GOOD "device = e\ndate = 2026-11-21\ndevice = d\n",
     "file:6: this device appears twice"},
    {GOOD "device = e\n", "file:4: a device has no date"},
};

static void malformed_files_are_refused_by_line(void **state)
{
    static const char advice[] = "; delete the file or calibrate again";
    hy_rates_file file;

    (void)state;
    assert_int_equal(parse(GOOD, &file), HYBRID_OK);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        assert_int_equal(parse(refusals[i].text, &file), HYBRID_BAD_FILE);
        const char *said = ctx->message.text;
        if (strncmp(said, refusals[i].sentence, strlen(refusals[i].sentence)) != 0)
            fail_msg("'%s' and not '%s'", said, refusals[i].sentence);
        assert_string_equal(said + strlen(said) - strlen(advice), advice);
    }
}

static void what_no_line_of_text_holds_is_refused(void **state)
{
    static char text[8192];
    hy_rates_file file;
    int n = snprintf(text, sizeof text, "%s", GOOD);

    (void)state;
    memset(text + n, '#', 5000);
    assert_int_equal(parse(text, &file), HYBRID_BAD_FILE);
    assert_non_null(strstr(ctx->message.text, "file:4: this is not a line of text"));
    n = snprintf(text, sizeof text, "%s# %c\n", GOOD, 0);
    hy_message_clear(&ctx->message);
    assert_int_equal(hy_rates_parse(ctx, "file", text, (size_t)n + 4, &file),
                     HYBRID_BAD_FILE);
    assert_non_null(strstr(ctx->message.text, "file:4: this is not a line of text"));
    n = snprintf(text, sizeof text, "format = 3\n");
    for (int i = 0; i < 17; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "device = %d\ndate = 2026-11-21\n", i);
    assert_int_equal(parse(text, &file), HYBRID_BAD_FILE);
    assert_non_null(strstr(ctx->message.text, "file:34: there are more than 16 devices"));
    n = snprintf(text, sizeof text, GOOD);
    for (int i = 0; i < 17; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "spmm.cuda.v%d.f32.8 = 1\n", i);
    assert_int_equal(parse(text, &file), HYBRID_BAD_FILE);
    assert_non_null(
        strstr(ctx->message.text, "file:20: there are factors of more than 16 variants"));
}

/* ---- which file is used ---- */

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

static int open_context(void **state)
{
    (void)state;
    ctx = io_open(1);
    return 0;
}

static int close_context(void **state)
{
    (void)state;
    io_close(ctx);
    io_remove_temp();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_as_it_is_written_down),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(a_full_file_reads_back),
        cmocka_unit_test(malformed_files_are_refused_by_line),
        cmocka_unit_test(what_no_line_of_text_holds_is_refused),
        cmocka_unit_test(measured_speeds_replace_what_is_built_in),
        cmocka_unit_test(the_file_that_is_named_must_be_right),
        cmocka_unit_test(a_file_of_another_format_is_ignored_unless_it_is_named),
        cmocka_unit_test(the_users_file_is_taken_if_it_is_there),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
