/* io/text/json_string.c - checks and resolves escapes in JSON strings. */
#include "io/text/json_string.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { UNIT_BYTES = 4 }; /* number of hexadecimal digits of \uXXXX */

/* Characters that may follow a backslash, except u, and the characters that they stand
   for. */
static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the value of the four hexadecimal digits at `p`; -1 if they are not digits. */
static int32_t read_unit(const char *p, const char *end)
{
    int32_t unit = 0;

    if (end - p < UNIT_BYTES)
        return -1;
    for (int i = 0; i < UNIT_BYTES; i++) {
        const int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* Reads the character of a \uXXXX, or of a pair of these. `p` points to the digits of the
   first, and is moved behind the character. Returns -1 if there is none. */
static int32_t read_character(const char **p, const char *end)
{
    const int32_t first = read_unit(*p, end);

    if (first <= 0 || (first >= 0xdc00 && first <= 0xdfff))
        return -1;
    *p += UNIT_BYTES;
    if (first < 0xd800 || first > 0xdbff)
        return first;
    if (end - *p < 2 || (*p)[0] != '\\' || (*p)[1] != 'u')
        return -1;
    const int32_t second = read_unit(*p + 2, end);
    if (second < 0xdc00 || second > 0xdfff)
        return -1;
    *p += 2 + UNIT_BYTES;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

static char *put_utf8(char *to, int32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    /* number of bytes of the character in UTF-8, less one */
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++          = (char)(0xf0 << (3 - more) | c >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        *to++ = (char)(0x80 | (c >> 6 * i & 0x3f));
    return to;
}

/* Returns 1 if an escape is at *p, behind its backslash, and moves *p behind it. A text
   that ends at *p also gives 1. */
static int skip_escape(const char **p, const char *end)
{
    if (*p == end)
        return 1;
    const char kind = *(*p)++;
    if (kind == 'u')
        return read_character(p, end) > 0;
    return kind != '\0' && strchr(escapes, kind) != NULL;
}

const char *hy_json_string_end(const char *p, const char *end, const char **at,
                               const char **why)
{
    const char *begin = p;

    while (p < end && *p != '"') {
        *at = p;
        if ((unsigned char)*p < ' ') {
            *why = "a string holds a control character";
            return NULL;
        }
        if (*p++ == '\\' && !skip_escape(&p, end)) {
            *why = "a string holds an escape that JSON does not have";
            return NULL;
        }
    }
    if (p < end)
        return p;
    *at  = begin;
    *why = "a string has no end";
    return NULL;
}

size_t hy_json_string_decode(const char *text, size_t length, char *to)
{
    const char *p = text, *end = text + length;
    char *start = to;

    while (p < end) {
        if (*p != '\\') {
            *to++ = *p++;
        } else if (p[1] == 'u') {
            p += 2;
            to = put_utf8(to, read_character(&p, end));
        } else {
            *to++ = meanings[strchr(escapes, p[1]) - escapes];
            p += 2;
        }
    }
    return (size_t)(to - start);
}

size_t hy_json_string_encode(char character, char *to)
{
    if (character == '"' || character == '\\')
        return (size_t)snprintf(to, 7, "\\%c", character);
    if ((unsigned char)character < ' ')
        return (size_t)snprintf(to, 7, "\\u%04x", (unsigned)character);
    to[0] = character;
    return 1;
}
