/* cli/trace/reader.c - reads JSON text value by value. */
#include "cli/trace/reader.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output/utf8.h"

/* maximum depth of arrays and objects within each other that cli_read_any() accepts */
enum { DEEPEST = 64 };

cli_reader cli_reader_open(const char *text, size_t bytes)
{
    return (cli_reader){.text = text, .end = text + bytes, .at = text};
}

int cli_reader_fail(cli_reader *r, const char *fault)
{
    if (!r->fault)
        r->fault = fault;
    return 0;
}

void cli_reader_place(const cli_reader *r, int64_t *line, int64_t *column)
{
    const char *begin = r->text;

    *line = 1;
    for (const char *p = r->text; p < r->at; p++)
        if (*p == '\n') {
            begin = p + 1;
            ++*line;
        }
    *column = r->at - begin + 1;
}

/* ---- tokens ---------------------------------------------------------------------- */

static void skip_space(cli_reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

/* If the next character after white space is `c`, reads it and returns 1; else returns
   0. */
static int take(cli_reader *r, char c)
{
    if (r->fault)
        return 0;
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return 0;
    r->at++;
    r->last = c;
    return 1;
}

int cli_read_object(cli_reader *r)
{
    return take(r, '{') || cli_reader_fail(r, "an object is expected");
}

int cli_read_array(cli_reader *r)
{
    return take(r, '[') || cli_reader_fail(r, "an array is expected");
}

/* Moves to the next member or element of the object or array that `begin` opens and `end`
   closes. Reads the comma before it, which the first member lacks. Returns 1; 0 behind
   the last, after reading `end`, and after a fault. */
static int next(cli_reader *r, char begin, char end)
{
    const int first = r->last == begin;

    if (take(r, end))
        return 0;
    return first || take(r, ',') ||
           cli_reader_fail(r, "a comma or a closing bracket is expected");
}

int cli_read_member(cli_reader *r, cli_slice *name)
{
    if (r->fault || !next(r, '{', '}') || !cli_read_string(r, name))
        return 0;
    return take(r, ':') || cli_reader_fail(r, "a colon is expected");
}

int cli_read_element(cli_reader *r)
{
    return !r->fault && next(r, '[', ']');
}

int cli_read_end(cli_reader *r)
{
    if (r->fault)
        return 0;
    skip_space(r);
    return r->at == r->end || cli_reader_fail(r, "the end of the file is expected");
}

/* ---- strings --------------------------------------------------------------------- */

/* Returns the number of bytes of the escape sequence at `p`, which begins with a
   backslash, or 0 if JSON has no such sequence. */
static size_t escape_bytes(const char *p)
{
    if (p[1] == 'u')
        return strspn(p + 2, "0123456789abcdefABCDEF") >= 4 ? 6 : 0;
    return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
}

/* Returns the number of bytes of the character or escape sequence at `p` within a
   string, or 0 if it is not permitted there. */
static size_t character_bytes(const char *p)
{
    if (*p == '\\')
        return escape_bytes(p);
    return (unsigned char)*p < 0x20 ? 0 : (size_t)cli_utf8_length(p);
}

int cli_read_string(cli_reader *r, cli_slice *out)
{
    if (!take(r, '"'))
        return cli_reader_fail(r, "a string is expected");
    out->text = r->at;
    while (r->at < r->end && *r->at != '"') {
        const size_t bytes = character_bytes(r->at);
        if (bytes == 0 || bytes > (size_t)(r->end - r->at))
            return cli_reader_fail(r, "a character of a string is expected");
        r->at += bytes;
    }
    out->length = (size_t)(r->at - out->text);
    return take(r, '"') || cli_reader_fail(r, "the closing quote is expected");
}

int cli_slice_is(cli_slice slice, const char *text)
{
    return strlen(text) == slice.length && memcmp(slice.text, text, slice.length) == 0;
}

/* Writes the character of the escape sequence at `p` to `to` in UTF-8. Returns its
   bytes, at most 3. A zero, and each half of a character beyond U+FFFF, becomes '?'. */
static size_t unescape(const char *p, char to[3])
{
    static const char from[] = "bfnrt", controls[] = "\b\f\n\r\t";
    const char *control = strchr(from, p[1]);
    char digits[5]      = "";

    to[0] = control ? controls[control - from] : p[1];
    if (p[1] != 'u')
        return 1;
    memcpy(digits, p + 2, 4);
    const unsigned long c = strtoul(digits, NULL, 16);
    if (c == 0 || (c >= 0xd800 && c < 0xe000)) {
        to[0] = '?';
        return 1;
    }
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | c >> 12);
    to[1] = (char)(0x80 | (c >> 6 & 0x3f));
    to[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

void cli_slice_copy(cli_slice slice, char *to, size_t room)
{
    const char *p   = slice.length > 0 ? slice.text : "";
    const char *end = p + slice.length;
    char *last      = to + room - 1;

    while (p < end) {
        char character[4];
        const size_t read  = character_bytes(p);
        const size_t bytes = *p == '\\' ? unescape(p, character) : read;
        if ((size_t)(last - to) < bytes)
            break;
        memcpy(to, *p == '\\' ? character : p, bytes);
        to += bytes;
        p += read;
    }
    *to = '\0';
}

/* ---- other values ---------------------------------------------------------------- */

static const char *skip_digits(const char *p)
{
    return p + strspn(p, "0123456789");
}

/* Returns the end of the number at `p`, or NULL if there is none. */
static const char *number_end(const char *p)
{
    const char *integer = p += *p == '-';

    p = skip_digits(p);
    if (p == integer || (*integer == '0' && p > integer + 1))
        return NULL;
    if (*p == '.') {
        const char *fraction = ++p;
        if ((p = skip_digits(p)) == fraction)
            return NULL;
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        const char *exponent = p;
        if ((p = skip_digits(p)) == exponent)
            return NULL;
    }
    return p;
}

int cli_read_number(cli_reader *r, double *out)
{
    if (r->fault)
        return 0;
    skip_space(r);
    const char *end = number_end(r->at);
    if (!end)
        return cli_reader_fail(r, "a number is expected");
    *out    = strtod(r->at, NULL);
    r->at   = end;
    r->last = '0';
    return 1;
}

static int take_word(cli_reader *r, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(r->at, word, length) != 0)
        return 0;
    r->at += length;
    r->last = word[0];
    return 1;
}

static int read_any(cli_reader *r, int depth)
{
    cli_slice text;
    double number;

    skip_space(r);
    if (depth == DEEPEST)
        return cli_reader_fail(r, "a value that is nested less deeply is expected");
    if (*r->at == '"')
        return cli_read_string(r, &text);
    if (take(r, '{')) {
        while (cli_read_member(r, &text))
            read_any(r, depth + 1);
        return !r->fault;
    }
    if (take(r, '[')) {
        while (cli_read_element(r))
            read_any(r, depth + 1);
        return !r->fault;
    }
    if (take_word(r, "true") || take_word(r, "false") || take_word(r, "null"))
        return 1;
    return number_end(r->at) ? cli_read_number(r, &number)
                             : cli_reader_fail(r, "a value is expected");
}

int cli_read_any(cli_reader *r)
{
    return !r->fault && read_any(r, 0);
}
