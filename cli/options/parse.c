/* cli/options/parse.c - parses option values. */
#include "cli/options/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"

/* Parses a whole number of digits only. (strtoull() would accept blanks and signs.) *end
   points behind the digits. Returns 0 if there are no digits or the number is too
   large. */
static int parse_digits(const char *text, uint64_t *out, const char **end)
{
    char *stop;

    if (text[0] < '0' || text[0] > '9')
        return 0;
    errno = 0;
    *out  = strtoull(text, &stop, 10);
    *end  = stop;
    return errno == 0;
}

int cli_parse_seed(const char *text, uint64_t *out)
{
    const char *end;
    return parse_digits(text, out, &end) && *end == '\0';
}

int cli_parse_int(const char *text, int64_t least, int64_t most, int64_t *out)
{
    uint64_t n;

    if (!cli_parse_seed(text, &n) || n > (uint64_t)most || (int64_t)n < least)
        return 0;
    *out = (int64_t)n;
    return 1;
}

int cli_parse_ints(const char *text, int most, int room, int *out, int *count)
{
    uint64_t n;

    for (*count = 0; *count < room; text++) {
        if (!parse_digits(text, &n, &text) || n > (uint64_t)most)
            return 0;
        out[(*count)++] = (int)n;
        if (*text != ',')
            return *text == '\0';
    }
    return 0;
}

/* Returns the bytes of a unit of size: "", "B", or one of K, M, G, T, alone or followed
   by "iB" or "B". Returns 0 for any other text. */
static uint64_t unit_bytes(const char *text)
{
    static const char prefixes[] = "KMGT";
    const char *prefix           = text[0] ? strchr(prefixes, text[0]) : NULL;
    uint64_t bytes               = 1;

    if (!prefix)
        return text[0] == '\0' || strcmp(text, "B") == 0;
    const int decimal = strcmp(text + 1, "B") == 0;
    if (!decimal && text[1] != '\0' && strcmp(text + 1, "iB") != 0)
        return 0;
    for (const char *p = prefixes; p <= prefix; p++)
        bytes *= decimal ? 1000 : 1024;
    return bytes;
}

/* Returns the fraction 0.DIGITS of `unit` bytes, rounded down, where DIGITS are the
   first `count` characters of `digits`. */
static uint64_t part_of(uint64_t unit, const char *digits, size_t count)
{
    uint64_t bytes = 0;

    while (count > 0)
        bytes = (bytes + (uint64_t)(digits[--count] - '0') * unit) / 10;
    return bytes;
}

int cli_parse_size(const char *text, size_t *out)
{
    const size_t whole_digits = strspn(text, DIGITS);
    const int has_point       = text[whole_digits] == '.';
    const char *fraction      = text + whole_digits + has_point;
    const size_t digits       = has_point ? strspn(fraction, DIGITS) : 0;
    const uint64_t unit       = unit_bytes(fraction + digits);
    uint64_t whole            = 0;

    if (unit == 0 || (has_point && (digits == 0 || unit == 1)) ||
        (whole_digits > 0 && !parse_digits(text, &whole, &text)) ||
        whole > INT64_MAX / unit)
        return 0;
    *out = (size_t)(whole * unit + part_of(unit, fraction, digits));
    return *out > 0 && *out <= INT64_MAX;
}

int cli_parse_share(const char *text, double *out)
{
    if (text[0] == '\0' || text[strspn(text, DIGITS ".")] != '\0')
        return 0;
    char *stop;
    *out = strtod(text, &stop);
    return *stop == '\0' && *out >= 0 && *out <= 1;
}

int cli_parse_range(const char *text, int64_t *begin, int64_t *end)
{
    uint64_t first = 0, last = 0;

    if (text[0] != ':' && !parse_digits(text, &first, &text))
        return 0;
    if (*text++ != ':')
        return 0;
    const int to_end = !*text;
    if (!to_end && (!parse_digits(text, &last, &text) || *text))
        return 0;
    *begin = (int64_t)first;
    *end   = (int64_t)last;
    return first < INT64_MAX && last < INT64_MAX && (to_end || first < last);
}

int cli_parse_word(const char *text, const cli_word *words, int *out)
{
    for (; words->text; words++)
        if (strcmp(text, words->text) == 0) {
            *out = words->value;
            return 1;
        }
    return 0;
}
