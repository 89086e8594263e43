/* tests/support/check/tiled_reader.h - packs of spmm.cuda.tiled, taken apart again. */
#ifndef TILED_READER_H
#define TILED_READER_H

#include "partition/format/pack_tiled.h"

/* Stages and slices hold the chunk's rows of A, each entry once, and nothing else; rows are
   cut as `rules` say. rank: new numbers of columns, or NULL. Failures abort the test. */
void tiled_check(const hy_job *job, const hy_tiled_view *view, const int64_t *rank,
                 const hy_tiled_rules *rules);

#endif /* TILED_READER_H */
