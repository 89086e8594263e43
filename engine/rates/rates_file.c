/* engine/rates/rates_file.c - reads and writes the file of measured speeds. */
#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "engine/rates/rates.h"
#include "engine/rates/rates_blocks.h"
#include "io/text/io.h"
#include "io/text/number.h"

enum { QUOTED = 40 };

/* ---- keys of a device ------------------------------------------------------------- */

typedef struct number_key {
    const char *name;
    size_t at; /* offset in hy_rates_of_device */
    double least, most;
    const char *meaning;
} number_key;

#define AT(field) offsetof(hy_rates_of_device, field)
#define SPEED(field, meaning)                                                            \
    {                                                                                    \
#field, AT(speeds.field), 1, 1e21, meaning                                       \
    }
#define RULE(rule, meaning)                                                              \
    {#rule "_accuracy", AT(rule.accuracy), 0, 1, meaning},                               \
    {                                                                                    \
#rule "_slowdown", AT(rule.slowdown), 1, 1e9, NULL                               \
    }

static const number_key keys[] = {
    {"driver", AT(speeds.driver), 1, 1e9, "CUDA, 13000 for 13.0"},
    SPEED(h2d_Bps, "bytes a second of pinned memory to the device,"),
    SPEED(d2h_Bps, "from it,"),
    SPEED(both_Bps, "and both at once, summed"),
    SPEED(mem_Bps, "bytes a second that a copy in its own memory reads and writes"),
    SPEED(flops, "of all cores; 16 a cycle of each"),
    {"launch_s", AT(speeds.launch_s), 1e-12, 1e3,
     "seconds to start a kernel or a parallel loop"},
    {"merge_factor", AT(speeds.merge_factor), 1e-3, 1e3,
     "seconds of spmm.cuda.merge over those of its model"},
    {"products", AT(products), 1, 1e9, "timed with spmm.cuda.rows and spmm.cuda.merge"},
    {"threshold", AT(threshold), 1e-3, 1e12,
     "below so many entries a row merge is the faster, as a rule"},
    RULE(paper, "the rule with a threshold of 9.35: share of right picks, and\n"
                "# geometric mean of the time lost by the others"),
    RULE(fitted, "the rule with the threshold above"),
    RULE(model, "the cost model as built in"),
    RULE(scaled, "the cost model with the speeds above and merge_factor"),
};

enum { KEYS = (int)(sizeof keys / sizeof *keys) };

static double *field_of(hy_rates_of_device *d, const number_key *key)
{
    return (double *)(void *)((char *)d + key->at);
}

/* ---- reading ----------------------------------------------------------------------- */

typedef struct reader {
    hy_context *ctx;
    const char *name;
    int64_t line;
    hy_numbers *numbers;
    hy_rates_file *file;
    int formatted; /* 1 once the line "format = 1" was read */
    unsigned seen; /* keys seen: bit i for keys[i], bit KEYS for the date */
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
    r->formatted = 1;
    return format == HY_RATES_FORMAT
               ? HYBRID_OK
               : wrong(r, "format %g is not known, this library reads %d", format,
                       HY_RATES_FORMAT);
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
    return first_time(r, KEYS);
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
    for (int i = 0; i < KEYS; i++)
        if (is_key(r, keys[i].name)) {
            HY_TRY(first_time(r, i));
            return read_number(r, keys[i].least, keys[i].most, field_of(d, &keys[i]));
        }
    float *first = hy_block_line_named(&d->speeds.blocks, r->key, r->key_length);
    if (first)
        return read_block_line(r, first);
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

    out->count = 0;
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
    char text[HY_RATES_DEVICES * (1 << 16)];
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

static void put_device(printer *p, const hy_rates_of_device *device)
{
    hy_rates_of_device d = *device;

    put(p, "\ndevice = %s\ndate = %s\n", d.device, d.speeds.date);
    for (int i = 0; i < KEYS; i++) {
        const double value = *field_of(&d, &keys[i]);
        if (value <= 0)
            continue;
        if (keys[i].meaning)
            put(p, "# %s\n", keys[i].meaning);
        put(p, "%s = %.6g\n", keys[i].name, value);
    }
    put_blocks(p, &d.speeds.blocks);
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
