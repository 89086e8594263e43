/* io/mtx/mtx_append.h - a Matrix Market coordinate file that is written row by row. */
#ifndef HY_MTX_APPEND_H
#define HY_MTX_APPEND_H

#include "io/formats/file_writer.h"

/* The function `create` of the format (io/formats/file_format.h). If the number of entries
   is not known, the line of sizes is written last, and blanks follow the number. */
hybrid_status hy_mtx_create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out);

#endif /* HY_MTX_APPEND_H */
