/* io/arrays/npy_header.c - reads the header of a NumPy .npy file.

   The header consists of 6 bytes of magic, the version, the length of the rest as 2
   (version 1) or 4 (version 2) bytes, little-endian, and a Python dictionary with the
   keys 'descr', 'fortran_order' and 'shape' in any order. */
#include "io/arrays/npy.h"

#include <stdio.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";

enum { MAGIC_BYTES = sizeof magic - 1, MAX_AXES = 3, SEEN_ALL = 7 };

typedef struct parser {
    hy_context *ctx;
    const hy_input *input;
    const char *p, *end; /* unread part of the dictionary: [p, end) */
    int64_t shape[MAX_AXES];
    int axes, fortran;
    hy_number_kind kind;
    int seen; /* bit i is set once key i has been read */
} parser;

int hy_npy_is(const hy_input *input)
{
    return input->bytes >= MAGIC_BYTES && memcmp(input->text, magic, MAGIC_BYTES) == 0;
}

static hybrid_status fail(const parser *s, const char *why)
{
    return hy_fail(s->ctx, HYBRID_BAD_FILE, "%s: %s", s->input->path, why);
}

/* ---- tokens of the dictionary --------------------------------------------------- */

static void skip_space(parser *s)
{
    while (s->p < s->end &&
           (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
        s->p++;
}

/* Takes `text` and returns 1 if it comes next, else returns 0. */
static int accept(parser *s, const char *text)
{
    const size_t length = strlen(text);

    skip_space(s);
    if ((size_t)(s->end - s->p) < length || memcmp(s->p, text, length) != 0)
        return 0;
    s->p += length;
    return 1;
}

static hybrid_status expect(parser *s, const char *text)
{
    char why[96];

    if (accept(s, text))
        return HYBRID_OK;
    snprintf(why, sizeof why, "the .npy header lacks '%s' at byte %lld", text,
             (long long)(s->p - s->input->text));
    return fail(s, why);
}

/* Takes a quoted string, cut to `room` bytes; "" if none comes next. */
static void take_string(parser *s, char *out, size_t room)
{
    size_t n = 0;

    skip_space(s);
    out[0] = 0;
    if (s->p == s->end || (*s->p != '\'' && *s->p != '"'))
        return;
    const char *close = memchr(s->p + 1, *s->p, (size_t)(s->end - s->p - 1));
    if (!close)
        return;
    for (const char *c = s->p + 1; c < close && n + 1 < room; c++)
        out[n++] = *c >= ' ' && *c < 127 ? *c : '?';
    out[n] = 0;
    s->p   = close + 1;
}

/* ---- the three values ----------------------------------------------------------- */

static hybrid_status take_descr(parser *s)
{
    char name[32], why[128];

    take_string(s, name, sizeof name);
    if (hy_kind_of_descr(name, &s->kind))
        return HYBRID_OK;
    snprintf(why, sizeof why,
             "dtype '%s' is not supported, only real numbers, integers and truth values "
             "of at most 64 bits are",
             name);
    return fail(s, why);
}

static hybrid_status take_order(parser *s)
{
    s->fortran = accept(s, "True");
    if (!s->fortran && !accept(s, "False"))
        return fail(s, "fortran_order is neither True nor False");
    return HYBRID_OK;
}

static hybrid_status take_size(parser *s, int64_t *size)
{
    int digits = 0;

    skip_space(s);
    *size = 0;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++, digits++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, *s->p - '0', size))
            return fail(s, "the shape is too large");
    return digits > 0 ? HYBRID_OK : fail(s, "the shape is not a tuple of sizes");
}

static hybrid_status take_shape(parser *s)
{
    HY_TRY(expect(s, "("));
    s->axes = 0;
    while (!accept(s, ")")) {
        if (s->axes == MAX_AXES)
            return fail(s, "the array has more than 2 axes, and a matrix has 1 or 2");
        HY_TRY(take_size(s, &s->shape[s->axes++]));
        if (!accept(s, ",")) {
            HY_TRY(expect(s, ")"));
            break;
        }
    }
    if (s->axes < 1 || s->axes > 2)
        return fail(s, s->axes ? "the array has more than 2 axes, and a matrix has 1 or 2"
                               : "the array has no axes");
    return HYBRID_OK;
}

static hybrid_status take_item(parser *s)
{
    static const struct {
        const char *key;
        hybrid_status (*take)(parser *s);
    } items[] = {
        {"descr", take_descr}, {"fortran_order", take_order}, {"shape", take_shape}};
    char key[32], why[96];

    take_string(s, key, sizeof key);
    for (int i = 0; i < 3; i++) {
        if (strcmp(key, items[i].key) != 0 || (s->seen & 1 << i))
            continue;
        s->seen |= 1 << i;
        HY_TRY(expect(s, ":"));
        return items[i].take(s);
    }
    snprintf(why, sizeof why, "the .npy header has an unexpected key '%s'", key);
    return fail(s, why);
}

static hybrid_status take_dictionary(parser *s)
{
    HY_TRY(expect(s, "{"));
    while (!accept(s, "}")) {
        HY_TRY(take_item(s));
        if (!accept(s, ",")) {
            HY_TRY(expect(s, "}"));
            break;
        }
    }
    if (s->seen != SEEN_ALL)
        return fail(s, "the .npy header lacks descr, fortran_order or shape");
    skip_space(s);
    return s->p == s->end ? HYBRID_OK
                          : fail(s, "text follows the dictionary of the .npy header");
}

/* ---- the whole header ----------------------------------------------------------- */

/* Points the parser at the dictionary. */
static hybrid_status find_dictionary(parser *s)
{
    const unsigned char *p = (const unsigned char *)s->input->text;
    const size_t bytes     = hy_input_head(s->input);
    char why[128];

    if (bytes < MAGIC_BYTES + 4)
        return fail(s, "the .npy header is truncated");
    const int major = p[MAGIC_BYTES], minor = p[MAGIC_BYTES + 1];
    const size_t at = MAGIC_BYTES + (major == 1 ? 4 : 6);
    if (major < 1 || major > 2 || minor != 0) {
        snprintf(why, sizeof why,
                 ".npy version %d.%d is not supported, only 1.0 and 2.0 are", major,
                 minor);
        return fail(s, why);
    }
    if (bytes < at)
        return fail(s, "the .npy header is truncated");
    size_t length = p[8] | (size_t)p[9] << 8;
    if (major == 2)
        length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (length > bytes - at) {
        snprintf(why, sizeof why,
                 "the .npy header of %zu bytes does not end within the first %zu bytes "
                 "of the file",
                 length, bytes);
        return fail(s, why);
    }
    s->p   = s->input->text + at;
    s->end = s->p + length;
    return HYBRID_OK;
}

hybrid_status hy_npy_read_header(hy_context *ctx, const hy_input *input,
                                 hy_npy_header *out)
{
    parser s = {.ctx = ctx, .input = input};
    int64_t count;

    HY_TRY(find_dictionary(&s));
    HY_TRY(take_dictionary(&s));
    *out = (hy_npy_header){.kind  = s.kind,
                           .order = s.fortran ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR,
                           .axes  = s.axes,
                           .rows  = s.shape[0],
                           .cols  = s.axes == 2 ? s.shape[1] : 1,
                           .data  = s.end};
    if (__builtin_mul_overflow(out->rows, out->cols, &count) ||
        __builtin_mul_overflow(count, (int64_t)s.kind.size, &out->bytes))
        return fail(&s, "the shape is too large");
    return hy_npy_check_bytes(ctx, input, out, input->text + input->bytes - s.end);
}

hybrid_status hy_npy_check_bytes(hy_context *ctx, const hy_input *input,
                                 const hy_npy_header *header, int64_t found)
{
    if (found == header->bytes || (found < header->bytes && !input->last))
        return HYBRID_OK;
    return hy_fail(ctx, HYBRID_BAD_FILE,
                   "%s: %s%lld bytes of data where the shape needs %lld", input->path,
                   input->last ? "" : "at least ", (long long)found,
                   (long long)header->bytes);
}
