/* io/text/io_sizes.h - sizes of the steps in which files are read and entries are sorted.
   Only tests change them. */
#ifndef HY_IO_SIZES_H
#define HY_IO_SIZES_H

#include "base/contract/context.h"

typedef struct hy_io_sizes {
    size_t window;         /* maximum of hy_input.window, in bytes */
    size_t lines_block;    /* bytes of each block of a window but the last (hy_lines) */
    int64_t bucket;        /* entries that a bucket (neighbouring rows that one worker
                              sorts) should have on average */
    int64_t run;           /* maximum entries of a run, which is sorted in memory; 0: the
                              budget decides */
    int64_t merge_block;   /* minimum records that a merge reads of a run at once */
    int64_t records_piece; /* records that a worker handles at once */
    int64_t spill_most;    /* maximum that hy_spill_left() returns, in bytes */
} hy_io_sizes;

/* The sizes of every engine outside tests. */
extern const hy_io_sizes hy_usual_io_sizes;

/* Returns the sizes of the context: hy_usual_io_sizes, unless a test has set others. */
const hy_io_sizes *hy_io_sizes_of(const hy_context *ctx);

/* Returns the number of pieces of `each` records in `count` records. */
static inline int64_t hy_pieces_of(int64_t count, int64_t each)
{
    return (count + each - 1) / each;
}

#endif /* HY_IO_SIZES_H */
