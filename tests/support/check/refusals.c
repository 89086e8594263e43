/* tests/support/check/refusals.c - compares refusals with the list of docs/design.md. */
#include "support/check/refusals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 4096 };

/* Returns 1 if an item of a list in docs/design.md contains the sentence. */
static int is_documented(const char *sentence)
{
    const char *source = getenv("HYBRID_SOURCE");
    char line[MOST_LINE];
    int found = 0;

    snprintf(line, sizeof line, "%s/docs/design.md", source ? source : "..");
    FILE *file = fopen(line, "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, "- ", 2) == 0 && strstr(line, sentence) != NULL;
    if (file)
        fclose(file);
    return found;
}

const char *refusal_wrong(const hybrid_engine *engine, hybrid_status status,
                          const char *sentence)
{
    const char *said = hybrid_engine_message(engine);

    if (status == HYBRID_OK)
        return sentence ? "is on the list of what is refused, and was computed" : NULL;
    if (!sentence || !strstr(said, sentence))
        return said;
    return is_documented(sentence) ? NULL : "docs/design.md does not say that";
}
