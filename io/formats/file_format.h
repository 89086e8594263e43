/* io/formats/file_format.h - formats of files in which the numbers of a matrix stay.

   A format is a constant table of functions in a file of its own, io/formats/format_*.c.
   To add a format, write the file and add its table to file_formats.c. */
#ifndef HY_FILE_FORMAT_H
#define HY_FILE_FORMAT_H

#include "io/text/io.h"
#include "partition/move/matrix_file.h"

typedef struct hy_file_format {
    /* (optional) Returns 1 if a file that begins with the input's first window has this
       format. NULL: the format accepts every file. Pure. */
    int (*is)(const hy_input *input);

    /* Opens the matrix: sets `sparse`, the shape and the arrays of *out. Its context and
       its name are set before. After a failure the caller closes what has been opened.
       The input is valid during the call only. */
    hybrid_status (*open)(hy_context *ctx, const hy_input *input, hy_matrix_file *out);
} hy_file_format;

extern const hy_file_format hy_format_raw;

/* The formats of the library; NULL ends the table. A file has the first format that
   accepts it. The last format accepts every file. */
extern const hy_file_format *const hy_file_formats[];

/* Opens the matrix in the file at `path`. *out is zeroed after a failure. */
hybrid_status hy_matrix_file_open(hy_context *ctx, const hy_file_format *const *formats,
                                  const char *path, hy_matrix_file *out);
void hy_matrix_file_close(hy_matrix_file *file); /* accepts a zeroed struct */

/* Reads a whole sparse matrix and checks all rules of hybrid_csr. Free it with
   hy_csr_free(). BAD_FILE if the matrix is dense. */
hybrid_status hy_matrix_file_read(hy_context *ctx, const hy_file_format *const *formats,
                                  const char *path, hybrid_csr *out);

#endif /* HY_FILE_FORMAT_H */
