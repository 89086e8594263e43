/* tests/support/files/listed_format.h - two formats of this test suite that write every
   entry as a line of text.

   "NAME.rows" begins with the shape, "NAME.count" with the shape and the number of
   entries, which it needs before the first row. A write can be made to fail. */
#ifndef LISTED_FORMAT_H
#define LISTED_FORMAT_H

#include "io/formats/file_format.h"

/* The two formats, then .npy files and raw files; NULL ends the table. */
extern const hy_file_format *const listed_formats[];

/* Number of calls that append rows to these two formats and succeed before one fails with
   IO_FAILED; -1: none fails. */
extern int64_t listed_writes_left;

/* Returns the text that the formats write for the matrix: "NAME.rows" or, if with_count
   is 1, "NAME.count". The caller frees it with free(). */
char *listed_text(const hybrid_csr *C, int with_count);

#endif /* LISTED_FORMAT_H */
