/* partition/move/fill.h - parts of an image, made from the operand's source. Any thread.

   Each fails as the source does, which is never where that lies in memory. */
#ifndef HY_FILL_H
#define HY_FILL_H

#include "base/contract/image.h"
#include "base/contract/source.h"

/* Elements [begin, end) of a region, to dst; what fills up rows is 0. */
hybrid_status hy_fill(const hy_image *image, const hy_source *source, const hy_region *region,
                      int64_t begin, int64_t end, char *dst);

/* Rows [row, row + rows) of a region: its columns but the tail columns to `lines`, and
   these to `tails`. */
hybrid_status hy_fill_rows(const hy_source *source, const hy_region *region, int64_t row,
                           int64_t rows, char *lines, char *tails);

/* Of these rows of a region, column after column without gaps, elements [begin, end). */
hybrid_status hy_fill_columns(const hy_source *source, const hy_region *region,
                              int64_t row, int64_t rows, int64_t begin, int64_t end,
                              char *dst);

/* Of an X that is not in memory, columns [col, col + cols) of the rows that `listed` names,
   which ascend, to the rows of `to` one after the other. Rows that follow each other are
   read together. */
hybrid_status hy_fill_listed(const hy_source *source, const int32_t *listed,
                             int64_t count, int64_t col, int64_t cols, const hy_grid *to);

#endif /* HY_FILL_H */
