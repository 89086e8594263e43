/* tests/unit/rates/test_rates_blocks.c - constants of SpMV in blocks in rates files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/rates/rates.h"
#include "engine/rates/rates_blocks.h"
#include "io/text/io.h"
#include "support/engines/group.h"
#include "support/engines/io_fixture.h"

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

/* Sets each constant of the model of SpMV in blocks to another number. */
static void fill_blocks(hy_block_speeds *speeds)
{
    float *all      = (float *)speeds;
    const int count = (int)(sizeof *speeds / sizeof *all);

    for (int i = 0; i < count; i++)
        all[i] = 1e-9f * (float)(i + 1);
}

static void constants_of_blocks_read_back(void **state)
{
    static hy_rates_file file, back;
    char path[4096];

    (void)state;
    assert_int_equal(hy_rates_read(ctx, io_data("h200.rates"), &file), HYBRID_OK);
    fill_blocks(&file.of[0].blocks);
    snprintf(path, sizeof path, "%s", io_temp("blocks.rates"));
    assert_int_equal(hy_rates_write(ctx, path, &file), HYBRID_OK);
    assert_int_equal(hy_rates_read(ctx, path, &back), HYBRID_OK);
    const float *was = (const float *)&file.of[0].blocks;
    const float *is  = (const float *)&back.of[0].blocks;
    for (size_t i = 0; i < sizeof(hy_block_speeds) / sizeof *is; i++)
        assert_true(is[i] > 0.9999f * was[i] && is[i] < 1.0001f * was[i]);
    assert_memory_equal(&back.of[1], &file.of[1], sizeof file.of[1]);
}

/* Parses a line of a rates file with `count` constants of blocks. Constant number
   `place` is the text `number`. The message must contain `said`; NULL: the line must be
   valid. */
static void parse_block_line(int count, int place, const char *number, const char *said)
{
    char text[2048];
    hy_rates_file file;
    int n = snprintf(text, sizeof text,
                     "format = %d\ndevice = d\ndate = 2026-11-21\n"
                     "blocks.bcsr.f64.R32.more =",
                     HY_RATES_FORMAT);

    for (int k = 0; k < count; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s",
                      k == place ? number : "1e-6");
    snprintf(text + n, sizeof text - (size_t)n, "\n");
    assert_int_equal(parse(text, &file), said ? HYBRID_BAD_FILE : HYBRID_OK);
    if (said)
        assert_non_null(strstr(ctx->message.text, said));
    else
        assert_true(file.of[0].blocks.of[1][1][63][0].more == 1e-6f);
}

static void bad_constants_of_blocks_are_refused(void **state)
{
    (void)state;
    parse_block_line(64, -1, "", NULL);
    parse_block_line(63, -1, "", "number 64 of 'blocks.bcsr.f64.R32.more'");
    parse_block_line(65, -1, "", "has more than 64 numbers");
    parse_block_line(64, 2, "-1", "number 3 of");
    parse_block_line(64, 63, "0", "number 64 of");
    parse_block_line(64, 5, "nan", "number 6 of");
}

/* The key (name in a rates file) of each constant leads back to it, and no two keys are
   equal. */
static void keys_name_their_constants(void **state)
{
    static hy_block_speeds speeds;
    char key[HY_BLOCK_KEY];

    (void)state;
    for (int line = 0; line < HY_BLOCK_LINES; line++) {
        float *first = hy_block_line(&speeds, line, key);
        assert_true(hy_block_line_named(&speeds, key, (int)strlen(key)) == first);
        assert_null(hy_block_line_named(&speeds, key, (int)strlen(key) - 1));
    }
    assert_null(hy_block_line_named(&speeds, "blocks.csr.f32.R32.first", 24));
    assert_null(hy_block_line_named(&speeds, "mem_Bps", 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_of_blocks_read_back),
        cmocka_unit_test(bad_constants_of_blocks_are_refused),
        cmocka_unit_test(keys_name_their_constants),
    };
    return cmocka_run_group_tests_name("rates_blocks", tests, open_context,
                                       close_context);
}
