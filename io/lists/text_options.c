/* io/lists/text_options.c - reads the options after the name of a text. */
#include "io/lists/text_options.h"
#include "base/data/value_type.h"

#include <stddef.h>
#include <string.h>

typedef struct word {
    const char *text;
    int64_t value;
} word;

typedef struct option {
    const char *key;
    size_t field;       /* byte offset of the option's value in hy_text_options */
    const word *words;  /* values that the option may have; NULL: a size below 2^31 */
    const char *values; /* these values in words, for messages */
    int is_for_all;     /* 1: texts that are not lists have this option, too */
} option;

#define TYPE(is, T, suffix, ...) {#suffix, is},

static const word types[]      = {HY_VALUE_TYPES(TYPE){NULL, 0}};
static const word bases[]      = {{"0", 0}, {"1", 1}, {NULL, 0}};
static const word yes_no[]     = {{"no", 0}, {"yes", 1}, {NULL, 0}};
static const word separators[] = {
    {"tab", '\t'}, {"blank", ' '}, {"comma", ','}, {"semicolon", ';'}, {NULL, 0}};

#define OF(name) offsetof(hy_text_options, name)
#define YES_NO yes_no, "yes or no"

static const option options[] = {
    {"type", OF(type), types, "f32 or f64", 1},
    {"base", OF(base), bases, "0 or 1", 0},
    {"weights", OF(weights), YES_NO, 0},
    {"header", OF(header), YES_NO, 0},
    {"separator", OF(separator), separators, "tab, blank, comma or semicolon", 0},
    {"rows", OF(rows), NULL, "a whole number below 2^31", 0},
    {"cols", OF(cols), NULL, "a whole number below 2^31", 0},
    {"square", OF(square), YES_NO, 0},
    {"symmetric", OF(symmetric), YES_NO, 0},
    {NULL, 0, NULL, NULL, 0},
};

/* Returns 1 if the `length` characters at `text` are `name`. */
static int is(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

static hybrid_status fail_key(hy_context *ctx, const char *path, const char *text,
                              size_t length, int is_list)
{
    return hy_fail(ctx, HYBRID_BAD_FILE,
                   "%s: '%.*s' is no option of this file; the options after '::' are %s",
                   path, (int)hy_smaller(length, 64), text,
                   is_list ? "type, base, weights, header, separator, rows, cols, square "
                             "and symmetric"
                           : "type alone");
}

/* Reads a size below 2^31. Returns 0 if the text is none. */
static int read_size(const char *text, size_t length, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || *out > INT32_MAX / 10)
            return 0;
        *out = 10 * *out + (text[i] - '0');
    }
    return length > 0 && *out <= INT32_MAX;
}

/* Reads the value of an option, which has `length` characters. Returns 1, or 0 if the
   option may not have this value. */
static int read_value(const option *o, const char *text, size_t length, int64_t *out)
{
    const word *w = o->words;

    if (!w)
        return read_size(text, length, out);
    while (w->text && !is(text, length, w->text))
        w++;
    *out = w->value;
    return w->text != NULL;
}

/* Reads "KEY=VALUE" in the `length` characters at `text`. */
static hybrid_status read_option(hy_context *ctx, const char *path, const char *text,
                                 size_t length, int is_list, hy_text_options *out)
{
    const char *equal = memchr(text, '=', length);
    const size_t name = equal ? (size_t)(equal - text) : length;
    const option *o   = options;
    int64_t value     = 0;

    while (o->key && !is(text, name, o->key))
        o++;
    if (!o->key || !equal || (!is_list && !o->is_for_all))
        return fail_key(ctx, path, text, length, is_list);
    if (!read_value(o, equal + 1, length - name - 1, &value))
        return hy_fail(ctx, HYBRID_BAD_FILE, "%s: the option '%.*s' must be %s=%s", path,
                       (int)hy_smaller(length, 64), text, o->key, o->values);
    memcpy((char *)out + o->field, &value, sizeof value);
    return HYBRID_OK;
}

hybrid_status hy_text_options_read(hy_context *ctx, const char *path, const char *text,
                                   int is_list, hy_text_options *out)
{
    *out = (hy_text_options){.type      = HYBRID_F64,
                             .base      = HY_GUESSED,
                             .weights   = HY_GUESSED,
                             .header    = HY_GUESSED,
                             .separator = HY_GUESSED,
                             .rows      = HY_GUESSED,
                             .cols      = HY_GUESSED,
                             .square    = HY_GUESSED};
    while (text && *text) {
        const size_t length = strcspn(text, ",");
        HY_TRY(read_option(ctx, path, text, length, is_list, out));
        text += length + (text[length] == ',');
    }
    return HYBRID_OK;
}
