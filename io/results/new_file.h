/* io/results/new_file.h - a matrix file that appears under its name when it is complete
   and durable.

   The file is written as "<path>.<process>.partial" (hy_output_partial()). A previous
   file at `path` stays as it is until the new one replaces it. */
#ifndef HY_NEW_FILE_H
#define HY_NEW_FILE_H

#include "io/formats/file_format.h"

typedef struct hy_new_file {
    hy_file_writer writer; /* receives the rows */
    const char *path;      /* final path of the file; borrowed */
    char *partial;
    int lock; /* descriptor that holds a lock of `partial` (io/text/io.h); -1: none */
} hy_new_file;

/* Begins the file, in a format that can be written. BAD_ARGUMENT if `path` is a device or a
   pipe. *out is zeroed after a failure. */
hybrid_status hy_new_file_open(hy_context *ctx, const hy_file_format *format,
                               const char *path, const hy_file_shape *shape,
                               hy_new_file *out);

/* Completes the file if `status` is OK, makes it durable and gives it its name. Otherwise
   removes the partial file. Returns the first error. Accepts a zeroed struct. */
hybrid_status hy_new_file_close(hy_new_file *file, hybrid_status status);

#endif /* HY_NEW_FILE_H */
