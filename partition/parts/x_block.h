/* partition/parts/x_block.h - row blocks of an X in a file, for the host, which computes
   in place.

   The rows of X that A touches, in small groups (granules), are read in ascending order,
   block by block. Y is the sum of the products of all blocks with the entries of A that
   refer to their rows. So each row of X is read at most once, however many columns X has,
   and the file is read from its beginning to its end. A thread reads the next block while
   one is multiplied. */
#ifndef HY_X_BLOCK_H
#define HY_X_BLOCK_H

#include "base/contract/source.h"
#include "base/threads/background.h"

/* Rows of X that were read, or are being read. */
typedef struct hy_x_block_rows {
    hybrid_dense X;
    int64_t begin, end; /* granules [begin, end); `X` consists of those of them that A
                           touches */
    hy_reused own;      /* memory of `X` */
} hy_x_block_rows;

typedef struct hy_x_block {
    const hy_source *source; /* source of X, which the caller owns */
    const hybrid_csr *all;   /* A, which the caller owns */
    int64_t bytes;      /* maximum bytes of a block that is read; two are in memory */
    hybrid_dense X;     /* rows of X in the order (row- or column-major) of the
                           source */
    hybrid_csr A;       /* entries of A that refer to these rows: columns are rows of
                           `X` */
    int64_t begin, end; /* the block stands for rows [begin, end) of the source. The
                           last one ends with the last row. */
    int64_t begin_ns, end_ns; /* hy_now_ns() before and after the block was read */

    /* A granule is a group of successive rows of X; their number is a power of two. It is
       read if A touches one of its rows. */
    int shift;          /* a granule has 1 << shift rows */
    int64_t granules;   /* number of granules of X */
    hy_x_block_rows rows[2];  /* one has the rows of the block, the other those of the
                                 block that the thread reads */
    hy_x_block_rows *reading; /* element of `rows` that the thread reads, or has read
                                 last; NULL before the first block */
    hy_background background;      /* thread that reads */
    hy_reused touched;  /* a byte for each granule: 1 if A touches it */
    hy_reused places;   /* for each granule of the block that A touches, the number of its
                           first row in the block's X */
    hy_reused next;     /* for each row of A, the index of the first entry that no block
                           has taken */
    hy_reused offsets, entries; /* memory of the arrays of the block's A */
} hy_x_block;

/* Prepares reading, but reads nothing. A must have been checked, and must stay until the
   block is closed. */
void hy_x_block_open(const hy_source *source, const hybrid_csr *A, int64_t bytes,
                     hy_x_block *out);
void hy_x_block_close(hy_x_block *block);

/* Moves to the next block, the first one in the first call. Reading adds its time and
   bytes to the report. The block is valid until the next call. */
hybrid_status hy_x_block_next(hy_x_block *block, hybrid_report *report);

/* Returns the maximum bytes of a block, chosen by the budget of host memory. */
int64_t hy_x_block_bytes(const hy_context *ctx);

#endif /* HY_X_BLOCK_H */
