/* engine/results/facts.h - what a resumable result depends on, as lines of text.

   A run continues the panels of an earlier one only if all lines agree. An operand in a
   file is told by its size, its time of change and checksums of its beginning and of
   samples of its numbers; an operand in memory by a checksum of its arrays. */
#ifndef HY_FACTS_H
#define HY_FACTS_H

#include "engine/api/engine.h"
#include "base/contract/source.h"

enum { HY_FACTS_BYTES = 1 << 14 };

typedef struct hy_facts {
    char text[HY_FACTS_BYTES];
    size_t bytes; /* bytes of the text without its final 0 */
} hy_facts;

/* Adds a line, without '\n' at its end. */
void hy_facts_add(hy_facts *facts, const char *format, ...) HY_PRINTF(2, 3);

/* Adds the line of an operand. IO_FAILED if its file cannot be read. */
hybrid_status hy_facts_operand(hy_facts *facts, const char *name,
                               const hy_source *operand);

/* Adds the lines of options on which the bits of a result may depend. */
void hy_facts_options(hy_facts *facts, const hybrid_engine *engine,
                      const hybrid_plan_options *options);

#endif /* HY_FACTS_H */
