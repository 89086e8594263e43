/* base/text/facts.h - what a resumable result depends on, as lines of text.

   A run continues the panels of an earlier one only if all lines agree. */
#ifndef HY_FACTS_H
#define HY_FACTS_H

#include <stddef.h>

#include "base/text/message.h"

enum { HY_FACTS_BYTES = 1 << 14 };

typedef struct hy_facts {
    char text[HY_FACTS_BYTES];
    size_t bytes; /* bytes of the text without its final 0 */
} hy_facts;

/* Adds a line, without '\n' at its end. */
void hy_facts_add(hy_facts *facts, const char *format, ...) HY_PRINTF(2, 3);

#endif /* HY_FACTS_H */
