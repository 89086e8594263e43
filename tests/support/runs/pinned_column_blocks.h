/* tests/support/runs/pinned_column_blocks.h - plans that use column blocks if X and Y are
   pinned. */
#ifndef PINNED_COLUMN_BLOCKS_H
#define PINNED_COLUMN_BLOCKS_H

#include "hybrid_spmm.h"

/* Runs the SpMM variants of `names` on all cases, with several widths and numbers of
   column blocks, with and without HYBRID_RESIDENT. Each plan runs seven times: with X
   and Y pinned and not pinned in turns, with beta != 0, in both orders, with and without
   gaps, and with Y beginning at several places of a cache line.

   Checks results, and that the bytes sent are as predicted. Runs with pinned operands
   and beta = 0 must use column blocks if the plan offers them, and no worker may store
   Y; other runs must have X whole on the device. Prints failures and returns their
   number. Adds the number of runs with column blocks to *checked. */
int pinned_column_blocks_check(hybrid_engine *engine, const char *const *names,
                               int64_t *checked);

#endif /* PINNED_COLUMN_BLOCKS_H */
