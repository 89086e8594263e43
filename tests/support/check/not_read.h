/* tests/support/check/not_read.h - operands that must not be read if alpha or beta is
   0. */
#ifndef NOT_READ_H
#define NOT_READ_H

#include "hybrid_spmm.h"

/* Runs each SpMM variant of `variants` with a plan, with and without HYBRID_RESIDENT, and
   a one-shot call. With alpha 0, A and X are in unreadable memory. With beta 0, Y is full
   of NaN. Prints failures and returns their number; adds the number of products
   to *checked. */
int not_read_check(hybrid_engine *engine, const char *const *variants, int64_t *checked);

#endif /* NOT_READ_H */
