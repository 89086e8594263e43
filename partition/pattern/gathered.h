/* partition/pattern/gathered.h - cuts rows of A whose chunks bring the rows of B or X
   that they touch. */
#ifndef HY_GATHERED_H
#define HY_GATHERED_H

#include "partition/pattern/cut.h"

/* Cuts all rows of cut->profile into chunks of the first `width` columns, in parallel.
   The caller frees the array, also after a failure. */
hybrid_status hy_cut_gathered(hy_context *ctx, const hy_cut *cut, int64_t width,
                              hy_chunk_array *out);

#endif /* HY_GATHERED_H */
