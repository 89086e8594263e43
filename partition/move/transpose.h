/* partition/move/transpose.h - columns of a dense matrix as rows, and rows as columns. */
#ifndef HY_TRANSPOSE_H
#define HY_TRANSPOSE_H

#include "base/contract/source.h"

/* to[i * to_ld + j] = from[j * from_ld + i] for i < lines, j < length, of elements of 4 or 8
   bytes, which may lie anywhere. Strides in elements. */
void hy_transpose(const char *from, int64_t from_ld, int64_t lines, int64_t length, size_t size,
             char *to, int64_t to_ld);

/* Element (i, j) of `to` = element (rows[i], j) of `from`, for i < count, j < cols. rows[]
   ascends. */
void hy_copy_listed(const hy_grid *to, const hy_grid *from, const int32_t *rows,
                    int64_t count, int64_t cols, size_t size);

#endif /* HY_TRANSPOSE_H */
