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
    const char *p, *end; /* unread part of the text: [p, end) */
    hy_raw_part *parts;  /* memory for the parts of a list; NULL: they are only counted */
} parser;

typedef struct span {
    const char *at;
    size_t length;
} span;

typedef enum kind { NUMBER, WORD, NAME, ARRAY, LIST } kind;

/* Maximum number of words of a member, and maximum bytes of a key or word with its
   escapes. */
enum { MOST_WORDS = 3, MOST_BYTES = 128 };

/* A member that an object may have. */
typedef struct member {
    const char *key;
    kind kind;
    size_t field; /* byte offset of the value in the struct that is filled */
    const char *word[MOST_WORDS]; /* WORD: allowed words, stored as 1, 2 and 3 */
    const struct member *inner;   /* ARRAY: members of the inner object; LIST: members of
                                     each element, which is an object */
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

static const member part[] = {
    {.key = "file", .kind = NAME},
    {.key      = "begin",
     .kind     = NUMBER,
     .field    = offsetof(hy_raw_part, begin),
     .optional = 1},
    {.key = "end", .kind = NUMBER, .field = offsetof(hy_raw_part, end), .optional = 1},
    {.key = NULL}};

static const member rows[] = {
    {.key = "version", .kind = NUMBER, .field = OF_ALL(version)},
    {.key = "parts", .kind = LIST, .field = OF_ALL(parts), .inner = part},
    {.key = NULL}};

static const member *const forms[] = {
    [HY_RAW_DENSE] = dense, [HY_RAW_CSR] = sparse, [HY_RAW_ROWS] = rows};

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

/* Returns 1 if c is a character of `set`, which ends with a 0 that does not count. */
static int is_among(const char *set, char c)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Takes a string: *out is the text between its quotes, with its escapes. */
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
    char why[96];
    span text = {NULL, 0};

    HY_TRY(take_string(s, &text));
    for (int i = 0; i < MOST_WORDS; i++)
        if (is(&text, m->word[i])) {
            *out = i + 1;
            return HYBRID_OK;
        }
    size_t used = (size_t)snprintf(why, sizeof why, "must be \"%s\"", m->word[0]);
    for (int i = 1; i < MOST_WORDS && m->word[i]; i++)
        used += (size_t)snprintf(why + used, sizeof why - used, " or \"%s\"", m->word[i]);
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

static hybrid_status take_inner(parser *s, const member *m, void *out)
{
    if (!accept(s, '{'))
        return fail_of(s, s->p, m->key, "must be a JSON object");
    return take_object(s, m->inner, out);
}

/* Takes a list of parts (files of rows), and sets *count to their number. */
static hybrid_status take_list(parser *s, const member *m, int64_t *count)
{
    static const char form[] = "must be a JSON list of objects";

    if (!accept(s, '['))
        return fail_of(s, s->p, m->key, form);
    *count = 0;
    do {
        hy_raw_part one = {.end = -1};
        next(s);
        if (!accept(s, '{'))
            return fail_of(s, s->p, m->key, form);
        HY_TRY(take_object(s, m->inner, &one));
        if (one.end >= 0 && one.end < one.begin)
            return fail(s, s->p, "'end' is less than 'begin'");
        if (s->parts)
            s->parts[*count] = one;
        ++*count;
    } while (accept(s, ','));
    return accept(s, ']') ? HYBRID_OK
                          : fail_of(s, s->p, m->key, "is not followed by ',' or ']'");
}

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
    case LIST:
        return take_list(s, m, field);
    case ARRAY:
        break;
    }
    return take_inner(s, m, field);
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
    unsigned seen = 0; /* bit i is set once member i has been read */
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

/* Takes the begin of the description, {"format": "hybrid-...", and sets *out to the
   form. */
static hybrid_status take_format(parser *s, hy_raw_form *out)
{
    static const member format[] = {
        {.key  = "format",
         .kind = WORD,
         .word = {"hybrid-dense", "hybrid-csr", "hybrid-rows"}},
        {.key = NULL}};
    int64_t word = 0;
    int index    = 0;

    if (!accept(s, '{'))
        return fail(
            s, s->p,
            "the file has no format that is read: it begins neither as HDF5, Matrix "
            "Market, .npy, .npz, PETSc or a list of numbers nor, with '{', as JSON");
    HY_TRY(take_key(s, format, &index));
    next(s);
    HY_TRY(take_word(s, format, &word));
    *out = (hy_raw_form)word;
    return accept(s, ',') ? HYBRID_OK
                          : fail_of(s, s->p, "format", "is not followed by ','");
}

static hybrid_status take_text(parser *s, hy_raw_header *out)
{
    *out = (hy_raw_header){.ld = -1};
    HY_TRY(take_format(s, &out->form));
    HY_TRY(take_object(s, forms[out->form], out));
    next(s);
    if (s->p < s->end)
        return fail(s, s->p, "text follows the object");
    return hy_raw_check(s->ctx, s->input, s->p, out);
}

hybrid_status hy_raw_parse(hy_context *ctx, const hy_input *input, hy_raw_header *out)
{
    parser s = {ctx, input, input->text, input->text + hy_input_head(input), NULL};

    if (!input->last || hy_input_head(input) < input->bytes)
        return hy_mtx_fail(
            ctx, input, NULL,
            "is longer than 1 MiB, so that it cannot be the description of a matrix");
    return take_text(&s, out);
}

hybrid_status hy_raw_parse_parts(hy_context *ctx, const hy_input *input,
                                 hy_raw_part *parts)
{
    parser s = {ctx, input, input->text, input->text + hy_input_head(input), parts};
    hy_raw_header header;

    return take_text(&s, &header);
}
