/* io/text/foreign.h - recognises files of other formats by their first bytes. */
#ifndef HY_FOREIGN_H
#define HY_FOREIGN_H

#include "io/text/io.h"

/* Fails with BAD_FILE and a sentence that names the format and a command. The command
   makes a sparse or, if `dense`, a dense matrix of the file; for some formats it only
   unpacks, renames or shows the file. Returns OK if the format is unknown. Only the first
   window of the input is examined. */
hybrid_status hy_foreign_refuse(hy_context *ctx, const hy_input *input, int dense);

#endif /* HY_FOREIGN_H */
