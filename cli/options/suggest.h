/* cli/options/suggest.h - finds the word that a user probably meant. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

/* Search for a suggestion, initialised as {.typed = word}. */
typedef struct cli_suggestion {
    const char *typed; /* word that the user wrote */
    const char *best;  /* nearest candidate so far; or NULL */
    size_t changes;    /* letters to insert, delete, replace or swap to get `best` */
} cli_suggestion;

/* Makes `candidate` (borrowed) the best unless an earlier candidate is as near. */
void cli_suggest(cli_suggestion *suggestion, const char *candidate);

#endif /* CLI_SUGGEST_H */
