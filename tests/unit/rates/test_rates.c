/* tests/unit/rates/test_rates.c - contents of files of measured rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/rates/rates.h"
#include "io/text/io.h"
#include "support/engines/io_fixture.h"

static hy_context *ctx;

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
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
