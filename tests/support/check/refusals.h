/* tests/support/check/refusals.h - compares refusals with the list of docs/design.md. */
#ifndef REFUSALS_H
#define REFUSALS_H

#include "hybrid_spmm.h"

/* Checks a call that returned `status`. With `sentence` the engine must have refused it
   with a message that contains `sentence`, which an item of a list in docs/design.md must
   contain, too. With NULL the call must not be refused. Returns NULL or a description of
   the error. */
const char *refusal_wrong(const hybrid_engine *engine, hybrid_status status,
                          const char *sentence);

#endif /* REFUSALS_H */
