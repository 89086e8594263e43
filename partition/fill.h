/* partition/fill.h - parts of an image, made from the operand's source. Any thread. */
#ifndef HY_FILL_H
#define HY_FILL_H

#include "base/image.h"
#include "base/source.h"

/* Elements [begin, end) of a region, to dst; what fills up rows is 0. */
void hy_fill(const hy_image *image, const hy_source *source, const hy_region *region,
             int64_t begin, int64_t end, char *dst);

/* Rows [row, row + rows) of a region: its columns but the tail columns to `lines`, and
   these to `tails`. */
void hy_fill_rows(const hy_source *source, const hy_region *region, int64_t row,
                  int64_t rows, char *lines, char *tails);

/* Of these rows of a region, column after column without gaps, elements [begin, end). */
void hy_fill_columns(const hy_source *source, const hy_region *region, int64_t row,
                     int64_t rows, int64_t begin, int64_t end, char *dst);

#endif /* HY_FILL_H */
