/* cli/options/suggest.h - finds the word that a user probably meant. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

/* Search for the candidate nearest to a typed word, initialised as {.typed = word}. */
typedef struct cli_suggestion {
    const char *typed; /* word that the user wrote */
    const char *best;  /* nearest candidate so far; NULL: none is near enough */
    size_t changes;    /* number of letters to insert, delete, replace or swap to turn
                          `typed` into `best` */
} cli_suggestion;

/* Makes `candidate` the best if it is near enough and nearer than all earlier ones. The
   string must stay valid as long as the search. */
void cli_suggest(cli_suggestion *suggestion, const char *candidate);

#endif /* CLI_SUGGEST_H */
