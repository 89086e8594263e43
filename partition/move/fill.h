/* partition/move/fill.h - fills parts of an image of X from the source of X.

   All functions may be called by any thread. They fail only if the source fails, which a
   source in memory never does. */
#ifndef HY_FILL_H
#define HY_FILL_H

#include "base/contract/image.h"
#include "base/contract/source.h"

/* Stores elements [begin, end) of a region at dst, in the order in which the image stores
   the region (hy_region: a column block of X). Padding at the end of rows becomes 0. */
hybrid_status hy_fill(const hy_image *image, const hy_source *source,
                      const hy_region *region, int64_t begin, int64_t end, char *dst);

/* Fills rows [row, row + rows) of a region: tail columns at `tails`, all other columns at
   `lines`. */
hybrid_status hy_fill_rows(const hy_source *source, const hy_region *region, int64_t row,
                           int64_t rows, char *lines, char *tails);

/* Fills elements [begin, end) of rows [row, row + rows) of a region, stored column after
   column without gaps. */
hybrid_status hy_fill_columns(const hy_source *source, const hy_region *region,
                              int64_t row, int64_t rows, int64_t begin, int64_t end,
                              char *dst);

#endif /* HY_FILL_H */
