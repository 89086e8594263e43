/* tests/support/check/tiled_reader.h - checks packs of spmm.cuda.tiled. */
#ifndef TILED_READER_H
#define TILED_READER_H

#include "partition/format/pack_tiled.h"

/* Checks that stages and slices (partition/format/pack_tiled.h) contain each entry of the
   chunk's rows once and nothing else, and that rows are cut as `rules` say. `rank` has
   new column numbers, or is NULL. A failure aborts the test. */
void tiled_check(const hy_job *job, const hy_tiled_view *view, const int64_t *rank,
                 const hy_tiled_rules *rules);

#endif /* TILED_READER_H */
