/* io/formats/raw_header.c - parses the JSON file that describes raw numbers. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/text/json_string.h"
#include "io/mtx/mtx.h"
#include "io/formats/raw.h"

typedef struct parser {
    hy_context *ctx;
    const hy_input *input;
    const char *p, *end; /* unread text */
} parser;

typedef struct span {
    const char *at;
    size_t length;
} span;

typedef enum kind { NUMBER, WORD, NAME, ARRAY } kind;

/* Maximum number of words of a member, and maximum bytes of a key or word with its
   escapes. */
enum { MOST_WORDS = 2, MOST_BYTES = 128 };

/* A member that an object may have. */
typedef struct member {
    const char *key;
    kind kind;
    size_t field;                 /* byte offset in the struct that is filled */
    const char *word[MOST_WORDS]; /* WORD: allowed words, stored as 1 and 2 */
    const struct member *inner;   /* ARRAY: members of the inner object */
    int optional;
} member;

/* ---- members ----------------------------------------------------------------------- */

#define OF_ALL(name) offsetof(hy_raw_header, name)
#define OF_ONE(name) offsetof(hy_raw_array, name)

static const member values[] = {
    {.key = "file", .kind = NAME},
    {.key = "offset", .kind = NUMBER, .field = OF_ONE(offset), .optional = 1},
    {.key = NULL}};

static const member offsets[] = {
    {.key = "file", .kind = NAME},
    {.key = "offset", .kind = NUMBER, .field = OF_ONE(offset), .optional = 1},
    {.key = "type", .kind = WORD, .field = OF_ONE(type), .word = {"i32", "i64"}},
    {.key = NULL}};

static const member columns[] = {
    {.key = "file", .kind = NAME},
    {.key = "offset", .kind = NUMBER, .field = OF_ONE(offset), .optional = 1},
    {.key = "type", .kind = WORD, .field = OF_ONE(type), .word = {"i32"}},
    {.key = NULL}};

static const member dense[] = {
    {.key = "version", .kind = NUMBER, .field = OF_ALL(version)},
    {.key = "rows", .kind = NUMBER, .field = OF_ALL(rows)},
    {.key = "cols", .kind = NUMBER, .field = OF_ALL(cols)},
    {.key = "type", .kind = WORD, .field = OF_ALL(type), .word = {"f32", "f64"}},
    {.key = "order", .kind = WORD, .field = OF_ALL(order), .word = {"row", "col"}},
    {.key = "ld", .kind = NUMBER, .field = OF_ALL(ld), .optional = 1},
    {.key = "values", .kind = ARRAY, .field = OF_ALL(values), .inner = values},
    {.key = NULL}};

static const member sparse[] = {
    {.key = "version", .kind = NUMBER, .field = OF_ALL(version)},
    {.key = "rows", .kind = NUMBER, .field = OF_ALL(rows)},
    {.key = "cols", .kind = NUMBER, .field = OF_ALL(cols)},
    {.key = "nnz", .kind = NUMBER, .field = OF_ALL(nnz)},
    {.key = "type", .kind = WORD, .field = OF_ALL(type), .word = {"f32", "f64"}},
    {.key = "row_ptr", .kind = ARRAY, .field = OF_ALL(row_ptr), .inner = offsets},
    {.key = "col", .kind = ARRAY, .field = OF_ALL(col), .inner = columns},
    {.key = "values", .kind = ARRAY, .field = OF_ALL(values), .inner = values},
    {.key = NULL}};

/* ---- tokens ------------------------------------------------------------------------ */

static hybrid_status fail(const parser *s, const char *at, const char *why)
{
    return hy_mtx_fail(s->ctx, s->input, at, why);
}

static hybrid_status fail_of(const parser *s, const char *at, const char *key,
                             const char *what)
{
    char why[HY_WHY_BYTES];

    snprintf(why, sizeof why, "'%s' %s", key, what);
    return fail(s, at, why);
}

/* Skips blanks and returns the next character; 0 at the end of the text. */
static char next(parser *s)
{
    while (s->p < s->end &&
           (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
        s->p++;
    return s->p < s->end ? *s->p : '\0';
}

static int accept(parser *s, char c)
{
    if (next(s) != c || s->p == s->end)
        return 0;
    s->p++;
    return 1;
}

/* Returns 1 if c is a character of `set`. The 0 at the end of `set` does not count. */
static int is_among(const char *set, char c)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Takes the text between the quotes, with its escapes. */
static hybrid_status take_string(parser *s, span *out)
{
    const char *at, *why;

    if (!accept(s, '"'))
        return fail(s, s->p, "expected a string in double quotes");
    const char *begin = s->p, *end = hy_json_string_end(begin, s->end, &at, &why);
    if (!end)
        return fail(s, at, why);
    *out = (span){begin, (size_t)(end - begin)};
    s->p = end + 1;
    return HYBRID_OK;
}

static hybrid_status take_number(parser *s, const char *key, int64_t *out)
{
    const char *begin = s->p;
    int64_t value     = 0;

    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *s->p - '0', &value))
            return fail_of(s, begin, key, "is beyond 64 bits");
    if (s->p == begin || (*begin == '0' && s->p > begin + 1) ||
        (s->p < s->end && is_among(".eE", *s->p)))
        return fail_of(s, begin, key, "must be a whole number of 0 or more");
    *out = value;
    return HYBRID_OK;
}

/* Returns 1 if the text, with escapes resolved, is `word`. */
static int is(const span *text, const char *word)
{
    char decoded[MOST_BYTES];

    if (!word || text->length > sizeof decoded)
        return 0;
    const size_t length = hy_json_string_decode(text->at, text->length, decoded);
    return length == strlen(word) && memcmp(decoded, word, length) == 0;
}

/* ---- objects ----------------------------------------------------------------------- */

static hybrid_status take_word(parser *s, const member *m, int64_t *out)
{
    const char *begin = s->p;
    char why[64];
    span text = {NULL, 0};

    HY_TRY(take_string(s, &text));
    for (int i = 0; i < MOST_WORDS; i++)
        if (is(&text, m->word[i])) {
            *out = i + 1;
            return HYBRID_OK;
        }
    snprintf(why, sizeof why, "must be \"%s\"%s%s%s", m->word[0],
             m->word[1] ? " or \"" : "", m->word[1] ? m->word[1] : "",
             m->word[1] ? "\"" : "");
    return fail_of(s, begin, m->key, why);
}

static hybrid_status take_name(parser *s, hy_raw_array *array)
{
    const char *begin = s->p;
    span text         = {NULL, 0};

    HY_TRY(take_string(s, &text));
    if (text.length == 0)
        return fail(s, begin, "the name of a file is empty");
    array->name   = text.at;
    array->length = text.length;
    return HYBRID_OK;
}

static hybrid_status take_object(parser *s, const member *members, void *out);

static hybrid_status take_value(parser *s, const member *m, void *out)
{
    void *field = (char *)out + m->field;

    next(s);
    switch (m->kind) {
    case NUMBER:
        return take_number(s, m->key, field);
    case WORD:
        return take_word(s, m, field);
    case NAME:
        return take_name(s, out);
    case ARRAY:
        break;
    }
    if (!accept(s, '{'))
        return fail_of(s, s->p, m->key, "must be a JSON object");
    return take_object(s, m->inner, field);
}

static hybrid_status take_key(parser *s, const member *members, int *index)
{
    char name[32];
    span key = {NULL, 0};

    next(s);
    const char *begin = s->p;
    HY_TRY(take_string(s, &key));
    snprintf(name, sizeof name, "%.*s", (int)hy_smaller(key.length, sizeof name - 1),
             key.at);
    for (*index = 0; members[*index].key; ++*index)
        if (is(&key, members[*index].key))
            return accept(s, ':') ? HYBRID_OK
                                  : fail_of(s, s->p, name, "is not followed by ':'");
    return fail_of(s, begin, name, "is an unknown key here");
}

/* Takes the members of an object, after its '{' and possibly its first member. */
static hybrid_status take_object(parser *s, const member *members, void *out)
{
    unsigned seen = 0; /* bit i: member i was read */
    int i         = 0;

    do {
        HY_TRY(take_key(s, members, &i));
        if (seen & 1u << i)
            return fail_of(s, s->p, members[i].key, "appears twice");
        seen |= 1u << i;
        HY_TRY(take_value(s, &members[i], out));
    } while (accept(s, ','));
    if (!accept(s, '}'))
        return fail_of(s, s->p, members[i].key, "is not followed by ',' or '}'");
    for (i = 0; members[i].key; i++)
        if (!members[i].optional && !(seen & 1u << i))
            return fail_of(s, s->p, members[i].key, "is missing");
    return HYBRID_OK;
}

/* ---- the whole text ---------------------------------------------------------------- */

/* Takes {"format": "hybrid-...", */
static hybrid_status take_format(parser *s, int *is_sparse)
{
    static const member format[] = {
        {.key = "format", .kind = WORD, .word = {"hybrid-dense", "hybrid-csr"}},
        {.key = NULL}};
    int64_t word = 0;
    int index    = 0;

    if (!accept(s, '{'))
        return fail(s, s->p, "this is not a JSON object: it does not begin with '{'");
    HY_TRY(take_key(s, format, &index));
    next(s);
    HY_TRY(take_word(s, format, &word));
    *is_sparse = word == 2;
    return accept(s, ',') ? HYBRID_OK
                          : fail_of(s, s->p, "format", "is not followed by ','");
}

static int is_beyond(int64_t lines, int64_t ld, int64_t offset)
{
    int64_t bytes;

    return __builtin_mul_overflow(lines, ld, &bytes) || bytes > INT64_MAX / 16 ||
           offset > INT64_MAX / 2;
}

static hybrid_status check_dense(const parser *s, const hy_raw_header *h)
{
    const int64_t lines = h->order == HYBRID_ROW_MAJOR ? h->rows : h->cols;
    const int64_t least = h->order == HYBRID_ROW_MAJOR ? h->cols : h->rows;
    char why[96];

    if (h->ld < least) {
        snprintf(why, sizeof why,
                 "is %lld, and must be at least %lld, the length of a %s",
                 (long long)h->ld, (long long)least,
                 h->order == HYBRID_ROW_MAJOR ? "row" : "column");
        return fail_of(s, s->p, "ld", why);
    }
    return is_beyond(lines, h->ld, h->values.offset)
               ? fail(s, s->p, "the matrix takes 2^63 bytes or more")
               : HYBRID_OK;
}

static hybrid_status check_sparse(const parser *s, const hy_raw_header *h)
{
    if (h->cols > INT32_MAX)
        return fail_of(s, s->p, "cols", "must be less than 2^31");
    return h->rows == INT64_MAX || is_beyond(h->rows + 1, 1, h->row_ptr.offset) ||
                   is_beyond(h->nnz, 1, h->col.offset) ||
                   is_beyond(h->nnz, 1, h->values.offset)
               ? fail(s, s->p, "the matrix takes 2^63 bytes or more")
               : HYBRID_OK;
}

static hybrid_status check(const parser *s, hy_raw_header *h)
{
    if (h->version != 1)
        return fail_of(s, s->p, "version",
                       "must be 1, the only version that this library reads");
    if (h->ld < 0) /* "ld" is missing */
        h->ld = h->order == HYBRID_ROW_MAJOR ? h->cols : h->rows;
    return h->sparse ? check_sparse(s, h) : check_dense(s, h);
}

hybrid_status hy_raw_parse(hy_context *ctx, const hy_input *input, hy_raw_header *out)
{
    parser s = {ctx, input, input->text, input->text + hy_input_head(input)};

    if (!input->last || hy_input_head(input) < input->bytes)
        return hy_mtx_fail(
            ctx, input, NULL,
            "is longer than 1 MiB, so that it cannot be the description of a matrix");
    *out = (hy_raw_header){.ld = -1};
    HY_TRY(take_format(&s, &out->sparse));
    HY_TRY(take_object(&s, out->sparse ? sparse : dense, out));
    next(&s);
    if (s.p < s.end)
        return fail(&s, s.p, "text follows the object");
    return check(&s, out);
}
