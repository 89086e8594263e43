/* tests/support/check/refusals.h - what may be refused: the list of docs/design.md. */
#ifndef REFUSALS_H
#define REFUSALS_H

#include "hybrid_spmm.h"

/* NULL, or what is wrong with a call that returned `status`, where the engine is to refuse
   it with that sentence, or, if that is NULL, not at all. The document must have it. */
const char *refusal_wrong(const hybrid_engine *engine, hybrid_status status,
                          const char *sentence);

#endif /* REFUSALS_H */
