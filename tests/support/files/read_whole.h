/* tests/support/files/read_whole.h - reads all numbers of a file of any format. */
#ifndef READ_WHOLE_H
#define READ_WHOLE_H

#include "io/formats/file_format.h"

/* Stores the bytes in a file and, if `format` accepts it, opens it and reads every
   number of the matrix. Checks that arrays, sizes and entries fit the matrix's shape.
   Wrong bytes must give BAD_FILE, BAD_MATRIX or NO_MEMORY, and a sentence. Aborts the
   program otherwise.

   The memory that the context may use is twice the bytes and 64 MiB. */
void read_whole(hy_context *ctx, const hy_file_format *format, const void *data,
                size_t bytes);

#endif /* READ_WHOLE_H */
