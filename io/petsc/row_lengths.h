/* io/petsc/row_lengths.h - row offsets of a file that holds the length of each row. */
#ifndef HY_ROW_LENGTHS_H
#define HY_ROW_LENGTHS_H

#include "base/contract/stored.h"

/* Makes *out the lengths.count + 1 offsets of 64 bits of rows whose lengths are the numbers
   of *lengths, which have 64 bits. Reads all lengths once and keeps one offset for each
   4096 rows. *out owns *lengths, also after a failure.

   BAD_MATRIX names the first row whose length is negative, or the sum of the lengths if it
   is not nnz. `name` is the name of the file, for messages; it is copied. */
hybrid_status hy_row_lengths_open(hy_context *ctx, const char *name, hy_stored *lengths,
                                  int64_t nnz, hy_stored *out);

#endif /* HY_ROW_LENGTHS_H */
