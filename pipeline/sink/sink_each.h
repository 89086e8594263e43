/* pipeline/sink/sink_each.h - rows of a result in CSR, handed to a function of the
   caller.

   Nothing of the result is kept. A part is handed over from the slot that it lies in, or
   from arrays that hold one part, if its rows have gaps between them or come in turns.
   The next part waits meanwhile, in its slot. */
#ifndef HY_SINK_EACH_H
#define HY_SINK_EACH_H

#include "base/contract/sink.h"

typedef struct hy_each_sink {
    hy_sink sink; /* first */
    int64_t cols;
    hybrid_type type;
    hybrid_each_fn fn;
    void *user;
    int64_t first_row; /* of C, that is row 0 of the product at hand: it makes the rows */
    int64_t end_row;   /* up to this one, and others may make those after them */
    int64_t next_row; /* rows before it are reserved, */
    int64_t nnz;      /* and their entries */
    int64_t room;     /* entries of these, of which one part is put together: */
    void *col, *val;
} hy_each_sink;

/* Rows of C = AB go to `fn`. Nothing is held before the first part. */
void hy_each_sink_open(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                       hybrid_each_fn fn, void *user, hy_each_sink *out);

/* The product that begins makes rows [first, end); without this call, all. */
void hy_each_sink_part(hy_each_sink *sink, int64_t first, int64_t end);

#endif /* HY_SINK_EACH_H */
