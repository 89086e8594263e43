/* engine/rates/rates_file.c - reads the file of measured speeds. */
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
    int formatted; /* 1 once the line of the format was read */
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

/* Returns the number of a variant with this name, which is that of a regime, "prepare" or
   "start_s"; NULL if there is none. */
static double *factor_named(hy_factor_row *row, const char *name, int length)
{
    const hy_op op = hy_op_named(row->variant);

    if (length == 7 && memcmp(name, "prepare", 7) == 0)
        return &row->prepare;
    if (length == 7 && memcmp(name, "start_s", 7) == 0)
        return &row->start_s;
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
    return factor == &row->start_s ? read_number(r, 1e-9, 1, factor)
                                   : read_number(r, 1e-3, 1e3, factor);
}

/* Reads a line with a constant of SpMV in blocks: one number for each shape of blocks. */
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
    float *first = hy_block_line_named(&d->blocks, r->key, r->key_length);
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
