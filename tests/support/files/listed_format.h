/* tests/support/files/listed_format.h - two formats of this test suite that write every
   entry as a line of text.

   "NAME.rows" begins with the shape, "NAME.count" with the shape and the number of
   entries, which it needs before the first row. A write can be made to fail. */
#ifndef LISTED_FORMAT_H
#define LISTED_FORMAT_H

#include "io/formats/file_format.h"

/* The two formats, then those of the library; NULL ends the table. */
extern const hy_file_format *const listed_formats[];

/* Number of calls of the writers' functions sparse() and dense() that succeed before one
   fails with IO_FAILED; -1: none fails. */
extern int64_t listed_writes_left;

/* Returns the text that the formats write for the matrix, to be freed with free(). */
char *listed_text(const hybrid_csr *C, int with_count);

#endif /* LISTED_FORMAT_H */
