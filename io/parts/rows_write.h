/* io/parts/rows_write.h - writes a description of a matrix whose rows are in several
   files. */
#ifndef HY_ROWS_WRITE_H
#define HY_ROWS_WRITE_H

#include "base/contract/context.h"

/* Rows [begin, end) of the matrix in a file; end is -1 for all rows from `begin` on. */
typedef struct hy_rows_part {
    const char *file; /* absolute, or relative to the folder of the description; may end
                         in "::MEMBER" */
    int64_t begin, end;
} hy_rows_part;

/* Writes the JSON file `path`, from which hy_matrix_file_open() opens the matrix whose
   rows are those of the parts in order. The parts are complete files of any format, with
   the same number of columns and the same type (io/parts/join.h). count >= 1. IO_FAILED as
   in hy_byte_file_put(); a failed file remains, and the caller removes it. */
hybrid_status hy_rows_write(hy_context *ctx, const char *path, const hy_rows_part *parts,
                            int64_t count);

#endif /* HY_ROWS_WRITE_H */
