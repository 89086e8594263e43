/* io/parts/join.h - several matrices in files, one below the other, as one matrix. */
#ifndef HY_JOIN_H
#define HY_JOIN_H

#include "partition/move/matrix_file.h"

/* Makes *out, whose context and name are set, the matrix whose rows are those of the
   `count` parts in order; count >= 1. *out owns the parts' arrays; the parts are zeroed,
   also after a failure, and their array remains the caller's.

   A single part may have any form. With several parts, BAD_FILE names the first one that
   differs from part 0 in kind, columns or type, or that is dense and not in rows without
   gaps. BAD_MATRIX names a part whose offsets do not begin with 0 or do not end with its
   number of entries. */
hybrid_status hy_matrix_files_join(hy_matrix_file *parts, int64_t count,
                                   hy_matrix_file *out);

#endif /* HY_JOIN_H */
