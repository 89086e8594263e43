/* partition/parts/a_part.h - parts (ranges of rows) of an A, one after another.

   An A in memory is one part. A file is read part by part. Two parts are then in memory:
   one is multiplied while a thread reads the next. The thread does not use the worker
   pool, so it takes no time from the multiplication. */
#ifndef HY_A_PART_H
#define HY_A_PART_H

#include "base/contract/source.h"
#include "base/threads/background.h"

/* A part of an A: its rows [begin, begin + A->rows). */
typedef struct hy_a_part {
    const hybrid_csr *A; /* rows of the part: the operand's own matrix if A is in memory
                            and its parts are not a range, else &own */
    int64_t begin;
    hybrid_csr own; /* rows that were read, in one block of memory */
    hy_reused block;
    int64_t begin_ns, end_ns; /* hy_now_ns() at the beginning and at the end of reading; 0
                                 if the part is the operand's own matrix */
} hy_a_part;

typedef struct hy_a_parts {
    const hy_source *source; /* source of A, which the caller owns */
    int64_t bytes;           /* maximum bytes of a part that is read; a part of a single
                                row may exceed it */
    hy_a_part parts[2];
    hy_a_part *reading; /* part that the thread reads, or the part read last if no thread
                           runs; NULL before the first */
    int64_t end;        /* row after the last row that has been handed out */
    int64_t row_end;    /* row after the last row to hand out */
    int64_t most_rows;  /* maximum rows of a part that is read; 0: no limit */
    int is_range;       /* 1: hy_a_parts_range() was called: parts are copies of rows even
                           if A is in memory */
    hy_background background;     /* thread that reads */
} hy_a_parts;

/* hy_a_parts_open() prepares reading, but reads nothing. */
void hy_a_parts_open(const hy_source *source, int64_t bytes, hy_a_parts *out);
void hy_a_parts_close(hy_a_parts *parts);

/* Restricts the parts to rows [begin, end) of A, with at most `most_rows` rows each (0:
   any number). Rows of an A in memory are then copied. Call it before the first part. */
void hy_a_parts_range(hy_a_parts *parts, int64_t begin, int64_t end, int64_t most_rows);

/* Passes over the parts before the one that contains row `row`. Reads offsets only. Call
   it before the first part. */
hybrid_status hy_a_parts_skip(hy_a_parts *parts, int64_t row);

/* Does what hy_a_parts_next() does, for an A in a file or for a range: waits for the next
   part, which has at least one row, and starts to read the part after it. */
hybrid_status hy_a_parts_read(hy_a_parts *parts, const hy_a_part **out);

/* Sets *out to the next part, or to NULL after the last row. The part is valid until the
   next call. The caller must have checked an A in memory. An A in a file must have at
   least one row; this call checks the offsets and columns of its part. */
static inline hybrid_status hy_a_parts_next(hy_a_parts *parts, const hy_a_part **out)
{
    return parts->is_range ? hy_a_parts_read(parts, out)
                           : parts->source->ops->next_part(parts, out);
}

#endif /* HY_A_PART_H */
