/* bench/program/options/bench_values.c - parses the values of options. */
#include "bench/program/options/bench_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONE = 24 }; /* bytes of one value of a list, with its end */

int bench_refuse(const char *what, const char *text)
{
    fprintf(stderr, "hybrid_spmm_bench: %s: '%s' is not understood\n", what, text);
    return -1;
}

int bench_whole(const char *what, const char *text, int64_t least, int64_t most,
                int64_t *out)
{
    char *end;

    errno                 = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        return bench_refuse(what, text);
    *out = value;
    return 0;
}

/* Copies what precedes the next comma of *list, and moves *list behind that comma.
   Returns 0 if there is no comma. */
static int next(const char **list, char one[ONE])
{
    const size_t length = strcspn(*list, ",");
    const int more      = (*list)[length] == ',';

    snprintf(one, ONE, "%.*s", (int)(length < ONE ? length : 0), *list);
    *list += length + (size_t)more;
    return more;
}

int bench_numbers(const char *what, const char *text, int64_t least, int64_t most,
                  int room, int64_t *out, int *count)
{
    char one[ONE];
    int more = 1;

    for (*count = 0; more && *count < room; ++*count) {
        more = next(&text, one);
        if (bench_whole(what, one, least, most, &out[*count]))
            return -1;
    }
    return more ? bench_refuse(what, "too many numbers") : 0;
}

int bench_count(const char *what, const char *text, int least, int *out)
{
    int64_t value;

    if (bench_whole(what, text, least, 1 << 20, &value))
        return -1;
    *out = (int)value;
    return 0;
}

int bench_bytes(const char *what, const char *text, size_t *out)
{
    static const char units[] = "KMGT";
    char *end;
    int shift = 0;

    errno                          = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    const char *unit               = *end ? strchr(units, *end) : NULL;
    if (unit) {
        shift = 10 * (int)(unit - units + 1);
        end++;
        end += strcmp(end, "iB") == 0 ? 2 : strcmp(end, "B") == 0 ? 1 : 0;
    }
    if (errno || *text < '0' || *text > '9' || *end || value > SIZE_MAX >> shift)
        return bench_refuse(what, text);
    *out = (size_t)value << shift;
    return 0;
}

int bench_sizes(const char *what, const char *text, int room, size_t *out, int *count)
{
    char one[ONE];
    int more = 1;

    for (*count = 0; more && *count < room; ++*count) {
        more = next(&text, one);
        if (bench_bytes(what, one, &out[*count]))
            return -1;
    }
    return more ? bench_refuse(what, "too many sizes") : 0;
}

int bench_word(const char *what, const char *text, const char *const *words, int *out)
{
    for (*out = 0; words[*out]; ++*out)
        if (strcmp(text, words[*out]) == 0)
            return 0;
    return bench_refuse(what, text);
}
