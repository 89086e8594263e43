/* io/text/foreign.h - files of other formats, recognised by their first bytes. */
#ifndef HY_FOREIGN_H
#define HY_FOREIGN_H

#include "io/text/io.h"

/* Fails with BAD_FILE and a sentence about what the file is and which command converts it to
   a file that holds a sparse matrix or, if `dense`, a dense one. Returns OK if the format is
   unknown. The first window of the input is looked at. */
hybrid_status hy_foreign_refuse(hy_context *ctx, const hy_input *input, int dense);

#endif /* HY_FOREIGN_H */
