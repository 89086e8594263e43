/* engine/rates/rates_write.c - writes the file of measured speeds. */
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/rates/factors.h"
#include "engine/rates/rates_blocks.h"
#include "engine/rates/rates_keys.h"
#include "io/text/io.h"

typedef struct printer {
    char text[HY_RATES_DEVICES * (1 << 17)];
    size_t length;
} printer;

HY_PRINTF(2, 3) static void put(printer *p, const char *format, ...)
{
    const size_t room = sizeof p->text - p->length;
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(p->text + p->length, room, format, args);
    va_end(args);
    /* the caller has made `text` large enough for all lines */
    p->length += n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/* Writes the constants of SpMV in blocks that were measured. */
static void put_blocks(printer *p, hy_block_speeds *speeds)
{
    char key[HY_BLOCK_KEY];
    int lines = 0;

    for (int i = 0; i < HY_BLOCK_LINES; i++) {
        const float *first = hy_block_line(speeds, i, key);
        if (*first <= 0)
            continue;
        if (lines++ == 0)
            put(p, "# SpMV in blocks: seconds and registers of each kernel, for blocks "
                   "of 1 x 1 to 8 x 8\n");
        put(p, "%s =", key);
        for (int k = 0; k < HY_BLOCK_SHAPES; k++)
            put(p, " %.4g", (double)first[k * HY_BLOCK_STRIDE]);
        put(p, "\n");
    }
}

static void put_factor(printer *p, const char *variant, const char *name, double factor)
{
    if (factor > 0)
        put(p, "%s.%s = %.6g\n", variant, name, factor);
}

static void put_factors(printer *p, const hy_factor_table *factors)
{
    if (factors->count > 0)
        put(p, "# measured seconds of variants over those of their models, by regime,\n"
               "# and seconds that a chunk takes in addition\n");
    for (int i = 0; i < factors->count; i++) {
        const hy_factor_row *row = &factors->row[i];
        for (int k = 0; k < HY_REGIMES; k++)
            put_factor(p, row->variant, hy_regime_name(hy_op_named(row->variant), k),
                       row->compute[k]);
        put_factor(p, row->variant, "prepare", row->prepare);
        put_factor(p, row->variant, "start_s", row->start_s);
    }
}

static void put_device(printer *p, const hy_rates_of_device *device)
{
    hy_rates_of_device d = *device;

    put(p, "\ndevice = %s\ndate = %s\n", d.device, d.speeds.date);
    for (const hy_rates_key *key = hy_rates_keys; key->name; key++) {
        const double value = *hy_rates_field(&d, key);
        if (value <= 0)
            continue;
        if (key->meaning)
            put(p, "# %s\n", key->meaning);
        put(p, "%s = %.6g\n", key->name, value);
    }
    put_blocks(p, &d.blocks);
    put_factors(p, &d.speeds.factors);
}

static void put_file(printer *p, const hy_rates_file *file)
{
    const hy_rates_of_device *d = &file->of[0];

    put(p, "# Speeds of %s", d->device);
    if (d->speeds.driver > 0)
        put(p, ", driver %d.%d", (int)d->speeds.driver / 1000,
            (int)d->speeds.driver % 1000 / 10);
    put(p,
        ",\n# measured on %s by hybrid_spmm calibrate. A line that is deleted keeps\n"
        "# what is built in.\nformat = %d\n",
        d->speeds.date, HY_RATES_FORMAT);
    for (int i = 0; i < file->count; i++)
        put_device(p, &file->of[i]);
}

hybrid_status hy_rates_write(hy_context *ctx, const char *path, const hy_rates_file *file)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    hybrid_status status;
    hy_output output;
    void *array;

    if (!c)
        return hy_fail(
            ctx, HYBRID_NO_MEMORY,
            "cannot allocate memory for the C locale; free some memory on this machine");
    HY_TRY_ELSE_DONE(hy_array(ctx, 1, sizeof(printer), "a file of rates", &array));
    printer *p              = array;
    p->length               = 0;
    const locale_t previous = uselocale(c); /* the C locale has a decimal point and never
                                               a comma */
    put_file(p, file);
    uselocale(previous);
    status = hy_output_open(ctx, path, &output);
    if (status == HYBRID_OK)
        status = hy_output_finish(ctx, &output,
                                  hy_output_write(ctx, &output, p->text, p->length));
    hy_array_free(ctx, p);
done:
    freelocale(c);
    return status;
}
