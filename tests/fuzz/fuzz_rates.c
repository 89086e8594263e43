/* tests/fuzz/fuzz_rates.c - the reader of measured rates survives any bytes.

   With HYBRID_LIBFUZZER this is a target of libFuzzer (tests/fuzz/libfuzzer.sh runs it).
   Otherwise it is a program that mutates the files of tests/data in the same way on every
   run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rates/rates.h"
#include "io/text/io.h"
#include "tests/support/engines/io_fixture.h"

static hy_context *ctx;
static int good, bad;

static void check_factors(const hy_factor_row *row)
{
    io_must(ctx, strlen(row->variant) > 0 && strlen(row->variant) < sizeof row->variant,
            "no variant");
    for (int i = 0; i < HY_REGIMES; i++)
        io_must(ctx, isfinite(row->compute[i]) && row->compute[i] >= 0, "odd factor");
}

static void check(const hy_rates_file *file)
{
    io_must(ctx, file->count > 0 && file->count <= HY_RATES_DEVICES,
            "odd number of devices");
    for (int i = 0; i < file->count; i++) {
        const hy_rates_of_device *d = &file->of[i];
        io_must(ctx, strlen(d->device) > 0 && strlen(d->device) < sizeof d->device,
                "no name");
        io_must(ctx, strlen(d->speeds.date) == 10, "no date");
        io_must(ctx, isfinite(d->speeds.mem_Bps) && d->speeds.mem_Bps >= 0, "odd speed");
        const hy_factor_table *factors = &d->speeds.factors;
        io_must(ctx, factors->count >= 0 && factors->count <= HY_FACTOR_ROWS,
                "odd number of factors");
        for (int k = 0; k < factors->count; k++)
            check_factors(&factors->row[k]);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    hy_rates_file file;
    hy_input input;

    if (!ctx)
        ctx = io_open(1);
    if (hy_input_copy(ctx, "fuzz", data, bytes, &input) != HYBRID_OK) {
        hy_message_clear(&ctx->message); /* refused before the reader: the bytes begin
                                            like gzip data */
        return 0;
    }
    const hybrid_status status =
        hy_rates_parse(ctx, "fuzz", input.text, input.bytes, &file);
    if (status == HYBRID_OK) {
        check(&file);
        good++;
    } else {
        io_must(ctx, status == HYBRID_BAD_FILE, "unexpected status");
        io_must(ctx, strncmp(ctx->message.text, "fuzz:", 5) == 0, "no sentence");
        hy_message_clear(&ctx->message);
        bad++;
    }
    hy_input_close(ctx, &input);
    return 0;
}

#ifndef HYBRID_LIBFUZZER
int main(int argc, char **argv)
{
    io_mutate(".rates", argc > 1 ? atoi(argv[1]) : 4000, LLVMFuzzerTestOneInput);
    io_must(ctx, good > 0 && bad > 0, "mutations are all alike");
    io_close(ctx);
    return 0;
}
#endif
