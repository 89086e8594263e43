/* tests/support/check/tiled_reader.h - checks packs of spmm.cuda.tiled. */
#ifndef TILED_READER_H
#define TILED_READER_H

#include "partition/format/pack_tiled.h"

/* Checks that a pack has each entry of the chunk's rows once and nothing else but
   padding, and that rows longer than rules->segment are cut into segments. `rank` has the
   new number of each column of A; NULL: unchanged. A failure aborts the test. */
void tiled_check(const hy_job *job, const hy_tiled_view *view, const int64_t *rank,
                 const hy_tiled_rules *rules);

#endif /* TILED_READER_H */
