/* cli/options/suggest.c - the distance between two words: letters to insert, delete,
   replace or swap with a neighbour (optimal string alignment). */
#include "cli/options/suggest.h"

#include <string.h>

enum { LONGEST = 40 }; /* maximum number of letters of words that are compared */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the distance of two words, which must have at most LONGEST letters each. Row i
   of `rows` has the distances of the first i letters of `a` to all beginnings of `b`. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[LONGEST + 1][LONGEST + 1];
    const size_t m = strlen(a), n = strlen(b);

    for (size_t i = 0; i <= m; i++)
        for (size_t j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = i + j;
                continue;
            }
            rows[i][j] = least(rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                               least(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    return rows[m][n];
}

/* Compares the candidate with the typed word. A candidate that begins with the typed word
   has distance 1. A candidate is ignored if its distance is more than about a third of
   the typed word's letters, or if the word has a single letter. */
void cli_suggest(cli_suggestion *s, const char *candidate)
{
    const size_t typed = strlen(s->typed);

    if (typed < 2 || typed > LONGEST || strlen(candidate) > LONGEST)
        return;
    const size_t changes = strncmp(candidate, s->typed, typed) == 0
                               ? candidate[typed] != '\0'
                               : distance(s->typed, candidate);
    if (changes > (typed + 1) / 3 || (s->best && changes >= s->changes))
        return;
    s->best    = candidate;
    s->changes = changes;
}
