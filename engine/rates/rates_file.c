/* engine/rates/rates_file.c - reads and writes the file of measured speeds. */
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/rates/factors.h"
#include "engine/rates/rates_blocks.h"
#include "engine/rates/rates_keys.h"
#include "io/text/io.h"
#include "io/text/number.h"

enum { QUOTED = 40, DATE = 31 };

/* ---- reading ----------------------------------------------------------------------- */

typedef struct reader {
    hy_context *ctx;
    const char *name;
    int64_t line;
    hy_numbers *numbers;
    hy_rates_file *file;
    int formatted; /* 1 once the line "format = 1" was read */
    unsigned seen; /* keys seen: bit i for hy_rates_keys[i], bit DATE for the date */
    /* key and value of the current line, with their lengths in bytes. */
    const char *key, *value;
    int key_length, value_length;
} reader;

/* Fails with a sentence that ends with what the user can do. */
HY_PRINTF(2, 3) static hybrid_status wrong(const reader *r, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return hy_fail(r->ctx, HYBRID_BAD_FILE,
                   "%s:%lld: %s; delete the file or calibrate again", r->name,
                   (long long)r->line, text);
}

/* Returns how many of `length` bytes an error sentence quotes. */
static int quoted(int length)
{
    return length < QUOTED ? length : QUOTED;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int is_key(const reader *r, const char *name)
{
    return (size_t)r->key_length == strlen(name) &&
           memcmp(r->key, name, strlen(name)) == 0;
}

static hybrid_status read_number(const reader *r, double least, double most, double *out)
{
    const char *end = hy_parse_real(r->value, r->numbers, out);

    if (end == r->value + r->value_length && *out >= least && *out <= most)
        return HYBRID_OK;
    return wrong(r, "'%.*s' is '%.*s', not a number from %g to %g", quoted(r->key_length),
                 r->key, quoted(r->value_length), r->value, least, most);
}

static hybrid_status read_format(reader *r)
{
    double format;

    if (!is_key(r, "format"))
        return wrong(r, "a rates file begins with 'format = %d'", HY_RATES_FORMAT);
    HY_TRY(read_number(r, 1, 1e9, &format));
    r->formatted    = 1;
    r->file->format = format;
    if (format == HY_RATES_FORMAT)
        return HYBRID_OK;
    return wrong(r, "the file has format %g, and this version of the library reads %d",
                 format, HY_RATES_FORMAT);
}

static hybrid_status read_device(reader *r)
{
    hy_rates_file *file = r->file;

    if (r->value_length == 0 || r->value_length >= HY_DEVICE_TEXT)
        return wrong(r, "the name of a device has 1 to %d bytes", HY_DEVICE_TEXT - 1);
    if (file->count == HY_RATES_DEVICES)
        return wrong(r, "there are more than %d devices", HY_RATES_DEVICES);
    hy_rates_of_device *d = &file->of[file->count];
    memset(d, 0, sizeof *d);
    memcpy(d->device, r->value, (size_t)r->value_length);
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->of[i].device, d->device) == 0)
            return wrong(r, "this device appears twice");
    file->count++;
    r->seen = 0;
    return HYBRID_OK;
}

static hybrid_status first_time(reader *r, int key)
{
    if (r->seen >> key & 1)
        return wrong(r, "'%.*s' appears twice", quoted(r->key_length), r->key);
    r->seen |= 1u << key;
    return HYBRID_OK;
}

/* Reads a date such as "2026-11-21". */
static hybrid_status read_date(reader *r, char *out)
{
    static const char shape[] = "dddd-dd-dd";
    int fits                  = r->value_length == (int)sizeof shape - 1;

    for (int i = 0; fits && i < r->value_length; i++)
        fits = shape[i] == 'd' ? r->value[i] >= '0' && r->value[i] <= '9'
                               : r->value[i] == shape[i];
    if (!fits)
        return wrong(r, "a date is YYYY-MM-DD");
    memcpy(out, r->value, sizeof shape - 1);
    return first_time(r, DATE);
}

/* Splits a key such as "spmm.cuda.rows.f32.8" into the name of a variant and *end, the
   part behind it. Returns 0 if the key is no factor of a variant. */
static int is_factor(const reader *r, char variant[HY_FACTOR_NAME], const char **end)
{
    const char *at = r->key, *last = r->key + r->key_length;

    for (int points = 0; points < 3; points++) {
        at = memchr(at, '.', (size_t)(last - at));
        if (!at)
            return 0;
        at++;
    }
    if (at - 1 - r->key >= HY_FACTOR_NAME)
        return 0;
    memcpy(variant, r->key, (size_t)(at - 1 - r->key));
    variant[at - 1 - r->key] = '\0';
    *end                     = at;
    return 1;
}

/* Returns the factor of a variant with this name, which is that of a regime or "prepare";
   NULL if there is none. */
static double *factor_named(hy_factor_row *row, const char *name, int length)
{
    const hy_op op = hy_op_named(row->variant);

    if (length == 7 && memcmp(name, "prepare", 7) == 0)
        return &row->prepare;
    for (int i = 0; i < HY_REGIMES; i++) {
        const char *regime = hy_regime_name(op, i);
        if (regime && strlen(regime) == (size_t)length &&
            memcmp(regime, name, (size_t)length) == 0)
            return &row->compute[i];
    }
    return NULL;
}

static hybrid_status read_factor(reader *r, hy_rates_of_device *d, const char *variant,
                                 const char *name)
{
    hy_factor_row *row = hy_factors_of(&d->speeds.factors, variant);

    if (!row)
        return wrong(r, "there are factors of more than %d variants", HY_FACTOR_ROWS);
    double *factor = factor_named(row, name, (int)(r->key + r->key_length - name));
    if (!factor)
        return wrong(r, "there is no key '%.*s'", quoted(r->key_length), r->key);
    if (*factor > 0)
        return wrong(r, "'%.*s' appears twice", quoted(r->key_length), r->key);
    return read_number(r, 1e-3, 1e3, factor);
}

/* Reads the constants of one line for all shapes. */
static hybrid_status read_block_line(const reader *r, float *first)
{
    const char *at = r->value, *end = r->value + r->value_length;
    double number = 0;

    if (*first > 0)
        return wrong(r, "'%.*s' appears twice", quoted(r->key_length), r->key);
    for (int k = 0; k < HY_BLOCK_SHAPES; k++) {
        const char *next = hy_parse_real(at, r->numbers, &number);
        if (!next || next > end || !(number >= 1e-15 && number <= 1e3))
            return wrong(r, "number %d of '%.*s' is not from 1e-15 to 1000", k + 1,
                         quoted(r->key_length), r->key);
        first[k * HY_BLOCK_STRIDE] = (float)number;
        for (at = next; at < end && is_blank(*at); at++)
            ;
    }
    return at == end ? HYBRID_OK
                     : wrong(r, "'%.*s' has more than %d numbers", quoted(r->key_length),
                             r->key, HY_BLOCK_SHAPES);
}

static hybrid_status read_key(reader *r)
{
    char variant[HY_FACTOR_NAME];
    const char *end;

    if (!r->formatted)
        return read_format(r);
    if (is_key(r, "device"))
        return read_device(r);
    if (r->file->count == 0)
        return wrong(r, "'%.*s' comes before the first device", quoted(r->key_length),
                     r->key);
    hy_rates_of_device *d = &r->file->of[r->file->count - 1];
    if (is_key(r, "date"))
        return read_date(r, d->speeds.date);
    for (int i = 0; hy_rates_keys[i].name; i++)
        if (is_key(r, hy_rates_keys[i].name)) {
            const hy_rates_key *key = &hy_rates_keys[i];
            HY_TRY(first_time(r, i));
            return read_number(r, key->least, key->most, hy_rates_field(d, key));
        }
    float *first = hy_block_line_named(&d->speeds.blocks, r->key, r->key_length);
    if (first)
        return read_block_line(r, first);
    if (is_factor(r, variant, &end))
        return read_factor(r, d, variant, end);
    return wrong(r, "there is no key '%.*s'", quoted(r->key_length), r->key);
}

static int trimmed(const char **begin, const char *end)
{
    while (*begin < end && is_blank(**begin))
        (*begin)++;
    while (end > *begin && is_blank(end[-1]))
        end--;
    return (int)(end - *begin);
}

static hybrid_status read_line(reader *r, const char *begin, const char *end)
{
    enum { LINE_BYTES = 4096 };

    if (end - begin > LINE_BYTES || memchr(begin, '\0', (size_t)(end - begin)))
        return wrong(r, "this is not a line of text");
    const int length = trimmed(&begin, end);
    if (length == 0 || *begin == '#')
        return HYBRID_OK;
    const char *sign = memchr(begin, '=', (size_t)length);
    if (!sign)
        return wrong(r, "this is not 'key = value'");
    r->key          = begin;
    r->key_length   = trimmed(&r->key, sign);
    r->value        = sign + 1;
    r->value_length = trimmed(&r->value, begin + length);
    return read_key(r);
}

static hybrid_status read_lines(reader *r, const char *text, size_t bytes)
{
    const char *last = text + bytes;

    while (text < last) {
        const char *end = memchr(text, '\n', (size_t)(last - text));
        r->line++;
        end = end ? end : last;
        HY_TRY(read_line(r, text, end));
        text = end + 1;
    }
    r->line += bytes == 0; /* errors in an empty file name line 1 */
    if (r->file->count == 0)
        return wrong(r, "the file ends before it names a device");
    for (int i = 0; i < r->file->count; i++)
        if (!r->file->of[i].speeds.date[0])
            return wrong(r, "a device has no date");
    return HYBRID_OK;
}

hybrid_status hy_rates_parse(hy_context *ctx, const char *name, const char *text,
                             size_t bytes, hy_rates_file *out)
{
    reader r = {.ctx = ctx, .name = name, .file = out};

    out->count  = 0;
    out->format = 0;
    HY_TRY(hy_numbers_open(ctx, &r.numbers));
    const hybrid_status status = read_lines(&r, text, bytes);
    hy_numbers_close(ctx, r.numbers);
    return status;
}

hybrid_status hy_rates_read(hy_context *ctx, const char *path, hy_rates_file *out)
{
    hy_input input;

    HY_TRY(hy_input_open(ctx, path, &input));
    const hybrid_status status =
        input.last && input.bytes < HY_HEAD_BYTES
            ? hy_rates_parse(ctx, path, input.text, input.bytes, out)
            : hy_fail(ctx, HYBRID_BAD_FILE, "%s: a rates file has less than %d bytes",
                      path, HY_HEAD_BYTES);
    hy_input_close(ctx, &input);
    return status;
}

/* ---- writing --------------------------------------------------------------------- */

typedef struct printer {
    char text[HY_RATES_DEVICES * ((1 << 16) + (1 << 14))];
    size_t length;
} printer;

HY_PRINTF(2, 3) static void put(printer *p, const char *format, ...)
{
    const size_t room = sizeof p->text - p->length;
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(p->text + p->length, room, format, args);
    va_end(args);
    /* `text` has room for all lines */
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
            put(p, " %.5g", (double)first[k * HY_BLOCK_STRIDE]);
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
        put(p, "# measured seconds of variants over those of their models, by regime\n");
    for (int i = 0; i < factors->count; i++) {
        const hy_factor_row *row = &factors->row[i];
        for (int k = 0; k < HY_REGIMES; k++)
            put_factor(p, row->variant, hy_regime_name(hy_op_named(row->variant), k),
                       row->compute[k]);
        put_factor(p, row->variant, "prepare", row->prepare);
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
    put_blocks(p, &d.speeds.blocks);
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
    const locale_t previous = uselocale(c); /* decimal point, never a comma */
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
