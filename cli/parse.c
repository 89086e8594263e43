/* cli/parse.c - values of options. */
#include "cli/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Digits alone: strtoull() would take blanks and signs too. */
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

int cli_parse_size(const char *text, size_t *out)
{
    static const char units[] = "KMGT";
    const char *end;
    uint64_t n;
    int shift = 0;

    if (!parse_digits(text, &n, &end))
        return 0;
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        shift = 10 * (int)(unit - units + 1);
        end += strcmp(end + 1, "iB") == 0 ? 3 : 1;
    } else if (strcmp(end, "B") == 0) {
        end++;
    }
    if (*end != '\0' || n == 0 || n > (uint64_t)INT64_MAX >> shift)
        return 0;
    *out = (size_t)n << shift;
    return 1;
}

int cli_parse_share(const char *text, double *out)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789.")] != '\0')
        return 0;
    char *stop;
    *out = strtod(text, &stop);
    return *stop == '\0' && *out >= 0 && *out <= 1;
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
