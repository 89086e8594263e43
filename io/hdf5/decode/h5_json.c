/* io/hdf5/decode/h5_json.c - finds values in a JSON text. The text ends with a 0, which
   no value contains. */
#include "io/hdf5/decode/h5_json.h"

#include <string.h>

#include "io/text/json_string.h"

enum { MOST_LEVELS = 32 };

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* ---- passing over a value: at a fault, NULL is returned and *at is the fault ------- */

static const char *fault(const char *p, const char **at)
{
    *at = p;
    return NULL;
}

static const char *skip_string(const char *p, const char **at)
{
    const char *why;

    if (*p != '"')
        return fault(p, at);
    const char *end = hy_json_string_end(p + 1, p + 1 + strlen(p + 1), at, &why);
    return end ? end + 1 : NULL;
}

static const char *skip_digits(const char *p, const char **at)
{
    const size_t digits = strspn(p, "0123456789");

    return digits > 0 ? p + digits : fault(p, at);
}

static const char *skip_number(const char *p, const char **at)
{
    p += *p == '-';
    p = *p == '0' ? p + 1 : skip_digits(p, at);
    if (p && *p == '.')
        p = skip_digits(p + 1, at);
    if (p && (*p == 'e' || *p == 'E')) {
        p++;
        p += *p == '+' || *p == '-';
        p = skip_digits(p, at);
    }
    return p;
}

static const char *skip_word(const char *p, const char **at)
{
    static const char *const words[] = {"true", "false", "null"};

    for (int i = 0; i < 3; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0)
            return p + strlen(words[i]);
    return fault(p, at);
}

static const char *skip_value(const char *p, int levels, const char **at);

/* Passes over a key and its colon, `"key":`. */
static const char *skip_key(const char *p, const char **at)
{
    p = skip_string(skip_blanks(p), at);
    if (!p)
        return NULL;
    p = skip_blanks(p);
    return *p == ':' ? p + 1 : fault(p, at);
}

/* Passes over an object or an array, which may have `levels` further levels inside. */
static const char *skip_all(const char *p, int levels, const char **at)
{
    const int is_object = *p == '{';
    const char close    = is_object ? '}' : ']';

    if (levels == MOST_LEVELS)
        return fault(p, at);
    p = skip_blanks(p + 1);
    if (*p == close)
        return p + 1;
    for (;;) {
        if (is_object)
            p = skip_key(p, at);
        if (p)
            p = skip_value(p, levels + 1, at);
        if (!p)
            return NULL;
        p = skip_blanks(p);
        if (*p == close)
            return p + 1;
        if (*p++ != ',')
            return fault(p - 1, at);
    }
}

static const char *skip_value(const char *p, int levels, const char **at)
{
    p = skip_blanks(p);
    switch (*p) {
    case '{':
    case '[':
        return skip_all(p, levels, at);
    case '"':
        return skip_string(p, at);
    case 't':
    case 'f':
    case 'n':
        return skip_word(p, at);
    default:
        return skip_number(p, at);
    }
}

const char *hy_h5_json_fault(const char *text)
{
    const char *at = text, *p = skip_value(text, 0, &at);

    if (!p)
        return at;
    p = skip_blanks(p);
    return *p ? p : NULL;
}

/* ---- parts of a value that has no fault -------------------------------------------- */

static int is_string(const char *value, const char *wanted)
{
    char text[64];

    return hy_h5_json_text(value, text, sizeof text) && strcmp(text, wanted) == 0;
}

const char *hy_h5_json_member(const char *value, const char *key)
{
    const char *at;

    if (!value || *value != '{')
        return NULL;
    for (const char *p = skip_blanks(value + 1); *p == '"';) {
        const char *member = skip_blanks(skip_key(p, &at));
        if (is_string(p, key))
            return member;
        p = skip_blanks(skip_value(member, 0, &at));
        p = *p == ',' ? skip_blanks(p + 1) : p;
    }
    return NULL;
}

const char *hy_h5_json_element(const char *value, int i)
{
    const char *at;

    if (!value || *value != '[')
        return NULL;
    const char *p = skip_blanks(value + 1);
    for (; i > 0 && *p != ']'; i--) {
        p = skip_blanks(skip_value(p, 0, &at));
        p = *p == ',' ? skip_blanks(p + 1) : p;
    }
    return *p == ']' ? NULL : p;
}

int hy_h5_json_text(const char *value, char *to, size_t bytes)
{
    const char *at, *why;

    if (!value || *value != '"')
        return 0;
    const char *end = hy_json_string_end(value + 1, value + strlen(value), &at, &why);
    if (!end || (size_t)(end - value) > bytes)
        return 0;
    to[hy_json_string_decode(value + 1, (size_t)(end - value - 1), to)] = '\0';
    return 1;
}

int hy_h5_json_count(const char *value, int64_t *out)
{
    int64_t count = 0;

    if (!value || *value < '0' || *value > '9')
        return 0;
    for (; *value >= '0' && *value <= '9'; value++)
        if (__builtin_mul_overflow(count, 10, &count) ||
            __builtin_add_overflow(count, *value - '0', &count))
            return 0;
    *out = count;
    return *value != '.' && *value != 'e' && *value != 'E';
}

int hy_h5_json_is(const char *value, const char *word)
{
    return value && strncmp(value, word, strlen(word)) == 0;
}
