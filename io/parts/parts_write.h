/* io/parts/parts_write.h - writes a matrix as raw numbers in several parts. */
#ifndef HY_PARTS_WRITE_H
#define HY_PARTS_WRITE_H

#include "io/formats/file_writer.h"

/* Begins a description of the form "hybrid-rows" at `path`, and beside shape->target a
   folder of its parts, of shape->part_rows rows each: for "C.json" the folder C.rows with
   part-000000.json and so on, which hy_raw_create() writes. A folder of this name that may
   hold another matrix is left alone; the new one is then called C.1.rows.

   The folder has a file named "partial" until finish(), so that a later call replaces what
   a killed process has left. finish() brings all parts to the disk before it writes the
   description; abort() removes the folder. */
hybrid_status hy_parts_create(hy_context *ctx, const char *path,
                              const hy_file_shape *shape, hy_file_writer *out);

#endif /* HY_PARTS_WRITE_H */
