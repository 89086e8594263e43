/* io/formats/raw_write.h - writes a matrix as raw numbers in files that a JSON file
   describes. */
#ifndef HY_RAW_WRITE_H
#define HY_RAW_WRITE_H

#include "io/formats/file_writer.h"

/* Begins a description at `path` and the files of its numbers beside shape->target: for
   "C.json", a sparse matrix has the files C.index.bin (offsets, then columns) and
   C.values.bin, and a dense one has C.values.bin. If a file at shape->target names these
   files, the new ones are called C.1.index.bin and C.1.values.bin, so that the old matrix
   is whole until the description replaces the old one.

   The number of entries need not be known. Offsets have 64 bits. finish() brings the
   numbers to the disk before it writes the description; abort() removes them. */
hybrid_status hy_raw_create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out);
int64_t hy_raw_bytes(const hy_file_shape *shape); /* see hy_file_format.bytes */

#endif /* HY_RAW_WRITE_H */
