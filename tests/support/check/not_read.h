/* tests/support/check/not_read.h - what alpha == 0 and beta == 0 leave unread. */
#ifndef NOT_READ_H
#define NOT_READ_H

#include "hybrid_spmm.h"

/* Each of the named variants of SpMM, planned, resident too, and one call without a plan:
   with alpha 0, A and X in memory that cannot be read, and Y full of NaN where beta is 0;
   with alpha 2 and beta 0, Y full of NaN. Failures are printed; returns how many there
   were. *checked counts products. */
int not_read_check(hybrid_engine *engine, const char *const *variants, int64_t *checked);

#endif /* NOT_READ_H */
