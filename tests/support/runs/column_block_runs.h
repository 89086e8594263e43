/* tests/support/runs/column_block_runs.h - SpMM with X on the device in column blocks. */
#ifndef COLUMN_BLOCK_RUNS_H
#define COLUMN_BLOCK_RUNS_H

#include "hybrid_spmm.h"

/* Checks the column blocks of a plan that was just run with Y: they must cover X, and
   none may be wider than planned. All but the first must begin at cache lines of Y if
   they can: Y is row-major, its rows and the planned blocks are whole cache lines, and
   HYBRID_DETERMINISTIC is not set. Returns NULL or a description of the error. */
const char *column_blocks_misplaced(const hybrid_plan *plan, const hybrid_dense *Y);

/* Returns the maximum of bytes that a run may send to devices: the predicted bytes and,
   with several devices, the bytes of resident A (a device may send rows that are cached
   on another) and of alignment, because devices cut chunks at other rows than
   planned. */
int64_t column_blocks_most_up(const hybrid_engine *engine, const hybrid_report *r);

/* Runs the SpMM variants of `names` on all cases, with several widths, numbers of column
   blocks and chunk sizes, with and without HYBRID_RESIDENT, with X and Y in both orders,
   and with Y beginning at several places of a cache line. Checks results, and that A and
   X are sent once. Prints failures and returns their number. Adds the number of plans to
   *checked. Variants that store X by columns must have plans without column blocks. */
int column_blocks_check(hybrid_engine *engine, const char *const *names,
                        int64_t *checked);

#endif /* COLUMN_BLOCK_RUNS_H */
