/* base/contract/source.h - where an operand comes from: an interface.

   Who fills a device with an operand, or packs it, asks its source and never what kind it
   is: pinned, pageable, in columns, or some rows of a larger matrix are answers. Calls are
   per piece of 64 KB or more. A kind of source is a file, partition/source_*.c. */
#ifndef HY_SOURCE_H
#define HY_SOURCE_H

#include "base/contract/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows [row, row + rows) and columns [col, col + cols) of an operand. Of B the columns are
   its arrays (HY_CSR_OFFSETS, ... of image.h), and their elements rows. */
typedef struct hy_rect {
    int64_t row, rows, col, cols;
} hy_rect;

/* Where a rectangle goes to, or comes from: element (i, j) is i * row + j * col elements
   after `at`. */
typedef struct hy_grid {
    char *at;
    int64_t row, col;
} hy_grid;

typedef struct hy_source hy_source;

/* Functions may be called by any thread. */
typedef struct hy_source_ops {
    /* Write the rectangle to `to`, of whose steps one is 1. IO_FAILED, with a sentence, if
       it cannot be read; what lies in memory always can. */
    hybrid_status (*fill)(const hy_source *self, const hy_rect *rect, const hy_grid *to);

    /* Memory that a copy engine may read, in which elements [begin, end) of the operand,
       line after line in that order, follow each other; of B, elements of array `array`.
       NULL: there is none. */
    const char *(*run)(const hy_source *self, hybrid_order order, int array,
                       int64_t begin, int64_t end);

    /* (optional) The copy that a copy engine may do and that brings the rectangle to `to`,
       line after line in the source's own order. 0: there is none. */
    int (*lines)(const hy_source *self, const hy_rect *rect, char *to, hy_row_copy *copy);
} hy_source_ops;

/* A value, to be copied as long as what it is about lives. */
struct hy_source {
    const hy_source_ops *ops; /* NULL: there is no source */
    hy_context *ctx;
    hybrid_order order; /* in which X is best read: where an image has rows and the source
                           columns, a device had better transpose */
    int64_t rows, cols; /* of the operand */

    /* Views, which packers and the host's loops read; NULL is the other operand's. */
    const hybrid_csr *csr;     /* B */
    const hybrid_dense *dense; /* X; or, with `listed`, the larger matrix of which the */
    const int32_t *listed;     /* operand is some rows, which ascend. Its data are NULL if */
    const hy_source *all;      /* X is not in memory; with `listed`, the source of all rows */
};

/* Whether X, or the larger matrix, lies in memory. */
static inline int hy_has_view(const hybrid_dense *X)
{
    return X->data != NULL || X->rows == 0 || X->cols == 0;
}

#ifdef __cplusplus
}
#endif
#endif /* HY_SOURCE_H */
