/* io/mtx/mtx_header.c - reads the banner and the sizes of a Matrix Market file, and words
   for messages about any line. */
#include "base/data/value_type.h"
#include "io/mtx/mtx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/text/foreign.h"
#include "io/text/text_table.h"

/* ---- words ---------------------------------------------------------------------- */

hy_word hy_mtx_word(const char *p)
{
    hy_word word;
    const size_t room = sizeof word.text - 1;
    size_t n          = 0;

    for (; n < room && !hy_word_ends(p + n); n++)
        word.text[n] = p[n] > ' ' && p[n] < 127 ? p[n] : '?';
    if (n == room)
        memcpy(word.text + room - 3, "...", 3);
    word.text[n] = 0;
    return word;
}

hybrid_status hy_mtx_fail(hy_context *ctx, const hy_input *input, const char *at,
                          const char *why)
{
    int64_t line  = input->lines + 1;
    const char *p = input->text;

    if (!at)
        return hy_fail(ctx, HYBRID_BAD_FILE, "%s: %s", input->path, why);
    while (p < at && (p = memchr(p, '\n', (size_t)(at - p)))) {
        line++;
        p++;
    }
    return hy_fail(ctx, HYBRID_BAD_FILE, "%s:%lld: %s", input->path, (long long)line,
                   why);
}

/* ---- values --------------------------------------------------------------------- */

static int is_integer(const char *p, const char *end)
{
    for (p += *p == '-' || *p == '+'; p < end; p++)
        if (*p < '0' || *p > '9')
            return 0;
    return 1;
}

const char *hy_mtx_too_large(hybrid_type type)
{
    return hy_value_bits(type) == 32 ? "is too large for 32 bits"
                                     : "is too large for 64 bits";
}

int hy_mtx_overflows(const char *p, double value, hybrid_type type)
{
    const char first = p[*p == '-' || *p == '+'];

    if (!isinf(hy_value_rounded(type, value)))
        return 0;
    return first == '.' || (first >= '0' && first <= '9');
}

const char *hy_mtx_value(const char *p, hy_mtx_field field, hybrid_type type,
                         const hy_numbers *numbers, double *value, char *why)
{
    if (hy_word_ends(p)) {
        snprintf(why, HY_WHY_BYTES, "the value is missing");
        return NULL;
    }
    const char *end     = hy_parse_real(p, numbers, value);
    const char *problem = NULL;
    if (!end || !hy_word_ends(end))
        problem = "is not a number";
    else if (field == HY_MTX_INTEGER && !is_integer(p, end))
        problem = "is not an integer";
    else if (hy_mtx_overflows(p, *value, type))
        problem = hy_mtx_too_large(type);
    if (!problem)
        return end;
    snprintf(why, HY_WHY_BYTES, "value '%s' %s", hy_mtx_word(p).text, problem);
    return NULL;
}

/* ---- banner --------------------------------------------------------------------- */

typedef struct choice {
    const char *name;
    int value; /* value of the enumeration; -1: the word is known, and refused */
    const char *refused; /* reason why the word is refused */
} choice;

static const choice formats[] = {{"coordinate", 0, NULL}, {"array", 1, NULL}};
static const choice fields[]  = {
     {"real", HY_MTX_REAL, NULL},
     {"double", HY_MTX_REAL, NULL},
     {"integer", HY_MTX_INTEGER, NULL},
     {"pattern", HY_MTX_PATTERN, NULL},
     {"complex", -1, "field 'complex' is not supported: values are real"},
};
static const choice symmetries[] = {
    {"general", HY_MTX_GENERAL, NULL},
    {"symmetric", HY_MTX_SYMMETRIC, NULL},
    {"skew-symmetric", HY_MTX_SKEW, NULL},
    {"hermitian", -1, "symmetry 'hermitian' is not supported: values are real"},
};

/* Returns 1 if the word at `p` is `name`, in upper or lower case. */
static int is_word(const char *p, const char *name)
{
    const size_t length = strlen(name);
    return strncasecmp(p, name, length) == 0 && hy_word_ends(p + length);
}

static const char *next_word(const char *p)
{
    while (!hy_word_ends(p))
        p++;
    return hy_skip_blanks(p);
}

static hybrid_status choose(hy_context *ctx, const hy_input *input, const char *what,
                            const choice *choices, size_t count, const char **p,
                            int *value)
{
    char why[HY_WHY_BYTES];

    for (size_t i = 0; i < count; i++) {
        if (!is_word(*p, choices[i].name))
            continue;
        if (choices[i].value < 0)
            return hy_mtx_fail(ctx, input, input->text, choices[i].refused);
        *value = choices[i].value;
        *p     = next_word(*p);
        return HYBRID_OK;
    }
    snprintf(why, sizeof why, "%s '%s' of the banner is unknown", what,
             hy_mtx_word(*p).text);
    return hy_mtx_fail(ctx, input, input->text, why);
}

static void say_unexpected(char why[HY_WHY_BYTES], const char *p, const char *where)
{
    if (*p == '\0')
        snprintf(why, HY_WHY_BYTES, "the line holds a zero byte");
    else
        snprintf(why, HY_WHY_BYTES, "unexpected '%s' %s", hy_mtx_word(p).text, where);
}

int hy_mtx_has_banner(const hy_input *input)
{
    return is_word(input->text, "%%MatrixMarket");
}

hybrid_status hy_mtx_refuse_array(hy_context *ctx, const hy_input *input)
{
    return hy_mtx_fail(ctx, input, input->text,
                       "an array file is dense; a sparse matrix needs the format "
                       "'coordinate'");
}

static hybrid_status read_banner(hy_context *ctx, const hy_input *input,
                                 hy_mtx_header *out, const char **end)
{
    const char *p = input->text;
    char why[HY_WHY_BYTES];
    int field = 0, symmetry = 0;

    if (!hy_mtx_has_banner(input)) {
        HY_TRY(hy_foreign_refuse(ctx, input, 0));
        if (hy_is_comments(p))
            return hy_mtx_fail(ctx, input, p,
                               "no line of numbers follows within the first MiB");
        return hy_mtx_fail(ctx, input, p,
                           "the banner '%%MatrixMarket matrix ...' is missing");
    }
    p = next_word(p);
    if (!is_word(p, "matrix")) {
        snprintf(why, sizeof why, "object '%s' of the banner is not 'matrix'",
                 hy_mtx_word(p).text);
        return hy_mtx_fail(ctx, input, input->text, why);
    }
    p = next_word(p);
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
    HY_TRY(choose(ctx, input, "format", formats, COUNT(formats), &p, &out->array));
    HY_TRY(choose(ctx, input, "field", fields, COUNT(fields), &p, &field));
    HY_TRY(choose(ctx, input, "symmetry", symmetries, COUNT(symmetries), &p, &symmetry));
#undef COUNT
    out->field    = (hy_mtx_field)field;
    out->symmetry = (hy_mtx_symmetry)symmetry;
    if (*p != '\n' && p != input->text + input->bytes) {
        say_unexpected(why, p, "at the end of the banner");
        return hy_mtx_fail(ctx, input, input->text, why);
    }
    if (out->field == HY_MTX_PATTERN && (out->array || out->symmetry == HY_MTX_SKEW))
        return hy_mtx_fail(ctx, input, input->text,
                           out->array ? "an array cannot have the field 'pattern'"
                                      : "a pattern cannot be skew-symmetric");
    *end = p;
    return HYBRID_OK;
}

/* ---- sizes ---------------------------------------------------------------------- */

/* Returns the start of the next line that is neither blank nor a comment; NULL if the
   head of the file has none. `p` is at the end of a line. */
static const char *next_line(const hy_input *input, const char *p)
{
    const char *end = input->text + hy_input_head(input);

    while (p && p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        p = hy_skip_blanks(p + 1);
        if (*p != '%' && *p != '\n' && p < end)
            return p;
    }
    return NULL;
}

static hybrid_status read_size(hy_context *ctx, const hy_input *input, const char *what,
                               int64_t limit, const char **p, int64_t *size)
{
    char why[HY_WHY_BYTES];
    const char *word = *p, *end = hy_parse_int(word, size);

    if (hy_word_ends(word))
        snprintf(why, sizeof why, "the number of %s is missing", what);
    else if (!end || !hy_word_ends(end))
        snprintf(why, sizeof why, "the number of %s, '%s', is not an integer", what,
                 hy_mtx_word(word).text);
    else if (*size < 0)
        snprintf(why, sizeof why, "the number of %s is negative: %s", what,
                 hy_mtx_word(word).text);
    else if (*size > limit)
        snprintf(why, sizeof why, "the number of %s is too large: %s; the limit is %lld",
                 what, hy_mtx_word(word).text, (long long)limit);
    else {
        *p = hy_skip_blanks(end);
        return HYBRID_OK;
    }
    return hy_mtx_fail(ctx, input, word, why);
}

/* Returns the number of values that an array file stores: all, or the triangle with or
   without diagonal. */
static int64_t stored_values(const hy_mtx_header *h)
{
    switch (h->symmetry) {
    case HY_MTX_SYMMETRIC:
        return h->rows * (h->rows + 1) / 2;
    case HY_MTX_SKEW:
        return h->rows * (h->rows - 1) / 2;
    default:
        return h->rows * h->cols;
    }
}

static hybrid_status read_sizes(hy_context *ctx, const hy_input *input, const char *line,
                                hy_mtx_header *out)
{
    const char *p = line;
    char why[HY_WHY_BYTES];

    HY_TRY(read_size(ctx, input, "rows", INT32_MAX, &p, &out->rows));
    HY_TRY(read_size(ctx, input, "columns", INT32_MAX, &p, &out->cols));
    if (!out->array)
        HY_TRY(read_size(ctx, input, "entries", INT64_MAX - 1, &p, &out->count));
    if (*p != '\n' && p != input->text + input->bytes) {
        say_unexpected(why, p, "after the sizes");
        return hy_mtx_fail(ctx, input, p, why);
    }
    if (out->symmetry != HY_MTX_GENERAL && out->rows != out->cols) {
        snprintf(why, sizeof why, "a %s matrix must be square, not %lld x %lld",
                 symmetries[out->symmetry].name, (long long)out->rows,
                 (long long)out->cols);
        return hy_mtx_fail(ctx, input, line, why);
    }
    if (out->array)
        out->count = stored_values(out);
    out->body = p;
    return HYBRID_OK;
}

hybrid_status hy_mtx_read_header(hy_context *ctx, const hy_input *input,
                                 hy_mtx_header *out)
{
    const char *end = input->text + hy_input_head(input), *p = NULL;
    const int whole = input->last && input->bytes <= HY_HEAD_BYTES;
    char why[HY_WHY_BYTES];

    if (input->bytes == 0)
        return hy_mtx_fail(ctx, input, input->text, "the file is empty");
    HY_TRY(read_banner(ctx, input, out, &p));
    const char *line = next_line(input, p);
    if (!whole && !(line && memchr(line, '\n', (size_t)(end - line)))) {
        snprintf(why, sizeof why, "the sizes are not within the first %d bytes",
                 HY_HEAD_BYTES);
        return hy_mtx_fail(ctx, input, end - 1, why);
    }
    if (!line)
        return hy_mtx_fail(ctx, input, end - 1, "the file ends before the sizes");
    return read_sizes(ctx, input, line, out);
}
